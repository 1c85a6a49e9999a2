# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of inverse dynamics of a whole world, in the layout of the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.dynamics.motion_derivatives import inverse_derivatives
from hrpsim.dynamics.tangent import new_columns
from hrpsim.dynamics.workspace import new_workspace
from hrpsim.jit.compiled import prepared
from hrpsim.jit.reference import Reference
from hrpsim.model.system import System
from hrpsim.world.linearization.coordinates import FreeBases, skew

_inverse_derivatives = prepared(inverse_derivatives)


class Derivatives(NamedTuple):
    """Derivatives of the generalised force, (nv, nv) each: by q, by the velocity, and M."""

    by_q: np.ndarray
    by_velocity: np.ndarray
    mass: np.ndarray


class Dynamics:
    """Room for the dynamics of a forest. Joints see `space.rotor_inertia` (nv,) besides links."""

    def __init__(self, system: System):
        self.space = new_workspace(system)
        self.reference = Reference(self.space)
        self.bases = FreeBases(self.space.forest)
        self.moving = self.space.kinematics.copy()  # poses of the step, with any velocities
        self._columns = new_columns(len(self.space.velocity))

    def derivatives(
        self,
        q: np.ndarray,
        velocity: np.ndarray,
        acceleration: np.ndarray,
        gravity: np.ndarray,
        external: np.ndarray,
    ) -> Derivatives:
        """Return the derivatives at a state of the kernels' layout, which its arguments have too.

        Args:
            q: (nq,).
            velocity: (nv,).
            acceleration: (nv,), the rate of `velocity`.
            gravity: (3,) [m/s^2].
            external: spatial forces (n, 6) on bodies, which turn with them.
        """
        bases, nv = self.bases, len(velocity)
        R = bases.rotations(q)
        fixed = acceleration.copy()  # less that of a base that turns while it moves
        w, l = velocity[bases.angular], velocity[bases.linear]
        fixed[bases.linear] -= np.cross(w, l)
        self.space.articulated["external"] = external
        v, dv = bases.to_public(R, velocity), bases.to_public(R, fixed)
        _inverse_derivatives(self.reference, q, v, dv, gravity, self._columns)
        by_q, by_v, mass = (
            bases.from_public(R, bases.from_public(R, self._columns[:, k : k + nv]).T).T
            for k in (0, nv, 2 * nv)
        )
        spin, slide = skew(w), skew(l)
        turns = _products(by_v, bases.angular, spin) + _products(by_v, bases.linear, slide)
        turns += _products(mass, bases.angular, skew(fixed[bases.angular]))
        turns += _products(mass, bases.linear, skew(fixed[bases.linear]))
        by_q[:, bases.angular] += turns
        for rows in (bases.angular, bases.linear):  # the force on a free base turns with it
            by_q[rows[:, :, None], bases.angular[:, None]] -= skew(self.space.effort[rows])
        by_v[:, bases.angular] += _products(mass, bases.linear, slide)
        by_v[:, bases.linear] -= _products(mass, bases.linear, spin)
        return Derivatives(by_q, by_v, mass)

    def momentum(self, q: np.ndarray, velocity: np.ndarray) -> Derivatives:
        """Return the derivatives of M v, whose rows of free bases are their trees' momenta.

        Those by v are M, `mass`.
        """
        zero = np.zeros_like(velocity)
        none = np.zeros((len(self.space.articulated), 6))
        return self.derivatives(q, zero, velocity, zero[:3].copy(), none)


def _products(matrix: np.ndarray, columns: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Return products (nv, k, 3) of columns (k, 3) of a matrix with blocks (k, 3, 3)."""
    return np.matmul(matrix[:, columns].swapaxes(0, 1), blocks).swapaxes(0, 1)
