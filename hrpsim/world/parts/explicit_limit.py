# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The stability limit of explicit steps on a robot's springs, dampers and gains.

The stages of rk4 find their forces at the state itself. With the modes lambda of

    M a + C v + K (q - q0) = 0,   (K, C: stiffness and kp, damping and kd, along the joints),

a step multiplies each by R(h lambda) = sum of z^k / k! up to k = 4, which grows beyond a certain
step, however the forces came about. `semi_implicit` takes K and C implicitly, at any step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.dynamics.functions import mass_matrix
from hrpsim.model.system import JOINT_NV
from hrpsim.world.objects.robot import Robot

_GROWTH = 1e-6  # of a mode in a step, that rounding might explain
_HALVINGS = 60


class Limit(NamedTuple):
    """The largest stable step [s], and the joint that moves most, by energy, in its mode."""

    time_step: float
    joint: str
    stiffness: float  # gain included [Nm/rad] or [N/m]
    damping: float  # gain included [Nms/rad] or [Ns/m]


def rk4_limit(robot: Robot) -> Limit | None:
    """Return the limit of a robot's stiffest mode in its initial state; None without a mode."""
    model, system = robot.model, robot.model.system
    joints = [joint for joint in model.joints if JOINT_NV[joint.joint_type] == 1]
    at = np.array([joint.v_index for joint in joints], dtype=int)
    gains = dict(zip(robot.joint_names, zip(*robot.gains, strict=True), strict=True))
    kp, kd = np.array([gains.get(joint.name, (0.0, 0.0)) for joint in joints]).reshape(-1, 2).T
    stiffness, damping = system.stiffness[at] + kp, system.damping[at] + kd
    if not (stiffness.any() or damping.any()):
        return None
    response = np.linalg.inv(mass_matrix(model, robot.initial_q))[np.ix_(at, at)]
    n = len(at)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = -response * stiffness, -response * damping
    modes, vectors = np.linalg.eig(A)
    steps = np.array([_largest_step(mode) for mode in modes])
    worst = int(np.argmin(steps))
    k = int(np.argmax(np.abs(vectors[n:, worst]) ** 2 / np.diag(response)))
    return Limit(float(steps[worst]), joints[k].name, float(stiffness[k]), float(damping[k]))


def too_stiff_for_rk4(robot: Robot, time_step: float) -> str | None:
    """Return which joint makes rk4 explode at steps of `time_step` [s], None if none does."""
    limit = rk4_limit(robot)
    if limit is None or limit.time_step >= time_step:
        return None
    return (
        f"rk4 takes springs, dampers and gains explicitly, and joint {limit.joint!r} of "
        f"{robot.name!r} with {limit.stiffness:.4g} (Nm/rad or N/m) and "
        f"{limit.damping:.4g} (Nms/rad or Ns/m) allows steps of {limit.time_step:.3g} s "
        f"at most, not {time_step:g} s; integrator 'semi_implicit' allows any"
    )


def _largest_step(mode: complex) -> float:
    """Return the step from which on rk4 lets a mode [1/s] grow that does not grow itself [s]."""
    if abs(mode) < 1e-9:
        return np.inf
    low, high = 0.0, 4.0 / abs(mode)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        z = middle * mode
        factor = abs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0))))
        low, high = (middle, high) if factor <= 1.0 + _GROWTH else (low, middle)
    return low
