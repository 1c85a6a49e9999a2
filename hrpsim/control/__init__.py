# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers, motions, walking patterns and balance. This folder joins them to a walk.

The folder imports the world to run controllers in it, and knows nothing of ROS.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.control.biped.prepare import BipedOptions as BipedOptions
    from hrpsim.control.biped.prepare import PreparedBiped as PreparedBiped
    from hrpsim.control.biped.prepare import prepare_biped as prepare_biped
    from hrpsim.control.controller_group import ControllerGroup as ControllerGroup
    from hrpsim.control.framework.control_loop import ControlLoop as ControlLoop
    from hrpsim.control.framework.controller import EFFORT as EFFORT
    from hrpsim.control.framework.controller import POSITION as POSITION
    from hrpsim.control.framework.controller import VELOCITY as VELOCITY
    from hrpsim.control.framework.controller import BaseReading as BaseReading
    from hrpsim.control.framework.controller import Command as Command
    from hrpsim.control.framework.controller import Controller as Controller
    from hrpsim.control.framework.controller import ControllerError as ControllerError
    from hrpsim.control.framework.controller import ImuReading as ImuReading
    from hrpsim.control.framework.controller import LinkContact as LinkContact
    from hrpsim.control.framework.controller import State as State
    from hrpsim.control.framework.controller import controlled_joints as controlled_joints
    from hrpsim.control.framework.controller import joint_modes as joint_modes
    from hrpsim.control.framework.plugins import find_controller as find_controller
    from hrpsim.control.motion.leg_kinematics import LegKinematics as LegKinematics
    from hrpsim.control.motion.leg_kinematics import UnreachableError as UnreachableError
    from hrpsim.control.motion.motion_sequence import Channel as Channel
    from hrpsim.control.motion.motion_sequence import MotionSequence as MotionSequence
    from hrpsim.control.motion.motion_sequence import SequenceError as SequenceError
    from hrpsim.control.motion.playback import Playback as Playback
    from hrpsim.control.motion.sequence_files import read_sequence as read_sequence
    from hrpsim.control.motion.sequence_files import write_sequence as write_sequence
    from hrpsim.control.motion.stand_controller import StandController as StandController
    from hrpsim.control.pattern.footholds import flattest_foothold as flattest_foothold
    from hrpsim.control.pattern.footholds import ground_in_plan as ground_in_plan
    from hrpsim.control.pattern.footsteps import Footsteps as Footsteps
    from hrpsim.control.pattern.footsteps import Steps as Steps
    from hrpsim.control.pattern.footsteps import WalkError as WalkError
    from hrpsim.control.pattern.footsteps import climb as climb
    from hrpsim.control.pattern.gait import Gait as Gait
    from hrpsim.control.pattern.support_polygon import sole_outline as sole_outline
    from hrpsim.control.pattern.velocity_footsteps import Velocity as Velocity
    from hrpsim.control.pattern.walking_pattern import WalkingPattern as WalkingPattern
    from hrpsim.control.pattern.walking_pattern import walking_pattern as walking_pattern
    from hrpsim.control.walk import VelocityWalk as VelocityWalk
    from hrpsim.control.walk import Walk as Walk
    from hrpsim.control.walk_trial import Trial as Trial
    from hrpsim.control.walk_trial import measured_zmp as measured_zmp
    from hrpsim.control.walk_trial import simulate_walk as simulate_walk
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
