# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim rollout`: runs a policy in many worlds, and reports falls, tracking, energy and forces.

The worlds differ in the start, and in the parameters that a study varies: friction, masses, pushes,
noise, delays, commands. Several worlds evaluate the network in one batch. A seed fixes all results.
"""

import argparse
import sys
import time
from pathlib import Path

from hrpsim.commands.parts.output import print_report
from hrpsim.common.arguments import not_negative, positive, real, whole
from hrpsim.common.errors import require_packages
from hrpsim.common.progress import show_line

EPILOG = """exit status: 0 done, also if the robot falls; 1 runs with an error; 2 usage.

  hrpsim rollout policy.yaml --worlds 256 --randomise study.yaml
  hrpsim rollout policy.yaml --world world.yaml --command 0.5 0 0
"""
_REMEDY = "pip install 'hrpsim[onnx,sweep]'"
_PERIOD = 1.0  # between two lines of progress [s, wall]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("policy", type=Path, help="description of the policy")
    parser.add_argument(
        "--world", type=Path, metavar="FILE", help="world (YAML, MJCF, SDF); the study's by default"
    )
    parser.add_argument(
        "--randomise",
        type=Path,
        metavar="STUDY",
        help="study file with values, pushes, noise; without it only the start differs",
    )
    parser.add_argument("--worlds", type=whole(1, 100_000), default=64, help="number of runs")
    parser.add_argument("--robot", metavar="NAME", help="name of the robot, if there are several")
    add_velocity(parser)
    parser.add_argument("--duration", type=positive, help="of a run [s]; the study's, or 10")
    add_spread(parser)
    parser.add_argument("--seed", type=whole(0, 2**63 - 1), help="the study's by default")
    parser.add_argument("--processes", type=whole(1, 4096), help="by default one per processor")
    parser.add_argument(
        "--output", type=Path, default=Path("rollout"), help="folder of table and picture"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=rollout)


def add_velocity(parser: argparse.ArgumentParser, default: tuple | None = None) -> None:
    """Add --command, the velocity of the policy."""
    parser.add_argument(
        "--command",
        nargs=3,
        type=real(),
        default=default,
        metavar=("X", "Y", "YAW"),
        help="velocities that the policy is given [m/s, rad/s]",
    )


def add_spread(parser: argparse.ArgumentParser) -> None:
    """Add --spread, the perturbation of the start."""
    parser.add_argument(
        "--spread",
        type=not_negative,
        default=0.02,
        help="standard deviation of the joints at the start [rad or m]",
    )


def rollout(options: argparse.Namespace) -> int:
    """Run, write the report and print the findings. Return 1 if a run ended with an error."""
    require_packages("rollout", ("xarray", "zarr"), _REMEDY)
    from hrpsim.bridges.policy_description import read_policy
    from hrpsim.rollout import rollout as run
    from hrpsim.rollout import write_report
    from hrpsim.rollout.report import outcome_rows, summary

    seconds = read_policy(options.policy).seconds
    dataset = run(
        options.policy,
        options.world,
        study=options.randomise,
        worlds=options.worlds,
        robot=options.robot,
        command=options.command,
        duration=options.duration,
        spread=options.spread,
        seed=options.seed,
        processes=options.processes,
        store=options.output / "rollout.zarr",
        tell=_Progress(),
    )
    show_line("")
    page = write_report(dataset, options.output, seconds)
    lines, rows = summary(dataset), outcome_rows(dataset)
    if options.json:
        names = ("unit", "mean", "low", "median", "high", "worst_world")
        table = {row[0]: dict(zip(names, row[1:])) for row in rows}
        print_report({"summary": lines, "outcomes": table, "page": str(page)}, True)
    else:
        print("\n".join([*lines, *(_line(row) for row in rows), f"Page: {page}"]))
    return 1 if (dataset["error"].values != "").any() else 0


def _line(row: list[str]) -> str:
    name, unit, mean, low, _, high, worst = row
    return f"{name}: {mean} {unit} ({low} to {high}), worst in world {worst}".replace("  ", " ")


class _Progress:
    """A line on a terminal, at most once a second."""

    def __init__(self) -> None:
        self._shown_at = 0.0

    def __call__(self, progress) -> None:
        now = time.monotonic()
        if now - self._shown_at < _PERIOD or not sys.stderr.isatty():
            return
        self._shown_at = now
        show_line(f"{progress.finished} of {progress.cells} worlds")
