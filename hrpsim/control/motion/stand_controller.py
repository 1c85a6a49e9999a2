# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The standing demo and its controller: half-sitting, squat, sway, steps in place.

Keyframes give the zero-moment point, the waist's height and the feet at rest. Quintics join the
keyframes. The centre of mass follows from the zero-moment point, and the legs follow from the
centre of mass.

A servo exerts the effort kp (command - q) - kd dq/dt. The joint therefore lags behind the command
and deflects under load. For the effort tau that the motion needs, the command is  q + (tau + kd
dq/dt) / kp.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_banded

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import ModelError
from hrpsim.common.schema import integer, listing, name, numeric
from hrpsim.common.values import NOT_NEGATIVE, Range
from hrpsim.control.framework.controller import (
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
)
from hrpsim.control.framework.plugins import PERIOD, checked
from hrpsim.control.motion.motion_sequence import smooth_step, through_rests
from hrpsim.control.motion.posture import PostureSolver, Stance, why_beyond_limits
from hrpsim.engine.dynamics.along_motion import inverse_dynamics_along
from hrpsim.engine.dynamics.functions import center_of_mass, link_pose
from hrpsim.model.model import Joint, Model
from hrpsim.model.system import FREE

HALF_SITTING_LEG = (0.0, 0.0, -0.4538, 0.8727, -0.4189, 0.0)  # as published for HRP-2 [rad]
_KNOT_PERIOD = 0.02  # [s]
_NEAR = 0.1  # [rad]
_MOTION_PARAMETERS = ("soles", "squat_depth", "step_height", "steps_per_foot")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Keyframe:
    """The state at the end of a phase of the standing demo.

    phase: name. duration: time from the previous keyframe [s].
    """

    phase: str
    duration: float
    forward: float = 0.0  # displacement of the zero-moment point from half-sitting [m]
    aside: float = 0.0  # zero-moment point: -1 right sole, 0 middle, 1 left sole
    lowered: float = 0.0  # depth of the waist below half-sitting [m]
    lifts: tuple[float, float] = (0.0, 0.0)  # heights of the left and the right sole [m]


class StandMotion:
    """Joint commands against time that take a humanoid through the standing demo.

    Planning takes about a second.

    Args:
        model: robot with legs of HRP-2's type, gains, and a free base at the waist.
        start: positions of the joints at t = 0, {joint name: rad}. A missing driven joint starts in
            half-sitting, in which all joints except the legs are at zero. Names of other joints are
            ignored.
        soles: links of the left and the right sole, with z axes up on the ground.
        squat_depth: [m].
        step_height: [m].
        steps_per_foot: number of steps.

    Attributes:
        duration: duration of the motion [s].
        joint_names: the joints with gains, in the model's order.

    Raises:
        UnreachableError: if a leg is too short.
        ModelError: if the model does not have such legs, or if the motion exceeds a joint's limits.
    """

    def __init__(
        self,
        model: Model,
        start: Mapping[str, float] | None = None,
        *,
        soles: tuple[str, str] = ("l_sole", "r_sole"),
        squat_depth: float = 0.10,
        step_height: float = 0.04,
        steps_per_foot: int = 2,
    ) -> None:
        solver = PostureSolver(model, soles)
        self.joint_names = tuple(joint.name for joint in driven_joints(model))
        script = _script(squat_depth, step_height, steps_per_foot)
        self._ends = np.cumsum([frame.duration for frame in script])
        self._phases = [frame.phase for frame in script]
        self.duration = float(self._ends[-1])
        knots = np.arange(round(self.duration / _KNOT_PERIOD) + 1) * _KNOT_PERIOD
        stances = _stances(model, solver, script, knots)
        postures = np.array([solver.solve(stance) for stance in stances])
        shares = [stance.shares for stance in stances]
        commands = feedforward_commands(model, soles, knots, postures, shares)
        begin = {name: 0.0 for name in self.joint_names}
        for leg in solver.legs:
            begin.update(zip(leg.joint_names, HALF_SITTING_LEG))
        begin.update(start or {})
        # Change from the present posture to the first posture during the first part of the motion.
        offset = np.array([begin[name] for name in self.joint_names]) - commands[0]
        commands += np.outer(1.0 - smooth_step(knots / self._ends[0]), offset)
        self._path = CubicSpline(knots, commands, bc_type="clamped")

    def joint_positions(self, t: float) -> np.ndarray:
        """Return the commanded positions (len(joint_names),) [rad] at time t [s].

        The positions are constant after the end of the motion.
        """
        return self._path(min(max(t, 0.0), self.duration))

    def phase(self, t: float) -> str:
        """Return the name of the phase of the motion at time t [s]."""
        k = int(np.searchsorted(self._ends, t, side="right"))
        return self._phases[min(k, len(self._phases) - 1)]


def _script(squat_depth: float, step_height: float, steps_per_foot: int) -> list[_Keyframe]:
    middle = _Keyframe("half-sitting", 2.0)
    script = [
        middle,
        replace(middle, phase="squat", duration=1.6, lowered=squat_depth),
        replace(middle, phase="squat", duration=1.6),
        _Keyframe("sway", 1.0, aside=0.5, forward=0.015),
        _Keyframe("sway", 1.5, aside=-0.5, forward=-0.015),
        _Keyframe("sway", 1.0),
    ]
    for _ in range(steps_per_foot):
        for phase, aside, lifts in (
            ("step with the right foot", 1.0, (0.0, step_height)),
            ("step with the left foot", -1.0, (step_height, 0.0)),
        ):
            support = _Keyframe(phase, 1.2, aside=aside)
            up = replace(support, duration=0.7, lifts=lifts)
            down = replace(support, duration=0.7)
            script += [support, up, down]
    return [*script, replace(middle, duration=1.2), replace(middle, duration=1.0)]


def _stances(model: Model, solver: PostureSolver, script, knots) -> list[Stance]:
    """Return the required posture at each time in `knots`, for the keyframes `script`."""
    ends = np.cumsum([0.0, *(frame.duration for frame in script)])
    frames = [script[0], *script]

    def trajectory(of):
        return through_rests(ends, [of(frame) for frame in frames], knots)

    q = model.neutral()
    for leg in solver.legs:
        q[leg.q_index] = HALF_SITTING_LEG
    com = center_of_mass(model, q)
    soles = np.array([link_pose(model, q, sole)[0] for sole in solver.soles])
    floor = soles[:, 2].mean()
    soles[:, 2] -= floor
    center, half = soles.mean(axis=0)[:2], 0.5 * (soles[0] - soles[1])[:2]

    aside = trajectory(lambda frame: frame.aside)
    forward = trajectory(lambda frame: (com[0] - center[0] + frame.forward, 0.0))
    centers = center_of_mass_for(
        center + aside[:, None] * half + forward, _KNOT_PERIOD, com[2] - floor
    )
    heights = -floor - trajectory(lambda frame: frame.lowered)
    lifts = trajectory(lambda frame: frame.lifts)
    stances = []
    for k in range(len(knots)):
        stances.append(
            Stance(
                com=centers[k],
                waist_height=heights[k],
                soles=soles + np.outer(lifts[k], (0.0, 0.0, 1.0)),
                shares=np.array([1.0 + aside[k], 1.0 - aside[k]]) / 2.0,
                pressures=np.array([forward[k], forward[k]]),
            )
        )
    return stances


def driven_joints(model: Model) -> list[Joint]:
    """Return the joints that have gains, in the model's order."""
    return [j for j in model.joints if j.joint_type != FREE and j.name in model.gains]


def feedforward_commands(model: Model, soles, times, motion, shares) -> np.ndarray:
    """Return servo commands (count, driven joint count) [rad] for a motion, with feed-forward.

    The commands compensate the servos' lag and deflection.

    Args:
        model: model of the robot.
        soles: links of the left and the right sole.
        times: (count,) [s].
        motion: configurations (count, nq) at these times, at rest before and after. The base is
            level and does not rotate.
        shares: fractions of the ground's wrench on the soles (count, 2).

    Raises:
        ModelError: the motion exceeds a joint's limits.
    """
    path = CubicSpline(times, motion, bc_type="clamped")
    rates, accelerations = path(times, 1), path(times, 2)
    driven = driven_joints(model)
    for joint in driven:
        angles, speeds = motion[:, joint.q_index], np.abs(rates[:, joint.q_index])
        if why := why_beyond_limits(model, "the motion", joint.name, angles, speeds.max()):
            raise ModelError(why)
    at_q = [joint.q_index for joint in driven]
    at_v = [joint.v_index for joint in driven]
    kp, kd = np.array([model.gains[joint.name] for joint in driven]).T
    v, dv = _without_quaternion(rates), _without_quaternion(accelerations)
    needed = inverse_dynamics_along(model, motion, v, dv)[:, :6]
    borne = [_borne(model, q, soles, *loads) for q, *loads in zip(motion, shares, needed)]
    efforts = inverse_dynamics_along(model, motion, v, dv, soles, borne)
    return motion[:, at_q] + (efforts[:, at_v] + kd * v[:, at_v]) / kp


def _without_quaternion(rates: np.ndarray) -> np.ndarray:
    return np.concatenate([rates[:, :3], np.zeros((len(rates), 3)), rates[:, 7:]], axis=1)


def _borne(model: Model, q, soles, shares, base_wrench) -> list[np.ndarray]:
    """Divide the wrench `base_wrench` on the base between the soles.

    Each sole bears a fraction `shares` of the force, at the sole's origin. The remaining moment is
    divided by the same fractions. The results are in the soles' frames.
    """
    R_base = link_pose(model, q, model.base_link)[1]
    force, moment = R_base @ base_wrench[:3], R_base @ base_wrench[3:]
    poses = [link_pose(model, q, sole) for sole in soles]
    for fraction, (p, _) in zip(shares, poses):
        moment = moment - np.cross(p - q[:3], fraction * force)
    return [
        fraction * np.concatenate([R.T @ force, R.T @ moment])
        for fraction, (_, R) in zip(shares, poses)
    ]


def center_of_mass_for(zmp, period: float, height: float) -> np.ndarray:
    """Return the motion of the centre of mass for a motion of the ZMP [m], with the same shape.

    The cart-table equation  x - (height / gravity) d2x/dt2 = zmp  (Kajita et al. 2003, eq. 7), with
    central differences for the acceleration, is one tridiagonal system. The result is the only
    bounded solution of this equation.

    Args:
        zmp: zero-moment points (count, ...) [m], at rest before the first and after the last.
        period: time between the points [s].
        height: height of the centre of mass above the floor [m].
    """
    zmp = np.asarray(zmp, dtype=np.float64)
    c = height / (STANDARD_GRAVITY * period * period)
    bands = np.empty((3, len(zmp)))
    bands[0], bands[1], bands[2] = -c, 1.0 + 2.0 * c, -c
    bands[1, [0, -1]] = 1.0 + c  # at rest: the neighbour outside the range equals the end
    return solve_banded((1, 1), bands, zmp)


class StandController(Controller):
    """Take a humanoid through half-sitting, squat, sway and steps in place.

    The parameters are:

    - `period` [s]: control period.
    - `duration` [s]: time after which the controller ends, 0 for the whole motion.
    - `soles`, `squat_depth`, `step_height`, `steps_per_foot`: as for StandMotion.

    The controller counts its own ticks, so the motion stays smooth if states are missed.
    """

    parameter_kinds = {
        "period": numeric(PERIOD),
        "duration": numeric(NOT_NEGATIVE),
        "soles": listing(name, 2, 2, "a list of two links"),
        "squat_depth": numeric(Range(0.0, 10.0, "m")),
        "step_height": numeric(Range(0.0, 10.0, "m")),
        "steps_per_foot": integer(0, 100),
    }

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Plan the motion from half-sitting. Raises ControllerError for an unknown parameter."""
        parameters = checked("StandController", self.parameter_kinds, parameters)
        self.period = parameters.get("period", self.period)
        self._duration = parameters.get("duration", 0.0)
        self._options = {k: v for k, v in parameters.items() if k in _MOTION_PARAMETERS}
        self._model = model
        self._joints = controlled_joints(model)
        self._plan({})

    def initialize(self, state: State) -> None:
        """Plan again if the robot is not in half-sitting."""
        if not np.allclose(state.joint_positions, self._positions(0.0), atol=_NEAR):
            self._plan(dict(zip(self._joints, state.joint_positions)))
        self._tick = 0
        self._phase = ""

    def control(self, state: State) -> Command:
        """Return the joint positions for the end of the next control period."""
        t = self._tick * self.period
        self._tick += 1
        if self.motion.phase(t) != self._phase:
            self._phase = self.motion.phase(t)
            logger.info("%s from %.2f s", self._phase, t)
        self.finished = t >= min(self.motion.duration, self._duration or self.motion.duration)
        return Command(positions=self._positions(t))

    def _plan(self, start: dict[str, float]) -> None:
        self.motion = StandMotion(self._model, start, **self._options)
        indices = {joint: k for k, joint in enumerate(self.motion.joint_names)}
        for joint in self._joints:
            if joint not in indices:
                raise ControllerError(f"StandController: joint {joint!r} has no gains. Set gains")
        self._indices = [indices[joint] for joint in self._joints]

    def _positions(self, t: float) -> np.ndarray:
        return self.motion.joint_positions(t)[self._indices]
