# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A walk that is replanned at every touch-down, from the present motion.

Each plan has the next step and three more steps of the same kind. Only the next step is made. The
other steps let preview control look ahead. Position and velocity of the centre of mass continue
from the previous plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.leg_kinematics import UnreachableError
from hrpsim.control.motion.motion_sequence import smooth_step
from hrpsim.control.motion.posture import why_beyond_limits
from hrpsim.control.pattern.footsteps import SIDES, SMALLEST_GAP, Footstep, WalkError, least_gap
from hrpsim.control.pattern.gait import (
    Gait,
    Pace,
    Phase,
    contacts,
    ground_heights,
    phases_of,
    waist_rises,
    zmp_reference,
)
from hrpsim.control.pattern.preview_control import ARRIVAL, PreviewControl, PreviewState
from hrpsim.control.pattern.velocity_footsteps import Velocity, next_footstep, velocity_limits
from hrpsim.control.pattern.walking_pattern import (
    REFERENCE_LEG,
    half_sitting_over,
    sole_trajectories,
)
from hrpsim.control.pattern.whole_body_zmp import (
    WalkingBody,
    floor_wrenches,
    in_world,
    rates,
    turned,
    zero_moment_points,
)
from hrpsim.engine.dynamics.along_motion import inverse_dynamics_along
from hrpsim.model.model import Model

_FORESEEN = 3  # number of steps after the next one
_BEYOND = 0.8  # whole-body dynamics are considered up to this time after the next step [s]
_FADING = 0.3  # last part of that time, in which their correction decreases to zero [s]
_CORRECTIONS = 3
# Sizes of steps in the order of trials if the legs cannot follow. Each size is tried with the usual
# time and with the time on stairs.
_SHORTENED = (1.0, 0.5, 0.25, 0.0)
_CLIMBING = 4.0 / 3.0  # ratio of the time in the air on stairs to the time on the level
_RATES = ("efforts", "com_velocity", "zmp", "vertical_force")  # by differences within a section
_SAME = 1e-9  # [m, rad]

PlaceFootstep = Callable[[Footstep, Footstep], Footstep]


class WalkSection(NamedTuple):
    """The n samples between two plans. The last sample is also the next section's first."""

    motion: np.ndarray  # configurations (n, nq)
    efforts: np.ndarray  # generalised forces without forces on the soles (n, nv) [Nm, N]
    com: np.ndarray  # centre of mass (n, 3) [m]
    com_velocity: np.ndarray  # (n, 3) [m/s]
    zmp: np.ndarray  # ZMP of the multibody model (n, 2) [m]
    vertical_force: np.ndarray  # vertical force of the floor (n,) [N]
    soles: np.ndarray  # x y z yaw (n, 2, 4)
    waist: np.ndarray  # x y z yaw (n, 4)
    contact: np.ndarray  # (n, 2) bool
    footsteps: tuple[Footstep, ...]  # the footstep of this section, if any, then the foreseen ones


class ReplannedWalk:
    """A planner of a walk, section by section.

    Positions are in the world of the plan: the waist begins above the origin, heading along x.

    Args:
        body: the robot in half-sitting.
        gait: heights and times of steps for legs of 0.6 m, scaled to the legs of `body`.
        pace: from `fitting_pattern`.
        period: time between samples [s].

    Attributes:
        limits: the largest velocities.
        stance: footholds of the soles at the end of the last section.
    """

    def __init__(self, body: WalkingBody, gait: Gait, pace: Pace, period: float) -> None:
        size = body.leg_length / REFERENCE_LEG
        self.body, self.period = body, period
        self.gait = _in_periods(gait.scaled(size).paced(pace), period)
        climbing = replace(self.gait, single_support=_CLIMBING * self.gait.single_support)
        self._gaits = self.gait, _in_periods(climbing, period)
        self.step_time = self.gait.single_support + self.gait.double_support
        turning = velocity_limits(size * pace.length, self.step_time)
        self.limits = turning._replace(turn=pace.length * turning.turn)
        self.width = float(np.hypot(*np.subtract(body.stance[0][1:3], body.stance[1][1:3])))
        self._inset = -pace.inset * body.outlines[0][:, 1].min()
        self._preview = PreviewControl(period, body.com[2])
        self.reset()

    @property
    def longest(self) -> int:
        """The largest number of samples of a section."""
        gait = self._gaits[-1]
        first, step = gait.start + gait.single_support, gait.single_support + gait.double_support
        return round(max(first, gait.end, step) / self.period) + 1

    def reset(self) -> None:
        """Restart the walk, at rest over the world's origin."""
        body = self.body
        self.stance = dict(zip(SIDES, body.stance))
        self.is_standing = True
        self._before: WalkSection | None = None
        self._swung: Phase | None = None  # the phase before the present touch-down
        self._closing = False
        self._state = PreviewState.at_rest(body.com[:2])
        self._last = body.rest.copy()
        self._last[2] = body.waist_height
        self._offsets = -body.com[None, :2]
        self._planned((), [self._last_phase()])

    def section(self, velocity: Velocity, place: PlaceFootstep | None = None) -> WalkSection:
        """Return the next section: a step, the end of a walk, or a sample of standing.

        At zero velocity the feet close up, then the robot stands.

        Args:
            velocity: desired velocity. `limits.within` reduces a velocity beyond the limits.
            place: function place(nominal, standing) that returns the footstep to make instead of
                `nominal`. `standing` is the foot that stands during the step.

        Raises:
            WalkError: if no shorter step is possible either.
            UnreachableError: as for WalkError.
        """
        velocity = self.limits.within(velocity)
        if self.is_standing and not any(velocity):
            return self._standing_section
        side = self._next_side(velocity)
        parts = _SHORTENED if any(velocity) else _SHORTENED[:1]
        for part in parts:
            tried = Velocity(*(part * value for value in velocity))
            footsteps = self._footsteps(tried, side, place or _as_planned)
            for gait in self._gaits:
                try:
                    section = self._planned(footsteps, self._phases(footsteps, gait))
                except (WalkError, UnreachableError) as error:
                    failure = error
                else:
                    self._closing = not any(velocity)
                    return section
        raise failure

    def _next_side(self, velocity: Velocity) -> str:
        if self._swung is not None:
            return self._swung.support
        return "right" if (velocity.left or velocity.turn) < 0.0 else "left"

    def _footsteps(self, velocity: Velocity, side: str, place: PlaceFootstep) -> list[Footstep]:
        """Return the next footstep and the steps after it, or none if the feet are side by side."""
        stance, steps, stops = dict(self.stance), [], not any(velocity)
        for _ in range(1 if stops else 1 + _FORESEEN):
            standing = stance[SIDES[1 - SIDES.index(side)]]
            step = place(next_footstep(standing, velocity, self.step_time, self.width), standing)
            is_there = np.abs(np.subtract(step[1:], stance[side][1:])).max() < _SAME
            if stops and self._swung and (self._closing or is_there):
                break
            steps.append(step)
            stance[side] = step
            side = standing.side
        return steps

    def _phases(self, footsteps: list[Footstep], gait: Gait) -> list[Phase]:
        """Return the phases of a plan that begins now, either at a touch-down or at rest."""
        if self._swung is None:
            return phases_of(**self.stance, footsteps=footsteps, gait=gait)
        if not footsteps:
            return [self._swung, self._last_phase()]
        _check_gap(self.body, self.stance, footsteps[0])
        after = gait.double_support - gait.start
        phases = phases_of(**self.stance, footsteps=footsteps, gait=gait)
        if self._closing:  # the present motion leads to rest
            return [self._swung, phases[0]._replace(rests=True), *phases[1:]]
        moved = [p._replace(begin=max(p.begin + after, 0.0), end=p.end + after) for p in phases]
        return [self._swung, *moved]

    def _last_phase(self) -> Phase:
        return Phase("both", 0.0, self.gait.end, **self.stance)

    def _planned(self, footsteps: Sequence[Footstep], phases: list[Phase]) -> WalkSection:
        """Return the section of a plan up to the first touch-down, where the next plan begins."""
        made = next((p for p in phases[1:] if p.target is not None), None)
        count = round((made or phases[-1]).end / self.period)
        planned = self._motion(phases, count)
        _check_limits(self.body.model, planned.motion, self.period)
        section = self._section(planned, count, footsteps)
        if self._before is not None:
            for name in _RATES:  # differences across the junction would mix two plans
                getattr(section, name)[0] = getattr(self._before, name)[-1]
        self._before = section
        if made is None:
            self._swung, self.is_standing = None, True
            self._state = PreviewState.at_rest(section.com[-1, :2])
            self._last = planned.motion[count + 1]
            self._offsets = -turned(self.body.com[None, :2], planned.waist[-1:, 3])
            arrays = (np.repeat(values[-1:], 2, axis=0) for values in section[:-1])
            self._standing_section = WalkSection(*arrays, footsteps=())
        else:
            self.stance = {**self.stance, footsteps[0].side: footsteps[0]}
            self._swung = made._replace(begin=made.begin - made.end, end=0.0)
            self.is_standing = False
            self._state, self._last = planned.state, planned.motion[count]
            self._offsets = planned.offsets[count:]
        return section

    def _motion(self, phases: list[Phase], count: int) -> _Motion:
        """Return the motion of a plan, with the ZMP from preview control."""
        body, gait, period = self.body, self.gait, self.period
        n = count + round(_BEYOND / period)
        times = np.arange(n) * period
        every = np.arange(max(round(phases[-1].end / period) + 1, n)) * period
        soles = sole_trajectories(phases, gait.step_height, times)
        offset = body.com[0] - body.stance[0].x
        reference = zmp_reference(phases, gait, offset, self._inset, every)
        heights = ground_heights(phases, times)
        waist = np.empty((n, 4))
        waist[:, 2] = body.waist_height + waist_rises(phases, times)
        waist[:, 3] = soles[:, :, 3].mean(axis=1)
        known = self._offsets[:n]
        last_known = turned(known[-1], -waist[len(known) - 1, 3])  # in the frame of the waist
        offsets = np.concatenate([known, turned(last_known, waist[len(known) :, 3])])
        last_waist = half_sitting_over(body, phases[-1])
        arriving = smooth_step((times - phases[-1].end) / ARRIVAL + 1.0)[:, None]
        fading = smooth_step((times[-1] - times) / _FADING)[:, None]
        target = reference.copy()
        for k in range(_CORRECTIONS + 1):
            com, zmp, state = self._preview.resume(target, self._state, n, count)
            waist[:, :2] = com + offsets
            if phases[-1].end <= times[-1]:
                waist[:, :2] += arriving * (last_waist - waist[:, :2])
            motion = np.concatenate([self._last[None], body.motion(waist, soles)])
            if k == _CORRECTIONS:
                break
            if k > 0:
                wrenches = floor_wrenches(body.model, motion, period)[1:]
                missing = zmp - zero_moment_points(wrenches, heights)
                missing[-1] = missing[-2]  # no sample follows it
                target[:n] = reference[:n] + fading * missing
            offsets += com - body.center_of_mass(motion[1:])[:, :2]
        return _Motion(motion, waist, soles, heights, contacts(phases, times), offsets, state)

    def _section(self, found: _Motion, count: int, footsteps: Sequence[Footstep]) -> WalkSection:
        """Return samples 0 to `count` of a motion as a WalkSection."""
        body, motion = self.body, found.motion[: count + 3]
        v, dv = rates(body.model, motion, self.period)
        efforts = inverse_dynamics_along(body.model, motion, v, dv)
        wrenches = in_world(motion, efforts[:, :6])[1:-1]
        com = body.center_of_mass(motion)
        span = slice(0, count + 1)
        return WalkSection(
            motion=motion[1:-1],
            efforts=efforts[1:-1],
            com=com[1:-1],
            com_velocity=(com[2:] - com[:-2]) / (2.0 * self.period),
            zmp=zero_moment_points(wrenches, found.heights[span]),
            vertical_force=wrenches[:, 2],
            soles=found.soles[span],
            waist=found.waist[span],
            contact=found.contact[span],
            footsteps=tuple(footsteps),
        )


class _Motion(NamedTuple):
    """The motion of a plan over its first step, preceded by one earlier sample."""

    motion: np.ndarray  # configurations, from the sample before the section (n + 1, nq)
    waist: np.ndarray  # x y z yaw (n, 4)
    soles: np.ndarray  # x y z yaw (n, 2, 4)
    heights: np.ndarray  # heights of the ZMP (n,)
    contact: np.ndarray  # (n, 2) bool
    offsets: np.ndarray  # from the centre of mass to the waist (n, 2) [m]
    state: PreviewState  # state at the end of the first step


def _as_planned(nominal: Footstep, standing: Footstep) -> Footstep:
    return nominal


def _in_periods(gait: Gait, period: float) -> Gait:
    """Return the gait with its times rounded to whole multiples of `period` [s]."""
    times = {
        name: max(round(value / period), 1) * period
        for name, value in vars(gait).items()
        if name != "step_height"
    }
    return replace(gait, **times)


def _check_gap(body: WalkingBody, stance: dict[str, Footstep], step: Footstep) -> None:
    """Raise WalkError if the moving foot comes too near to the other foot on its path."""
    other = stance[SIDES[1 - SIDES.index(step.side)]]
    gap = least_gap(stance[step.side], step, other, dict(zip(SIDES, body.outlines)))
    if gap < SMALLEST_GAP:
        raise WalkError(f"the {step.side} foot comes within {1e3 * gap:.1f} mm of the other one")


def _check_limits(model: Model, motion: np.ndarray, period: float) -> None:
    """Raise WalkError if a joint exceeds a limit of position or velocity."""
    speeds = np.abs(np.diff(motion, axis=0)).max(axis=0) / period
    for name in controlled_joints(model):
        k = model.joint(name).q_index
        if why := why_beyond_limits(model, "the walk", name, motion[:, k], speeds[k]):
            raise WalkError(why)
