# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The mesh that replaces an ellipsoid, because no collision shape is an ellipsoid."""

from __future__ import annotations

import numpy as np

from hrpsim.model.readers.robot_data import MeshData

_RINGS, _MERIDIANS = 19, 32  # and two poles
ELLIPSOID_POINTS = _RINGS * _MERIDIANS + 2


def ellipsoid_mesh(name: str, axes: np.ndarray) -> MeshData:
    """Return the mesh of an ellipsoid about the origin. axes: half lengths (3,) [m]."""
    polar = np.pi * np.arange(1, _RINGS + 1)[:, None] / (_RINGS + 1)
    around = 2.0 * np.pi * np.arange(_MERIDIANS)[None, :] / _MERIDIANS
    z = np.broadcast_to(np.cos(polar), (_RINGS, _MERIDIANS))
    ball = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), z], axis=-1)
    poles = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    top, bottom = _RINGS * _MERIDIANS, _RINGS * _MERIDIANS + 1
    k = np.arange(_MERIDIANS)
    after, last = (k + 1) % _MERIDIANS, (_RINGS - 1) * _MERIDIANS
    faces = [np.stack([np.full_like(k, top), k, after], axis=1)]
    for ring in range(0, last, _MERIDIANS):
        a, b, c, d = ring + k, ring + after, ring + _MERIDIANS + k, ring + _MERIDIANS + after
        faces += [np.stack([a, c, d], axis=1), np.stack([a, d, b], axis=1)]
    faces.append(np.stack([np.full_like(k, bottom), last + after, last + k], axis=1))
    vertices = np.concatenate([ball.reshape(-1, 3), poles])
    return MeshData(name, vertices * axes, np.concatenate(faces))
