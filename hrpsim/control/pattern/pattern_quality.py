# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Assess a walking pattern: ZMP margins, joint limits, speeds and torques, feet."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hrpsim.control.pattern.footsteps import Footstep
from hrpsim.control.pattern.support_polygon import convex_hull, gap_between, margins
from hrpsim.control.pattern.walking_pattern import WalkingPattern
from hrpsim.model.model import Model


class JointUse(NamedTuple):
    """How much of a joint's limits of position, velocity and torque a pattern uses."""

    name: str
    angle_margin: float  # distance to the nearer limit [rad], negative beyond the limit
    speed_ratio: float  # ratio of the largest speed to the limit
    torque_ratio: float  # ratio of the largest torque to the limit


class PatternQuality(NamedTuple):
    """Quality measures of a walking pattern, from `pattern_quality`. Lengths are in m."""

    zmp_margins: tuple[float, ...]  # least ZMP distance from the support's edge in each phase
    single_support_margin: float  # least of these in all single supports
    double_support_margin: float
    zmp_error: float  # largest distance of the ZMP from its reference
    zmp_error_rms: float
    uncorrected_zmp_error: float  # largest distance with cart-table preview control alone
    sole_gap: float  # least distance between the soles' outlines
    joints: tuple[JointUse, ...]  # in the order of jointId

    def report(self) -> str:
        """Return the measures as text, with the joints of least margin, most speed and torque."""
        moving = [joint for joint in self.joints if joint.speed_ratio > 0.0]
        angle = min(moving, key=lambda joint: joint.angle_margin)
        speed = max(self.joints, key=lambda joint: joint.speed_ratio)
        torque = max(self.joints, key=lambda joint: joint.torque_ratio)
        return "\n".join(
            [
                f"ZMP margin         {1e3 * self.single_support_margin:.1f} mm in single, "
                f"{1e3 * self.double_support_margin:.1f} mm in double support",
                f"ZMP error          {1e3 * self.zmp_error:.1f} mm at most, "
                f"{1e3 * self.zmp_error_rms:.1f} mm rms "
                f"({1e3 * self.uncorrected_zmp_error:.1f} mm before correction)",
                f"gap between soles  {1e3 * self.sole_gap:.1f} mm",
                f"nearest limit      {angle.angle_margin:.3f} rad, {angle.name}",
                f"joint speed        {100 * speed.speed_ratio:.0f} % of the limit, {speed.name}",
                f"joint torque       {100 * torque.torque_ratio:.0f} % of the limit, {torque.name}",
            ]
        )


def pattern_quality(model: Model, pattern: WalkingPattern) -> PatternQuality:
    """Return ZMP margins and use of joint limits for a pattern of `model`."""
    outlines = [
        [Footstep("", x, y, yaw).point(at) for at, (x, y, _, yaw) in zip(pattern.outlines, poses)]
        for poses in pattern.soles
    ]
    errors = np.linalg.norm(pattern.zmp - pattern.zmp_reference, axis=1)
    by_phase = tuple(_least_margin(pattern, phase, outlines) for phase in pattern.phases)
    single = [m for m, phase in zip(by_phase, pattern.phases) if phase.support != "both"]
    double = [m for m, phase in zip(by_phase, pattern.phases) if phase.support == "both"]
    return PatternQuality(
        zmp_margins=by_phase,
        single_support_margin=min(single),
        double_support_margin=min(double),
        zmp_error=float(errors.max()),
        zmp_error_rms=float(np.sqrt((errors**2).mean())),
        uncorrected_zmp_error=pattern.zmp_errors[0],
        sole_gap=min(gap_between(left, right) for left, right in outlines),
        joints=tuple(_uses(model, pattern)),
    )


def _least_margin(pattern: WalkingPattern, phase, outlines) -> float:
    first, last = np.searchsorted(pattern.times, [phase.begin - 1e-9, phase.end + 1e-9])
    feet = {"left": [0], "right": [1], "both": [0, 1]}[phase.support]
    middle = (first + last) // 2  # the supporting feet do not move
    polygon = convex_hull(np.concatenate([outlines[middle][foot] for foot in feet]))
    return float(margins(pattern.zmp[first:last], polygon).min())


def _uses(model: Model, pattern: WalkingPattern) -> Iterator[JointUse]:
    sequence, system = pattern.sequence, model.system
    speeds = np.abs(np.gradient(sequence.pos.values, pattern.period, axis=0)).max(axis=0)
    torques = np.abs(sequence.torque.values).max(axis=0)
    for name, angles, speed, torque in zip(
        sequence.joint_names, sequence.pos.values.T, speeds, torques
    ):
        k = model.joint(name).v_index
        margin = min(angles.min() - system.lower[k], system.upper[k] - angles.max())
        yield JointUse(
            name,
            angle_margin=float(margin),
            speed_ratio=float(speed / system.velocity_limit[k]),
            torque_ratio=float(torque / system.effort_limit[k]),
        )
