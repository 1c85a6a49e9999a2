# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""VRML97's Extrusion: a cross-section that is scaled, turned and swept along a spine (6.18)."""

from __future__ import annotations

import numpy as np

from hrpsim.model.openhrp.geometry import axis_angle

_STRAIGHT = 1e-9  # sine up to which three points of a spine are on a line


def swept(
    section: np.ndarray, spine: np.ndarray, scale: np.ndarray, turns: np.ndarray
) -> np.ndarray:
    """Return the corners (k, 3) of a swept section (m, 2: x, z); each once.

    spine: (n, 3); scale: of the section's x and z (n, 2); turns: axis and angle [rad] (n, 4).
    """
    flat = np.insert(section, 1, 0.0, axis=1)
    found = [
        spine[k] + (flat * (scale[k, 0], 0.0, scale[k, 1])) @ (R @ axis_angle(turns[k])).T
        for k, R in enumerate(_frames(spine))
    ]
    return np.unique(np.concatenate(found), axis=0) if found else np.zeros((0, 3))


def _frames(spine: np.ndarray) -> list[np.ndarray]:
    """Return the frame (3, 3) of each point: y along the spine, z to the side that it bends to."""
    count, closed = len(spine), len(spine) > 2 and np.array_equal(spine[0], spine[-1])
    before, after = np.roll(spine, 1, axis=0), np.roll(spine, -1, axis=0)
    if closed:
        before[0], after[-1] = spine[-2], spine[1]
    elif count:
        before[0], after[-1] = spine[0], spine[-1]
    along = _filled(_units(after - before))
    bends = np.cross(after - spine, before - spine)
    lengths = np.linalg.norm(after - spine, axis=1) * np.linalg.norm(before - spine, axis=1)
    bends[np.linalg.norm(bends, axis=1) <= _STRAIGHT * lengths] = 0.0
    aside = _filled(_units(bends))
    for k in range(1, count):
        if aside[k] @ aside[k - 1] < 0.0:
            aside[k] = -aside[k]
    if not aside.any():
        return [_turned_to(y) for y in along]
    return [np.stack([np.cross(y, z), y, z], axis=1) for y, z in zip(along, aside, strict=True)]


def _units(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, 3) of length 1, zeros where there is none."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0.0)


def _filled(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, 3), in place of zeros the last before them, or the first at all."""
    there = vectors.any(axis=1)
    if not there.any():
        return vectors
    last = np.maximum.accumulate(np.where(there, np.arange(len(vectors)), -1))
    return vectors[np.where(last < 0, int(np.argmax(there)), last)]


def _turned_to(y: np.ndarray) -> np.ndarray:
    """Return the shortest rotation (3, 3) that takes the y axis to a unit vector."""
    axis = (y[2], 0.0, -y[0]) if y[0] or y[2] else (1.0, 0.0, 0.0)
    return axis_angle((*axis, np.arctan2(np.hypot(y[0], y[2]), y[1])))
