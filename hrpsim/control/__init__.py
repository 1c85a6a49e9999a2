# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers of robots: motions, walking patterns and balance, combined to walking controllers.

The folder imports the world, to run controllers, and does not use ROS.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = [
    "BaseReading",
    "BipedOptions",
    "Channel",
    "Command",
    "ControlLoop",
    "Controller",
    "ControllerError",
    "ControllerGroup",
    "EFFORT",
    "Footsteps",
    "Gait",
    "ImuReading",
    "LegKinematics",
    "LinkContact",
    "MotionSequence",
    "POSITION",
    "Playback",
    "PreparedBiped",
    "SequenceError",
    "StandController",
    "State",
    "Steps",
    "Trial",
    "UnreachableError",
    "VELOCITY",
    "Velocity",
    "VelocityWalk",
    "Walk",
    "WalkError",
    "WalkingPattern",
    "climb",
    "controlled_joints",
    "find_controller",
    "flattest_foothold",
    "ground_in_plan",
    "joint_modes",
    "measured_zmp",
    "prepare_biped",
    "read_sequence",
    "simulate_walk",
    "sole_outline",
    "walking_pattern",
    "write_sequence",
]

if TYPE_CHECKING:
    from hrpsim.control.biped.prepare import BipedOptions, PreparedBiped, prepare_biped
    from hrpsim.control.controller_group import ControllerGroup
    from hrpsim.control.framework.control_loop import ControlLoop
    from hrpsim.control.framework.controller import (
        EFFORT,
        POSITION,
        VELOCITY,
        BaseReading,
        Command,
        Controller,
        ControllerError,
        ImuReading,
        LinkContact,
        State,
        controlled_joints,
        joint_modes,
    )
    from hrpsim.control.framework.plugins import find_controller
    from hrpsim.control.motion.leg_kinematics import LegKinematics, UnreachableError
    from hrpsim.control.motion.motion_sequence import Channel, MotionSequence, SequenceError
    from hrpsim.control.motion.playback import Playback
    from hrpsim.control.motion.sequence_files import read_sequence, write_sequence
    from hrpsim.control.motion.stand_controller import StandController
    from hrpsim.control.pattern.footholds import flattest_foothold, ground_in_plan
    from hrpsim.control.pattern.footsteps import Footsteps, Steps, WalkError, climb
    from hrpsim.control.pattern.gait import Gait
    from hrpsim.control.pattern.support_polygon import sole_outline
    from hrpsim.control.pattern.velocity_footsteps import Velocity
    from hrpsim.control.pattern.walking_pattern import WalkingPattern, walking_pattern
    from hrpsim.control.walk import VelocityWalk, Walk
    from hrpsim.control.walk_trial import Trial, measured_zmp, simulate_walk
else:
    __getattr__, __dir__ = lazy_names(__name__)
