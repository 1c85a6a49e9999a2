# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The benchmark cases. Each file defines a CASE."""
