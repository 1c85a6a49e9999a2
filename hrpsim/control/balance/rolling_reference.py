# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The reference of a stabiliser for a walk that is planned section by section."""

import numpy as np

from hrpsim.control.balance.dcm_feedback import dcm_natural_frequencies
from hrpsim.control.balance.foot import Foot
from hrpsim.control.balance.walk_reference import ReferenceTrajectory
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.pattern.replanned_walk import WalkSection
from hrpsim.control.pattern.support_polygon import convex_hull, inset
from hrpsim.control.pattern.whole_body_zmp import WalkingBody, about_z
from hrpsim.dynamics.functions import link_jacobian

_PHASES = 2  # of support in a section


class RollingReference:
    """Samples of one section at a time, in arrays that stay where they are.

    feet, natural_frequencies, leg_reach: as of WalkReference. count: samples of the section.

    Args:
        body: the robot in half-sitting.
        feet: left and right, as of `foot_of`.
        longest: the most samples of a section.
        margin: the ZMP keeps this far from the support's edge [m].
    """

    def __init__(self, body: WalkingBody, feet: tuple[Foot, Foot], longest: int, margin: float):
        model = body.model
        self.feet, self.count, self._margin = feet, 0, margin
        self.natural_frequencies = dcm_natural_frequencies(model, body.rest, float(body.com[2]))
        in_leg = [model.joint(name).v_index for name in feet[0].leg.joint_names]
        self.leg_reach = link_jacobian(model, body.rest, feet[0].sole)[2, in_leg]
        joints = [model.joint(name) for name in controlled_joints(model)]
        self._q_index = [joint.q_index for joint in joints]
        self._v_index = [joint.v_index for joint in joints]
        n, j, corners = longest, len(joints), sum(len(foot.outline) for foot in feet)
        shapes = ((j,), (j,), (3, 3), (3,), (3,), (2,), (), (2, 3), (2, 3, 3), (2,))
        self._arrays = ReferenceTrajectory(
            *(np.zeros((n, *shape)) for shape in shapes),
            np.zeros((n, 2), dtype=bool),
            np.zeros(n, dtype=np.int64),
            np.zeros((n, 2, 3)),
            np.zeros((_PHASES, corners, 2)),
            np.zeros(_PHASES, dtype=np.int64),
        )

    def trajectory(self, margin: float) -> ReferenceTrajectory:
        """Return the arrays that `write` changes; margin: as at the construction [m]."""
        assert margin == self._margin
        return self._arrays

    def write(self, section: WalkSection) -> None:
        """Put a section in place of the one before."""
        n = self.count = len(section.motion)
        to = self._arrays
        to.joint_positions[:n] = section.motion[:, self._q_index]
        to.joint_efforts[:n] = section.efforts[:, self._v_index]
        to.waist_R[:n] = about_z(section.waist[:, 3])
        to.com[:n], to.com_velocity[:n] = section.com, section.com_velocity
        to.zmp[:n], to.vertical_force[:n] = section.zmp, section.vertical_force
        to.sole_p[:n], to.sole_yaw[:n] = section.soles[..., :3], section.soles[..., 3]
        to.sole_R[:n] = about_z(section.soles[..., 3])
        to.contact[:n] = section.contact
        to.pivots[:n] = section.soles[..., :3] - section.waist[:, None, :3]
        to.pivots[:n, :, 2] += [foot.pivot_height for foot in self.feet]
        changes = np.any(section.contact[1:-1] != section.contact[:-2], axis=1)
        to.phase[:n] = 0
        to.phase[1 : n - 1] = np.cumsum(changes)
        to.phase[n - 1] = to.phase[n - 2]  # the next section begins with it
        for phase in range(int(to.phase[n - 1]) + 1):
            k = int(np.argmax(to.phase[:n] == phase))
            support = inset(self._support(k), self._margin)
            to.corner_counts[phase] = len(support)
            to.corners[phase, : len(support)] = support

    def _support(self, k: int) -> np.ndarray:
        """Return the corners of the support at sample `k`, counter-clockwise (c, 2) [m]."""
        at = self._arrays
        corners = [
            at.sole_p[k, side, :2] + foot.outline @ at.sole_R[k, side, :2, :2].T
            for side, foot in enumerate(self.feet)
            if at.contact[k, side]
        ]
        return convex_hull(np.concatenate(corners))
