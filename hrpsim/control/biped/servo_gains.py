# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Choose gains of position servos from the inertias that they move."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.dynamics.functions import link_jacobian, mass_matrix
from hrpsim.model.model import Model
from hrpsim.model.system import FREE

# HRP-2's legs have 5000 Nm/rad for some 30 kg m^2 over the ankle: 2 Hz. Measured with three robots
# of 58 to 90 kg: from 1.5 to 3 Hz, and damped to 0.04 to 0.1, they walk alike; hip yaw joints that
# are softer than the rest let the feet slip, dampers of 0.14 and more chatter in some.
_LEG_RATE = 2.0 * math.pi * 3.0  # of the body on a leg's joint, its foot fixed [rad/s]
_LEG_DAMPING_RATIO = 0.1  # the servos are fed the planned speeds, so dampers only meet errors
_RATE = 2.0 * math.pi * 10.0  # of all other joints with what they move
_DAMPING_RATIO = 0.7
_SOFTEST = 1.0  # [Nm/rad]


def default_gains(
    model: Model, q, legs: tuple[tuple[str, tuple[str, ...]], ...]
) -> dict[str, tuple[float, float]]:
    """Return (kp, kd) [Nm/rad, Nms/rad] of the joints that have neither gains nor springs.

    All joints of both legs get the same: on the one that carries most inertia over a fixed foot,
    all other joints rigid, the body swings at 3 Hz, damped to 0.1. Any other joint and what it
    moves swing at 10 Hz, damped to 0.7. q: the posture (nq,). legs: (sole, joints) of each leg.
    """
    M = mass_matrix(model, q)
    carried = max(
        _inertia_over_foot(M, J, model.joint(name).v_index)
        for J, joints in ((link_jacobian(model, q, sole), joints) for sole, joints in legs)
        for name in joints
    )
    in_legs = {name for _, joints in legs for name in joints}
    gains = {}
    for joint in model.joints:
        k = joint.v_index
        if joint.joint_type == FREE or joint.name in model.gains or model.system.stiffness[k] > 0.0:
            continue
        if joint.name in in_legs:
            gains[joint.name] = _servo(carried, _LEG_RATE, _LEG_DAMPING_RATIO)
        else:
            gains[joint.name] = _servo(float(M[k, k]), _RATE, _DAMPING_RATIO)
    return gains


def _servo(inertia: float, rate: float, damping_ratio: float) -> tuple[float, float]:
    kp, kd = max(inertia * rate**2, _SOFTEST), 2.0 * damping_ratio * inertia * rate
    return float(f"{kp:.4g}"), float(f"{kd:.4g}")


def _inertia_over_foot(M, J, k: int) -> float:
    """Return the inertia on degree of freedom `k` with the foot of Jacobian J fixed."""
    base = -np.linalg.solve(J[:, :6], J[:, k])
    return float(M[k, k] + 2.0 * M[k, :6] @ base + base @ M[:6, :6] @ base)
