# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The posture in which a walk begins: knees bent, soles level, load on the middle of the soles."""

import contextlib

import numpy as np

from hrpsim.control.motion.leg_kinematics import UnreachableError
from hrpsim.control.motion.numerical_leg import leg_of
from hrpsim.dynamics.functions import center_of_mass, link_pose
from hrpsim.errors import ModelError
from hrpsim.model.model import Model
from hrpsim.model.system import FREE

# From hip to ankle, as part of the straight leg: HRP-2's half-sitting first, straighter ones where
# joints would come too near their limits.
_STRETCHES = (0.906, 0.93, 0.95, 0.97)
_MARGIN = 0.2  # of the legs' joints to their limits, for stepping [rad]
_CLEARLY = 0.01  # margin for which straighter legs are worth their shorter reach [rad]
_LEAST_GAP = 0.08  # between the soles, as part of the leg's length
_INSIDE = 0.02  # joints that cannot be at zero stay this far from their limits [rad, m]
_ROUNDS = 30
_EXACT = 1e-9  # [m]


def half_sitting(model: Model, soles, outlines, ankle_heights) -> np.ndarray:
    """Return the configuration (nq,), the floor at z = 0, the base level and over the origin.

    soles: links of the left and right sole; outlines: their corners (k, 2) [m]; ankle_heights [m].
    All other joints are at zero, or as near as their limits let them; springs are slack. The centre
    of mass is over the middle of the soles' length, the soles are as far apart as they are with
    straight legs, or farther where they would be too near each other. The knees bend as HRP-2's, or
    less where joints of the legs would come near their limits. Raises UnreachableError or
    ModelError where there is no such posture.
    """
    legs = [leg_of(model, sole) for sole in soles]
    positions = [link_pose(model, resting(model), sole)[0] for sole in soles]
    inner = 0.5 * (outlines[1][:, 1].max() - outlines[0][:, 1].min())
    gap = 0.5 * _LEAST_GAP * min(leg.longest for leg in legs)
    half = max(0.5 * (positions[0][1] - positions[1][1]), inner + gap)
    middle = float(np.mean([0.5 * (o[:, 0].min() + o[:, 0].max()) for o in outlines]))
    found, most = None, -np.inf
    for stretch in _STRETCHES:
        height = min(
            stretch * leg.longest + ankle - leg.hip_center[2]
            for leg, ankle in zip(legs, ankle_heights)
        )
        with contextlib.suppress(UnreachableError):
            q = _balanced(model, legs, height, half, middle, positions)
            margin = _least_margin(model, q, legs)
            if margin > most + _CLEARLY:
                found, most = q, margin
            if margin >= _MARGIN:
                break
    if found is None:
        raise UnreachableError(
            f"{model.source}: the legs cannot put the soles level, {2.0 * half:.3f} m apart, with "
            "bent knees"
        )
    _check_limits(model, found, [name for leg in legs for name in leg.joint_names])
    return found


def _balanced(model: Model, legs, height: float, half: float, middle: float, positions):
    """Return the posture with soles `height` below the base and the centre of mass over them."""
    q = resting(model)
    x = 0.5 * (positions[0][0] + positions[1][0])
    for _ in range(_ROUNDS):
        for leg, y in zip(legs, (half, -half)):
            q[leg.q_index] = leg.solve((x, y, -height), np.eye(3))
        error = center_of_mass(model, q)[0] - middle - x
        x += error
        if abs(error) < _EXACT:
            break
    q[2] = height
    return q


def _least_margin(model: Model, q, legs) -> float:
    joints = [model.joint(name) for leg in legs for name in leg.joint_names]
    at, v = q[[joint.q_index for joint in joints]], [joint.v_index for joint in joints]
    return float(np.minimum(at - model.system.lower[v], model.system.upper[v] - at).min())


def resting(model: Model) -> np.ndarray:
    """Return the configuration (nq,) with all joints at zero, or as near as their limits let."""
    q = model.neutral()
    for joint in model.joints:
        if joint.joint_type != FREE:
            k = joint.v_index
            lower, upper = model.system.lower[k], model.system.upper[k]
            room = min(_INSIDE, 0.5 * (upper - lower))
            low, high = lower + room if lower > 0.0 else 0.0, upper - room if upper < 0.0 else 0.0
            q[joint.q_index] = low or high
    return q


def _check_limits(model: Model, q, names) -> None:
    for name in names:
        joint = model.joint(name)
        lower, upper = model.system.lower[joint.v_index], model.system.upper[joint.v_index]
        if not lower <= q[joint.q_index] <= upper:
            raise ModelError(
                f"{model.source}: half-sitting needs joint {name!r} at {q[joint.q_index]:.3f} rad; "
                f"its limits are {lower:.3f} and {upper:.3f} rad"
            )
