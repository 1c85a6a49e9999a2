# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run the benchmarks: hrpsim bench [CASE ...] [--json] [--quick] [--write].

python -m evidence.benchmarks simbenchmark is a separate program (simbenchmark/).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from evidence.benchmarks.machine import ONE_THREAD

os.environ.update(ONE_THREAD)  # must be set before the import of the libraries

from evidence.benchmarks import machine, registry, report
from evidence.benchmarks.comparison import compare, comparison_lines, confirmed
from evidence.benchmarks.results import CaseResult
from evidence.benchmarks.simbenchmark import __main__ as simbenchmark
from evidence.benchmarks.tables import case_lines
from evidence.benchmarks.timing import Effort
from hrpsim.commands import bench
from hrpsim.common.extras import missing_package

DOCS = Path(__file__).resolve().parents[2] / "docs"
STORED = DOCS / "benchmarks.json"
PAGE = DOCS / "benchmarks.md"
IMAGES = "images/bench"
SUITE = "simbenchmark"
REPETITIONS = 2  # repetitions of a case with slower results


def main(arguments: list[str] | None = None) -> int:
    """Run cases and report. Returns 1 if a case failed, 2 for an unknown case."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == [SUITE]:
        return simbenchmark.main(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="python -m evidence.benchmarks",
        description=bench.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    bench.add_arguments(parser)
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(f"{name:15s} {registry.case(name).title}" for name in registry.NAMES))
        return 0
    mistake = _mistake(options)
    if mistake:
        print(mistake, file=sys.stderr)
        return 2
    return _run(options)


def _mistake(options: argparse.Namespace) -> str:
    unknown = [name for name in options.cases if name not in registry.NAMES]
    if unknown:
        return f"no case {unknown[0]!r}; there are {', '.join(registry.NAMES)}"
    if options.write and (options.cases or options.quick):
        return "--write stores a run of all cases, not --quick"
    return ""


def _run(options: argparse.Namespace) -> int:
    usual = [name for name in registry.NAMES if name not in registry.LONG]
    effort = Effort(rounds=5, slice=0.005, budget=1.0, quick=True) if options.quick else Effort()
    json_file = stdout_for_json() if options.json else None
    results = []
    for name in options.cases or usual:
        results.append(run_case(name, effort))
        print("\n".join(case_lines(results[-1])), flush=True)
    _report(results, options, effort, json_file)
    return 1 if any(result.failed for result in results) else 0


def _report(results: list[CaseResult], options, effort: Effort, json_file) -> None:
    """Store the results, compare them with a stored run, and write JSON and figures."""
    data = report.as_data(results, quick=options.quick)
    stored = report.load(options.compare or STORED)
    if options.write:
        write(results, data)
    if stored is not None:
        print("\n".join(since_stored(stored, data, effort)))
    if json_file is not None:
        with json_file:
            json_file.write(report.to_json(data))
    if options.figures:
        draw(results, options.figures)


def since_stored(stored: dict, data: dict, effort: Effort) -> list[str]:
    """Describe changes of the times since a stored run. Return the lines.

    If the stored run is of another kind of processor, nothing is compared.
    """
    before, after = (run["machine"]["processor"] for run in (stored, data))
    if before != after:
        return [
            f"not compared with the run of {stored['date']}: it is of {before}, this is {after}"
        ]
    return comparison_lines(repeated(stored, data, effort), stored)


def repeated(stored: dict, data: dict, effort: Effort):
    """Return the changes since a stored run. Measure cases that seem slower again.

    Each repetition is a new process, because some times depend on the memory addresses of the code.
    """
    changes = compare(stored, data)
    for _ in range(REPETITIONS):
        slow = dict.fromkeys(change.case for change in changes.slower)
        if not slow:
            break
        print(f"again, for what looks slower: {', '.join(slow)}", flush=True)
        changes = confirmed(changes, compare(stored, elsewhere(slow, effort)))
    return changes


def elsewhere(cases, effort: Effort) -> dict:
    """Run cases in another process, without a comparison. Return the data."""
    machine.use_cores(machine.core_count())  # which it inherits
    with tempfile.TemporaryDirectory() as folder:
        nothing = ["--compare", str(Path(folder) / "none.json")]
        quick = ["--quick"] if effort.quick else []
        done = subprocess.run(
            [sys.executable, "-m", "evidence.benchmarks", *cases, "--json", *quick, *nothing],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=DOCS.parent,
            check=False,
        )
    return json.loads(done.stdout)


def stdout_for_json():
    """Return a file for the real standard output. Redirect prints of engines to standard error."""
    file = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return file


def run_case(name: str, effort: Effort) -> CaseResult:
    """Run one case on separate cores. An error becomes part of the result."""
    case = registry.case(name)
    result = CaseResult(name, case.title, case.unit, case.scale)
    machine.use_cores(case.cores)
    begin = time.perf_counter()
    try:
        case.run(result, effort)
    except ModuleNotFoundError as error:
        result.failed = str(missing_package(name, error))
    except Exception as error:  # a failure of one engine must not prevent the other cases
        traceback.print_exc()
        result.failed = f"{type(error).__name__}: {error}"
    result.seconds = time.perf_counter() - begin
    return result


def draw(results: list[CaseResult], folder: Path) -> dict[str, str]:
    """Write a PNG for each case that has a figure. Return paths relative to the page, by case."""
    from evidence.benchmarks.figures import draw_case

    folder.mkdir(parents=True, exist_ok=True)
    images = {}
    for result in results:
        function = registry.case(result.name).draw
        if function is not None and not result.failed:
            draw_case(function, result, folder / f"{result.name}.png")
            images[result.name] = f"{IMAGES}/{result.name}.png"
    return images


def write(results: list[CaseResult], data: dict) -> None:
    """Store the run in docs/: numbers, page and figures."""
    STORED.write_text(report.to_json(data), encoding="utf-8")
    images = draw(results, DOCS / IMAGES)
    lines = report.measured_lines(results, data, images)
    page = report.replace_measured(PAGE.read_text(encoding="utf-8"), lines)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
