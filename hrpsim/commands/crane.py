# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim crane`: a claw over a table, played in a browser, by a script, or over ROS 2."""

import argparse
import json
from pathlib import Path

from hrpsim.commands.parts import view
from hrpsim.common.arguments import port, positive
from hrpsim.common.errors import WorldError, require_packages

WORLD = "config/crane.yaml"
ROBOT = "crane"
EPILOG = """A body that lies on the fixed shape called "goal" counts.

  hrpsim crane                       play it in a browser: buttons, keys, sliders
  hrpsim crane --script              it plays by itself, and reports what lies in the goal
  hrpsim crane --ros                 node and crane as processes; sensor_msgs/Joy on `joy`,
                                     geometry_msgs/Twist on `cmd_vel`
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--script", action="store_true", help="let a script fetch the separate objects"
    )
    how.add_argument("--ros", action="store_true", help="play over ROS 2 topics")
    parser.add_argument("--world", type=Path, metavar="FILE", help=f"world file ({WORLD})")
    parser.add_argument(
        "--time-step", type=positive, metavar="S", help="step and control period [s]"
    )
    for name, meaning in (
        ("grip", "force of each pad [N] (10)"),
        ("speed", "most speed of the hand [m/s] (0.25)"),
        ("acceleration", "most acceleration of the hand [m/s^2] (1.5)"),
    ):
        parser.add_argument(f"--{name}", type=float, metavar="X", help=meaning)
    parser.add_argument("--json", action="store_true", help="with --script: print JSON")
    parser.add_argument("--host", default="127.0.0.1", help="address of the page (127.0.0.1)")
    parser.add_argument("--port", type=port, default=8080, help="port of the page (8080)")
    parser.set_defaults(run=crane)


def crane(options: argparse.Namespace) -> int:
    """Play the crane game. Return 0, or 1 if the script fetched no body."""
    if options.ros:
        return _play_over_ros(options)
    world = _world(options)
    return _play_by_script(options, world) if options.script else _play_in_browser(options, world)


def _world(options: argparse.Namespace):
    from hrpsim.world.file.load_world import load_world

    world = load_world(_world_path(options), time_step=options.time_step)
    if ROBOT not in world.robots:
        raise WorldError(f"{_world_path(options)}: has no robot with the name {ROBOT!r}")
    return world


def _world_path(options: argparse.Namespace) -> Path:
    from hrpsim.common.resources import share_path

    return share_path(WORLD) if options.world is None else options.world


def _parameters(options: argparse.Namespace, period: float) -> dict[str, float]:
    values = {name: getattr(options, name) for name in ("grip", "speed", "acceleration")}
    return {"period": period, **{k: v for k, v in values.items() if v is not None}}


def _play_in_browser(options: argparse.Namespace, world) -> int:
    from evidence.crane.player import PlayedCrane

    player = PlayedCrane()
    parameters = _parameters(options, world.time_step)
    loop, motion = view.controlled(world.robots[ROBOT], player, parameters)

    def panel(viewer):
        from evidence.crane.panel import CranePanel

        return CranePanel(viewer, player)

    with loop:
        return view.view(options, world, motion, panel)


def _play_by_script(options: argparse.Namespace, world) -> int:
    from evidence.crane.score import in_goal
    from evidence.crane.script import ScriptedCrane, fetching
    from hrpsim.control.framework.control_loop import ControlLoop

    goal = next((shape for shape in world.fixed_shapes if shape.name == "goal"), None)
    if goal is None:
        raise WorldError(f"{_world_path(options)}: has no fixed shape with the name 'goal'")
    player = ScriptedCrane([])
    loop = ControlLoop(world.robots[ROBOT], player, _parameters(options, world.time_step))
    player.script = fetching(_alone(world), goal, player.grip)
    loop.run()
    lying = in_goal(world)
    report = {"in_goal": lying, "of": len(world.bodies), "simulated_time": world.time}
    if options.json:
        print(json.dumps(report))
    else:
        print(
            f"{len(lying)} of {len(world.bodies)} in the goal after {world.time:.1f} s: "
            f"{', '.join(lying) or 'nothing'}"
        )
    return 0 if lying else 1


def _alone(world) -> list:
    """Return the free bodies without contact with another free body."""
    world.step()
    touching = {
        name
        for contact in world.contacts
        if contact.a[0] in world.bodies and contact.b[0] in world.bodies
        for name in (contact.a[0], contact.b[0])
    }
    world.reset()
    return [body for name, body in world.bodies.items() if name not in touching]


def _play_over_ros(options: argparse.Namespace) -> int:
    require_packages("crane --ros", ("rclpy",), "pip install 'hrpsim[ros]', or source a ROS 2")
    from evidence.crane.game import play

    return play(_world_path(options), options.time_step, _parameters(options, 0.01))
