# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of fixtures that are dear: all tests of one go to one worker, which makes it once."""

from collections.abc import Iterable

import pytest


def one_worker_each(parameters: Iterable) -> list:
    """Return the parameters of a fixture, each the group of its own for pytest-xdist."""
    return [
        pytest.param(parameter, marks=pytest.mark.xdist_group(f"of {parameter}"))
        for parameter in parameters
    ]
