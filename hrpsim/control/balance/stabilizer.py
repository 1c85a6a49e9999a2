"""Keeps a robot on its reference motion by the forces of its feet.

The error of the centre of mass decides where the ZMP should be (zmp_feedback), the ZMP which forces
the feet should feel (foot_forces), and these how the ankle links lean against the springs of the
soles (foot_lean). docs/control.md, "Stabiliser", derives it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hrpsim.control.balance.foot import Foot
from hrpsim.control.balance.foot_forces import FootForces, left_share
from hrpsim.control.balance.foot_lean import FootLean
from hrpsim.control.balance.state_estimation import Estimate
from hrpsim.control.balance.walk_reference import WalkReference
from hrpsim.control.balance.zmp_feedback import ZmpFeedback, toppling_rates
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.dynamics.functions import STANDARD_GRAVITY, link_jacobian
from hrpsim.model.model import Model

_STANDS = 0.05  # of the weight: a sole that bears more than that stands
_HIGHEST_STEP = 0.03  # what the feet's heights may be made to differ from the reference [m]


@dataclass(frozen=True)
class Gains:
    """What can be set; config/walk_controller.yaml says how the values were chosen."""

    dcm_rate: float  # errors of the divergent component decay at this rate [1/s]
    servo_lag: float  # from the end of a control period until the floor's ZMP is there [s]
    integral_rate: float  # constant errors of the divergent component vanish at this rate [1/s]
    integral_limit: float  # most that the integral shifts the ZMP [m]
    support_margin: float  # the desired ZMP keeps this far from the support's edge [m]
    torque_time: float  # feet answer to errors of their measured torques in this time [s]
    force_time: float  # and to errors of the division of the load [s]
    swing_time: float  # in the air these answers fade in this time [s]
    engage_time: float  # the stabiliser takes over in this time at the start [s]


class Stabilizer:
    """Turns an estimate into positions of the joints, one control period ahead.

    signals: what the last call of `update` found, by name (docs/control.md lists them).
    """

    def __init__(
        self,
        model: Model,
        feet: tuple[Foot, Foot],
        reference: WalkReference,
        gains: Gains,
        period: float,
    ):
        self.feet, self.reference, self.gains = feet, reference, gains
        self.signals: dict[str, Any] = {}
        joints = controlled_joints(model)
        self._columns = [
            np.array([joints.index(name) for name in foot.leg.joint_names]) for foot in feet
        ]
        stiffness = [model.gains.get(name, (0.0, 0.0))[0] or math.inf for name in joints]
        self._joint_yields = 1.0 / np.array(stiffness)
        q = model.neutral()
        q[[model.joint(name).q_index for name in joints]] = reference.joint_positions[0]
        floor = float(reference.sole_p[0, :, 2].min())
        rates = toppling_rates(model, q, float(reference.com[0, 2]) - floor)
        self.feedback = ZmpFeedback(reference, rates, period + gains.servo_lag, period, gains)
        self._forces = FootForces(feet, gains.support_margin)
        self._leans = [
            # Ankle roll, the leg's last joint, turns about x; ankle pitch, before it, about y.
            FootLean(
                foot,
                self._joint_yields[columns[:3:-1]],
                period,
                gains.torque_time,
                gains.swing_time,
            )
            for foot, columns in zip(feet, self._columns)
        ]
        self._weight = -model.mass * STANDARD_GRAVITY[2]
        self._rising = 2.0 * self._leg_yield(model, q) * period / gains.force_time
        self._fading = math.exp(-period / gains.swing_time)
        self._engaging = period / gains.engage_time
        heights = np.array([[foot.pivot_height] for foot in feet])
        self._pivots = reference.sole_p + heights * reference.sole_R[:, :, :, 2]
        self._pivots -= reference.waist_p[:, None]
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.feedback.reset()
        for lean in self._leans:
            lean.reset()
        self._difference = 0.0  # the left foot's height over the right one's, commanded [m]
        self._engaged = 0.0

    def _leg_yield(self, model: Model, q) -> float:
        """Return how far a leg gives way for each newton along the vertical [m/N]."""
        foot = self.feet[0]
        at = [model.joint(name).v_index for name in foot.leg.joint_names]
        reach = link_jacobian(model, q, foot.sole)[2, at]
        return float(reach**2 @ self._joint_yields[self._columns[0]]) + 1.0 / foot.slide_stiffness

    def update(self, estimate: Estimate, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return where the joints should be at the end of the period, and their servos' lead.

        Both (joints,) [rad]; the lead makes up for what servos yield under load. k: the sample of
        the reference that the estimate belongs to.
        """
        reference = self.reference
        self.signals = {}
        ahead = min(k + 1, reference.count - 1)
        self._engaged = min(self._engaged + self._engaging, 1.0)
        part = self._engaged**2 * (3.0 - 2.0 * self._engaged)
        contact, soles = reference.contact[k], reference.sole_p[k].tolist()
        w_left, w_right = estimate.weights
        anchor = [w_left * left + w_right * right for left, right in zip(*soles)]
        com = [a + c for a, c in zip(anchor, estimate.com.tolist())]

        zmp = self.feedback.desired(com, estimate.com_velocity.tolist(), k, ahead, part)
        share = left_share(zmp, *soles, contact)
        lift, yaws = float(reference.vertical_force[ahead]), reference.sole_yaw[k].tolist()
        forces, torques = self._forces.wrenches(zmp, com, lift, share, soles, yaws)
        self._follow_loads(estimate.loads, share, contact, part)
        targets = self._leg_targets(estimate, k, ahead, share, forces, torques, part)

        positions = reference.joint_positions[ahead].copy()
        efforts = reference.joint_efforts[ahead].copy()
        for side, foot in enumerate(self.feet):
            columns = self._columns[side]
            positions[columns] = foot.leg.solve(*targets[side], clamp=True)
            wrench = _about_waist(forces[side], torques[side], estimate.pivots[side])
            efforts[columns] -= estimate.leg_motions[side] @ wrench
        self.signals.update(
            zmp_reference=tuple(reference.zmp[ahead].tolist()),
            zmp_desired=zmp,
            zmp_measured=(anchor[0] + estimate.zmp[0], anchor[1] + estimate.zmp[1]),
            com=tuple(com),
            com_reference=tuple(reference.com[k].tolist()),
            dcm_error=tuple(self.feedback.dcm_error),
            share=share,
            loads=estimate.loads,
        )
        return positions, part * self._joint_yields * efforts

    def _follow_loads(self, loads, share: float, contact, part: float) -> None:
        """Raise the foot that bears too much, lower the other one."""
        left, right = max(loads[0], 0.0), max(loads[1], 0.0)
        if left + right > _STANDS * self._weight:
            excess = left - share * (left + right)
            self._difference += part * self._rising * excess
        one_in_air = min(left, right) <= _STANDS * self._weight
        if one_in_air and not (contact[0] and contact[1]):
            self._difference *= self._fading
        self._difference = min(max(self._difference, -_HIGHEST_STEP), _HIGHEST_STEP)

    def _leg_targets(
        self, estimate, k: int, ahead: int, share: float, forces, torques, part: float
    ):
        """Return position and orientation of each sole in the waist's frame, springs at rest."""
        reference = self.reference
        turned = estimate.waist_R @ reference.waist_R[k].T
        roll, pitch = 0.5 * (turned[2, 1] - turned[1, 2]), 0.5 * (turned[0, 2] - turned[2, 0])
        self.signals["lean"] = (float(roll), float(pitch))
        lean = _small_turn(part * roll, part * pitch)
        to_waist = (lean @ reference.waist_R[ahead]).T
        R_soles, pivots = reference.sole_R[ahead], self._pivots[ahead]
        # Between the pivots the waist holds its place; around that the soles are as in the world.
        middle = share * pivots[0] + (1.0 - share) * pivots[1]
        held = lean @ middle - middle
        raised = ((1.0 - share) * self._difference, -share * self._difference)
        targets = []
        for side, foot in enumerate(self.feet):
            at = pivots[side] + held
            at[2] += raised[side] - part * forces[side][2] / foot.slide_stiffness
            yaw = float(reference.sole_yaw[k, side])
            stands = estimate.loads[side] > _STANDS * self._weight
            x, y = self._leans[side].update(
                _turned(torques[side], -yaw), estimate.pivot_torques[side], stands, part
            )
            R = to_waist @ (_small_turn(*_turned((x, y), yaw)) @ R_soles[side])
            targets.append((to_waist @ at - foot.pivot_height * R[:, 2], R))
        return targets


def _about_waist(force, torque, at) -> tuple[float, ...]:
    """Return moment then force about the waist's origin, of a force at `at` with a torque."""
    (fx, fy, fz), (x, y, z) = force, at.tolist()
    return torque[0] + y * fz - z * fy, torque[1] + z * fx - x * fz, x * fy - y * fx, fx, fy, fz


def _turned(vector, angle: float) -> tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    return c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]


def _small_turn(x: float, y: float) -> np.ndarray:
    """Return the rotation (3, 3) by the vector (x, y, 0) [rad], to the third order."""
    square = x * x + y * y
    a, b = 1.0 - square / 6.0, 0.5 - square / 24.0
    return np.array(
        [
            [1.0 - b * y * y, b * x * y, a * y],
            [b * x * y, 1.0 - b * x * x, -a * x],
            [-a * y, a * x, 1.0 - b * square],
        ]
    )
