# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The motions of the bodies that constraints push, at the place where a step finds its forces."""

from __future__ import annotations

import numpy as np

from hrpsim.jit.compiled import prepared
from hrpsim.world.linearization.body_motions import body_jacobians, jacobian_rates
from hrpsim.world.linearization.dynamics import Dynamics

_body_jacobians = prepared(body_jacobians)
_jacobian_rates = prepared(jacobian_rates)


class Motions:
    """Jacobians of some bodies (k + 1, 6, nv), the last one zero: that of the world."""

    def __init__(self, dynamics: Dynamics, bodies: np.ndarray):
        self.bodies, self._forest = bodies, dynamics.space.forest
        self._kinematics = dynamics.moving
        count = len(self._forest.bodies)
        self._places = np.full(count + 1, len(bodies))
        self._places[bodies] = np.arange(len(bodies))
        self.jacobians = self._room()
        _body_jacobians(self._forest, self._kinematics, bodies, self.jacobians[:-1])

    def places(self, bodies: np.ndarray) -> np.ndarray:
        """Return the index here of bodies, -1 for the world."""
        return self._places[bodies]

    def rates(self, velocity: np.ndarray) -> np.ndarray:
        """Return how the bodies' velocities change with q while `velocity` (nv,) stays."""
        out, velocity = self._room(), np.ascontiguousarray(velocity)
        _jacobian_rates(self._forest, self._kinematics, velocity, self.bodies, out[:-1])
        return out

    def _room(self) -> np.ndarray:
        return np.zeros((len(self.bodies) + 1, 6, len(self._forest.dofs)))
