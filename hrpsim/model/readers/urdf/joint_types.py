# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Types of joints in robot descriptions, and the elementary joints of the kernels for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hrpsim.model.readers.urdf.joint_motions import (
    FREE_MOTION,
    PRISMATIC_MOTION,
    REVOLUTE_MOTION,
    JointMotion,
)


class Step(NamedTuple):
    """One elementary joint of a joint type. Steps are in order from parent to child."""

    motion: JointMotion
    suffix: str = ""  # suffix of the name after the joint's name
    direction: int = 2  # index of x, y or z in a frame with z along the joint's <axis>


@dataclass(frozen=True)
class JointType:
    """A type of joint in URDF, with its elementary joints and its names in other formats."""

    name: str  # name in URDF and in `JointData`
    steps: tuple[Step, ...] = ()
    has_range: bool = False  # whether <limit> states the ends of the coordinate
    without_range: str = ""  # name of the same type without limits of the coordinate
    mjcf_type: str = ""  # name in mjtJoint, without mjJNT_
    body_names: tuple[str, ...] = ()  # values of joint_type in .body files
    vrml_names: tuple[str, ...] = ()  # values of jointType in OpenHRP's VRML

    @property
    def is_single(self) -> bool:
        """Whether the joint has one coordinate, which may have limits, gains and a spring."""
        return len(self.steps) == 1 and self.steps[0].motion.v_count == 1

    @property
    def needs_axis(self) -> bool:
        """Whether the type of joint has an <axis>."""
        return any(step.motion.axis >= 0 for step in self.steps)

    @property
    def q_count(self) -> int:
        """Number of position values of the joint in a keyframe, 0 if keyframes omit the joint."""
        return self.steps[0].motion.q_count if len(self.steps) == 1 else 0

    @property
    def is_turn(self) -> bool:
        """Whether the coordinate is an angle."""
        return self.is_single and self.steps[0].motion.unit == "rad"


_TYPES = (
    JointType(
        "revolute",
        (Step(REVOLUTE_MOTION),),
        has_range=True,
        without_range="continuous",
        mjcf_type="HINGE",
        body_names=("revolute",),
        vrml_names=("rotate",),
    ),
    JointType("continuous", (Step(REVOLUTE_MOTION),)),
    JointType(
        "prismatic",
        (Step(PRISMATIC_MOTION),),
        has_range=True,
        mjcf_type="SLIDE",
        body_names=("prismatic", "slide"),
        vrml_names=("slide",),
    ),
    JointType("fixed", body_names=("fixed",), vrml_names=("fixed",)),
    JointType("floating", (Step(FREE_MOTION),), body_names=("free",), vrml_names=("free",)),
    JointType(
        "planar",
        (
            Step(PRISMATIC_MOTION, "_x", 0),
            Step(PRISMATIC_MOTION, "_y", 1),
            Step(REVOLUTE_MOTION, "_theta", 2),
        ),
    ),
)
JOINT_TYPES = {kind.name: kind for kind in _TYPES}
MOVING_TYPES = tuple(kind.name for kind in _TYPES if kind.is_single)  # types with one coordinate
