"""A walk as joint angles against time: footsteps, ZMP, centre of mass, legs, in this order.

Kajita et al., ICRA 2003: preview control finds the centre of mass for a ZMP reference, the legs
follow by inverse kinematics, and the ZMP error that inverse dynamics then finds in the whole
multibody model goes through preview control once more (section 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hrpsim.control.controller import controlled_joints
from hrpsim.control.footsteps import Footstep, Walk, named_walk, plan_footsteps
from hrpsim.control.gait import Gait, Phase, contacts, phases_of
from hrpsim.control.leg_kinematics import LegKinematics
from hrpsim.control.motion_sequence import Channel, MotionSequence
from hrpsim.control.preview_control import PreviewControl
from hrpsim.control.quintic import smooth_step
from hrpsim.control.stand_motion import HALF_SITTING_LEG
from hrpsim.control.support_polygon import sole_outline
from hrpsim.control.swing_foot import sole_courses
from hrpsim.control.whole_body_zmp import zero_moment_points
from hrpsim.control.zmp_reference import zmp_reference
from hrpsim.dynamics.functions import center_of_mass, link_pose
from hrpsim.errors import ModelError
from hrpsim.model.model import Model

_CORRECTIONS = 3
_BLEND = 0.6  # at the start and at the end, into the half-sitting posture [s]


@dataclass(frozen=True)
class WalkingPattern:
    """A walk, sample by sample; positions in the world: floor z = 0, start heading x [m, rad].

    Where a column or row is a foot's, 0 is the left one and 1 the right one.
    """

    sequence: MotionSequence  # pos, zmp, waist and optionaldata, as files hold them
    times: np.ndarray  # (n,) [s]
    zmp_reference: np.ndarray  # (n, 2)
    zmp: np.ndarray  # of the whole multibody model (n, 2)
    com: np.ndarray  # centre of mass (n, 3)
    waist: np.ndarray  # x y z yaw (n, 4)
    soles: np.ndarray  # x y z yaw of each sole (n, 2, 4)
    contacts: np.ndarray  # whether each sole is on the floor (n, 2), bool
    phases: tuple[Phase, ...]
    footsteps: tuple[Footstep, ...]
    motion: np.ndarray  # configurations of the model (n, nq); bushes at zero
    zmp_errors: tuple[float, ...]  # largest |zmp - reference| before each correction and at last


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
    It starts and ends in half-sitting, the start with the waist over the world's origin. All joints
    but the legs stay at zero, rubber bushes too. Raises WalkError for an unknown name, soles that
    come too near each other, or joints beyond their limits of angle or speed, UnreachableError
    where a leg is too short, ModelError where the model has no such legs.
    """
    walk = named_walk(walk) if isinstance(walk, str) else walk
    gait = gait or Gait()
    body = _Body(model, soles)
    outlines = [sole_outline(model, sole) for sole in soles]
    footsteps = plan_footsteps(walk, *body.stance, outlines)
    phases = phases_of(*body.stance, footsteps, gait)
    times = np.arange(round(phases[-1].end / period) + 1) * period
    courses = sole_courses(phases, gait.step_height, times)
    reference = zmp_reference(phases, gait, body.rest_zmp, times)

    preview = PreviewControl(period, body.com[2])
    goal, _ = preview.follow(reference, body.com[:2])
    waist = np.zeros((len(times), 4))
    waist[:, 2] = body.waist_height
    waist[:, 3] = courses[:, :, 3].mean(axis=1)
    waist[:, :2] = goal - _turned(body.com[:2], waist[:, 3])
    last = _last_waist(body, phases[-1])
    blend = _blend_weights(times)
    errors = []
    motion = body.motion(waist, courses)
    for correction in range(_CORRECTIONS + 1):
        for _ in range(2):
            com = np.array([center_of_mass(model, q) for q in motion])
            waist[:, :2] += goal - com[:, :2]
            waist[:, :2] *= blend[0][:, None]
            waist[:, :2] += blend[1][:, None] * (last - waist[:, :2])
            motion = body.motion(waist, courses)
        zmp = zero_moment_points(model, motion, period)
        errors.append(float(np.linalg.norm(zmp - reference, axis=1).max()))
        if correction < _CORRECTIONS:
            goal = goal + preview.follow(reference - zmp)[0]
    com = np.array([center_of_mass(model, q) for q in motion])
    on_floor = contacts(phases, times)
    sequence = _sequence(model, times, motion, waist, zmp, on_floor, phases)
    return WalkingPattern(
        sequence=sequence,
        times=times,
        zmp_reference=reference,
        zmp=zmp,
        com=com,
        waist=waist,
        soles=courses,
        contacts=on_floor,
        phases=tuple(phases),
        footsteps=tuple(footsteps),
        motion=motion,
        zmp_errors=tuple(errors),
    )


class _Body:
    """What the generator needs to know of the robot, found in half-sitting."""

    def __init__(self, model: Model, soles: tuple[str, str]):
        if model.base != "free" or model.nq != model.nv + 1:
            raise ModelError(f"{model.source}: only a robot on one free base can walk")
        self.model = model
        self.legs = [LegKinematics(model, sole) for sole in soles]
        q = model.neutral()
        for leg in self.legs:
            q[leg.q_index] = HALF_SITTING_LEG
        poses = [link_pose(model, q, sole) for sole in soles]
        for sole, (p, R) in zip(soles, poses):
            if abs(p[2] - poses[0][0][2]) > 1e-9 or abs(R[2, 2] - 1.0) > 1e-9:
                raise ModelError(f"{model.source}: {sole!r} is not flat on the floor half-sitting")
        self.waist_height = -poses[0][0][2]
        self.com = center_of_mass(model, q) + (0.0, 0.0, self.waist_height)
        self.stance = [Footstep(s, *p[:2], 0.0) for s, (p, _) in zip(("left", "right"), poses)]
        self.rest_zmp = float(self.com[0] - self.stance[0].x)

    def motion(self, waist, courses) -> np.ndarray:
        """Return configurations (n, nq) with the waist and the soles in these places."""
        motion = np.tile(self.model.neutral(), (len(waist), 1))
        motion[:, :3] = waist[:, :3]
        half = 0.5 * waist[:, 3]
        motion[:, 5], motion[:, 6] = np.sin(half), np.cos(half)
        for foot, leg in enumerate(self.legs):
            at = courses[:, foot, :3] - waist[:, :3]
            at[:, :2] = _turned(at[:, :2], -waist[:, 3])
            yaw = courses[:, foot, 3] - waist[:, 3]
            for k, R in enumerate(_about_z(yaw)):
                motion[k, leg.q_index] = leg.solve(at[k], R)
        return motion


def _turned(points, yaw) -> np.ndarray:
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = np.asarray(points)[..., 0], np.asarray(points)[..., 1]
    return np.stack([c * x - s * y, s * x + c * y], axis=-1)


def _about_z(yaw) -> np.ndarray:
    R = np.zeros((len(yaw), 3, 3))
    R[:, 0, 0] = R[:, 1, 1] = np.cos(yaw)
    R[:, 1, 0] = np.sin(yaw)
    R[:, 0, 1] = -R[:, 1, 0]
    R[:, 2, 2] = 1.0
    return R


def _last_waist(body: _Body, phase: Phase) -> np.ndarray:
    """Return where the waist is above the feet in half-sitting at the end (2,) [m]."""
    middle = 0.5 * np.add(phase.left[1:3], phase.right[1:3])
    return middle - _turned((body.stance[0].x, 0.0), phase.left.yaw)


def _blend_weights(times) -> tuple[np.ndarray, np.ndarray]:
    """Return weights that rise from 0 at the start, and to 1 at the end (n,)."""
    return smooth_step(times / _BLEND), smooth_step((times - times[-1]) / _BLEND + 1.0)


def _sequence(model, times, motion, waist, zmp, on_floor, phases) -> MotionSequence:
    names = controlled_joints(model)
    columns = [model.joint(name).q_index for name in names]
    in_waist = np.zeros((len(times), 3))
    in_waist[:, :2] = _turned(zmp - waist[:, :2], -waist[:, 3])
    in_waist[:, 2] = -waist[:, 2]
    level = np.zeros((len(times), 2))
    return MotionSequence(
        joint_names=names,
        pos=Channel(times, np.ascontiguousarray(motion[:, columns])),
        zmp=Channel(times, in_waist),
        waist=Channel(times, np.column_stack([waist[:, :3], level, waist[:, 3]])),
        optionaldata=Channel(times, _optional_data(times, on_floor, phases)),
    )


def _optional_data(times, on_floor, phases) -> np.ndarray:
    """Return what hrpsys reads: contact of the right and left foot, then time to touch-down [s].

    1.0 is contact; the time of a foot on the floor is 1.0, which hrpsys does not look at.
    """
    data = np.ones((len(times), 4))
    data[:, :2] = on_floor[:, ::-1]
    for phase in phases:
        if phase.target is not None:
            foot = 1 if phase.target.side == "left" else 0
            now = (data[:, foot] == 0.0) & (times > phase.begin) & (times < phase.end)
            data[now, 2 + foot] = phase.end - times[now]
    return data
