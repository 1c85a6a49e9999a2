"""Keeps a robot on its reference motion by the forces of its feet.

The horizontal error of the centre of mass decides where the ZMP should be; the feet are then
turned and shifted against the springs above their soles, by as much as these springs yield under
the wrenches that make this ZMP. docs/control.md, "Stabiliser", derives it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hrpsim.control.controller import ControllerError, controlled_joints
from hrpsim.control.convex_polygon import inset, nearest_in
from hrpsim.control.foot import Foot
from hrpsim.control.state_estimation import Estimate
from hrpsim.control.walk_reference import WalkReference
from hrpsim.dynamics.functions import STANDARD_GRAVITY, link_jacobian, mass_matrix
from hrpsim.model.model import Model

_GRAVITY = -STANDARD_GRAVITY[2]
_TOUCHING = 0.05  # of the weight: a sole that bears more than that stands
_TALLEST_STEP = 0.03  # what the feet's heights may be made to differ from the reference [m]


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


@dataclass
class _FootState:
    """What a foot remembers about x and y of its sole."""

    yielded: list[float]  # turns of its springs, with their damping, under the torque [rad]
    answer: list[float]  # torque besides the desired one, to make the measured one right [Nm]


class Stabilizer:
    """Turns an estimate into positions of the joints, one control period ahead."""

    def __init__(
        self,
        model: Model,
        feet: tuple[Foot, Foot],
        reference: WalkReference,
        gains: Gains,
        period: float,
    ):
        self.feet, self.reference, self.gains, self.period = feet, reference, gains, period
        self.signals: dict[str, float | tuple] = {}
        joints = controlled_joints(model)
        self._leg_columns = [
            np.array([joints.index(name) for name in foot.leg.joint_names]) for foot in feet
        ]
        stiffness = np.array([model.gains.get(name, (0.0, 0.0))[0] or math.inf for name in joints])
        self._joint_yield = 1.0 / stiffness
        self._leg_yield = [self._joint_yield[columns] for columns in self._leg_columns]
        # Ankle roll turns about x, ankle pitch about y, in series with the springs.
        self._ankle_yield = [compliance[[5, 4]].tolist() for compliance in self._leg_yield]
        self._spring_yield = [(1.0 / foot.turn_stiffness).tolist() for foot in feet]
        self._keep = [
            [
                math.exp(-period * k / c) if c > 0.0 and math.isfinite(k) else 0.0
                for k, c in zip(foot.turn_stiffness, foot.turn_damping)
            ]
            for foot in feet
        ]
        q = model.neutral()
        q[[model.joint(name).q_index for name in joints]] = reference.joint_positions[0]
        self._height_yield = self._leg_height_yield(model, q)
        self.natural_frequencies = _natural_frequencies(model, q, reference)
        self._zmp_gains = [
            _zmp_gains(w, gains.dcm_rate, period + gains.servo_lag)
            for w in self.natural_frequencies
        ]
        self._polygons = [
            None if polygon is None else inset(polygon, gains.support_margin).tolist()
            for polygon in reference.polygons
        ]
        low = [foot.outline.min(axis=0) + gains.support_margin for foot in feet]
        high = [foot.outline.max(axis=0) - gains.support_margin for foot in feet]
        self._cop_range = list(zip(np.array(low).tolist(), np.array(high).tolist()))
        heights = np.array([[foot.pivot_height] for foot in feet])
        self._pivots = reference.sole_p + heights * reference.sole_R[:, :, :, 2]
        self._pivots -= reference.waist_p[:, None]
        self._weight = model.mass * _GRAVITY
        self._fading = math.exp(-period / gains.swing_time)
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._feet = [_FootState([0.0, 0.0], [0.0, 0.0]) for _ in self.feet]
        self._integral = [0.0, 0.0]
        self._difference = 0.0  # the left foot's height over the right one's, commanded [m]
        self._engaged = 0.0

    def _leg_height_yield(self, model: Model, q) -> float:
        """Return how far a leg gives way for each newton along the vertical [m/N]."""
        foot = self.feet[0]
        at = [model.joint(name).v_index for name in foot.leg.joint_names]
        reach = link_jacobian(model, q, foot.sole)[2, at]
        return float(reach**2 @ self._leg_yield[0]) + 1.0 / foot.slide_stiffness

    def update(self, estimate: Estimate, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return where the joints should be at the end of the period, and their servos' lead.

        Both (joints,) [rad]; the lead makes up for what servos yield under load. k: the sample of
        the reference that the estimate belongs to.
        """
        reference, gains = self.reference, self.gains
        last = reference.count - 1
        k, ahead = min(k, last), min(k + 1, last)
        self._engaged = min(self._engaged + self.period / gains.engage_time, 1.0)
        s = self._engaged
        s = s * s * (3.0 - 2.0 * s)
        contact = reference.contact[k]
        left, right = reference.sole_p[k]
        w_left, w_right = estimate.weights
        anchor = (w_left * left + w_right * right).tolist()

        zmp, com = self._desired_zmp(estimate, k, ahead, anchor, s)
        share = self._left_share(zmp, left, right, contact)
        self.signals.update(share=share, loads=estimate.loads)
        self._follow_loads(estimate, share, contact, s)
        forces, torques = self._foot_wrenches(estimate, k, ahead, zmp, com, share)
        positions = reference.joint_positions[ahead].copy()
        efforts = reference.joint_efforts[ahead].copy()
        targets = self._leg_targets(estimate, k, ahead, share, forces, torques, s)
        for side, foot in enumerate(self.feet):
            columns = self._leg_columns[side]
            positions[columns] = foot.leg.solve(*targets[side], clamp=True)
            force, torque = forces[side], torques[side]
            S, (px, py, pz) = estimate.leg_motions[side], estimate.pivots[side]
            fx, fy, fz = force
            moment = (
                torque[0] + py * fz - pz * fy,
                torque[1] + pz * fx - px * fz,
                px * fy - py * fx,
            )
            efforts[columns] -= S @ (*moment, fx, fy, fz)
        return positions, s * self._joint_yield * efforts

    def _desired_zmp(self, estimate: Estimate, k: int, ahead: int, anchor, s: float):
        """Return the desired ZMP and the estimated centre of mass in the reference's world."""
        reference, gains = self.reference, self.gains
        com = [anchor[i] + float(estimate.com[i]) for i in range(3)]
        planned, planned_rate = reference.com[k].tolist(), reference.com_velocity[k].tolist()
        rate = estimate.com_velocity.tolist()
        goal, dcm_error = [0.0, 0.0], [0.0, 0.0]
        zmp_planned = reference.zmp[ahead].tolist()
        for i in (0, 1):
            error, error_rate = com[i] - planned[i], rate[i] - planned_rate[i]
            for_position, for_rate = self._zmp_gains[i]
            dcm_error[i] = error + error_rate / self.natural_frequencies[i]
            shift = for_position * error + for_rate * error_rate + self._integral[i]
            goal[i] = zmp_planned[i] + s * shift
        polygon = self._polygons[reference.phase[k]]
        zmp = goal if polygon is None else nearest_in(polygon, *goal)
        for i in (0, 1):
            held_back = abs(goal[i] - zmp[i]) > 1e-9
            if not (held_back and (goal[i] - zmp[i]) * dcm_error[i] > 0.0):
                grown = self._integral[i] + self.period * gains.integral_rate * dcm_error[i]
                self._integral[i] = min(max(grown, -gains.integral_limit), gains.integral_limit)
        self.signals = {
            "zmp_reference": tuple(zmp_planned),
            "zmp_desired": tuple(zmp),
            "zmp_measured": (anchor[0] + estimate.zmp[0], anchor[1] + estimate.zmp[1]),
            "com": tuple(com),
            "com_reference": tuple(planned),
            "dcm_error": tuple(dcm_error),
        }
        return zmp, com

    def _left_share(self, zmp, left, right, contact) -> float:
        """Return the part of the load that the left foot should bear."""
        if not (contact[0] and contact[1]):
            return 0.5 if contact[0] == contact[1] else float(contact[0])
        dx, dy = float(left[0] - right[0]), float(left[1] - right[1])
        along = (zmp[0] - float(right[0])) * dx + (zmp[1] - float(right[1])) * dy
        return min(max(along / (dx * dx + dy * dy), 0.0), 1.0)

    def _foot_wrenches(self, estimate: Estimate, k: int, ahead: int, zmp, com, share: float):
        """Return the floor's desired force on each foot [N], and torque about its pivot [Nm].

        Along the world's axes; all forces point from the ZMP to the centre of mass.
        """
        reference = self.reference
        lift = float(reference.vertical_force[ahead])
        height = max(com[2] - float(reference.sole_p[k, :, 2].min()), 0.1)
        slope_x, slope_y = (com[0] - zmp[0]) / height, (com[1] - zmp[1]) / height
        soles = reference.sole_p[k].tolist()
        rest = [share * soles[0][i] + (1.0 - share) * soles[1][i] for i in (0, 1)]
        forces, torques = [], []
        for side, part in enumerate((share, 1.0 - share)):
            fz = part * lift
            fx, fy = slope_x * fz, slope_y * fz
            yaw = float(reference.sole_yaw[k, side])
            c, s = math.cos(yaw), math.sin(yaw)
            (x_low, y_low), (x_high, y_high) = self._cop_range[side]
            rx, ry = zmp[0] - rest[0], zmp[1] - rest[1]
            x = min(max(c * rx + s * ry, x_low), x_high)
            y = min(max(c * ry - s * rx, y_low), y_high)
            rx, ry, h = c * x - s * y, s * x + c * y, self.feet[side].pivot_height
            forces.append((fx, fy, fz))
            torques.append((ry * fz + h * fy, -h * fx - rx * fz))
        return forces, torques

    def _follow_loads(self, estimate: Estimate, share: float, contact, s: float) -> None:
        """Raise the foot that bears too much, lower the other one."""
        gains = self.gains
        left, right = estimate.loads
        total = max(left, 0.0) + max(right, 0.0)
        if total > 0.1 * self._weight:
            excess = max(left, 0.0) - share * total
            self._difference += (
                s * self.period / gains.force_time * self._height_yield * 2.0 * excess
            )
        if not (contact[0] and contact[1]):
            touched = min(left, right) > _TOUCHING * self._weight
            if not touched:
                self._difference *= self._fading
        self._difference = min(max(self._difference, -_TALLEST_STEP), _TALLEST_STEP)

    def _leg_targets(self, estimate, k: int, ahead: int, share: float, forces, torques, s: float):
        """Return position and orientation of each sole in the waist's frame, springs at rest."""
        reference = self.reference
        R_waist = reference.waist_R[ahead]
        lean = estimate.waist_R @ reference.waist_R[k].T
        rx, ry = 0.5 * (lean[2, 1] - lean[1, 2]), 0.5 * (lean[0, 2] - lean[2, 0])
        self.signals["lean"] = (float(rx), float(ry))
        E = _small_turn(s * rx, s * ry)
        R_real = E @ R_waist
        R_soles, pivots = reference.sole_R[ahead], self._pivots[ahead]
        middle = share * pivots[0] + (1.0 - share) * pivots[1]
        held = E @ middle - middle
        raised = ((1.0 - share) * self._difference, -share * self._difference)
        targets = []
        for side, foot in enumerate(self.feet):
            at = pivots[side] + held
            at[2] += raised[side] - s * forces[side][2] / foot.slide_stiffness
            tilt = self._sole_tilt(estimate, side, k, torques[side], forces[side][2], s)
            R = R_real.T @ (_small_turn(*tilt) @ R_soles[side])
            at = R_real.T @ at
            targets.append((at - foot.pivot_height * R[:, 2], R))
        return targets

    def _sole_tilt(self, estimate, side: int, k: int, torque, load: float, s: float):
        """Return by how much the ankle link leans (2,), about the world's x and y axes [rad]."""
        gains, memory = self.gains, self._feet[side]
        yaw = float(self.reference.sole_yaw[k, side])
        c, sine = math.cos(yaw), math.sin(yaw)
        wanted = (c * torque[0] + sine * torque[1], c * torque[1] - sine * torque[0])
        stands = estimate.loads[side] > _TOUCHING * self._weight
        tilt = [0.0, 0.0]
        for i in (0, 1):
            if stands:
                error = wanted[i] - estimate.pivot_torques[side][i]
                memory.answer[i] += s * self.period / gains.torque_time * error
            else:
                memory.answer[i] *= self._fading
            rest = self._spring_yield[side][i] * (s * wanted[i] + memory.answer[i])
            memory.yielded[i] = rest + (memory.yielded[i] - rest) * self._keep[side][i]
            tilt[i] = -memory.yielded[i] - self._ankle_yield[side][i] * memory.answer[i]
        return c * tilt[0] - sine * tilt[1], sine * tilt[0] + c * tilt[1]


def _zmp_gains(w: float, rate: float, T: float) -> tuple[float, float]:
    """Return what the ZMP gets for each metre of the centre of mass's error, and for each m/s.

    The error e follows  e'' = w^2 (e - z),  z' = (u - z) / T. Of the three poles one is the
    pendulum's own -w and one -rate; the third follows, so that z is not fed back.
    """
    third = 1.0 / T - w - rate
    if third <= 0.0:
        raise ControllerError(
            f"walk: dcm_rate {rate:g} 1/s is too fast for a ZMP that lags by {T:g} s; it must be "
            f"below {1.0 / T - w:.3g}"
        )
    for_position = 1.0 + T * rate * third / w
    for_rate = T + T * (w * rate + w * third + rate * third) / (w * w)
    return for_position, for_rate


def _natural_frequencies(model: Model, q, reference: WalkReference) -> tuple[float, float]:
    """Return the toppling rates [1/s] along x and y of the whole body, rigid, about its sole."""
    M = mass_matrix(model, q)[:6, :6]
    m = M[0, 0]
    # About the waist's origin, along the waist's axes; the lever is read off the coupling block.
    x, y, z = M[1, 5] / m, -M[0, 5] / m, M[0, 4] / m
    height = float(reference.com[0, 2] - reference.sole_p[0, :, 2].min())
    about_x = M[3, 3] - m * (y * y + z * z)
    about_y = M[4, 4] - m * (x * x + z * z)
    return tuple(
        math.sqrt(m * _GRAVITY * height / (m * height * height + inertia))
        for inertia in (about_y, about_x)
    )


def _small_turn(x: float, y: float) -> np.ndarray:
    """Return the rotation (3, 3) by the vector (x, y, 0) [rad]."""
    square = x * x + y * y
    a = 1.0 - square / 6.0
    b = 0.5 - square / 24.0
    return np.array(
        [
            [1.0 - b * y * y, b * x * y, a * y],
            [b * x * y, 1.0 - b * x * x, -a * x],
            [-a * y, a * x, 1.0 - b * square],
        ]
    )
