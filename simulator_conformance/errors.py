# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The error of an examination that is not possible."""


class ConformanceError(Exception):
    """No simulator, no answer, or no type of that name; the message says which."""
