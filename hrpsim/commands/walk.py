# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim walk`: a humanoid walks, here or over ROS 2. Exit status 1: a fall."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hrpsim.commands.parts import record_signals, view, walk_push, walk_robot
from hrpsim.commands.parts.output import ROS_REMEDY, refuse_options
from hrpsim.common.arguments import not_negative, positive, whole
from hrpsim.common.errors import WorldError, require_packages
from hrpsim.common.progress import Progress

if TYPE_CHECKING:
    from hrpsim.control.biped.prepare import PreparationFinding
    from hrpsim.control.walk import Walk
    from hrpsim.model.model import Model
    from hrpsim.world.objects.robot import Robot

WORLD = "config/walking_demo.yaml"
PATTERNS = "E5, stepping, forward, backward, sideways, turn, stairs"
BUSH_SETS = "openhrp, jaxon, hrp2_soft, hrp2_stiff"
_ROS_PACKAGES = ("rclpy", "rosbags", "matplotlib")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    bushes = parser.add_mutually_exclusive_group()
    bushes.add_argument("--no-bush", action="store_true", help="rigid feet, no rubber bushes")
    bushes.add_argument("--bush-set", metavar="NAME", help=BUSH_SETS)
    parser.add_argument(
        "--no-stabilizer", action="store_true", help="only play the pattern, by joint PD"
    )
    parser.add_argument(
        "--pattern",
        metavar="NAME",
        help=f"to walk (E5); {PATTERNS}, or the basename of a set of hrpsys sequence files",
    )
    parser.add_argument(
        "--parameters",
        type=Path,
        metavar="FILE",
        help="of the walking controller (YAML); the defaults are in config/walk_controller.yaml",
    )
    parser.add_argument("--period", type=positive, metavar="S", help="control period [s] (0.005)")
    parser.add_argument("--world", type=Path, metavar="FILE", help=f"world file ({WORLD})")
    parser.add_argument(
        "--duration", type=positive, metavar="S", help="end after S s, walking or not"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw foot forces, ZMP and inclination (PNG)"
    )
    view.add_film_argument(parser, "film (.mp4, .gif, .html, .rrd) or moments (.png)")
    record_signals.add_arguments(parser)
    walk_push.add_argument(parser)
    parser.add_argument(
        "--write-sequence", metavar="BASENAME", help="write the pattern as hrpsys sequence files"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    view.add_arguments(parser)
    walk_robot.add_arguments(parser)
    _add_ros_arguments(parser)
    parser.set_defaults(run=walk, parser=parser)


def _add_ros_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ros",
        action="store_true",
        help="over ROS 2; simulation node, controller and recorder as processes, in lockstep",
    )
    ros = parser.add_argument_group("with --ros")
    ros.add_argument(
        "--rate", type=not_negative, metavar="X", help="real-time factor (1); 0: at full speed"
    )
    ros.add_argument("--rviz", action="store_true", help="show the walk in RViz, if installed")
    ros.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="folder of results (demo_output); bag, picture, logs, summary",
    )
    ros.add_argument(
        "--domain-id", type=whole(0, 232), metavar="N", help="ROS_DOMAIN_ID (a private one)"
    )
    ros.add_argument(
        "--start-limit", type=not_negative, metavar="S", help="give up if not ready after S s (180)"
    )


def walk(options: argparse.Namespace) -> int:
    """Simulate the walk and print a summary. Return 0 if the robot walked, 1 if the robot fell."""
    _check_combination(options)
    if options.plot:
        require_packages("walk --plot", ("matplotlib",), "pip install 'hrpsim[plot]'")
    if options.film:
        from hrpsim.viewer.film import check_film

        check_film(options.film)
    record_signals.check(options)
    view.check(options)
    if options.check:
        return _check(options)
    if options.viewer:
        return _walk_in_viewer(options)
    return _walk_over_ros(options) if options.ros else _walk_here(options)


def _check_combination(options: argparse.Namespace) -> None:
    local_options = ("plot", "film", "duration", "push", *record_signals.OPTIONS)
    over_ros = ("rate", "rviz", "output", "domain-id", "start-limit")
    unused, why = (local_options, "does not go with") if options.ros else (over_ros, "needs")
    refuse_options(options, unused, f"{why} --ros")
    if options.viewer:
        unseen = (*local_options, "ros", "json", "write-sequence")
        refuse_options(options, unseen, "does not go with --viewer")
    if options.robot is None:
        feet = ("left-foot", "right-foot", "sole")
        alone = ("check", *feet, "accept-nonphysical-inertia", "write-robot")
        refuse_options(options, alone, "needs --robot")
    if options.robot is not None and options.ros and options.world is not None:
        options.parser.error("--world does not go with --robot and --ros")


def _check(options: argparse.Namespace) -> int:
    """Report the findings on a robot, and whether the robot can walk the pattern."""
    _robot(options)
    return 0


def _walk_in_viewer(options: argparse.Namespace) -> int:
    from hrpsim.control.walk import Walk

    robot, of_robot = _robot(options)
    loop, motion = view.controlled(robot, Walk(), {**of_robot, **_parameters(options)})
    with loop:
        return view.view(options, robot.world, motion, follow=robot.name)


def _walk_here(options: argparse.Namespace) -> int:
    from hrpsim.commands.parts.walk_report import report, report_lines
    from hrpsim.control.walk import Walk
    from hrpsim.control.walk_trial import simulate_walk

    robot, of_robot = _robot(options)
    controller, callbacks, progress = Walk(), [], Progress("walking", "steps")
    pushes = walk_push.pushes_of(options, robot)
    if pushes:
        callbacks.append(
            lambda at: [push.apply(robot.world, at, controller.period) for push in pushes]
        )
    if sys.stderr.isatty():
        callbacks.append(_progress(controller, progress))

    def show(simulated: float) -> None:
        for callback in callbacks:
            callback(simulated)

    with contextlib.ExitStack() as stack:
        if options.film and options.film.suffix != ".png":
            from hrpsim.viewer.film import film_of

            film = stack.enter_context(film_of(robot.world, options.film, follow=robot.name))
            callbacks.append(lambda _: film.look())
        stack.enter_context(record_signals.recording(options, robot.world))
        trial = simulate_walk(
            robot,
            controller,
            {**of_robot, **_parameters(options)},
            duration=float("inf") if options.duration is None else options.duration,
            each_tick=show,
        )
    progress.end()
    result = report(trial, robot.model, controller.sequence, _asked_for(options))
    result["pace"] = controller.pace._asdict()
    result["files"] += map(str, _write_files(options, trial, robot, controller.sequence))
    print(json.dumps(result, indent=2) if options.json else "\n".join(report_lines(result)))
    return 0 if trial.fell_at is None else 1


def _write_files(options: argparse.Namespace, trial, robot: Robot, sequence) -> list[Path]:
    """Write the figures and the motion. Return all files of the walk, the recording too."""
    from hrpsim.commands.parts.walk_report import draw_moments, draw_walk
    from hrpsim.control.motion.sequence_files import write_sequence

    if options.plot:
        draw_walk(trial, robot.model, sequence, options.plot)
    if options.film and options.film.suffix == ".png":
        draw_moments(trial, robot, sequence, options.film)
    files = [file for file in (options.plot, options.film, options.record) if file]
    written = options.write_sequence and write_sequence(sequence, options.write_sequence)
    return [*files, *(written or ())]


def _walk_over_ros(options: argparse.Namespace) -> int:
    require_packages("walk --ros", _ROS_PACKAGES, ROS_REMEDY)
    from hrpsim.commands.warm_up import compile_for_walks
    from hrpsim.control.motion.sequence_files import write_sequence
    from hrpsim.control.walk import Walk
    from hrpsim.control.walk_trial import step_ends
    from hrpsim.ros.demo.demo import DEFAULT_OUTPUT, DemoSettings, node_topics, run_demo

    compile_for_walks()  # otherwise node and controller would compile one after the other
    controller = Walk()
    with contextlib.ExitStack() as stack:
        world, model, of_robot = _described(options, stack)
        parameters = {**of_robot, **_parameters(options)}
        controller.configure(model, parameters)
        if options.write_sequence:
            write_sequence(controller.sequence, options.write_sequence)
        settings = DemoSettings(
            world=world,
            topics=node_topics(model),
            xacro_arguments=_xacro_arguments(options),
            parameters=parameters,
            period=controller.period,
            step_ends=step_ends(controller.sequence),
            output=options.output or DEFAULT_OUTPUT,
            real_time_factor=1.0 if options.rate is None else options.rate,
            rviz=options.rviz,
            domain_id=options.domain_id,
            start_limit=180.0 if options.start_limit is None else options.start_limit,
        )
        out = sys.stderr if options.json else sys.stdout
        summary = run_demo(settings, lambda text: print(text, file=out, flush=True))
    if options.json:
        print(json.dumps(summary, indent=2))
    else:
        from hrpsim.commands.parts.walk_report import ros_report_lines

        print("\n" + "\n".join(ros_report_lines(summary, _asked_for(options))))
    return 1 if summary["problems"] else 0


def _robot(options: argparse.Namespace) -> tuple[Robot, dict[str, Any]]:
    """Return the robot at the start of the walk, and the parameters of the controller."""
    from hrpsim.commands.warm_up import compile_for_walks

    compile_for_walks()
    if options.robot is None:
        return _only_robot(options), {}
    prepared = walk_robot.prepared_robot(options)
    parameters = {**_parameters(options), "pattern": _asked_for(options)["pattern"]}
    robot = walk_robot.ready(
        prepared, options, parameters, lambda findings: _report(options, findings)
    )
    return robot, walk_robot.parameters_of(prepared)


def _report(options: argparse.Namespace, findings: list[PreparationFinding]) -> None:
    """Print the findings on a robot as lines. With --json, print JSON if --check is given."""
    if not options.json:
        print("\n".join(walk_robot.check_lines(findings, options.robot)), flush=True)
    elif options.check:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))


def _only_robot(options: argparse.Namespace) -> Robot:
    """Return the robot of the world file."""
    from hrpsim.world.file.load_world import load_world

    world = load_world(_world_path(options), xacro_arguments=_xacro_arguments(options))
    if len(world.robots) != 1:
        raise WorldError(
            f"{_world_path(options)}: the world must have one robot, got {len(world.robots)}"
        )
    return next(iter(world.robots.values()))


def _described(options: argparse.Namespace, stack) -> tuple[Path, Model, dict[str, Any]]:
    """Return world file, model and controller's parameters for separate processes."""
    from hrpsim.control.biped.servos import check_hold

    if options.robot is None:
        return _world_path(options), _only_robot(options).model, {}
    prepared = walk_robot.prepared_robot(options)
    check_hold(prepared.model, prepared.hold)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hrpsim_walk_"))
    accept = options.accept_nonphysical_inertia
    world = walk_robot.write_robot(prepared, Path(folder), accept)
    return world, prepared.model, walk_robot.parameters_of(prepared)


def _world_path(options: argparse.Namespace) -> Path:
    from hrpsim.common.resources import share_path

    return share_path(WORLD) if options.world is None else options.world


def _xacro_arguments(options: argparse.Namespace) -> dict[str, str]:
    if options.robot is not None:
        return {}
    if options.no_bush:
        return {"bush": "false"}
    return {"bush": "true", "bush_set": options.bush_set} if options.bush_set else {}


def _parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Return the controller's parameters from the file, overridden by the options."""
    from hrpsim.control.framework.plugins import read_parameters
    from hrpsim.control.walk import Walk

    parameters = {}
    if options.parameters:
        parameters = read_parameters(options.parameters, Walk.parameter_kinds)
    stabilizer = False if options.no_stabilizer else None
    option_values = {"pattern": options.pattern, "stabilizer": stabilizer, "period": options.period}
    return {
        **parameters,
        **{name: value for name, value in option_values.items() if value is not None},
    }


def _asked_for(options: argparse.Namespace) -> dict[str, Any]:
    """Return the controller's pattern, and whether the controller has a stabiliser."""
    from hrpsim.common.resources import share_path
    from hrpsim.control.framework.plugins import read_parameters

    values = {**read_parameters(share_path("config/walk_controller.yaml")), **_parameters(options)}
    return {"pattern": str(values["pattern"]), "stabilizer": values["stabilizer"]}


def _progress(controller: Walk, progress: Progress) -> Callable[[float], None]:
    """Return a function of the time that shows the progress and is called before each tick."""
    from hrpsim.control.walk_trial import step_ends

    start, ends = 0.0, None

    def show(simulated: float) -> None:
        """Show the walk's progress at `simulated` [s], if due."""
        nonlocal start, ends
        now = time.monotonic()
        if ends is None:
            start, ends = now, step_ends(controller.sequence)
        begin = controller.begin or 0.0
        factor = simulated / max(now - start, 1e-9)
        note = f"{simulated:.1f} s, real-time factor {factor:.1f}"
        if len(ends):
            progress.show(int((begin + ends <= simulated).sum()), len(ends), note)
        else:
            progress.say(note)

    return show
