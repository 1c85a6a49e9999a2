# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Upright postures of a biped: centre of mass above a point, soles flat at given positions.

The module also has the posture at the beginning of a walk: knees bent, load on the middle of the
soles. Rubber bushes deflect by load divided by stiffness, and the legs compensate for the
deflection.
"""

from typing import NamedTuple

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import ModelError
from hrpsim.control.motion.leg_kinematics import LegKinematics, UnreachableError
from hrpsim.control.motion.numerical_leg import leg_of
from hrpsim.engine.dynamics.functions import center_of_mass, inverse_dynamics, link_pose
from hrpsim.model.model import Model
from hrpsim.model.system import FREE

_TOLERANCE = 1e-6  # [m], and the rotation of the sole [rad]
_ITERATION_LIMIT = 30
# Distances from hip to ankle, as fractions of the straight leg: HRP-2's half-sitting first, then
# straighter legs, for robots with joints near the limits.
_STRETCHES = (0.906, 0.93, 0.95, 0.97)
_MARGIN = 0.2  # least distance of the legs' joints from the limits, for stepping [rad]
_CLEARLY = 0.01  # gain of this distance that justifies straighter legs [rad]
_LEAST_GAP = 0.08  # least gap between the soles, as a fraction of the leg's length
_INSIDE = 0.02  # distance from the limits of joints that cannot be at zero [rad, m]
_ROUNDS = 30
_EXACT = 1e-9  # [m]


class Stance(NamedTuple):
    """Requirements of a posture, in the world: z up, waist level, soles level.

    Row or entry 0 of `soles`, `shares` and `pressures` belongs to the left foot, 1 to the right
    foot.
    """

    com: np.ndarray  # horizontal position of the centre of mass (2,) [m]
    waist_height: float  # [m]
    soles: np.ndarray  # positions of the sole links (2, 3) [m]
    shares: np.ndarray  # fractions of the weight on the soles (2,)
    pressures: np.ndarray  # centres of pressure in the soles' frames (2, 2) [m]


class PostureSolver:
    """Solver for a series of postures. Each search starts at the previous posture.

    The free base must be the waist. Joints without gains that have a stiffness are springs. Joints
    that are in no leg stay at zero. soles: links of the left and the right sole.
    """

    def __init__(self, model: Model, soles: tuple[str, str]) -> None:
        if model.base != "free":
            raise ModelError(f"{model.source}: a robot on a fixed base cannot stand")
        self.model = model
        self.soles = soles
        self.legs = tuple(LegKinematics(model, sole) for sole in soles)
        sprung = [
            joint
            for joint in model.joints
            if joint.joint_type != FREE
            and joint.name not in model.gains
            and model.system.stiffness[joint.v_index] > 0.0
        ]
        self._sprung_q = np.array([joint.q_index for joint in sprung], dtype=np.int64)
        self._sprung_v = np.array([joint.v_index for joint in sprung], dtype=np.int64)
        self._q = model.neutral()
        # Offsets of the legs' targets from the soles: the springs' deflections.
        self._lead_p = np.zeros((2, 3))
        self._lead_R = np.tile(np.eye(3), (2, 1, 1))

    def solve(self, stance: Stance) -> np.ndarray:
        """Return the configuration q (nq,).

        Raises UnreachableError if a leg is too short, ModelError if the iteration fails.
        """
        q = self._q
        q[2] = stance.waist_height
        for _ in range(_ITERATION_LIMIT):
            self._place_legs(stance)
            self._yield_springs(stance)
            error = stance.com - center_of_mass(self.model, q)[:2]
            if max(self._correct_aim(stance), np.abs(error).max()) < _TOLERANCE:
                return q.copy()
            q[:2] += error
        raise ModelError(f"{self.model.source}: found no posture that balances on {stance}")

    def _place_legs(self, stance: Stance) -> None:
        for side, leg in enumerate(self.legs):
            at = stance.soles[side] + self._lead_p[side] - self._q[:3]
            self._q[leg.q_index] = leg.solve(at, self._lead_R[side])

    def _yield_springs(self, stance: Stance) -> None:
        """Set the springs' deflections under the load of `stance` on the soles."""
        weight = self.model.mass * STANDARD_GRAVITY
        wrenches = {}
        for sole, fraction, (x, y) in zip(self.soles, stance.shares, stance.pressures):
            force = weight * fraction
            wrenches[sole] = (0.0, 0.0, force, y * force, -x * force, 0.0)
        zeros = np.zeros(self.model.nv)
        effort = inverse_dynamics(self.model, self._q, zeros, zeros, wrenches)
        system, k = self.model.system, self._sprung_v
        self._q[self._sprung_q] = system.rest[k] - effort[k] / system.stiffness[k]

    def _correct_aim(self, stance: Stance) -> float:
        """Subtract the sole errors from the targets. Return the largest error [m or rad]."""
        largest = 0.0
        for side, sole in enumerate(self.soles):
            p, R = link_pose(self.model, self._q, sole)
            error = stance.soles[side] - p
            self._lead_p[side] += error
            self._lead_R[side] = R.T @ self._lead_R[side]
            largest = max(largest, np.abs(error).max(), np.abs(R - np.eye(3)).max())
        return largest


def why_beyond_limits(
    model: Model, what: str, name: str, angles, speed: float, effort: float = 0.0
) -> str:
    """Return a text that names the limit of a joint that a motion exceeds, or "".

    Args:
        model: model of the robot.
        what: name of the motion in the text.
        name: name of the joint.
        angles: all positions of the joint [rad].
        speed: largest speed [rad/s].
        effort: largest effort [Nm].
    """
    system, k, low, high = model.system, model.joint(name).v_index, angles.min(), angles.max()
    lower, upper, fastest = system.lower[k], system.upper[k], system.velocity_limit[k]
    strongest, text = system.effort_limit[k], ""
    if low < lower or high > upper:
        text = f"takes joint {name!r} from {low:.3f} to {high:.3f} rad. The limits are "
        text += f"{lower:.3f} and {upper:.3f} rad"
    elif speed > fastest:
        text = f"moves joint {name!r} at up to {speed:.3f} rad/s. The limit is {fastest:.3f} rad/s"
    elif effort > strongest:
        text = f"needs up to {effort:.3g} Nm of joint {name!r}. The limit is {strongest:.3g} Nm"
    return f"{model.source}: {what} {text}" if text else ""


def half_sitting(model: Model, soles, outlines, ankle_heights) -> np.ndarray:
    """Return the half-sitting configuration (nq,), with the floor at z = 0.

    The base is level and above the origin. The knees bend like HRP-2's knees, or less if joints of
    the legs would come near their limits. The centre of mass is above the middle of the soles'
    length. The soles are as far apart as with straight legs, or farther if the soles would be too
    near each other. All other joints are at zero, or as near to zero as their limits allow. Springs
    are undeformed.

    Args:
        model: model of the robot.
        soles: links of the left and right sole.
        outlines: corners of the soles (k, 2) [m].
        ankle_heights: heights of the ankles above the soles [m].

    Raises:
        UnreachableError: or ModelError, if no such posture exists.
    """
    legs = [leg_of(model, sole) for sole in soles]
    positions = [link_pose(model, resting(model), sole)[0] for sole in soles]
    inner = 0.5 * (outlines[1][:, 1].max() - outlines[0][:, 1].min())
    gap = 0.5 * _LEAST_GAP * min(leg.longest for leg in legs)
    half = max(0.5 * (positions[0][1] - positions[1][1]), inner + gap)
    middle = float(np.mean([0.5 * (o[:, 0].min() + o[:, 0].max()) for o in outlines]))
    result = _freest(model, legs, ankle_heights, half, middle, positions)
    if result is None:
        raise UnreachableError(
            f"{model.source}: the legs cannot bring the soles to level positions "
            f"{2.0 * half:.3f} m apart with bent knees"
        )
    _check_limits(model, result, [name for leg in legs for name in leg.joint_names])
    return result


def _balanced(model: Model, legs, height: float, half: float, middle: float, positions):
    """Return the posture with level soles below the centre of mass.

    height: height of the base above the soles [m]. half: half of the distance between the soles
    [m]. middle: position of the soles' middle ahead of the sole links [m].
    """
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
    """Return the configuration (nq,) with all joints at zero, or at the limit nearest to zero."""
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
                f"{model.source}: half-sitting needs joint {name!r} at {q[joint.q_index]:.3f} "
                f"rad, outside its limits of {lower:.3f} and {upper:.3f} rad"
            )


def _freest(model: Model, legs, ankle_heights, half: float, middle: float, positions):
    """Return the reachable posture with the largest margin to the joint limits, or None."""
    result, most = None, -np.inf
    for stretch in _STRETCHES:
        height = min(
            stretch * leg.longest + ankle - leg.hip_center[2]
            for leg, ankle in zip(legs, ankle_heights)
        )
        try:
            q = _balanced(model, legs, height, half, middle, positions)
        except UnreachableError:
            continue
        margin = _least_margin(model, q, legs)
        if margin > most + _CLEARLY:
            result, most = q, margin
        if margin >= _MARGIN:
            break
    return result
