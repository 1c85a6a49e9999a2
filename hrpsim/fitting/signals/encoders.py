# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Offsets of encoders: measured minus true positions of joints.

A servo acts on the measured position. An encoder with an offset therefore has the same effect on
the motion as an exact encoder, with the offset subtracted from the commands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

ENCODERS, OFFSET = "encoders.", ".offset"


def encoder_paths(joints: Sequence[str]) -> list[str]:
    """Return the paths of the encoder offsets of joints."""
    return [f"{ENCODERS}{joint}{OFFSET}" for joint in joints]


def encoder_offsets(values: Mapping[str, float], joints: Sequence[str]) -> np.ndarray:
    """Return the encoder offsets (joints,) [rad or m].

    Args:
        values: values of unknowns by path.
        joints: names of the joints.
    """
    return np.array([values.get(path, 0.0) for path in encoder_paths(joints)])
