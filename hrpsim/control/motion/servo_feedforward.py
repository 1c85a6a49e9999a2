# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands for position servos that make a planned motion come true, by inverse dynamics.

A servo pulls with kp (command - q) - kd dq/dt, so it lags behind and gives way under load. For the
effort tau that the motion needs, the command is  q + (tau + kd dq/dt) / kp.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from hrpsim.dynamics.functions import inverse_dynamics, link_pose
from hrpsim.errors import ModelError
from hrpsim.model.model import Joint, Model
from hrpsim.model.system import FREE


def driven_joints(model: Model) -> list[Joint]:
    """Return the joints that have gains, in the model's order."""
    return [j for j in model.joints if j.joint_type != FREE and j.name in model.gains]


def feedforward_commands(model: Model, soles, times, motion, shares) -> np.ndarray:
    """Return the commands (count, driven joint count) [rad] that lead servos along `motion`.

    motion: configurations (count, nq) at `times` (count,) [s] with a level base that does not
    turn, at rest before and after. shares (count, 2): parts of the ground's wrench that the links
    `soles`, left and right, bear. Raises ModelError where the motion goes beyond a joint's limits.
    """
    path = CubicSpline(times, motion, bc_type="clamped")
    rates, accelerations = path(times, 1), path(times, 2)
    driven = driven_joints(model)
    for joint in driven:
        _check_limits(model, joint, motion[:, joint.q_index], rates[:, joint.q_index])
    at_q = [joint.q_index for joint in driven]
    at_v = [joint.v_index for joint in driven]
    kp, kd = np.array([model.gains[joint.name] for joint in driven]).T
    commands = np.empty((len(times), len(driven)))
    for k, q in enumerate(motion):
        v, dv = _without_quaternion(rates[k]), _without_quaternion(accelerations[k])
        needed = inverse_dynamics(model, q, v, dv)[:6]
        effort = inverse_dynamics(model, q, v, dv, _borne(model, q, soles, shares[k], needed))
        commands[k] = q[at_q] + (effort[at_v] + kd * v[at_v]) / kp
    return commands


def _check_limits(model: Model, joint: Joint, positions, rates) -> None:
    system, k = model.system, joint.v_index
    lowest, highest, fastest = positions.min(), positions.max(), np.abs(rates).max()
    if lowest < system.lower[k] or highest > system.upper[k]:
        raise ModelError(
            f"{model.source}: the motion takes joint {joint.name!r} from {lowest:.3f} to "
            f"{highest:.3f}; its limits are {system.lower[k]:.3f} and {system.upper[k]:.3f}"
        )
    if fastest > system.velocity_limit[k]:
        raise ModelError(
            f"{model.source}: the motion moves joint {joint.name!r} at up to {fastest:.3f} a "
            f"second; its limit is {system.velocity_limit[k]:.3f}"
        )


def _without_quaternion(rate: np.ndarray) -> np.ndarray:
    return np.concatenate([rate[:3], np.zeros(3), rate[7:]])


def _borne(model: Model, q, soles, shares, base_wrench) -> dict[str, np.ndarray]:
    """Return wrenches on the soles that add up to `base_wrench`, which acts on the base.

    Each bears its share of the force at its origin, and of the moment that is then left.
    """
    R_base = link_pose(model, q, model.base_link)[1]
    force, moment = R_base @ base_wrench[:3], R_base @ base_wrench[3:]
    poses = [link_pose(model, q, sole) for sole in soles]
    for share, (p, _) in zip(shares, poses):
        moment = moment - np.cross(p - q[:3], share * force)
    return {
        sole: share * np.concatenate([R.T @ force, R.T @ moment])
        for sole, share, (_, R) in zip(soles, shares, poses)
    }
