# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The errors and warnings of fits."""

from hrpsim.errors import HrpsimError


class FitError(HrpsimError, ValueError):
    """A recording or a request that no parameters can be fitted to; the message names it."""


class FitWarning(UserWarning):
    """A part of a recording is not used, or a parameter is not determined; the message names it."""
