# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim fit`: fits parameters of a world to recordings, with intervals and held-out errors."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hrpsim.commands.parts.output import print_report
from hrpsim.common.errors import require_packages
from hrpsim.common.progress import Progress, show_line

if TYPE_CHECKING:
    from hrpsim.fitting.fit_study import FitStudy
    from hrpsim.fitting.report.verdict_table import VerdictRow
    from hrpsim.fitting.result import FitResult

EPILOG = """exit status: 0 fitted; 1 refused, failed, not converged, or nothing explained; 2 usage.

  hrpsim fit study.yaml                      values, 95 % intervals, errors
  hrpsim fit study.yaml --plot fit.png       measured and simulated
  hrpsim fit study.yaml --residuals rest.png what the model does not explain
  hrpsim fit study.yaml --report fit.html    a page with table, residuals, what is missing
  hrpsim fit study.yaml --write-model a.urdf the description with the values
  hrpsim fit study.yaml --excite             a motion that determines the parameters
  hrpsim fit study.yaml --json
"""
_UNEXPLAINED = 6  # largest number of listed signals


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("study", type=Path, metavar="STUDY", help="study file of the fit (YAML)")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw (.png, .svg)")
    parser.add_argument(
        "--residuals", type=Path, metavar="FILE", help="draw what the model does not explain"
    )
    parser.add_argument(
        "--processes",
        type=int,
        metavar="N",
        help="processes that find exact derivatives (one a processor)",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write a page with residuals, and what the model lacks (.html)",
    )
    parser.add_argument(
        "--write-model",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write the changed world file (.yaml) or description (.urdf, .xml); may be repeated",
    )
    parser.add_argument(
        "--excite", action="store_true", help="propose a motion, and forecast the intervals"
    )
    parser.add_argument(
        "--motion",
        type=Path,
        metavar="BASENAME",
        help="of the proposed motion's files (STUDY_motion)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=fit)


def fit(options: argparse.Namespace) -> int:
    """Fit parameters and print the result, or propose a motion."""
    if options.excite:
        return excite(options)
    if any((options.plot, options.residuals, options.report)):
        require_packages("a figure of a fit", ("matplotlib",), "pip install 'hrpsim[plot]'")
    from hrpsim.fitting.report import verdict_rows

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        study, result, validated = _fitted(options)
        lacks = _lacks(study, result) if options.report else []
    rows = verdict_rows(result, study.parameters, prismatic_of(study.world))
    report = {"study": study.title, **_report(result, rows, validated)}
    report["what the model lacks"] = [lack.text() for lack in lacks if lack.named]
    if caught:
        report["warnings"] = list(dict.fromkeys(str(warning.message) for warning in caught))
        report["verdict"] += " The warnings say what looks wrong in the data."
    report["a motion that determines more"] = _advice(options.study, rows)
    _write_files(options, study, result, rows, lacks, report)
    print_report({key: value for key, value in report.items() if value}, options.json)
    return 0 if result.explains and result.reached else 1


def _fitted(options: argparse.Namespace) -> tuple[FitStudy, FitResult, dict]:
    """Run a study. Return the study, the result and the errors of the cross-validation."""
    from hrpsim.fitting.fit_study import read_fit_study
    from hrpsim.sweeps.executors import processors

    study = read_fit_study(options.study)
    count = processors() if options.processes is None else options.processes
    study.options["processes"] = count
    with Progress("fitting:") as progress:
        result = study.run(progress.say)
    with Progress("fitting for the cross-validation:") as progress:
        validated = study.cross_validate(progress.say) if study.folds else {}
    return study, result, validated


def _report(
    result: FitResult, rows: Sequence[VerdictRow], validated: dict[str, tuple[float, float]]
) -> dict[str, Any]:
    """Return the result with units and remarks, unexplained signals and cross-validated errors."""
    report = result.report()
    for row in rows:
        report["parameters"][row.name] |= {"unit": row.unit, "remark": row.remark or "determined"}
    report["what the model does not explain"] = _unexplained(result)
    report["cross_validated_error"] = {
        kind: {"before": before, "after": after} for kind, (before, after) in validated.items()
    }
    return report


def _unexplained(result: FitResult) -> dict[str, Any]:
    """Return the signals whose residuals are not white."""
    from hrpsim.fitting.residuals import unexplained

    return {
        f"{residual.recording}: {residual.kind} of {residual.signal}": {
            "mean": residual.mean,
            "rms": residual.rms,
            "autocorrelation": float(residual.autocorrelation[1]),
            "bound": residual.bound,
            "follows": f"{residual.related} ({residual.correlation:+.2f})"
            if residual.related
            else "no signal",
        }
        for residual in unexplained(result)[:_UNEXPLAINED]
        if not residual.white
    }


def _advice(study: Path, rows: Sequence[VerdictRow]) -> list[str]:
    """Return advice for parameters that the recordings do not determine."""
    loose = [row.name for row in rows if row.remark]
    if not loose:
        return []
    return [
        f"`hrpsim fit {study} --excite` proposes a motion for {', '.join(loose)}, and forecasts "
        "the intervals."
    ]


def _lacks(study: FitStudy, result: FitResult) -> list:
    """Return the suspected effects that the model lacks and that may explain the residuals."""
    from hrpsim.fitting.report import suspects

    show_line("hrpsim: looking for what the model lacks")
    effects = suspects(study.world, study.recordings, study.parameters, result, **study.options)
    show_line("")
    return effects


def _write_files(options, study, result, rows, lacks, report: dict[str, Any]) -> None:
    """Write the figures, the page and the changed models. Enter all three in the report."""
    from hrpsim.fitting.report import write_model, write_report
    from hrpsim.fitting.residuals import draw_fit, draw_unexplained

    if options.plot:
        draw_fit(result, options.plot)
        report["figure"] = str(options.plot)
    if options.residuals:
        draw_unexplained(result, options.residuals)
        report["residuals"] = str(options.residuals)
    if options.report:
        advice = report["a motion that determines more"]
        write_report(options.report, study.title, result, rows, lacks, advice)
        report["page"] = str(options.report)
    for target in options.write_model:
        left = write_model(study.world, result, study.parameters, target)
        report[f"not written to {target}"] = left


def excite(options: argparse.Namespace) -> int:
    """Propose a motion, write the files and print the forecast."""
    from hrpsim.fitting.excitation import propose, read_excitation, write_motion
    from hrpsim.fitting.report.verdict_table import paths_of, unit_of

    excitation = read_excitation(options.study)
    with Progress("searching for a motion:") as progress:
        proposal = propose(excitation, progress.say)
    base = options.motion or options.study.with_name(f"{options.study.stem}_motion")
    forecasts = {}
    for k, name in enumerate(proposal.forecast.names):
        path = paths_of(name, excitation.parameters[name])[0]
        forecasts[name] = {
            "value": float(proposal.forecast.values[k]),
            "forecast": f"+- {proposal.forecast.half_widths[k]:.3g}",
            "with a chirp of equal length": f"+- {proposal.chirp_forecast.half_widths[k]:.3g}",
            "unit": unit_of(path),
        }
    report = {
        "study": excitation.title,
        "joints": list(proposal.motion.joints),
        "duration": float(proposal.motion.time[-1]),
        "parameters": forecasts,
        "smallest singular value": {
            "motion": proposal.forecast.smallest,
            "chirp": proposal.chirp_forecast.smallest,
        },
        "files": [
            str(path) for path in write_motion(proposal.motion, excitation.trial().robot, base)
        ],
    }
    print_report(report, options.json)
    return 0


def prismatic_of(world: Path) -> frozenset[str]:
    """Return the paths of the prismatic joints of a world."""
    from hrpsim.model.system import PRISMATIC
    from hrpsim.world.file.load_world import load_world

    return frozenset(
        f"robots.{name}.joints.{joint.name}"
        for name, robot in load_world(world).robots.items()
        for joint in robot.model.joints
        if joint.joint_type == PRISMATIC
    )
