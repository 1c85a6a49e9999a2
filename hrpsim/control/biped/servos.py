# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Gains of position servos from the inertias that they move, and a check against the weight."""

import math
from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import ModelError
from hrpsim.control.motion.numerical_leg import leg_of
from hrpsim.engine.dynamics.functions import center_of_mass, link_jacobian, link_pose, mass_matrix
from hrpsim.model.model import Model
from hrpsim.model.shapes.placement import quaternion_of, rotation_matrix
from hrpsim.model.system import FREE

# HRP-2's legs have 5000 Nm/rad for about 30 kg m^2 about the ankle, a frequency of 2 Hz. Three
# robots of 58 to 90 kg walk equally well with 1.5 to 3 Hz and damping ratios of 0.04 to 0.1. With
# hip yaw joints of lower stiffness the feet slip. With damping ratios of 0.14 and more some joints
# vibrate.
_LEG_RATE = 2.0 * math.pi * 3.0  # natural frequency at a leg's joint with a fixed foot [rad/s]
_LEG_DAMPING_RATIO = 0.1  # servos receive the planned velocities, so dampers act only on errors
_RATE = 2.0 * math.pi * 10.0  # natural frequency of all other joints [rad/s]
_DAMPING_RATIO = 0.7
_SOFTEST = 1.0  # least stiffness [Nm/rad]
# Largest deflection of a servo under the weight [rad]. A biped with servo deflections of 0.08 to
# 0.33 fell before the first step was complete. With 0.036 it walked all ten steps.
MOST_DEFLECTION = 0.1
_STEP = 1e-3  # displacement of the base for finite differences [m, rad]
_FACTORS = np.geomspace(1.0, 1e4, 400)


def default_gains(
    model: Model, q, legs: tuple[tuple[str, tuple[str, ...]], ...]
) -> dict[str, tuple[float, float]]:
    """Return (kp, kd) [Nm/rad, Nms/rad] of the joints that have neither gains nor springs.

    The gains give an inertia a natural frequency and a damping ratio. For all joints of both legs,
    the inertia is the largest that any leg joint moves with the foot fixed and all other joints
    rigid. The frequency is 3 Hz, the ratio 0.1. For another joint, the inertia is the inertia that
    the joint moves. The frequency is 10 Hz, the ratio 0.7.

    Args:
        model: model of the robot.
        q: posture (nq,) for which the inertias are computed.
        legs: (sole, joints) of each leg.
    """
    M = mass_matrix(model, q)
    carried = max(
        _inertia_over_foot(M, J, model.joint(name).v_index)
        for J, joints in ((link_jacobian(model, q, sole), joints) for sole, joints in legs)
        for name in joints
    )
    without = [j for j in model.joints if j.joint_type != FREE and j.name not in model.gains]
    gains = {
        joint.name: _servo(float(M[joint.v_index, joint.v_index]), _RATE, _DAMPING_RATIO)
        for joint in without
        if not model.system.stiffness[joint.v_index] > 0.0
    }
    of_legs = _servo(carried, _LEG_RATE, _LEG_DAMPING_RATIO)
    in_legs = chain.from_iterable(joints for _, joints in legs)
    return {**gains, **dict.fromkeys(set(gains).intersection(in_legs), of_legs)}


def _servo(inertia: float, rate: float, damping_ratio: float) -> tuple[float, float]:
    kp, kd = max(inertia * rate**2, _SOFTEST), 2.0 * damping_ratio * inertia * rate
    return float(f"{kp:.4g}"), float(f"{kd:.4g}")


def _inertia_over_foot(M, J, k: int) -> float:
    """Return the inertia that degree of freedom `k` moves if the foot is fixed [kg m^2].

    M: mass matrix. J: Jacobian of the foot.
    """
    base = -np.linalg.solve(J[:, :6], J[:, k])
    return float(M[k, k] + 2.0 * M[k, :6] @ base + base @ M[:6, :6] @ base)


class StaticHold(NamedTuple):
    """The deflection of the legs' servos under the weight of the robot on both soles."""

    joints: tuple[str, ...]  # joints with at least half of the largest deflection
    deflection: float  # largest deflection [rad], infinite if gravity exceeds the servos' efforts
    factor: float  # factor on kp of all leg joints for at most MOST_DEFLECTION

    def __str__(self) -> str:
        if math.isinf(self.deflection):
            return "are softer than the weight of the robot"
        return f"yield by {self.deflection:.3f} rad under the weight ({MOST_DEFLECTION:g} at most)"


def _stiffness(model: Model, names: list[str]) -> np.ndarray:
    """Return the stiffness of joints, servo and spring together [Nm/rad]."""
    servos = np.array([model.gains.get(name, (0.0, 0.0))[0] for name in names])
    return servos + model.system.stiffness[[model.joint(name).v_index for name in names]]


def _derivatives(function: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first (n, 6) and second (6, 6, n) derivatives at zero of a function of x (6,)."""
    axes = _STEP * np.eye(6)
    first = np.column_stack([(function(a) - function(-a)) / (2.0 * _STEP) for a in axes])
    second = np.empty((6, 6, len(first)))
    for i, j in zip(*np.triu_indices(6)):
        a, b = axes[i], axes[j]
        bend = function(a + b) - function(a - b) - function(b - a) + function(-a - b)
        second[i, j] = second[j, i] = bend / (4.0 * _STEP**2)
    return first, second


def static_hold(model: Model, q, soles: tuple[str, str]) -> StaticHold:
    """Return the deflection of servos in the posture `q` (nq,) under gravity, by linear statics.

    The soles are fixed, and all joints except the legs' joints are rigid. The angles a (12,) of the
    legs and the height z of the centre of mass are functions of the base's displacement x (6,).

    C = da/dx and K = C^T kp C. The servos' torques are t = -kp C K^-1 m g dz/dx. The second
    derivative of the potential energy is K + G, where G = m g d2z/dx2 + t d2a/dx2. The equilibrium
    is stable if K + G is positive definite. The displacement is then x = -(K + G)^-1 m g dz/dx.

    With rigid hips and knees, the robot is an inverted pendulum on the ankles. The pendulum is
    stable if the sum of the ankles' kp exceeds m g h.
    """
    legs = [leg_of(model, sole) for sole in soles]
    feet = [link_pose(model, q, sole) for sole in soles]
    index = np.concatenate([leg.q_index for leg in legs])
    names = [name for leg in legs for name in leg.joint_names]
    kp = _stiffness(model, names)

    def moved(x) -> np.ndarray:
        """Return the legs' angles and the height of the centre of mass (13,) at displacement x."""
        row = np.array(q, dtype=np.float64)
        row[:3] += x[:3]
        turn = np.append(0.5 * x[3:], 1.0)
        turned = rotation_matrix(turn / np.linalg.norm(turn)) @ rotation_matrix(row[3:7])
        row[3:7] = quaternion_of(turned)
        p, R = link_pose(model, row, model.base_link)
        for leg, (p_foot, R_foot) in zip(legs, feet):
            row[leg.q_index] = leg.solve(R.T @ (p_foot - p), R.T @ R_foot)
        return np.append(row[index], center_of_mass(model, row)[2])

    first, curvature = _derivatives(moved)
    weight = model.mass * STANDARD_GRAVITY
    C, slope = first[:-1], weight * first[-1]
    K = C.T @ (kp[:, None] * C)
    torques = kp * (C @ np.linalg.lstsq(K, -slope)[0])
    G = np.tensordot(curvature, np.append(torques, weight), 1)
    fits = (f for f in _FACTORS if _yield(C, f * K + G, slope).max() <= MOST_DEFLECTION)
    factor = next(fits, math.inf)
    shares = deflections = _yield(C, K + G, slope)
    if math.isinf(deflections[0]):
        shares = np.abs(C @ np.linalg.eigh(K + G)[1][:, 0])
    chosen = tuple(name for name, fraction in zip(names, shares) if fraction >= 0.5 * shares.max())
    return StaticHold(chosen, float(deflections.max()), float(factor))


def check_hold(model: Model, hold: StaticHold) -> None:
    """Raise ModelError, with the gains and a remedy, if the legs do not hold the weight."""
    if hold.deflection <= MOST_DEFLECTION:
        return
    kp = {name: model.gains.get(name, (0.0,))[0] for name in hold.joints}
    servos = ", ".join(f"{name} ({value:g} Nm/rad)" for name, value in kp.items())
    more = "stiffness" if math.isinf(hold.factor) else f"{hold.factor:.1f} times their kp"
    raise ModelError(
        f"{model.source}: the gains do not hold the robot. The servos of {servos} {hold}. Give "
        f"the legs {more} in the description. Without gains there, hrpsim chooses the gains from "
        "the inertias"
    )


def _yield(C, stiffness, slope) -> np.ndarray:
    """Return the deflections of the joints (12,) [rad], infinite for an unstable equilibrium.

    stiffness: K + G. slope: m g dz/dx. `static_hold` defines the symbols.
    """
    if np.linalg.eigvalsh(stiffness)[0] <= 0.0:
        return np.full(len(C), np.inf)
    return np.abs(C @ np.linalg.solve(stiffness, slope))
