# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Safe readers of foreign files and texts, with limits of size. All foreign input is read here.

Each module reads one format: bytes, text, XML, YAML, JSON, arrays, tables of numbers. The caller of
a reader names the class of errors. Limits are in `common/limits.py`. Decoders of other packages
that can expand a file run in a child process (`bounded_child.py`).
"""
