# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots that stand on a floor, and motions for them."""

from functools import cache

import numpy as np

import hrpsim
from hrpsim.control import Channel, MotionSequence, controlled_joints, walking_pattern
from hrpsim.control.motion.stand_controller import HALF_SITTING_LEG
from robots import HRP2_LIKE

BUSH_SETS = ("openhrp", "jaxon", "hrp2_soft", "hrp2_stiff")
RIGID = "rigid"
HALF_SITTING = {
    f"{side}LEG_JOINT{k}": angle for side in "LR" for k, angle in enumerate(HALF_SITTING_LEG)
}


@cache
def model_on(feet):
    """Return the robot on one of BUSH_SETS, or RIGID feet."""
    arguments = {"bush": "false"} if feet == RIGID else {"bush": "true", "bush_set": feet}
    return hrpsim.load_model(HRP2_LIKE, xacro_arguments=arguments)


@cache
def pattern(name):
    """Return the sequence of a walk; all robots have the same."""
    return walking_pattern(model_on("openhrp"), name).sequence


def standing(duration):
    """Return the sequence of half-sitting for `duration` [s]: joint angles alone."""
    names = controlled_joints(model_on("openhrp"))
    row = [HALF_SITTING.get(name, 0.0) for name in names]
    return MotionSequence(names, pos=Channel(np.array([0.0, duration]), np.array([row, row])))


def half_sitting_robot(feet, friction=0.8):
    """Return a robot that stands at rest on a floor, in half-sitting."""
    model = model_on(feet)
    world = hrpsim.World(time_step=1e-3)
    world.add_ground(material="floor")
    world.set_friction("sole", "floor", static=friction, kinetic=friction)
    q = model.neutral()
    q[2] = 0.6487
    for name, angle in HALF_SITTING.items():
        q[model.joint(name).q_index] = angle
    robot = world.add_robot(model, q=q)
    world.settle()
    return robot
