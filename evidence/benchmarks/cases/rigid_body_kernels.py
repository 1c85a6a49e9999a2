# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Loops of hrpsim's rigid-body algorithms over many states, with Python's argument layout."""

from __future__ import annotations

import numpy as np

from hrpsim.derivatives.motion_derivatives import forward_derivatives, inverse_derivatives
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.kernel_types import Matrix, Vector
from hrpsim.engine.dynamics.articulated import (
    accelerations,
    factorise,
    place_inertias,
    start_bodies,
)
from hrpsim.engine.dynamics.recursive import composite_inertia, newton_euler
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.kinematics.layout import (
    acceleration_from_kernel,
    acceleration_to_kernel,
    velocity_to_kernel,
)

GRAVITY = np.array([0.0, 0.0, -9.80665])  # [m/s^2]


@kernel
def run_kinematics(s, q, v, count: int) -> None:
    """Compute poses and velocities of all bodies, for `count` states."""
    for k in range(count):
        i = k % q.shape[0]
        update_poses(s.forest, q[i], s.kinematics)
        velocity_to_kernel(s.forest, q[i], v[i], s.velocity)
        update_velocities(s.forest, s.velocity, s.kinematics)


@kernel
def run_aba(s, q, v, tau: Vector, count: int, dv_out: Vector) -> None:
    """Compute kinematics and forward dynamics of `count` states.

    The generalised forces of the base are zero.
    """
    for k in range(count):
        i = k % q.shape[0]
        update_poses(s.forest, q[i], s.kinematics)
        velocity_to_kernel(s.forest, q[i], v[i], s.velocity)
        update_velocities(s.forest, s.velocity, s.kinematics)
        start_bodies(s.forest, s.kinematics, s.articulated)
        factorise(s.forest, s.kinematics, s.rotor_inertia, tau[i], s.articulated)
        accelerations(s.forest, s.kinematics, GRAVITY, s.articulated, s.acceleration)
        acceleration_from_kernel(s.forest, q[i], s.velocity, s.acceleration, dv_out[i])


@kernel
def run_rnea(s, q, v, dv, count: int, tau_out) -> None:
    """Compute kinematics and inverse dynamics of `count` states.

    The base's entries are moment and force, about the origin and in world axes.
    """
    for k in range(count):
        i = k % q.shape[0]
        update_poses(s.forest, q[i], s.kinematics)
        place_inertias(s.forest, s.kinematics, s.articulated)
        velocity_to_kernel(s.forest, q[i], v[i], s.velocity)
        update_velocities(s.forest, s.velocity, s.kinematics)
        acceleration_to_kernel(s.forest, q[i], s.velocity, dv[i], s.acceleration)
        newton_euler(s.forest, s.kinematics, s.acceleration, GRAVITY, s.articulated, tau_out[i])
        for r in range(tau_out.shape[1]):
            tau_out[i, r] += s.rotor_inertia[r] * s.acceleration[r]


@kernel
def run_crba(s, q, count: int, M_out: Matrix) -> None:
    """Compute kinematics and mass matrix of `count` states.

    The base's rows are moment, then force.
    """
    for k in range(count):
        i = k % q.shape[0]
        update_poses(s.forest, q[i], s.kinematics)
        place_inertias(s.forest, s.kinematics, s.articulated)
        composite_inertia(s.forest, s.kinematics, s.articulated, s.composite, M_out)


@kernel
def run_aba_derivatives(w, q, v, tau: Vector, count: int, columns_out: Matrix) -> None:
    """Differentiate forward dynamics at `count` states. The base has no generalised forces."""
    for k in range(count):
        i = k % q.shape[0]
        forward_derivatives(w, q[i], v[i], tau[i], GRAVITY, columns_out)


@kernel
def run_rnea_derivatives(w, q, v, dv, count: int, columns_out: Matrix) -> None:
    """Differentiate inverse dynamics at `count` states."""
    for k in range(count):
        i = k % q.shape[0]
        inverse_derivatives(w, q[i], v[i], dv[i], GRAVITY, columns_out)
