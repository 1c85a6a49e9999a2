# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of inverse dynamics of a whole world, in the layout of the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.dynamics.tangent import new_columns
from hrpsim.dynamics.workspace import new_workspace
from hrpsim.jit.compiled import prepared
from hrpsim.jit.reference import Reference
from hrpsim.model.system import System
from hrpsim.world.linearization.coordinates import FreeBases
from hrpsim.world.linearization.world_derivatives import derivatives_in_world

_derivatives_in_world = prepared(derivatives_in_world)


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
        out = np.empty((3, len(velocity), len(velocity)))
        self.space.articulated["external"] = external
        _derivatives_in_world(
            self.reference, q, velocity, acceleration.copy(), gravity, self._columns, out
        )
        return Derivatives(*out)

    def momentum(self, q: np.ndarray, velocity: np.ndarray) -> Derivatives:
        """Return the derivatives of M v, whose rows of free bases are their trees' momenta.

        Those by v are M, `mass`.
        """
        zero = np.zeros_like(velocity)
        none = np.zeros((len(self.space.articulated), 6))
        return self.derivatives(q, zero, velocity, zero[:3].copy(), none)
