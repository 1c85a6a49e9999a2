# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Upright postures of a biped: centre of mass over a point, soles flat at given positions.

Rubber bushes deflect by load / stiffness of the model; the legs compensate for it.
"""

from typing import NamedTuple

import numpy as np

from hrpsim.constants import STANDARD_GRAVITY
from hrpsim.control.motion.leg_kinematics import LegKinematics
from hrpsim.dynamics.functions import center_of_mass, inverse_dynamics, link_pose
from hrpsim.errors import ModelError
from hrpsim.model.model import Model
from hrpsim.model.system import FREE

_TOLERANCE = 1e-6  # [m]; of the sole's turn [rad]
_ITERATION_LIMIT = 30


class Stance(NamedTuple):
    """Requirements of a posture, in the world: z up, waist level, soles level.

    Row or entry 0 of `soles`, `shares` and `pressures` is the left foot's, 1 the right one's.
    """

    com: np.ndarray  # horizontal position of the centre of mass (2,) [m]
    waist_height: float  # [m]
    soles: np.ndarray  # positions of the sole links (2, 3) [m]
    shares: np.ndarray  # parts of the weight that the soles carry (2,)
    pressures: np.ndarray  # centres of pressure in the soles' frames (2, 2) [m]


class PostureSolver:
    """Finds postures one after another, each from the one before.

    The free base must be the waist. soles: the links of left and right sole. Joints without gains
    that have a stiffness are springs; joints that are in no leg stay at zero.
    """

    def __init__(self, model: Model, soles: tuple[str, str]):
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

        Raises UnreachableError where a leg is too short, ModelError if the iteration fails.
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
        raise ModelError(f"{self.model.source}: no posture found that carries {stance}")

    def _place_legs(self, stance: Stance) -> None:
        for side, leg in enumerate(self.legs):
            at = stance.soles[side] + self._lead_p[side] - self._q[:3]
            self._q[leg.q_index] = leg.solve(at, self._lead_R[side])

    def _yield_springs(self, stance: Stance) -> None:
        """Set the springs' deflections under the load of `stance` on the soles."""
        weight = self.model.mass * STANDARD_GRAVITY
        wrenches = {}
        for sole, share, (x, y) in zip(self.soles, stance.shares, stance.pressures):
            force = weight * share
            wrenches[sole] = (0.0, 0.0, force, y * force, -x * force, 0.0)
        rest = np.zeros(self.model.nv)
        effort = inverse_dynamics(self.model, self._q, rest, rest, wrenches)
        system, k = self.model.system, self._sprung_v
        self._q[self._sprung_q] = system.rest[k] - effort[k] / system.stiffness[k]

    def _correct_aim(self, stance: Stance) -> float:
        """Subtract the soles' errors from the targets; return the largest of them [m or rad]."""
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
    """Return which limit of a joint a motion, called `what`, exceeds; "" where it exceeds none.

    angles: all positions of the joint [rad]; speed [rad/s], effort [Nm]: the largest.
    """
    system, k, low, high = model.system, model.joint(name).v_index, angles.min(), angles.max()
    lower, upper, fastest = system.lower[k], system.upper[k], system.velocity_limit[k]
    strongest, text = system.effort_limit[k], ""
    if low < lower or high > upper:
        text = f"takes joint {name!r} from {low:.3f} to {high:.3f} rad; its limits are "
        text += f"{lower:.3f} and {upper:.3f} rad"
    elif speed > fastest:
        text = f"moves joint {name!r} at up to {speed:.3f} rad/s; its limit is {fastest:.3f} rad/s"
    elif effort > strongest:
        text = f"needs up to {effort:.3g} Nm of joint {name!r}; its limit is {strongest:.3g} Nm"
    return f"{model.source}: {what} {text}" if text else ""
