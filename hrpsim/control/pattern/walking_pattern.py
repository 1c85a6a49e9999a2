# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A walk as joint angles against time: footsteps, feet, ZMP, centre of mass, legs."""

from dataclasses import dataclass

import numpy as np

from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.leg_kinematics import UnreachableError
from hrpsim.control.motion.motion_sequence import Channel, MotionSequence, smooth_step
from hrpsim.control.motion.posture import why_beyond_limits
from hrpsim.control.pattern.footsteps import (
    SIDES,
    Footstep,
    Footsteps,
    WalkError,
    named_walk,
    plan_footsteps,
)
from hrpsim.control.pattern.gait import (
    NARROW_PACES,
    PACES,
    Gait,
    Pace,
    Phase,
    contacts,
    ground_heights,
    in_air,
    phases_of,
    waist_rises,
    zmp_reference,
)
from hrpsim.control.pattern.preview_control import Ground, corrected_motion
from hrpsim.control.pattern.support_polygon import lowest_points
from hrpsim.control.pattern.whole_body_zmp import WalkingBody, joint_efforts, sole_wrenches, turned
from hrpsim.engine.dynamics.functions import link_pose
from hrpsim.model.model import Model

_LEAST = 1e-4  # [m]
_LONGEST_PERIOD = 0.02  # [s]
_CLIMBING = 0.8  # duration of single support on stairs [s]
REFERENCE_LEG = 0.6  # thigh plus shank of the robot of PATTERNS and Gait [m]
# Fractions of the time in the air: begin of the motion, begin of the turn, highest point, and end
# of the motion, on the level, up and down. On stairs the foot is above the higher tread in between.
# Over an obstacle it is above the obstacle.
_TRAVEL = {0: (0.08, 0.42, 0.80), 1: (0.28, 0.42, 0.82), -1: (0.08, 0.42, 0.62)}
_OVER = (0.34, 0.50, 0.66)
_FLAT = 0.01  # largest height difference that counts as level ground [m]


@dataclass(frozen=True)
class WalkingPattern:
    """The samples of a walk in the world [m, rad]. The floor is z = 0, and the walk starts along x.

    Index 0 is the left foot and index 1 the right foot.
    """

    sequence: MotionSequence  # pos, zmp, waist, torque and optionaldata, as in files
    period: float  # [s]
    times: np.ndarray  # (n,) [s]
    zmp_reference: np.ndarray  # (n, 2)
    zmp: np.ndarray  # ZMP of the multibody model (n, 2)
    com: np.ndarray  # centre of mass (n, 3)
    waist: np.ndarray  # x y z yaw (n, 4)
    soles: np.ndarray  # x y z yaw of each sole (n, 2, 4)
    contacts: np.ndarray  # whether each sole is on the floor (n, 2), bool
    outlines: tuple[np.ndarray, np.ndarray]  # corners of the soles in their frames (k, 2)
    footsteps: tuple[Footstep, ...]
    phases: tuple[Phase, ...]
    motion: np.ndarray  # configurations of the model (n, nq)
    zmp_errors: tuple[float, ...]  # largest |zmp - reference| before each correction and at the end


def walking_pattern(
    model: Model,
    walk: str | Footsteps,
    *,
    gait: Gait | None = None,
    period: float = 0.005,
    soles: tuple[str, str] = ("l_sole", "r_sole"),
    pace: Pace = Pace(),  # noqa: B008
) -> WalkingPattern:
    """Return the joint trajectories of a walk.

    Lengths of the named walks and of the default gait are for legs of 0.6 m. Lengths are
    proportional to the leg length, and times to its square root. The walk starts and ends in
    half-sitting, and starts with the waist above the world's origin. Only the legs move: all other
    joints keep their angles of half-sitting. Rubber bushes remain at zero, so robots with and
    without bushes have the same angles. The sequence has the ZMP of the multibody model and the
    torques that the motion needs.

    Args:
        model: robot with two legs of six joints and a free base at the waist.
        walk: a name, as for `hrpsim walk --pattern`, or Footsteps.
        gait: heights and times of the steps.
        period: time between samples [s].
        soles: links of the left and right sole.
        pace: factors of lengths, times and sway of the ZMP.

    Raises:
        WalkError: for an unknown name, soles that come too near each other, joints beyond their
            limits, or an ankle on the floor.
        UnreachableError: if a leg is too short.
        ModelError: if the model does not have such legs.
    """
    if not 0.0 < period <= _LONGEST_PERIOD:
        raise WalkError(f"period must be positive and at most {_LONGEST_PERIOD} s, got {period!r}")
    body = WalkingBody(model, soles)
    size = body.leg_length / REFERENCE_LEG
    walk = named_walk(walk).scaled(size) if isinstance(walk, str) else walk
    walk = walk.scaled(pace.length, pace.length)
    gait = gait or (Gait().scaled(size) if not walk.climbs else Gait(single_support=_CLIMBING))
    gait = gait.paced(pace)
    footsteps = plan_footsteps(walk, *body.stance, body.outlines)
    phases = phases_of(*body.stance, footsteps, gait)
    times = np.arange(round(phases[-1].end / period) + 1) * period
    trajectories = sole_trajectories(phases, gait.step_height, times)
    inset = -pace.inset * body.outlines[0][:, 1].min()
    reference = zmp_reference(phases, gait, body.com[0] - body.stance[0].x, inset, times)
    last_waist = half_sitting_over(body, phases[-1])
    ground = Ground(waist_rises(phases, times), ground_heights(phases, times))
    made = corrected_motion(body, trajectories, reference, ground, last_waist, period)
    on_floor = contacts(phases, times)
    borne = sole_wrenches(made.wrenches, trajectories, _shares(reference, trajectories, on_floor))
    efforts = joint_efforts(model, made.motion, period, soles, borne)
    optional = _optional_data(times, on_floor, phases)
    sequence = _sequence(model, times, made, ground, efforts, optional)
    _check_limits(model, sequence, period)
    check_floor_clearance(model, soles, body.legs, made.motion, on_floor)
    return WalkingPattern(
        sequence=sequence,
        period=period,
        times=times,
        zmp_reference=reference,
        zmp=made.zmp,
        com=body.center_of_mass(made.motion),
        waist=made.waist,
        soles=trajectories,
        contacts=on_floor,
        outlines=body.outlines,
        footsteps=tuple(footsteps),
        phases=tuple(phases),
        motion=made.motion,
        zmp_errors=made.errors,
    )


def fitting_pattern(
    model: Model, walk: str | Footsteps, *, soles: tuple[str, str] = ("l_sole", "r_sole")
) -> tuple[WalkingPattern, Pace]:
    """Return the walking pattern at the fastest pace that the legs can follow.

    The paces are tried in the order of PACES, then NARROW_PACES. A walk that climbs is made slower,
    not smaller. If the legs can follow no pace, the error of `walking_pattern` at the slowest pace
    is raised.

    Returns:
        (pattern, pace).
    """
    climbs = (named_walk(walk) if isinstance(walk, str) else walk).climbs
    paces = [Pace(1.0, pace.time) for pace in PACES] if climbs else [*PACES, *NARROW_PACES]
    slowest: WalkError | UnreachableError | None = None
    for k, pace in enumerate(paces):
        try:
            return walking_pattern(model, walk, soles=soles, pace=pace), pace
        except (WalkError, UnreachableError) as error:
            slowest = error if k < len(PACES) else slowest
    assert slowest is not None
    raise slowest


def half_sitting_over(body: WalkingBody, phase: Phase) -> np.ndarray:
    """Return the horizontal waist position (2,) [m] of half-sitting over the feet of a phase."""
    middle = 0.5 * np.add(phase.left[1:3], phase.right[1:3])
    return middle - turned((body.stance[0].x, 0.0), phase.left.yaw)


def _shares(reference, soles, on_floor) -> np.ndarray:
    """Return the fraction of the weight on each sole (n, 2).

    The fractions follow from the position of the ZMP between the soles.
    """
    left, right = soles[:, 0, :2], soles[:, 1, :2]
    across = left - right
    on_left = ((reference - right) * across).sum(axis=1) / (across * across).sum(axis=1)
    on_left = np.clip(on_left, 0.0, 1.0)
    on_left = np.where(on_floor.all(axis=1), on_left, on_floor[:, 0])
    return np.stack([on_left, 1.0 - on_left], axis=-1)


def _sequence(model: Model, times, made, ground, efforts, optional) -> MotionSequence:
    names = controlled_joints(model)
    joints = [model.joint(name) for name in names]
    waist = made.waist
    zmp = np.empty((len(times), 3))
    zmp[:, :2] = turned(made.zmp - waist[:, :2], -waist[:, 3])
    zmp[:, 2] = ground.zmp - waist[:, 2]
    level = np.zeros((len(times), 2))
    return MotionSequence(
        joint_names=names,
        pos=Channel(times, made.motion[:, [joint.q_index for joint in joints]]),
        zmp=Channel(times, zmp),
        waist=Channel(times, np.column_stack([waist[:, :3], level, waist[:, 3]])),
        torque=Channel(times, efforts[:, [joint.v_index for joint in joints]]),
        optionaldata=Channel(times, optional),
    )


def _optional_data(times, on_floor, phases) -> np.ndarray:
    """Return the hrpsys columns (n, 4): contact and time to touch-down, each right and left.

    Contact is 1.0, and no contact 0.0. The time [s] applies to a foot in the air. For a standing
    foot it is 1.0, which hrpsys ignores.
    """
    data = np.ones((len(times), 4))
    data[:, :2] = on_floor[:, ::-1]
    for phase in phases:
        if phase.target is not None:
            foot = 1 if phase.target.side == "left" else 0
            during = (data[:, foot] == 0.0) & (times > phase.begin) & (times < phase.end)
            data[during, 2 + foot] = phase.end - times[during]
    return data


def _check_limits(model: Model, sequence: MotionSequence, period: float) -> None:
    positions = sequence.pos.values
    speeds = np.abs(np.gradient(positions, period, axis=0)).max(axis=0)
    efforts = np.abs(sequence.torque.values).max(axis=0)
    for name, angles, speed, effort in zip(sequence.joint_names, positions.T, speeds, efforts):
        if why := why_beyond_limits(model, "the walk", name, angles, speed, effort):
            raise WalkError(why)


def sole_trajectories(phases: list[Phase], step_height: float, times) -> np.ndarray:
    """Return the trajectories of the left and the right sole.

    Position, velocity and acceleration are continuous. Velocity and acceleration are zero at
    lift-off and at touch-down. The foot travels while it is off the floor, then stops above its
    target and moves straight down. The foot rises above both footholds and the obstacle between
    them.

    Args:
        phases: phases of the walk, in order.
        step_height: height of the foot above the footholds and the obstacle [m]. A target can
            change this height by its factor `clearance`.
        times: times of the samples (n,) [s].

    Returns:
        x, y, z [m], yaw [rad] of the left and the right sole, shape (n, 2, 4).
    """
    trajectories = np.empty((len(times), 2, 4))
    for foot, side in enumerate(SIDES):
        trajectories[:, foot] = _pose(getattr(phases[0], side))
        for phase in phases:
            if phase.target is None or phase.target.side != side:
                continue
            airborne = in_air(phase, times)
            start, goal = _pose(getattr(phase, side)), _pose(phase.target)
            trajectories[times > 0.5 * (phase.begin + phase.end), foot] = goal
            part = (times[airborne] - phase.begin) / (phase.end - phase.begin)
            rise, highest = goal[2] - start[2], max(start[2], goal[2] + phase.target.obstacle)
            passes = highest > max(start[2], goal[2]) + _FLAT
            usual = _TRAVEL[int(np.sign(rise)) if abs(rise) > _FLAT else 0]
            begin, top, end = _OVER if passes else usual
            travelled = smooth_step((part - begin) / (end - begin))
            trajectories[airborne, foot] = start + travelled[:, None] * (goal - start)
            apex = highest + phase.target.clearance * step_height
            rising = start[2] + (apex - start[2]) * smooth_step(part / top)
            falling = goal[2] + (apex - goal[2]) * smooth_step((1.0 - part) / (1.0 - top))
            trajectories[airborne, foot, 2] = np.where(part < top, rising, falling)
    return trajectories


def _pose(step: Footstep) -> np.ndarray:
    return np.array([step.x, step.y, step.z, step.yaw])


def check_floor_clearance(model: Model, soles, legs, motion, on_floor) -> None:
    """Raise WalkError for a walk in which a shank or an ankle link meets the floor.

    The checked postures have the largest rotation of an ankle joint while its foot stands.

    Args:
        model: model of the robot.
        soles: links of the left and right sole.
        legs: left and right leg.
        motion: configurations (n, nq).
        on_floor: which soles stand (n, 2).
    """
    for sole, leg, stands in zip(soles, legs, on_floor.T):
        standing = motion[stands]
        knee, *ankle = (model.joint(name) for name in leg.joint_names[-3:])
        bodies = knee.body, ankle[0].body
        for joint in ankle:
            angles = standing[:, joint.q_index]
            for q in standing[[int(angles.argmin()), int(angles.argmax())]]:
                for body in bodies:
                    height = _height_over_sole(model, q, sole, body)
                    if height < _LEAST:
                        name = next(n for n, frame in model.frames.items() if frame.body == body)
                        raise WalkError(
                            f"{model.source}: link {name!r} would touch the floor in the walk "
                            f"(height {1e3 * height:.1f} mm), with joint {joint.name!r} at "
                            f"{q[joint.q_index]:.3f} rad. Make the steps smaller"
                        )


def _height_over_sole(model: Model, q, sole: str, body: int) -> float:
    """Return the height of a body's lowest point above the plane of a sole [m].

    The height of a body without shapes is infinite.
    """
    p_sole, R_sole = link_pose(model, q, sole)
    name = next(n for n, frame in model.frames.items() if frame.body == body)
    p, R = link_pose(model, q, name)
    frame = model.frames[name]
    R = R @ frame.R.T
    points = lowest_points(model, body, R.T @ R_sole[:, 2])
    if not len(points):
        return np.inf
    return float(((p - R @ frame.p + points @ R.T - p_sole) @ R_sole[:, 2]).min())
