# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Repeat runs of a study: compare with the store, film or show."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hrpsim.commands.parts import view
from hrpsim.commands.parts.output import print_json
from hrpsim.common.errors import HrpsimError


def repeat_runs(options: argparse.Namespace, study, store: Path) -> int:
    """Repeat runs, compare the results with the store, and show the runs."""
    from hrpsim.sweeps.store import open_store
    from hrpsim.sweeps.sweep import replay

    dataset = open_store(store)
    if options.film:
        from hrpsim.viewer.film import check_film

        check_film(options.film)
    cells = [options.cell] if options.worst is None else _worst(options, dataset, store)
    reports = []
    for cell in cells:
        again = replay(study.scenario, dataset, cell)
        report = {"cell": cell, "values": again.values, "outcomes": again.outcomes}
        report |= {"error": again.error, "same_bits": again.same, "differs": again.differs}
        reports.append(report)
        if options.film:
            film = _film(options, study, dataset, cell, several=len(cells) > 1)
            reports[-1]["film"] = str(film)
    _print_runs(reports, options.json)
    if options.viewer:
        return _view(options, study, dataset, cells[0])
    return 0 if all(report["same_bits"] for report in reports) else 1


def _print_runs(reports: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(reports)
        return
    for report in reports:
        print("\n".join(f"{key}: {value}" for key, value in report.items() if value != ""))


def _worst(options: argparse.Namespace, found, store: Path) -> list[int]:
    """Return the worst cells. Raises HrpsimError without an outcome that ranks the cells."""
    from hrpsim.sweeps.sweep import worst_cells

    by = options.by or ("largest_tilt" if "largest_tilt" in found else None)
    if by is None:
        raise HrpsimError("--worst needs --by NAME, the outcome that ranks the cells")
    cells = worst_cells(found, by, options.worst)
    if not cells:
        raise HrpsimError(f"{store}: no cell has an outcome {by.removeprefix('-')!r} yet")
    return cells


def _started(study, found, cell: int):
    """Return the run of a cell before its first tick, and the motion for the viewer."""
    from hrpsim.sweeps.boundary import BoundaryScenario
    from hrpsim.sweeps.sweep import cell_of
    from hrpsim.sweeps.worlds.world_scenario import WorldScenario
    from hrpsim.viewer.session import TimeAdvance

    if isinstance(study.scenario, BoundaryScenario):
        raise HrpsimError(
            "a cell of a study with `find` has many runs. To show one run, use a study with "
            f"{study.scenario.parameter} in its design"
        )
    if not isinstance(study.scenario, WorldScenario):
        raise HrpsimError("only cells of a study with a `world` can be shown, not of a `function`")
    chosen = cell_of(found, cell)
    run = study.scenario.start(chosen.values, chosen.seed)
    return run, TimeAdvance(run.period, run.go_on, rewinds=False)


def _film(options: argparse.Namespace, study, found, cell: int, several: bool) -> Path:
    from hrpsim.viewer.film import make_film

    run, motion = _started(study, found, cell)
    path = options.film
    if several:
        path = path.with_name(f"{path.stem}_{cell}{path.suffix}")
    try:
        make_film(run.world, path, run.left, motion)
    finally:
        run.stop()
    return path


def _view(options: argparse.Namespace, study, found, cell: int) -> int:
    run, motion = _started(study, found, cell)
    return view.view(options, run.world, motion)
