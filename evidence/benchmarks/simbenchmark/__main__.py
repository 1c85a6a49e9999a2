# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run the suite: python -m evidence.benchmarks simbenchmark [--scene S] [--part P] [--engine E]."""

from __future__ import annotations

import argparse
import sys
from itertools import filterfalse

from evidence.benchmarks.simbenchmark import page
from evidence.benchmarks.simbenchmark.engines import KINDS, installed
from evidence.benchmarks.simbenchmark.errors import run_errors
from evidence.benchmarks.simbenchmark.plan import LIMIT, SCENES, error_tasks, time_tasks
from evidence.benchmarks.simbenchmark.store import Store
from evidence.benchmarks.simbenchmark.times import run_times

_DESCRIPTION = """Measure the scenes of SimBenchmark and write docs/simbenchmark.md.

Every figure is saved in docs/simbenchmark.json as soon as it is known. An interrupted run continues
where it stopped: an existing error is not measured again without --anew. Times are always measured
again, all engines in turn, within --budget."""


def main(arguments: list[str] | None = None) -> int:
    """Measure the requested scenes."""
    parser = argparse.ArgumentParser(
        prog="python -m evidence.benchmarks simbenchmark",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--scene", action="append", choices=SCENES, help="all by default")
    parser.add_argument("--part", choices=("errors", "times"), help="both by default")
    parser.add_argument("--engine", action="append", choices=tuple(KINDS), help="all by default")
    parser.add_argument("--anew", action="store_true", help="measure errors that are there again")
    parser.add_argument(
        "--limit", type=float, help=f"processor time of one error [s], {LIMIT:g} by default"
    )
    parser.add_argument(
        "--budget", type=float, default=480.0, help="no times are begun after so many seconds"
    )
    parser.add_argument("--quick", action="store_true", help="a moment of each; nothing is kept")
    options = parser.parse_args(arguments)
    chosen, there = options.engine or list(KINDS), installed()
    engines = list(filter(there.__contains__, chosen))
    if missing := list(filterfalse(there.__contains__, chosen)):
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
    scenes = options.scene or SCENES
    store = Store(None) if options.quick else Store()
    if options.part != "times":
        tasks = error_tasks(scenes, engines, options.limit, options.quick)
        run_errors(tasks, store, options.anew)
    if options.part != "errors":
        run_times(time_tasks(scenes, options.quick), engines, store, options.budget, options.quick)
    if options.quick:
        print("\n".join(page.tables(store)))
    else:
        page.write(store)
    return 0


if __name__ == "__main__":
    sys.exit(main())
