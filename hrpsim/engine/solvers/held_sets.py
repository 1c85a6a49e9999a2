# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A Gauss-Newton step for a contact problem with a fixed state of each contact.

If redundant contacts can have internal forces (self-stress), sweeps come near a solution and then
converge slowly. Once the sweeps have found which contacts separate, stick and slide, the solution
is a root of equations. A sticking contact has u = 0. A sliding contact has u_n = 0 and r_t = -mu
r_n u_t / |u_t|. The least-norm step of the linearised equations leaves the self-stress unchanged.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

_MOST = 2000  # equations; the time grows with the cube
_ON_CONE = 1e-7  # part of the friction limit by which a force that slides may be below it
_STILL = 1e-6  # part of the largest velocity below which a contact sticks
_CONDITION = 1e-9


def held_sets_step(
    W: sparse.csr_matrix, b: np.ndarray, mu: np.ndarray, r: np.ndarray
) -> np.ndarray:
    """Improve the impulses of a contact problem by one Gauss-Newton step with fixed contact states.

    The states are separating, sticking or sliding, as found from `r`. Separating contacts keep
    their impulses.

    Args:
        W: Delassus matrix (3 m, 3 m) [1/kg].
        b: velocity of the contacts without forces (3 m,) [m/s].
        mu: friction coefficients (m,).
        r: impulses near a solution (3 m,) [Ns].

    Returns:
        The improved impulses (3 m,) [Ns], or `r` if no contact bears a force or more than 2000
        equations result.
    """
    forces, velocities = r.reshape(-1, 3), (W @ r + b).reshape(-1, 3)
    speed = np.linalg.norm(velocities[:, 1:], axis=1)
    limit = mu * forces[:, 0]
    pressed = np.flatnonzero(forces[:, 0] > 0.0)
    if not 0 < 3 * len(pressed) <= _MOST:
        return r
    slides = np.linalg.norm(forces[:, 1:], axis=1) >= (1.0 - _ON_CONE) * limit
    slides &= speed > _STILL * np.abs(velocities).max()
    rows = (3 * pressed[:, None] + np.arange(3)).ravel()
    equations, errors = W[rows][:, rows].toarray(), velocities[pressed].ravel()
    for k in np.flatnonzero(slides[pressed]):
        c, at = pressed[k], slice(3 * k + 1, 3 * k + 3)
        way = velocities[c, 1:] / speed[c]
        turning = (limit[c] / speed[c]) * (np.eye(2) - np.outer(way, way))
        equations[at] = turning @ equations[at]
        equations[at, at] += np.eye(2)
        equations[at, 3 * k] += mu[c] * way
        errors[at] = forces[c, 1:] + limit[c] * way
    change, *_ = linalg.lstsq(equations, -errors, cond=_CONDITION, lapack_driver="gelsy")
    after = r.copy()
    after[rows] += change
    return after
