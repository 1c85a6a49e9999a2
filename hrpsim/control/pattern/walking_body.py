# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a walk needs to know of the robot, and the legs that follow waist and soles."""

from __future__ import annotations

import numpy as np

from hrpsim.control.motion.numerical_leg import leg_of
from hrpsim.control.motion.stand_motion import HALF_SITTING_LEG
from hrpsim.control.pattern.footsteps import SIDES, Footstep
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.dynamics.functions import center_of_mass, link_pose
from hrpsim.errors import ModelError
from hrpsim.model.model import Model

HALF_SITTING = "half_sitting"  # keyframe of descriptions with another one than HRP-2's
_LEVEL = 1e-6  # [m] and part of 1


class WalkingBody:
    """A robot in half-sitting, with the waist over the world's origin and the soles on z = 0.

    Half-sitting is the keyframe `half_sitting` of the description; without, HRP-2's with all other
    joints at zero. soles: links of the left and the right sole. Raises ModelError where the model
    has no free base, no legs of six joints, nothing flat as soles, or soles that are not level in
    half-sitting.

    rest: the configuration (nq,), the base at the origin; stance: where the soles stand (left,
    right); com: centre of mass (3,) [m]; waist_height, leg_length [m]; outlines: corners of the
    soles in their frames, two arrays (k, 2) [m].
    """

    def __init__(self, model: Model, soles: tuple[str, str]):
        if model.base != "free" or model.nq != model.nv + 1:
            raise ModelError(f"{model.source}: only a robot on one free base can walk")
        self.model = model
        self.soles = soles
        self.legs = tuple(leg_of(model, sole) for sole in soles)
        self.leg_length = round(min(leg.longest for leg in self.legs), 9)
        self.outlines = tuple(sole_outline(model, sole) for sole in soles)
        q = model.neutral()
        if HALF_SITTING in model.keyframes:
            q[7:] = model.keyframes[HALF_SITTING][7:]
        else:
            for leg in self.legs:
                q[leg.q_index] = HALF_SITTING_LEG
        self.rest = q
        poses = [link_pose(model, q, sole) for sole in soles]
        floor = poses[0][0][2]
        for sole, (p, R) in zip(soles, poses):
            if abs(p[2] - floor) > _LEVEL or R[2, 2] < 1.0 - _LEVEL:
                raise ModelError(f"{model.source}: {sole!r} is not level in half-sitting")
        self.waist_height = float(-floor)
        self.com = center_of_mass(model, q) + (0.0, 0.0, self.waist_height)
        self.stance = tuple(Footstep(s, p[0], p[1], 0.0) for s, (p, _) in zip(SIDES, poses))

    def motion(self, waist, soles) -> np.ndarray:
        """Return configurations (n, nq), all joints but the legs as in half-sitting.

        waist: x y z yaw (n, 4); soles: x y z yaw of the left and the right one (n, 2, 4) [m, rad].
        Raises UnreachableError where a leg is too short.
        """
        motion = np.tile(self.rest, (len(waist), 1))
        motion[:, :3] = waist[:, :3]
        half = 0.5 * waist[:, 3]
        motion[:, 5], motion[:, 6] = np.sin(half), np.cos(half)
        for foot, leg in enumerate(self.legs):
            at = soles[:, foot, :3] - waist[:, :3]
            at[:, :2] = turned(at[:, :2], -waist[:, 3])
            turns = _about_z(soles[:, foot, 3] - waist[:, 3])
            motion[:, leg.q_index] = [leg.solve(p, R) for p, R in zip(at, turns)]
        return motion

    def center_of_mass(self, motion) -> np.ndarray:
        """Return the centre of mass in configurations `motion` (n, 3) [m]."""
        return np.array([center_of_mass(self.model, q) for q in motion])


def turned(points, yaw) -> np.ndarray:
    """Return points (..., 2) turned about the vertical by `yaw` (...) [rad]."""
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
