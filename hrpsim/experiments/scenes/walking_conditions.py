# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Worlds in which a humanoid walks: its feet, the floor, and what goes wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from lxml import etree

from hrpsim import Box, Model, World, load_model
from hrpsim.experiments.scenes.standing import FRICTION, half_sitting
from hrpsim.resources import share_path
from hrpsim.world.objects.robot import Robot

BUSH_SETS = ("openhrp", "jaxon", "hrp2_soft", "hrp2_stiff")
PUSH_TIME = 0.1  # [s]


@dataclass(frozen=True)
class Push:
    """A force on the waist for 0.1 s."""

    impulse: float  # [Ns]
    heading: float  # where the force points, from x [rad]
    begin: float  # [s]


@dataclass(frozen=True)
class Conditions:
    """A walk's surroundings, and how the true robot differs from what its controller knows."""

    bush: bool = True
    bush_set: str = BUSH_SETS[0]
    friction: float = FRICTION
    mass_factor: float = 1.0  # of every link
    slope: float = 0.0  # of the whole floor, rising towards slope_heading [rad]
    slope_heading: float = 0.0  # [rad]
    plate: float = 0.0  # height of a plate that lies where x > plate_edge [m]
    plate_edge: float = 0.5  # [m]
    push: Push | None = None
    time_step: float = 1e-3  # [s]


def described(conditions: Conditions) -> Model:
    """Return hrp2_like as its controller knows it."""
    return load_model(
        share_path("urdf/hrp2_like.urdf.xacro"),
        xacro_arguments={
            "bush": str(conditions.bush).lower(),
            "bush_set": conditions.bush_set,
        },
    )


def standing_robot(conditions: Conditions) -> Robot:
    """Return the robot at rest in half-sitting, at the start of its walk."""
    world = World(time_step=conditions.time_step)
    slope, heading = conditions.slope, conditions.slope_heading
    normal = (-math.sin(slope) * math.cos(heading), -math.sin(slope) * math.sin(heading), 1.0)
    world.add_ground(normal=(normal[0], normal[1], math.cos(slope)), material="floor")
    world.set_friction("sole", "floor", conditions.friction)
    if conditions.plate:
        place = (conditions.plate_edge + 2.0, 0.0, 0.5 * conditions.plate)
        world.add_static(Box((4.0, 8.0, conditions.plate)), place, material="floor", name="plate")
    model = _with_mass(described(conditions), conditions.mass_factor)
    robot = world.add_robot(model, q=half_sitting(model))
    world.settle()
    return robot


def _with_mass(model: Model, factor: float) -> Model:
    """Return the robot with all masses and inertias multiplied by `factor`."""
    if factor == 1.0:
        return model
    tree = etree.fromstring(model.urdf.encode())
    for inertial in tree.iter("inertial"):
        mass, inertia = inertial.find("mass"), inertial.find("inertia")
        mass.set("value", repr(factor * float(mass.get("value"))))
        for name, value in inertia.items():
            inertia.set(name, repr(factor * float(value)))
    return load_model(etree.tostring(tree, encoding="unicode"))


def pushing(robot: Robot, push: Push | None) -> Callable[[float], None]:
    """Return what applies the push when it is called with the time before each period."""
    if push is None:
        return lambda time: None
    force = push.impulse / PUSH_TIME * np.array([math.cos(push.heading), math.sin(push.heading), 0])

    def apply(time: float) -> None:
        if push.begin - 1e-9 <= time < push.begin + PUSH_TIME - 1e-9:
            robot.apply_wrench(robot.model.base_link, force)

    return apply
