# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Time hrpsim and other engines.

Each case runs all engines in turn in one process, on one thread and one core, and prints medians,
spread, ratios, the accuracy of each engine, fitted exponents, and whether the claims hold. The last
lines list the cases that are slower than in a stored run. Engines that are not installed are left
out: pip install 'hrpsim[bench]'.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from hrpsim.common.errors import HrpsimError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command, which `python -m evidence.benchmarks` has too."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help="all but long ones by default; see --list"
    )
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument("--json", action="store_true", help="print JSON, the tables to stderr")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds: under 60 s")
    parser.add_argument(
        "--compare", type=Path, metavar="FILE", help="a stored run (docs/benchmarks.json)"
    )
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="draw them there")
    parser.add_argument(
        "--write",
        action="store_true",
        help="store a run of all cases: docs/benchmarks.json, docs/benchmarks.md and its figures",
    )


def run(options: argparse.Namespace) -> int:
    """Run the benchmarks in a separate process, with libraries that start with one thread."""
    root = Path(__file__).resolve().parents[2]
    if options.write and not (root / "docs").is_dir():
        raise HrpsimError(f"--write needs a clone of the repository, but {root} has no folder docs")
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", "evidence.benchmarks", *_forwarded(options)],
        env={**os.environ, "PYTHONPATH": path},
    ).returncode


def _forwarded(options: argparse.Namespace) -> list[str]:
    """Return the arguments that were parsed as `options`."""
    flags = [f"--{name}" for name in ("list", "json", "quick", "write") if getattr(options, name)]
    for name in ("compare", "figures"):
        if getattr(options, name) is not None:
            flags += [f"--{name}", str(getattr(options, name))]
    return [*options.cases, *flags]
