# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Models as texts, to compare."""

import dataclasses

import numpy as np


def print_of(value):
    """Return what tells two models apart, as text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        left_out = ("urdf", "source", "element")
        fields = [f.name for f in dataclasses.fields(value) if f.name not in left_out]
        return repr([(name, print_of(getattr(value, name))) for name in fields])
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, dict):
        return repr([(name, print_of(one)) for name, one in value.items()])
    if isinstance(value, (list, tuple)):
        return repr([print_of(one) for one in value])
    if isinstance(value, (set, frozenset)):
        return repr(sorted(value))
    return repr(value)
