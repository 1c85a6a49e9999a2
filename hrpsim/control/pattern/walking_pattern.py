"""A walk as joint angles against time: footsteps, ZMP, centre of mass, legs, in this order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.motion_sequence import Channel, MotionSequence
from hrpsim.control.pattern.footsteps import Footstep, Walk, WalkError, named_walk, plan_footsteps
from hrpsim.control.pattern.gait import Gait, Phase, contacts, phases_of
from hrpsim.control.pattern.swing_foot import sole_courses
from hrpsim.control.pattern.walking_body import WalkingBody, turned
from hrpsim.control.pattern.whole_body_zmp import joint_efforts, sole_wrenches
from hrpsim.control.pattern.zmp_correction import corrected_motion
from hrpsim.control.pattern.zmp_reference import zmp_reference
from hrpsim.model.model import Model

_LONGEST_PERIOD = 0.02  # [s]


@dataclass(frozen=True)
class WalkingPattern:
    """A walk, sample by sample; positions in the world: floor z = 0, start heading x [m, rad].

    Where a row or column is a foot's, 0 is the left one and 1 the right one.
    """

    sequence: MotionSequence  # pos, zmp, waist, torque and optionaldata, as files hold them
    period: float  # [s]
    times: np.ndarray  # (n,) [s]
    zmp_reference: np.ndarray  # (n, 2)
    zmp: np.ndarray  # of the whole multibody model (n, 2)
    com: np.ndarray  # centre of mass (n, 3)
    waist: np.ndarray  # x y z yaw (n, 4)
    soles: np.ndarray  # x y z yaw of each sole (n, 2, 4)
    contacts: np.ndarray  # whether each sole is on the floor (n, 2), bool
    outlines: tuple[np.ndarray, np.ndarray]  # corners of the soles in their frames (k, 2)
    footsteps: tuple[Footstep, ...]
    phases: tuple[Phase, ...]
    motion: np.ndarray  # configurations of the model (n, nq)
    zmp_errors: tuple[float, ...]  # largest |zmp - zmp_reference| before each correction, and left


def walking_pattern(
    model: Model,
    walk: str | Walk,
    *,
    gait: Gait | None = None,
    period: float = 0.005,
    soles: tuple[str, str] = ("l_sole", "r_sole"),
) -> WalkingPattern:
    """Return the pattern of `walk`: the name of one of PATTERNS, or a Walk of one's own.

    model: legs of HRP-2's type, a free base at the waist. soles: links of the left and right sole.
    The walk starts and ends in half-sitting, at first with the waist over the world's origin. All
    joints but the legs stay at zero; so do rubber bushes, so that robots with and without them are
    given the same angles. The sequence's ZMP is that of the multibody model, and its torques are
    what the joints need for the motion. Raises WalkError for an unknown name, soles that come too
    near each other, or joints beyond their limits; UnreachableError where a leg is too short;
    ModelError where the model has no such legs.
    """
    if not 0.0 < period <= _LONGEST_PERIOD:
        raise WalkError(f"period must be positive and at most {_LONGEST_PERIOD} s, got {period!r}")
    walk = named_walk(walk) if isinstance(walk, str) else walk
    gait = gait or Gait()
    body = WalkingBody(model, soles)
    footsteps = plan_footsteps(walk, *body.stance, body.outlines)
    phases = phases_of(*body.stance, footsteps, gait)
    times = np.arange(round(phases[-1].end / period) + 1) * period
    courses = sole_courses(phases, gait.step_height, times)
    reference = zmp_reference(phases, gait, body.com[0] - body.stance[0].x, times)
    last_waist = _half_sitting_over(body, phases[-1])
    made = corrected_motion(body, courses, reference, last_waist, period)
    on_floor = contacts(phases, times)
    borne = sole_wrenches(made.wrenches, courses, _shares(reference, courses, on_floor))
    efforts = joint_efforts(model, made.motion, period, soles, borne)
    sequence = _sequence(model, times, made, efforts, _optional_data(times, on_floor, phases))
    _check_limits(model, sequence, period)
    return WalkingPattern(
        sequence=sequence,
        period=period,
        times=times,
        zmp_reference=reference,
        zmp=made.zmp,
        com=body.center_of_mass(made.motion),
        waist=made.waist,
        soles=courses,
        contacts=on_floor,
        outlines=body.outlines,
        footsteps=tuple(footsteps),
        phases=tuple(phases),
        motion=made.motion,
        zmp_errors=made.errors,
    )


def _half_sitting_over(body: WalkingBody, phase: Phase) -> np.ndarray:
    """Return where the waist is in half-sitting with the feet as they stand in `phase` (2,) [m]."""
    middle = 0.5 * np.add(phase.left[1:3], phase.right[1:3])
    return middle - turned((body.stance[0].x, 0.0), phase.left.yaw)


def _shares(reference, soles, on_floor) -> np.ndarray:
    """Return which parts of the weight the soles bear (n, 2), as the ZMP lies between them."""
    left, right = soles[:, 0, :2], soles[:, 1, :2]
    across = left - right
    on_left = ((reference - right) * across).sum(axis=1) / (across * across).sum(axis=1)
    on_left = np.clip(on_left, 0.0, 1.0)
    on_left = np.where(on_floor.all(axis=1), on_left, on_floor[:, 0])
    return np.stack([on_left, 1.0 - on_left], axis=-1)


def _sequence(model: Model, times, made, efforts, optional) -> MotionSequence:
    names = controlled_joints(model)
    joints = [model.joint(name) for name in names]
    waist = made.waist
    zmp = np.empty((len(times), 3))
    zmp[:, :2] = turned(made.zmp - waist[:, :2], -waist[:, 3])
    zmp[:, 2] = -waist[:, 2]
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
    """Return what hrpsys reads (n, 4): contact of right and left foot, time to touch-down of both.

    Contact is 1.0; the time [s] is that of a foot in the air, and 1.0 where hrpsys ignores it.
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
    for name, angles, speed in zip(sequence.joint_names, positions.T, speeds):
        k = model.joint(name).v_index
        lower, upper = model.system.lower[k], model.system.upper[k]
        fastest = model.system.velocity_limit[k]
        if angles.min() < lower or angles.max() > upper:
            raise WalkError(
                f"{model.source}: the walk takes joint {name!r} from {angles.min():.3f} to "
                f"{angles.max():.3f} rad; its limits are {lower:.3f} and {upper:.3f} rad"
            )
        if speed > fastest:
            raise WalkError(
                f"{model.source}: the walk moves joint {name!r} at up to {speed:.3f} rad/s; its "
                f"limit is {fastest:.3f} rad/s"
            )
