# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The world of a task: a world file, or a robot's description on level ground."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from hrpsim.common.errors import StateError, require_name
from hrpsim.common.file_names import exists
from hrpsim.common.resources import share_path, user_path
from hrpsim.common.typed_values import require_arguments, require_fitting_arguments
from hrpsim.learning.configs import RobotCfg
from hrpsim.learning.task import Task
from hrpsim.learning.terms.selection import values_by_name
from hrpsim.model.load import load_model
from hrpsim.model.shapes.terrain import TERRAINS
from hrpsim.world.file.load_world import load_world
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

GROUND = "floor"  # material of the ground below a described robot


def make_world(task: Task) -> tuple[World, Robot]:
    """Return the world of a task in the initial state, and the robot that learns.

    Raises:
        StateError: the robot, a joint or the terrain does not exist.
        WorldError: the world file is invalid.
        ModelError: the description is invalid.
    """
    if task.world:
        path = user_path(task.world)
        if not exists(path) and exists(shipped := share_path() / path):
            path = shipped
        arguments = task.xacro_arguments
        world = load_world(path, time_step=task.time_step, xacro_arguments=arguments)
        robot = _robot_of(world, task)
        _pose(robot, task.robot)
    else:
        world = World(time_step=task.time_step, accuracy=task.accuracy)
        world.add_ground(material=GROUND)
        robot = _described(world, task.robot)
    _add_terrain(world, task)
    if task.gravity is not None:
        world.gravity = task.gravity
    world.sleeping = False
    _equip(robot, task.robot)
    world.check_placed()
    return world, robot


def _robot_of(world: World, task: Task) -> Robot:
    """Return the learning robot of a world that was loaded from a world file."""
    names = list(world.robots)
    if task.robot.name:
        require_name("robot", task.robot.name, names, StateError, where=f"task {task.name!r}")
        return world.robots[task.robot.name]
    if len(names) != 1:
        raise StateError(
            f"task {task.name!r}: the world has {len(names)} robots ({', '.join(names)}). Name one"
            " by robot=RobotCfg(name=...)"
        )
    return world.robots[names[0]]


def _described(world: World, cfg: RobotCfg) -> Robot:
    """Add the robot of a description to the world."""
    model = load_model(os.path.expanduser(cfg.description), meshes=cfg.meshes)
    robot = world.add_robot(
        model,
        name=cfg.name or None,
        self_collision=cfg.self_collision,
        position=cfg.position,
        orientation=cfg.orientation,
    )
    _posture(robot, cfg)
    if cfg.on_floor:
        robot.place_on_floor()
    return robot


def _pose(robot: Robot, cfg: RobotCfg) -> None:
    """Move the robot of a world file to the task's initial pose."""
    pose = cfg.position, cfg.orientation
    for field, at, values in zip(("position", "orientation"), (slice(3), slice(3, 7)), pose):
        if values is None:
            continue
        if robot.model.base != "free":
            raise StateError(
                f"RobotCfg has a {field}, and robot {robot.name!r} of the world file has a fixed"
                f" base. Give the {field} in the world file"
            )
        q = robot.q.copy()
        q[at] = values
        robot.q = q
    _posture(robot, cfg)
    if cfg.on_floor:
        robot.place_on_floor()


def _posture(robot: Robot, cfg: RobotCfg) -> None:
    if cfg.joint_pos:
        names = robot.joint_names
        angles = values_by_name("joint_pos", cfg.joint_pos, names, robot.name, np.nan)
        robot.joint_positions = np.where(np.isnan(angles), robot.joint_positions, angles)


def _equip(robot: Robot, cfg: RobotCfg) -> None:
    """Set gains, rotor inertias and limits of the robot."""
    own = dict(zip(("stiffness", "damping"), robot.gains))
    kp, kd = (_values(robot, cfg, setting, own[setting]) for setting in own)
    robot.set_gains(kp, kd)
    system, v = robot.system, robot.joint_index.v
    fields = {"armature": "rotor_inertia", "effort_limit": "effort_limit"}
    fields["velocity_limit"] = "velocity_limit"
    changed = {}
    for setting, field in fields.items():
        if getattr(cfg, setting) is not None:
            changed[field] = getattr(system, field).copy()
            changed[field][v] = _values(robot, cfg, setting, changed[field][v])
    if changed:
        robot.use_properties_of(replace(robot.model, system=system._replace(**changed)))


def _values(robot: Robot, cfg: RobotCfg, what: str, own: np.ndarray) -> np.ndarray:
    """Return a setting for each joint (joints,). The default is the robot's own value.

    Raises StateError for a value that is negative or not a number.
    """
    setting, names = getattr(cfg, what), robot.joint_names
    if setting is None:
        return own
    read = values_by_name(what, setting, names, robot.name, np.nan)
    for k in np.flatnonzero(read < 0.0).tolist():
        raise StateError(
            f"{what} of joint {names[k]!r} of {robot.name!r} must not be negative, got {read[k]:g}"
        )
    return np.where(np.isnan(read), own, read)


def _add_terrain(world: World, task: Task) -> None:
    terrain = task.terrain
    require_name("terrain", terrain.kind, ("plane", *TERRAINS), StateError)
    if terrain.kind != "plane":
        label, make = f"terrain {terrain.kind!r}", TERRAINS[terrain.kind]
        require_arguments(label, make, terrain.params, owner="terrain")
        require_fitting_arguments(label, make, terrain.params)
        shape = make(**terrain.params)
        world.add_static(shape, terrain.position, material=GROUND, name="terrain")
