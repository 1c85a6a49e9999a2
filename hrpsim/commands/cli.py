# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The `hrpsim` command: descriptions, worlds, walks, motions, recordings, experiments."""

import argparse
import copy
import gc
import os
import re
import select
import signal
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path

from hrpsim.commands.parts import record_signals, view
from hrpsim.commands.parts.output import pairs, print_report, show_warning
from hrpsim.common.arguments import MOST_STEPS, not_negative, positive
from hrpsim.common.errors import HrpsimError, one_line, suggestion, unknown_name
from hrpsim.common.extras import missing_package
from hrpsim.common.interrupts import Terminated, ends_while_computing, signals_raise
from hrpsim.common.progress import Progress

_TRACEBACK = "HRPSIM_TRACEBACK"  # environment variable for tracebacks of internal errors
# Objects between two garbage collections. With the default of 700 they take 5 % of the start.
_YOUNG = 20_000
_FIRST_CHUNK, _CHUNK_TIME = 10, 0.2  # steps at first, then time of steps between two checks [s]

# The summary of each command. The module has the command's name, and is imported on use. Commands
# for policies are in a separate folder.
_COMMANDS = {
    "doctor": "report what is installed and what each feature lacks",
    "view": "play a world in a browser, or save a run as a page",
    "example": "copy an example with its robot into this folder",
    "walk": "let a humanoid walk, stabilised or not",
    "crane": "play the crane game",
    "inverse-dynamics": "torques, ZMP and fixed links of motions",
    "record": "record all topics of ROS 2 to a bag",
    "play": "replay the commands of a bag in a new world and report where it departs",
    "plot": "plot recorded signals, or list them",
    "wrench-plot": "plot foot wrenches, centres of pressure and ZMP from a bag",
    "check-model": "load a description and list its contents",
    "check-policy": "say what differs when a policy in ONNX fails here",
    "explain": "say why a policy falls here and not in MuJoCo or a recording",
    "rollout": "run a policy in many worlds: falls, errors, forces",
    "convert": "write a description of any format as URDF, SDF or MJCF",
    "controller": "begin a controller of your own",
    "check-simulation-interfaces": "examine a simulator by ROS 2's standard for simulators",
    "sweep": "run a scenario over many values, and show the results",
    "fit": "find parameters of a world from recordings",
    "verify": "find damage in stores of sweeps, bags and recorded signals",
    "bench": "time hrpsim and other engines",
    "warm-up": "compile every kernel now, for later processes",
}
_OF_POLICIES = ("check-policy", "explain", "rollout")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line. Return the exit status: 0 done, 1 refused or failed, 2 wrong usage.

    130 and 143 stand for SIGINT and SIGTERM.
    """
    gc.set_threshold(_YOUNG)
    words = sys.argv[1:] if arguments is None else arguments
    options = _parsed(words)
    try:
        with ends_while_computing(), signals_raise(), warnings.catch_warnings():
            warnings.showwarning = show_warning
            status = _run(options, words[0])
            sys.stdout.flush()
            return status
    except (HrpsimError, OSError) as error:
        if isinstance(error, BrokenPipeError) and _output_is_closed():
            return 128 + signal.SIGPIPE
        text = one_line(error)
        if "accept_nonphysical_inertia" in options:  # an argument in Python, an option here
            text = text.replace("accept_nonphysical_inertia=True", "--accept-nonphysical-inertia")
        print(f"hrpsim: {text}", file=sys.stderr)
        return 1
    except Terminated:
        return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:  # an internal error
        if os.environ.get(_TRACEBACK):
            raise
        print(
            f"hrpsim: internal error: {type(error).__name__}: {one_line(error)}"
            f" ({_TRACEBACK}=1 shows where)",
            file=sys.stderr,
        )
        return 1


def _run(options: argparse.Namespace, name: str) -> int:
    """Run a command. Raise MissingPackageError if the command needs the package of an extra."""
    try:
        return options.run(options)
    except ModuleNotFoundError as error:
        raise missing_package(name, error) from error


def _parsed(given: list[str]) -> argparse.Namespace:
    """Return the options. Wrong usage ends the program, with similar names."""
    parser = _parser(given[0] if given else "")
    commands = parser.get_default("commands")
    if given and not given[0].startswith("-") and given[0] not in commands:
        parser.error(unknown_name("command", given[0], commands, limit=len(commands)))
    options, unknown = parser.parse_known_args(given)
    if unknown:
        known = dict.fromkeys(re.findall(r"--[\w-]+", commands[given[0]].format_help()))
        hints = [suggestion(word, known) for word in unknown if word.startswith("-")]
        commands[given[0]].error(f"unrecognized arguments: {' '.join(unknown)}{''.join(hints)}")
    return options


def _output_is_closed() -> bool:
    """Return whether the reader of standard output has closed. Discard further output then."""
    output = select.poll()
    output.register(sys.stdout.fileno(), 0)
    is_closed = any(event & select.POLLERR for _, event in output.poll(0))
    if is_closed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return is_closed


class _PrintVersion(argparse.Action):
    """`--version`, which reads the version when used."""

    def __init__(self, option_strings, dest, **options) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, **options)

    def __call__(self, parser, *_) -> None:
        from hrpsim.common.version import __version__

        print(f"hrpsim {__version__}")
        parser.exit()


def _parser(asked: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    asked: the command whose options are added. None adds the options of all commands.
    """
    parser = argparse.ArgumentParser(prog="hrpsim", description=__doc__)
    parser.add_argument("--version", action=_PrintVersion, help="print which hrpsim this is")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="step a world file and report on it")
    run.add_argument("world", type=Path, help="world file (YAML, MJCF, SDF, USD, .cnoid)")
    run.add_argument("--duration", type=not_negative, default=10.0, help="simulated time [s]")
    run.add_argument("--time-step", type=positive, help="step [s]; the world file's by default")
    run.add_argument(
        "--integrator", help="semi_implicit, rk4, euler, or MuJoCo's: mujoco_euler ..."
    )
    run.add_argument("--xacro", action="append", default=[], metavar="NAME:=VALUE")
    run.add_argument("--json", action="store_true", help="print JSON")
    view.add_arguments(run)
    view.add_film_argument(run, "film (.mp4, .gif, .html, .rrd) or picture of the end (.png)")
    record_signals.add_arguments(run)
    run.add_argument("--list-signals", action="store_true", help="only list its signals")
    run.set_defaults(run=run_world)
    for name, summary in _COMMANDS.items():
        if asked is None or asked == name:
            room = "policies." if name in _OF_POLICIES else ""
            module = import_module(f"hrpsim.commands.{room}{name.replace('-', '_')}")
            _add_command(commands, name, module, summary)
        else:
            commands.add_parser(name, help=summary)
    again = commands.add_parser("reproduce", help="compare experiments with theory and data")
    again.add_argument("experiments", nargs="+", metavar="EXPERIMENT", help="E7 R1 ..., or all")
    again.add_argument("--quick", action="store_true", help="fewer cases, the same targets")
    again.add_argument(
        "--output", type=Path, default=Path("output/reproduce"), help="folder of the figures"
    )
    again.add_argument("--data", type=Path, metavar="FOLDER", help="measurements, for R1 to R4")
    again.add_argument("--fit", action="store_true", help="fit parameters to them again")
    again.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    again.add_argument("--pages", type=Path, metavar="FOLDER", help="a page of each, such as e7.md")
    again.add_argument("--json", action="store_true", help="print JSON")
    again.set_defaults(run=reproduce_experiments)
    parser.set_defaults(commands=commands.choices)
    return parser


class _OneScreen(argparse.RawDescriptionHelpFormatter):
    """A formatter of help on one screen. Each text of an option ends at the first semicolon."""

    def __init__(self, prog: str, **options) -> None:
        super().__init__(prog, max_help_position=34, **options)

    def add_usage(self, usage, actions, groups, prefix=None) -> None:
        listed_actions = [
            action for action in actions if not action.option_strings or action.required
        ]
        options = argparse.Action(["[options]"], "options", nargs=0, required=True)
        super().add_usage(usage, [options, *listed_actions], [], prefix)

    def add_argument(self, action) -> None:
        if action.dest != "help":
            short_action = copy.copy(action)
            short_action.help = action.help and action.help.partition("; ")[0]
            super().add_argument(short_action)

    def format_help(self) -> str:
        """Return the help without blank lines between groups of options."""
        begin, options, remainder = super().format_help().partition("\noptions:\n")
        return begin + options + re.sub(r"\n(?=\nwith [^\n]*:\n  )", "", remainder)


def _add_command(commands, name: str, module, summary: str) -> None:
    """Add a command with the options, docstring and EPILOG of the module."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=module.__doc__,
        epilog=getattr(module, "EPILOG", None),
        formatter_class=_OneScreen,
    )
    module.add_arguments(parser)


def run_world(options: argparse.Namespace) -> int:
    """Step a world and print a summary, or play it in a browser."""
    from hrpsim.world.file.load_world import load_world

    record_signals.check(options)
    view.check(options)
    world = load_world(
        options.world,
        time_step=options.time_step,
        integrator=options.integrator,
        xacro_arguments=pairs(options.xacro),
    )
    if options.list_signals:
        return record_signals.print_table(options, world)
    with record_signals.recording(options, world):
        if options.viewer:
            return view.view(options, world)
        if options.film:
            return view.make_film(options, world)
        report = _report_of_run(options, world)
    print_report(report, options.json)
    return 0


def _report_of_run(options: argparse.Namespace, world) -> dict:
    """Step the world for --duration. Return the report."""
    steps = max(round(options.duration / world.time_step) - 1, 0)
    if steps > MOST_STEPS:
        raise HrpsimError(
            f"--duration {options.duration:g} needs more than {MOST_STEPS} steps. Give a shorter "
            "one, or a larger --time-step"
        )
    world.step()
    took = _step_and_show(world, steps)
    return {
        "simulated_time": world.time,
        "steps": steps + 1,
        "microseconds_per_step": 1e6 * took / max(steps, 1),
        "real_time_factor": steps * world.time_step / max(took, 1e-12),
        "contacts": world.stats.contact_count,
        "iterations": world.stats.iterations,
        "residual": world.stats.residual,
        "max_penetration": world.stats.max_penetration,
        "robots": {
            name: {
                "base_position": [round(float(x), 6) for x in robot.q[:3]],
                "wrenches": {
                    sensor.description.name: [round(float(x), 4) for x in sensor.wrench]
                    for sensor in robot.sensors.values()
                    if sensor.description.kind == "force_torque"
                },
            }
            for name, robot in world.robots.items()
        },
    }


def _step_and_show(world, steps: int) -> float:
    """Make steps, with a line of progress on a terminal. Return the time of the steps [s, wall]."""
    if not sys.stderr.isatty():
        begin = time.perf_counter()
        world.step(steps)
        return time.perf_counter() - begin
    progress, took, left = Progress("simulating", "s"), 0.0, steps
    chunk = min(left, _FIRST_CHUNK)
    while left > 0:
        begin = time.perf_counter()
        world.step(chunk)
        took += time.perf_counter() - begin
        left -= chunk
        progress.show(world.time, world.time + left * world.time_step)
        chunk = min(left, max(int(_CHUNK_TIME * (steps - left) / max(took, 1e-9)), 1))
    progress.end()
    return took


def reproduce_experiments(options: argparse.Namespace) -> int:
    """Run experiments, compare with theory and other engines. Status 1 if a target is missed."""
    from evidence.experiments.framework.experiment import Options
    from evidence.experiments.framework.reproduce import reproduce

    return reproduce(
        options.experiments,
        options.output,
        options=Options(options.quick, options.data, options.fit),
        as_json=options.json,
        markdown=options.markdown,
        pages=options.pages,
    )


if __name__ == "__main__":
    sys.exit(main())
