# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The reference of a stabiliser: quantities at each tick, from a motion sequence or a section.

A sequence needs only joint angles. The position of the waist follows from the lower sole. The ZMP
and the floor's force follow from inverse dynamics.
"""

from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from hrpsim.control.balance.dcm_feedback import dcm_natural_frequencies
from hrpsim.control.balance.foot import Foot
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.motion_sequence import MotionSequence, rotations_of
from hrpsim.control.pattern.replanned_walk import WalkSection
from hrpsim.control.pattern.support_polygon import convex_hull, inset
from hrpsim.control.pattern.whole_body_zmp import WalkingBody, about_z
from hrpsim.engine.dynamics.along_motion import centers_of_mass, inverse_dynamics_along
from hrpsim.engine.dynamics.functions import link_jacobian, link_pose
from hrpsim.model.model import Model

_KEPT = 4  # stored trajectories of a reference
_ANALYSIS_PERIOD = 0.005  # [s]
_ON_FLOOR = 1e-3  # largest height of a supporting sole above the lower sole [m]
_PHASES = 2  # support phases in a section


class ReferenceTrajectory(NamedTuple):
    """Samples of a `WalkReference`: n samples of j joints, with m phases of support."""

    joint_positions: np.ndarray  # (n, j)
    joint_efforts: np.ndarray  # (n, j)
    waist_R: np.ndarray  # (n, 3, 3)
    com: np.ndarray  # (n, 3)
    com_velocity: np.ndarray  # (n, 3)
    zmp: np.ndarray  # (n, 2)
    vertical_force: np.ndarray  # (n,)
    sole_p: np.ndarray  # (n, 2, 3)
    sole_R: np.ndarray  # (n, 2, 3, 3)
    sole_yaw: np.ndarray  # (n, 2)
    contact: np.ndarray  # (n, 2) bool
    phase: np.ndarray  # (n,)
    pivots: np.ndarray  # from the waist to the feet's pivots, along the world's axes (n, 2, 3) [m]
    corners: np.ndarray  # corners of the ZMP's region in each phase, counter-clockwise (m, k, 2)
    corner_counts: np.ndarray  # number of valid corners (m,), 0 without a supporting sole


class WalkReference:
    """A motion sequence sampled every `period` [s].

    The last of n samples is at the end of the sequence or just after the end. Positions are in the
    world of the sequence, z up. In pairs, row 0 belongs to the left foot and row 1 to the right
    foot.

    Attributes:
        feet: left and right, from `foot_of`.
        joint_positions, joint_velocities, joint_efforts: (n, joints), in the order of
            controlled_joints(model). The efforts [Nm] are without forces of the floor.
        waist_p, waist_R: pose of the waist (n, 3) [m], (n, 3, 3).
        com, com_velocity: centre of mass (n, 3) [m, m/s].
        zmp: (n, 2) [m].
        vertical_force: vertical force of the floor (n,) [N].
        sole_p, sole_R, sole_yaw: poses of the soles (n, 2, 3) [m], (n, 2, 3, 3), (n, 2) [rad].
        contact: whether each sole stands (n, 2), bool.
        polygons: corners (k, 2) of the support polygon in each phase, counter-clockwise, or None if
            no sole stands.
        phase: the phase of each sample (n,).
        natural_frequencies: of the divergent component in the first posture, along x and y [1/s].
        leg_reach: how far each joint of a leg lifts the sole in the first posture (6,) [m/rad].
    """

    def __init__(
        self, model: Model, sequence: MotionSequence, feet: tuple[Foot, Foot], period: float
    ) -> None:
        self.feet = feet
        self._trajectories: dict[float, ReferenceTrajectory] = {}
        begin = float(sequence.pos.times[0])
        duration = max(float(sequence.pos.times[-1]) - begin, _ANALYSIS_PERIOD)
        grid = np.arange(int(np.ceil(duration / _ANALYSIS_PERIOD - 1e-9)) + 1) * _ANALYSIS_PERIOD
        controlled = [model.joint(name) for name in controlled_joints(model)]
        self._q_index = np.array([joint.q_index for joint in controlled])
        self._v_index = np.array([joint.v_index for joint in controlled])
        trajectory = _joint_trajectory(model, sequence, begin + grid)
        q = np.tile(model.neutral(), (len(grid), 1))
        q[:, self._q_index] = trajectory[0]
        waist_p, waist_R = _waist_trajectory(model, sequence, feet, begin + grid, q)
        fields = self._analyse(model, feet, grid, q, trajectory, waist_p, waist_R)
        if sequence.zmp is not None:
            in_waist = sequence.zmp.at(begin + grid)
            fields["zmp"] = (waist_p + np.einsum("nij,nj->ni", waist_R, in_waist))[:, :2]

        times = np.arange(int(np.ceil(duration / period - 1e-9)) + 1) * period
        for name, values in fields.items():
            setattr(self, name, _resampled(times, grid, values))
        self.count = len(times)
        self.contact = _contacts(sequence, begin + times, self.sole_p)
        self.sole_yaw = np.unwrap(
            np.arctan2(self.sole_R[:, :, 1, 0], self.sole_R[:, :, 0, 0]), axis=0
        )
        changes = np.flatnonzero(np.any(self.contact[1:] != self.contact[:-1], axis=1)) + 1
        starts = np.concatenate([[0], changes])
        self.phase = np.searchsorted(starts, np.arange(self.count), side="right") - 1
        self.polygons = [self._polygon(feet, k) for k in starts]
        first = model.neutral()
        first[self._q_index] = self.joint_positions[0]
        height = float(self.com[0, 2] - self.sole_p[0, :, 2].min())
        self.natural_frequencies = dcm_natural_frequencies(model, first, height)
        in_leg = [model.joint(name).v_index for name in feet[0].leg.joint_names]
        self.leg_reach = link_jacobian(model, first, feet[0].sole)[2, in_leg]

    def _analyse(self, model, feet, grid, q, trajectory, waist_p, waist_R) -> dict[str, np.ndarray]:
        """Return the quantities computed from the postures and their rates, at the grid times."""
        n, (position, velocity, acceleration) = len(grid), trajectory
        path, turning = CubicSpline(grid, waist_p), CubicSpline(grid, waist_R.reshape(n, 9))
        v, dv = np.zeros((n, model.nv)), np.zeros((n, model.nv))
        v[:, self._v_index], dv[:, self._v_index] = velocity, acceleration
        for out, order in ((v, 1), (dv, 2)):
            out[:, :3] = np.einsum("nji,nj->ni", waist_R, path(grid, order))
            spin = np.einsum("nji,njk->nik", waist_R, turning(grid, order).reshape(n, 3, 3))
            spin = 0.5 * (spin - spin.transpose(0, 2, 1))
            out[:, 3:6] = spin[:, [2, 0, 1], [1, 2, 0]]
        dv[:, :3] -= np.cross(v[:, 3:6], v[:, :3])
        q[:, :3] = waist_p
        q[:, 3:7] = [_quaternion(R) for R in waist_R]
        com, effort = centers_of_mass(model, q), inverse_dynamics_along(model, q, v, dv)
        sole_p, sole_R = np.empty((n, 2, 3)), np.empty((n, 2, 3, 3))
        for k in range(n):
            for side, foot in enumerate(feet):
                sole_p[k, side], sole_R[k, side] = link_pose(model, q[k], foot.sole)
        force = np.einsum("nij,nj->ni", waist_R, effort[:, :3])
        moment = np.einsum("nij,nj->ni", waist_R, effort[:, 3:6])
        height = waist_p[:, 2] - sole_p[:, :, 2].min(axis=1)
        zmp = waist_p[:, :2] + (
            np.stack([-moment[:, 1], moment[:, 0]], axis=1) - height[:, None] * force[:, :2]
        ) / np.maximum(force[:, 2:], 0.1 * force[:, 2:].max())
        return {
            "joint_positions": position,
            "joint_velocities": velocity,
            "joint_efforts": effort[:, self._v_index],
            "waist_p": waist_p,
            "waist_R": waist_R,
            "com": com,
            "com_velocity": CubicSpline(grid, com)(grid, 1),
            "zmp": zmp,
            "vertical_force": force[:, 2],
            "sole_p": sole_p,
            "sole_R": sole_R,
        }

    def trajectory(self, margin: float) -> ReferenceTrajectory:
        """Return the samples in arrays. The ZMP keeps `margin` [m] from the support's edge.

        The arrays are shared by all callers, and must not be written to.
        """
        known = self._trajectories
        if margin not in known:
            while len(known) >= _KEPT:
                del known[next(iter(known))]
            known[margin] = _new_trajectory(self, margin)
        return known[margin]

    def _polygon(self, feet, k: int) -> np.ndarray | None:
        corners = [
            self.sole_p[k, side, :2] + foot.outline @ self.sole_R[k, side, :2, :2].T
            for side, foot in enumerate(feet)
            if self.contact[k, side]
        ]
        return convex_hull(np.concatenate(corners)) if corners else None


def _joint_trajectory(model: Model, sequence: MotionSequence, times) -> tuple[np.ndarray, ...]:
    """Return positions, velocities and accelerations (n, joints), zero for joints without data."""
    joints = controlled_joints(model)
    columns = [joints.index(name) for name in sequence.joint_names]
    out = tuple(np.zeros((len(times), len(joints))) for _ in range(3))
    values = sequence.pos.at(times)
    spline = CubicSpline(times, values, bc_type="clamped")
    for order, trajectory in enumerate(out):
        trajectory[:, columns] = spline(times, order)
    return out


def _waist_trajectory(model, sequence, feet, times, q) -> tuple[np.ndarray, np.ndarray]:
    """Return the position (n, 3) [m] and orientation (n, 3, 3) of the waist in the world.

    If the sequence has no waist, the position follows from the lower sole.
    """
    angles = np.zeros((len(times), 3))
    if sequence.waist is not None:
        angles = sequence.waist.at(times)[:, 3:]
    if sequence.hip is not None:
        angles = sequence.hip.at(times)
    R = rotations_of(angles)
    if sequence.waist is not None:
        return sequence.waist.at(times)[:, :3], R
    # The lower sole is the supporting sole until the other sole is lower.
    q = q.copy()
    q[:, 3:7] = [_quaternion(rotation) for rotation in R]
    soles = np.array([[link_pose(model, row, foot.sole)[0] for foot in feet] for row in q])
    p = np.zeros((len(times), 3))
    p[0, 2] = -soles[0, :, 2].min()
    standing, fixed_point = int(np.argmin(soles[0, :, 2])), None
    fixed_point = p[0] + soles[0, standing]
    for k in range(1, len(times)):
        p[k] = fixed_point - soles[k, standing]
        lower = int(np.argmin(soles[k, :, 2]))
        if lower != standing:
            standing, fixed_point = lower, p[k] + soles[k, lower]
            fixed_point[2] = 0.0
    return p, R


def _contacts(sequence: MotionSequence, times, sole_p) -> np.ndarray:
    if sequence.optionaldata is not None and sequence.optionaldata.values.shape[1] >= 2:
        stated = sequence.optionaldata.at(times)[:, 1::-1] > 0.5  # the right foot comes first
        return np.ascontiguousarray(stated)
    heights = sole_p[:, :, 2]
    return heights < heights.min(axis=1, keepdims=True) + _ON_FLOOR


def _resampled(times, grid, values) -> np.ndarray:
    if len(times) == len(grid):
        return np.ascontiguousarray(values)
    flat = values.reshape(len(grid), -1)
    columns = [np.interp(times, grid, column) for column in flat.T]
    return np.ascontiguousarray(np.stack(columns, axis=-1).reshape(len(times), *values.shape[1:]))


def _quaternion(R) -> tuple[float, float, float, float]:
    """Return the quaternion x y z w of a rotation.

    The tilt of the z axis must be less than a half turn. The yaw may have any value.
    """
    yaw = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(0.5 * yaw), np.sin(0.5 * yaw)
    level = np.array([[np.cos(yaw), np.sin(yaw), 0], [-np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]]) @ R
    w = 0.5 * np.sqrt(max(1.0 + np.trace(level), 1e-12))
    x, y, z = (level[2, 1] - level[1, 2], level[0, 2] - level[2, 0], level[1, 0] - level[0, 1]) / (
        4.0 * w
    )
    return (c * x - s * y, s * x + c * y, c * z + s * w, c * w - s * z)


def _new_trajectory(reference: WalkReference, margin: float) -> ReferenceTrajectory:
    heights = np.array([[foot.pivot_height] for foot in reference.feet])
    pivots = reference.sole_p + heights * reference.sole_R[:, :, :, 2]
    pivots -= reference.waist_p[:, None]
    supports = [
        np.empty((0, 2)) if polygon is None else inset(polygon, margin)
        for polygon in reference.polygons
    ]
    corners = np.zeros((len(supports), max(map(len, supports)), 2))
    for row, support in zip(corners, supports):
        row[: len(support)] = support
    shared = [
        np.ascontiguousarray(getattr(reference, name)) for name in ReferenceTrajectory._fields[:12]
    ]
    return ReferenceTrajectory(
        *shared, pivots, corners, np.array([len(support) for support in supports])
    )


class RollingReference:
    """The reference samples of one walk section at a time, in arrays at fixed addresses.

    `feet`, `natural_frequencies` and `leg_reach` are as in WalkReference. `count` is the number of
    samples of the section.

    Args:
        body: the robot in half-sitting.
        feet: left and right, from `foot_of`.
        longest: largest number of samples of a section.
        margin: distance of the ZMP from the support's edge [m].
    """

    def __init__(
        self, body: WalkingBody, feet: tuple[Foot, Foot], longest: int, margin: float
    ) -> None:
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
        """Return the arrays that `write` changes.

        Args:
            margin: the same margin as in the constructor [m].
        """
        assert margin == self._margin
        return self._arrays

    def write(self, section: WalkSection) -> None:
        """Replace the previous section by the samples of a new section."""
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
