# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The geometry of an ankle that two motors drive through cranks and rods."""

import numpy as np
from scipy.spatial.transform import Rotation

CRANK, MOTORS = 0.05, np.array([[0.0, 0.045, 0.25], [0.0, -0.045, 0.17]])
HEELS = np.array([[-0.06, 0.05, -0.02], [-0.06, -0.05, -0.02]])
RODS = np.linalg.norm(HEELS - MOTORS + [CRANK, 0, 0], axis=1)


def cranks(pitch: float, roll: float) -> np.ndarray:
    """Return the angles (2,) at which both rods have their length, near level cranks."""
    to_heel = Rotation.from_euler("YX", [pitch, roll]).apply(HEELS) - MOTORS
    x, _, z = to_heel.T
    # |to_heel - tip|^2 = rod^2 with tip = crank (-cos, 0, sin): x cos - z sin = -level
    level = (np.sum(to_heel**2, axis=1) + CRANK**2 - RODS**2) / (2.0 * CRANK)
    return -np.arccos(-level / np.hypot(x, z)) - np.arctan2(z, x)


def gradient(pitch: float, roll: float) -> np.ndarray:
    """Return d cranks / d (pitch, roll), by central differences of fourth order."""
    h, columns = 1e-3, []
    for e in np.eye(2) * h:
        near, far = (
            cranks(*(s * e + (pitch, roll))) - cranks(*(-s * e + (pitch, roll))) for s in (1, 2)
        )
        columns.append((8.0 * near - far) / (12.0 * h))
    return np.array(columns).T
