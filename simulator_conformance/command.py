# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The examination as a command: `hrpsim check-simulation-interfaces`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

EPILOG = """It examines a running simulator: Gazebo, Isaac Sim, O3DE, hrpsim. Its services are found
by their types. A law whose feature the simulator does not claim is "unsupported".
It pauses, plays, resets, spawns, deletes, loads and unloads: the simulated state is lost.

  hrpsim check-simulation-interfaces --node /hrpsim
  hrpsim check-simulation-interfaces --node /gzserver --resource model.sdf --markdown report.md
"""


def _seconds(text: str) -> float:
    value = float(text)
    if not 0.0 < value < 1e12:
        raise argparse.ArgumentTypeError(f"{text} is not positive and at most 1e12")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--node", default="", help="the simulator's node; else the only one")
    parser.add_argument("--resource", default="", metavar="URI", help="entity to spawn")
    parser.add_argument("--world", default="", metavar="URI", help="which world to load")
    parser.add_argument("--quit", action="store_true", help="ask the simulator to end, at last")
    parser.add_argument(
        "--timeout", type=_seconds, default=30.0, metavar="S", help="wait so long for an answer"
    )
    parser.add_argument(
        "--load-timeout", type=_seconds, default=300.0, metavar="S", help="or for a world"
    )
    parser.add_argument(
        "--discovery", type=_seconds, default=10.0, metavar="S", help="or for the node"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a table there, too")
    parser.add_argument("--json", action="store_true", help="print JSON")


def check(options: argparse.Namespace) -> int:
    """Examine; return 0 if no law failed, else 1."""
    from simulator_conformance.client import Simulator
    from simulator_conformance.examination import examine
    from simulator_conformance.report import data_of, line_of, markdown_of, summary_of
    from simulator_conformance.session import FAILED, Options

    simulator = Simulator(options.node, options.timeout, options.discovery)
    try:
        rows = examine(
            simulator,
            Options(options.resource, options.world, options.load_timeout),
            (lambda row: None) if options.json else (lambda row: print(line_of(row), flush=True)),
            quits=options.quit,
        )
    finally:
        simulator.close()
    if options.markdown:
        options.markdown.write_text(markdown_of(rows), encoding="utf-8")
    if options.json:
        print(json.dumps({"node": simulator.name, "rows": data_of(rows)}, indent=2))
    else:
        print(f"{simulator.name}: {summary_of(rows)}")
    return int(any(row.verdict == FAILED for row in rows))
