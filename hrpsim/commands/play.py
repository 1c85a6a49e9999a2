# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim play`: replays the commands of a bag in a new world, and compares the states."""

import argparse
from pathlib import Path

from hrpsim.commands.parts.output import BAG_REMEDY, pairs, print_report
from hrpsim.common.arguments import not_negative, positive
from hrpsim.common.errors import require_packages

EPILOG = """A run in lockstep is reproduced bit for bit. Otherwise a bag does not tell between
which steps a message came, and the states diverge. Bags contain no calls of services.

  hrpsim play my_bag
  hrpsim play my_bag --world config/walking_demo.yaml --tolerance 1e-6
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("bag", type=Path, help="folder or file of the bag")
    parser.add_argument("--world", type=Path, metavar="FILE", help="world file; else the recorded")
    parser.add_argument("--time-step", type=positive, help="step [s]; else the recorded one")
    parser.add_argument(
        "--integrator", help="semi_implicit, rk4, euler, mujoco_euler ...; else the recorded one"
    )
    parser.add_argument("--xacro", action="append", default=[], metavar="NAME:=VALUE")
    parser.add_argument(
        "--tolerance",
        type=not_negative,
        default=0.0,
        help="largest difference that counts as equal (0: the bits)",
    )
    parser.add_argument(
        "--duration",
        type=not_negative,
        default=0.0,
        help="only so long from the first recorded state on [s, simulated]",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=play)


def play(options: argparse.Namespace) -> int:
    """Replay. Return 0 if all states equal the recorded states, else 1."""
    require_packages("play", ("rosbags",), BAG_REMEDY)
    from hrpsim.ros.replay.recorded_run import RecordedTopics
    from hrpsim.ros.replay.replay import Replay

    recording = RecordedTopics(options.bag)
    replay = Replay(
        recording,
        options.world,
        time_step=options.time_step,
        integrator=options.integrator,
        xacro_arguments=pairs(options.xacro) or None,
    )
    comparison = replay.run(options.tolerance, options.duration)
    departure = comparison.departure
    report = {
        "lockstep": replay.settings["lockstep"],
        "recorded_from": recording.begin * 1e-9,
        "simulated_time": replay.clock.seconds,
        "messages_followed": replay.accepted_count,
        "messages_rejected": replay.rejections.count,
        "states_compared": comparison.count,
        "largest_difference": comparison.largest,
        "departs": departure._asdict() if departure else None,
    }
    if departure and recording.begin > 0:
        report["note"] = "the recording does not begin with the run. Earlier messages are missing"
    print_report(report, options.json)
    return int(departure is not None)
