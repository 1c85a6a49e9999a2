# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim sweep`: runs the cells of a study, shows results, repeats a cell."""

import argparse
import math
import os
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from hrpsim.commands.parts import view
from hrpsim.commands.parts.output import print_json, print_report
from hrpsim.commands.parts.repeat_runs import repeat_runs
from hrpsim.common.arguments import positive, whole
from hrpsim.common.errors import HrpsimError
from hrpsim.common.progress import bar, show_line

_LOCAL = "local"  # instead of the address of a scheduler
_PROGRESS_PERIOD = 1.0  # on a terminal [s]
_PROGRESS_PERIOD_IN_FILES = 60.0  # [s]

# Options that require another option, and options that exclude each other, with the messages.
_NEEDS = (
    ({"plot"}, {"x", "survival"}, "--plot needs --x PATH, or --survival PATH"),
    ({"x"}, {"plot"}, "--x needs --plot FILE"),
    ({"y"}, {"plot"}, "--y needs --plot FILE"),
    ({"outcome"}, {"plot"}, "--outcome needs --plot FILE"),
    ({"survival"}, {"plot"}, "--survival needs --plot FILE"),
    ({"by"}, {"worst"}, "--by needs --worst N"),
    (
        {"viewer", "film"},
        {"cell", "worst"},
        "--viewer and --film show cells: --cell K, or --worst N",
    ),
    (
        {"domains", "patience", "controller_command"},
        {"ros"},
        "--domains, --patience and --controller-command go with --ros",
    ),
    (
        {"control_period", "real_time_factor"},
        {"controller_command"},
        "--control-period and --real-time-factor go with --controller-command",
    ),
)
_EXCLUDES = (
    ({"viewer"}, {"worst"}, "--viewer shows one cell: --cell K"),
    ({"viewer", "film"}, {"ros"}, "--viewer and --film show a cell in process: leave out --ros"),
    (
        {"scheduler", "engine", "processes"},
        {"ros"},
        "--ros runs cells on this machine: --domains N of them side by side",
    ),
    (
        {"control_period"},
        {"real_time_factor"},
        "time waits for each command with --control-period: leave out --real-time-factor",
    ),
)
EPILOG = "exit status: 0 all cells are done, 1 some failed or are left, 2 wrong usage"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("study", type=Path, metavar="STUDY", help="study file (YAML)")
    parser.add_argument(
        "--store", type=Path, metavar="DIR", help="folder of the results (STUDY.zarr)"
    )
    _add_engines(parser)
    ros = parser.add_argument_group("over ROS")
    ros.add_argument(
        "--ros", action="store_true", help="node and controller as processes, in lockstep"
    )
    ros.add_argument(
        "--domains", type=whole(1, 100), metavar="N", help="parallel cells (one per processor)"
    )
    ros.add_argument(
        "--patience",
        type=positive,
        metavar="S",
        help="longest wait for a command or the node [s] (60)",
    )
    ros.add_argument(
        "--controller-command", metavar="CMD", help="your controller, started for each run"
    )
    ros.add_argument(
        "--control-period",
        type=positive,
        metavar="S",
        help="period of CMD's commands [s]: lockstep",
    )
    ros.add_argument(
        "--real-time-factor", type=positive, metavar="F", help="pace without --control-period (1)"
    )
    parser.add_argument(
        "--parameters", action="store_true", help="list the parameters that may be varied"
    )
    looking = parser.add_argument_group("of results that are there, and a cell again")
    looking.add_argument("--summary", action="store_true", help="print a table, run nothing")
    looking.add_argument("--plot", type=Path, metavar="FILE", help="draw (.png, .svg)")
    looking.add_argument("--x", metavar="PATH", help="parameter across the picture")
    looking.add_argument("--y", metavar="PATH", help="parameter up the picture: a map")
    looking.add_argument("--outcome", metavar="NAME", help="outcome to draw (fell, or the first)")
    looking.add_argument(
        "--survival", metavar="PATH", help="draw survival curves by this parameter"
    )
    which = looking.add_mutually_exclusive_group()
    which.add_argument("--cell", type=whole(0, 10**7), metavar="K", help="run this cell again")
    which.add_argument("--worst", type=whole(1, 1000), metavar="N", help="run the N worst again")
    looking.add_argument(
        "--by",
        metavar="NAME",
        help="outcome whose largest values are the worst; --by=-NAME: smallest",
    )
    view.add_arguments(parser)
    looking.add_argument(
        "--film",
        type=Path,
        metavar="FILE",
        help="film it (.mp4, .gif, .html, .png); needs hrpsim[camera], .html hrpsim[viewer]",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=sweep, parser=parser)


def _add_engines(parser: argparse.ArgumentParser) -> None:
    engines = parser.add_mutually_exclusive_group()
    engines.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler, such as tcp://host:8786; local: start one for this sweep",
    )
    engines.add_argument(
        "--engine",
        metavar="MODULE:CALLABLE",
        help="factory of a concurrent.futures.Executor; by default a pool of processes",
    )
    parser.add_argument(
        "--processes",
        type=whole(1, 4096),
        metavar="N",
        help="of the pool, or workers of --scheduler local; one a processor",
    )
    parser.add_argument(
        "--cells-per-task",
        type=whole(1, 100_000),
        default=1,
        metavar="N",
        help="sent together (1); use more for short cells or many workers",
    )


def sweep(options: argparse.Namespace) -> int:
    """Do the unfinished runs of a study, or show results. Status 1 if runs failed or differ."""
    _check_combination(options)
    view.check(options)
    from hrpsim.sweeps.study_file import read_study

    study = read_study(options.study)
    store = options.store or options.study.with_suffix(".zarr")
    if options.parameters:
        return _list_parameters(study, options.json)
    again = {options.cell, options.worst} != {None}
    if not again and (options.summary or options.plot or options.survival):
        return _look(options, store)
    if options.ros:
        from hrpsim.ros.sweeps.ros_scenario import PATIENCE, over_ros

        patience, command = options.patience or PATIENCE, _controller_command(options)
        study = replace(study, scenario=over_ros(study.scenario, patience, command))
    return repeat_runs(options, study, store) if again else _run(options, study, store)


def _controller_command(options: argparse.Namespace):
    """Return the user's controller, or None for the controller of the study."""
    if options.controller_command is None:
        return None
    from hrpsim.ros.sweeps.user_command import UserCommand

    return UserCommand(
        options.controller_command,
        period=options.control_period,
        real_time_factor=options.real_time_factor or 1.0,
        logs=options.study.with_suffix(".logs"),
    )


def _check_combination(options: argparse.Namespace) -> None:
    present = {name for name, value in vars(options).items() if value not in (None, False, "")}
    present |= {"cell"} if options.cell is not None else set()  # which may be 0
    for options_given, needed, message in _NEEDS:
        if present & options_given and not present & needed:
            options.parser.error(message)
    for options_given, excluded, message in _EXCLUDES:
        if present & options_given and present & excluded:
            options.parser.error(message)


def _run(options: argparse.Namespace, study, store: Path) -> int:
    from hrpsim.commands.warm_up import compile_for_walks
    from hrpsim.sweeps.framework.scenario import needed_package
    from hrpsim.sweeps.sweep import sweep as run_sweep
    from hrpsim.sweeps.worlds.world_scenario import WorldScenario

    for package in ("zarr", "xarray"):  # missing packages are reported before kernels are compiled
        needed_package(package, "a store")
    inner = getattr(study.scenario, "scenario", study.scenario)
    if options.ros or isinstance(inner, WorldScenario):
        compile_for_walks()
    last = _ProgressLine()
    dataset = run_sweep(
        study.scenario,
        study.design,
        store=store,
        seed=study.seed,
        title=study.title,
        processes=options.processes,
        engine=_engine(options, study),
        per_task=options.cells_per_task,
        tell=last.show,
    )
    show_line("")
    failed = int((dataset["status"].values == 2).sum())
    report: dict[str, Any] = {
        "study": study.title,
        "store": str(store),
        "cells": dataset.sizes["cell"],
        "failed": failed,
    }
    if last.progress is not None and last.progress.here:
        progress = last.progress
        report |= {
            "run_now": progress.here,
            "wall_time": round(progress.wall, 3),
            "cells_per_second": round(progress.here / max(progress.wall, 1e-9), 4),
            "processes_busy": round(progress.busy / max(progress.wall, 1e-9), 3),
        }
    if failed:
        first = int((dataset["status"].values == 2).argmax())
        report["first_failure"] = f"cell {first}: {dataset['error'].values[first]}"
    print_report(report, options.json)
    return 1 if failed else 0


def _engine(options: argparse.Namespace, study):
    """Return the engine that runs the cells, or None for a pool of processes."""
    from hrpsim.sweeps.executors import dask_executor, local_dask, named_executor

    if options.ros:
        from hrpsim.ros.sweeps.ros_scenario import domains

        return domains(study.scenario, options.domains or len(os.sched_getaffinity(0)))
    if options.scheduler == _LOCAL:
        return local_dask(options.processes)
    if options.scheduler is not None:
        return dask_executor(options.scheduler)
    return named_executor(options.engine, options.processes) if options.engine else None


class _ProgressLine:
    """Shows the progress on stderr. On a terminal, each text replaces the previous text."""

    def __init__(self) -> None:
        self.progress = None
        self._shown_at = -math.inf
        self._period = _PROGRESS_PERIOD if sys.stderr.isatty() else _PROGRESS_PERIOD_IN_FILES

    def show(self, progress) -> None:
        """Store the progress. Show the progress once per period."""
        self.progress = progress
        now = time.monotonic()
        if now - self._shown_at < self._period:
            return
        self._shown_at = now
        failed = f", {progress.failed} failed" if progress.failed else ""
        left = progress.left
        left = "" if math.isnan(left) else f", {timedelta(seconds=round(left))} left"
        rate = progress.here / progress.wall if progress.wall > 0.0 else 0.0
        text = f"{progress.finished} of {progress.cells} cells{failed}, {rate:.2g} a second{left}"
        show_line(f"hrpsim: sweeping {bar(progress.finished / max(progress.cells, 1))} {text}")
        if not sys.stderr.isatty():
            print(text, file=sys.stderr, flush=True)


def _list_parameters(study, as_json: bool) -> int:
    units = {path: parameter.unit for path, parameter in study.scenario.parameters().items()}
    if as_json:
        print_json(units)
    else:
        print("\n".join(f"{path} [{unit}]" if unit else path for path, unit in units.items()))
    return 0


def _look(options: argparse.Namespace, store: Path) -> int:
    """Print a table, or plot a figure, of the results so far."""
    from hrpsim.sweeps.statistics import draw, draw_survival, outcome_names, summary
    from hrpsim.sweeps.store import open_store

    dataset = open_store(store)
    finished = _require_results(dataset, store)
    if options.plot and options.survival:
        draw_survival(dataset, options.plot, options.survival)
    elif options.plot:
        names = outcome_names(dataset)
        outcome = options.outcome or ("fell" if "fell" in names else names[0])
        draw(dataset, options.plot, options.x, options.y, outcome)
    if options.plot:
        print(options.plot)
    if options.summary:
        rows = summary(dataset)
        if options.json:
            print_json(rows)
        else:
            print(finished)
            _print_rows(rows)
    return 0


def _require_results(found, store: Path) -> str:
    """Return the progress of a sweep as text. Raises HrpsimError if no run has succeeded."""
    status, errors = found["status"].values, found["error"].values
    count, failed = int((status > 0).sum()), int((status == 2).sum())
    progress = f"{count} of {len(status)} cells are finished, {failed} of them failed"
    if count == 0:
        raise HrpsimError(f"{store}: none of {len(status)} cells is finished yet")
    if count == failed:
        first = int((status == 2).argmax())
        raise HrpsimError(
            f"{store}: no cell has a result: {progress}. Cell {first}: {errors[first]}"
        )
    return progress


def _print_rows(rows: list[dict[str, Any]]) -> None:
    last = None
    for row in rows:
        if row["parameter"] != last:
            last = row["parameter"]
            print(f"{last}:")
        numbers = ", ".join(
            f"{name} {_with_interval(row, name)}"
            for name in row
            if name not in ("parameter", "value", "cells") and not name.endswith(("_low", "_high"))
        )
        print(f"  {row['value']}: {row['cells']} cells{f', {numbers}' if row['cells'] else ''}")


def _with_interval(row: dict[str, Any], name: str) -> str:
    text = "none" if math.isnan(row[name]) else f"{row[name]:.4g}"
    if f"{name}_low" in row:
        text += f" ({row[f'{name}_low']:.3f} to {row[f'{name}_high']:.3f})"
    return text
