# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim walk --robot`: prepare a robot of any description for walking, in a world."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hrpsim.common.arguments import positive
from hrpsim.common.errors import HrpsimError, ModelError, WorldError

if TYPE_CHECKING:
    from hrpsim.control.biped.prepare import PreparationFinding, PreparedBiped
    from hrpsim.world.objects.robot import Robot

_TIME_STEP = 0.001  # [s]
_FRICTION = 0.8
_WORLD = """\
# The start of a walk: half-sitting on a level floor.
world: {{time_step: {step}}}
ground: {{material: floor}}
friction:
  - {{between: [sole, floor], static: {friction}, kinetic: {friction}}}
robots:
  - name: robot
    urdf: robot.urdf
    base: free{accept}
    position: [{x!r}, {y!r}, {z!r}]
    joints:
{joints}
settle: true
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a user's robot."""
    group = parser.add_argument_group("with a robot of your own")
    group.add_argument(
        "--robot", type=Path, metavar="FILE", help="URDF, xacro, MJCF, .body or .wrl of a biped"
    )
    group.add_argument(
        "--check", action="store_true", help="only report derived and missing information"
    )
    group.add_argument("--left-foot", metavar="LINK", help="where it is not found")
    group.add_argument("--right-foot", metavar="LINK", help="where it is not found")
    group.add_argument(
        "--sole",
        type=positive,
        nargs=3,
        metavar=("BEHIND", "BEFORE", "WIDTH"),
        help="boxes as soles [m]; from the ankle back, forward, and width",
    )
    group.add_argument(
        "--accept-nonphysical-inertia", action="store_true", help="take all inertias as they are"
    )
    group.add_argument(
        "--write-robot", type=Path, metavar="DIR", help="write robot.urdf and world.yaml there"
    )


def prepared_robot(options: argparse.Namespace) -> PreparedBiped:
    """Return the robot of `--robot`, ready to walk. Save the robot if requested."""
    from hrpsim.control.biped.prepare import BipedOptions, prepare_biped

    known = BipedOptions(
        left_foot=options.left_foot,
        right_foot=options.right_foot,
        sole=None if options.sole is None else tuple(options.sole),
        bush_set=options.bush_set,
        accept_nonphysical_inertia=options.accept_nonphysical_inertia,
    )
    prepared = prepare_biped(options.robot, known)
    if options.write_robot is not None:
        write_robot(prepared, options.write_robot, options.accept_nonphysical_inertia)
    return prepared


def parameters_of(prepared: PreparedBiped) -> dict[str, Any]:
    """Return the walking controller's parameters of the robot."""
    left, right = prepared.soles
    return {"left_sole": left, "right_sole": right}


def ready(
    prepared: PreparedBiped,
    options: argparse.Namespace,
    parameters: Mapping[str, Any],
    report: Callable[[list[PreparationFinding]], None],
) -> Robot:
    """Return the robot at rest in a world, after the same checks and planning as in the controller.

    `report` is called once, also before an error is raised. The last finding states whether the
    robot can walk.
    """
    from hrpsim.commands.parts.walk_report import pace_text
    from hrpsim.control.biped.prepare import PreparationFinding
    from hrpsim.control.biped.servos import check_hold
    from hrpsim.control.walk import Walk

    controller, pattern = Walk(), parameters["pattern"]
    findings = list(prepared.findings)
    try:
        check_hold(prepared.model, prepared.hold)
        robot = robot_in_world(prepared, options.world)
        rest_report = robot.world.settle()[robot.name]
        findings.append(PreparationFinding("at rest", str(rest_report)))
        if rest_report.lies:
            raise ModelError(
                f"{prepared.model.source}: the robot fell before the walk: {rest_report}"
            )
        controller.configure(robot.model, {**parameters_of(prepared), **parameters})
    except HrpsimError:
        report([*findings, PreparationFinding("verdict", f"cannot walk {pattern}")])
        raise
    text = pace_text(controller.pace._asdict())
    verdict = f"can walk {pattern}" + (f", {text}" if text else "")
    report([*findings, PreparationFinding("verdict", verdict)])
    return robot


def robot_in_world(prepared: PreparedBiped, world_file: Path | None) -> Robot:
    """Return the robot in a new world, or in the world of a file without robots."""
    from hrpsim.world.file.load_world import load_world
    from hrpsim.world.world import World

    if world_file is None:
        world = World(time_step=_TIME_STEP)
        world.add_ground(material="floor")
        world.set_friction("sole", "floor", _FRICTION)
    else:
        world = load_world(world_file)
        if world.robots:
            raise WorldError(f"{world_file}: has a robot. --robot needs a world without robots")
    robot = world.add_robot(prepared.model, q=prepared.start, name="robot")
    robot.command(positions=robot.joint_positions)
    robot.keep_as_initial()
    return robot


def write_robot(prepared: PreparedBiped, folder: Path, accept_nonphysical_inertia: bool) -> Path:
    """Write robot.urdf and world.yaml. Return the world file."""
    names = {joint.name: joint.q_index for joint in prepared.model.joints}
    joints = "\n".join(
        f"      {name!r}: {float(prepared.start[names[name]])!r}"
        for name in prepared.model.joint_names
        if prepared.start[names[name]] != 0.0
    )
    x, y, z = map(float, prepared.start[:3])
    text = _WORLD.format(
        step=_TIME_STEP,
        friction=_FRICTION,
        accept="\n    accept_nonphysical_inertia: true" if accept_nonphysical_inertia else "",
        x=x,
        y=y,
        z=z,
        joints=joints or "      {}",
    )
    world = folder / "world.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "robot.urdf").write_text(prepared.urdf + "\n", encoding="utf-8")
        world.write_text(text, encoding="utf-8")
    except OSError as cause:
        raise ModelError(f"{folder}: cannot be written: {cause.strerror or cause}") from cause
    return world


def check_lines(findings: list[PreparationFinding], path: Path) -> list[str]:
    """Return the check of a robot as readable lines, the verdict first."""
    lines = [f"{path.name}: {findings[-1].text}"]
    for subject, text, made in findings[:-1]:
        lines.append(f"  {subject:14s} {text}{'  [made]' if made else ''}")
    return lines
