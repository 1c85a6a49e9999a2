# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The zero-moment point of a moving multibody model, by inverse dynamics.

The wrench required at the free base is the wrench of the floor. The ZMP is the point about which
this wrench has no horizontal moment.
"""

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.control.motion.numerical_leg import leg_of
from hrpsim.control.motion.stand_controller import HALF_SITTING_LEG
from hrpsim.control.pattern.footsteps import SIDES, Footstep
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.engine.dynamics.along_motion import centers_of_mass, inverse_dynamics_along
from hrpsim.engine.dynamics.functions import center_of_mass, link_pose
from hrpsim.model.model import Model

HALF_SITTING = "half_sitting"  # keyframe for robots with a half-sitting posture other than HRP-2's
_LEVEL = 1e-6  # [m] and relative


class WalkingBody:
    """A robot in half-sitting, with the waist above the world's origin and the soles on z = 0.

    Half-sitting is the keyframe `half_sitting` of the description. Without this keyframe, the legs
    have the angles of HRP-2, and all other joints are at zero.

    Args:
        model: model of the robot.
        soles: links of the left and the right sole.

    Attributes:
        rest: the configuration (nq,), with the base at the origin.
        stance: footholds of the soles (left, right).
        com: centre of mass (3,) [m].
        waist_height: [m].
        leg_length: [m].
        outlines: corners of the soles in their frames, two arrays (k, 2) [m].

    Raises:
        ModelError: the model has no free base, no legs of six joints or no flat soles, or the soles
            are not level in half-sitting.
    """

    def __init__(self, model: Model, soles: tuple[str, str]) -> None:
        if model.base != "free" or model.nq != model.nv + 1:
            raise ModelError(f"{model.source}: only a robot on one free base can walk")
        self.model = model
        self.soles = soles
        self.legs = tuple(leg_of(model, sole) for sole in soles)
        self.leg_length = round(min(leg.longest for leg in self.legs), 9)
        self.outlines = tuple(sole_outline(model, sole) for sole in soles)
        self.rest = q = self._half_sitting()
        poses = [link_pose(model, q, sole) for sole in soles]
        floor = poses[0][0][2]
        off = [max(abs(p[2] - floor), 1.0 - R[2, 2]) for p, R in poses]
        if max(off) > _LEVEL:
            raise ModelError(
                f"{model.source}: the sole {soles[np.argmax(off)]!r} is not level in the "
                "half-sitting "
                "posture"
            )
        self.waist_height = float(-floor)
        self.com = center_of_mass(model, q) + (0.0, 0.0, self.waist_height)
        self.stance = tuple(Footstep(s, p[0], p[1], 0.0) for s, (p, _) in zip(SIDES, poses))

    def _half_sitting(self) -> np.ndarray:
        """Return the half-sitting configuration, with the base at the origin.

        This is the keyframe, or the default with HRP-2's leg angles.
        """
        q = self.model.neutral()
        if HALF_SITTING in self.model.keyframes:
            q[7:] = self.model.keyframes[HALF_SITTING][7:]
        else:
            for leg in self.legs:
                q[leg.q_index] = HALF_SITTING_LEG
        return q

    def motion(self, waist, soles) -> np.ndarray:
        """Return configurations (n, nq) for given motions of waist and soles.

        All joints except the legs stay as in half-sitting.

        Args:
            waist: x, y, z, yaw (n, 4) [m, rad].
            soles: x, y, z, yaw of the left and the right sole (n, 2, 4) [m, rad].

        Raises:
            UnreachableError: a leg is too short.
        """
        motion = np.tile(self.rest, (len(waist), 1))
        motion[:, :3] = waist[:, :3]
        half = 0.5 * waist[:, 3]
        motion[:, 5], motion[:, 6] = np.sin(half), np.cos(half)
        for foot, leg in enumerate(self.legs):
            at = soles[:, foot, :3] - waist[:, :3]
            at[:, :2] = turned(at[:, :2], -waist[:, 3])
            turns = about_z(soles[:, foot, 3] - waist[:, 3])
            motion[:, leg.q_index] = [leg.solve(p, R) for p, R in zip(at, turns)]
        return motion

    def center_of_mass(self, motion) -> np.ndarray:
        """Return the centre of mass in configurations `motion` (n, 3) [m]."""
        return centers_of_mass(self.model, motion)


def rates(model: Model, motion, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute velocities and accelerations of configurations (n, nq) by central differences.

    The configurations are `period` [s] apart. The robot rests before the first and after the last
    configuration. The base must stay level, but may travel and turn about the vertical.

    Returns:
        (velocities (n, nv), accelerations (n, nv)).
    """
    motion = np.asarray(motion, dtype=np.float64)
    if np.abs(motion[:, 3:5]).max() > 1e-9:
        raise ModelError(f"{model.source}: the base is tilted. This motion needs a level base")
    yaw = np.unwrap(2.0 * np.arctan2(motion[:, 5], motion[:, 6]))
    trajectory = np.column_stack([motion[:, :3], yaw, motion[:, 7:]])
    padded = np.concatenate([trajectory[:1], trajectory, trajectory[-1:]])
    velocity = (padded[2:] - padded[:-2]) / (2.0 * period)
    acceleration = (padded[2:] - 2.0 * trajectory + padded[:-2]) / period**2
    v, dv = np.zeros((len(motion), model.nv)), np.zeros((len(motion), model.nv))
    c, s = np.cos(yaw), np.sin(yaw)
    for out, of in ((v, velocity), (dv, acceleration)):
        out[:, 0] = c * of[:, 0] + s * of[:, 1]
        out[:, 1] = c * of[:, 1] - s * of[:, 0]
        out[:, 2] = of[:, 2]
        out[:, 5:] = of[:, 3:]
    dv[:, 0] += velocity[:, 3] * v[:, 1]  # the base frame rotates
    dv[:, 1] -= velocity[:, 3] * v[:, 0]
    return v, dv


def floor_wrenches(model: Model, motion, period: float) -> np.ndarray:
    """Return the wrench of the floor (n, 6) [N, Nm] that a motion needs, in the world's frame.

    motion: configurations (n, nq), `period` [s] apart, on a level base that may turn about the
    vertical. Raises ModelError if the base leans.
    """
    v, dv = rates(model, motion, period)
    return in_world(motion, inverse_dynamics_along(model, motion, v, dv)[:, :6])


def in_world(motion, in_base) -> np.ndarray:
    """Transform wrenches on level bases (n, 6) to the world's frame."""
    wrenches = in_base.copy()
    yaw = 2.0 * np.arctan2(motion[:, 5], motion[:, 6])
    wrenches[:, :2], wrenches[:, 3:5] = turned(in_base[:, :2], yaw), turned(in_base[:, 3:5], yaw)
    wrenches[:, 3:] += np.cross(motion[:, :3], wrenches[:, :3])
    return wrenches


def zero_moment_points(wrenches, heights=0.0) -> np.ndarray:
    """Return the ZMP (n, 2) [m] of wrenches (n, 6) from floor_wrenches, at the heights (n,)."""
    x = heights * wrenches[:, 0] - wrenches[:, 4]
    y = heights * wrenches[:, 1] + wrenches[:, 3]
    return np.stack([x, y], axis=-1) / wrenches[:, 2:3]


def sole_wrenches(wrenches, soles, shares) -> np.ndarray:
    """Return the wrenches on the left and the right sole, each in its frame (n, 2, 6) [N, Nm].

    Args:
        wrenches: wrenches of the floor (n, 6) [N, Nm].
        soles: x, y, z, yaw of both soles (n, 2, 4) [m, rad].
        shares: fraction of the floor's force that acts at each sole's origin (n, 2). The remaining
            moment is divided by the same fractions.
    """
    force, moment = wrenches[:, None, :3] * shares[:, :, None], wrenches[:, 3:]
    left = moment - np.cross(soles[:, :, :3], force).sum(axis=1)
    borne = np.concatenate([force, left[:, None] * shares[:, :, None]], axis=-1)
    for part in (borne[..., :2], borne[..., 3:5]):
        part[:] = turned(part, -soles[:, :, 3])
    return borne


def joint_efforts(model: Model, motion, period: float, links, wrenches) -> np.ndarray:
    """Return the generalised forces (n, nv) [Nm, N] that `motion` needs.

    motion: as for floor_wrenches. wrenches (n, k, 6): on the k `links`, in the links' frames.
    """
    return inverse_dynamics_along(model, motion, *rates(model, motion, period), links, wrenches)


def turned(points, yaw) -> np.ndarray:
    """Return points (..., 2) turned about the vertical by `yaw` (...) [rad]."""
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = np.asarray(points)[..., 0], np.asarray(points)[..., 1]
    return np.stack([c * x - s * y, s * x + c * y], axis=-1)


def about_z(yaw) -> np.ndarray:
    """Return rotations (..., 3, 3) about the vertical by `yaw` (...) [rad]."""
    R = np.zeros((*np.shape(yaw), 3, 3))
    R[..., 0, 0] = R[..., 1, 1] = np.cos(yaw)
    R[..., 1, 0] = np.sin(yaw)
    R[..., 0, 1] = -R[..., 1, 0]
    R[..., 2, 2] = 1.0
    return R
