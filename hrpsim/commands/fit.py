# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim fit`: parameters of a world found from recordings, with intervals and held-out errors."""

import argparse
import warnings
from pathlib import Path

from hrpsim.commands.parts.output import print_report
from hrpsim.common.errors import require_packages
from hrpsim.common.progress import show_line

EPILOG = """exit status: 0 fitted; 1 refused, failed, not converged, or nothing explained; 2 usage.

  hrpsim fit study.yaml                      values, 95 % intervals, errors
  hrpsim fit study.yaml --plot fit.png       measured and simulated
  hrpsim fit study.yaml --residuals rest.png what the model does not explain
  hrpsim fit study.yaml --json
"""
_UNEXPLAINED = 6  # signals that are listed


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
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=fit)


def fit(options: argparse.Namespace) -> int:
    """Fit parameters and print the result."""
    if options.plot or options.residuals:
        require_packages("a figure of a fit", ("matplotlib",), "pip install 'hrpsim[plot]'")
    from hrpsim.fitting.fit_study import read_fit_study
    from hrpsim.fitting.residuals import draw_fit, draw_unexplained, unexplained
    from hrpsim.sweeps.executors import processors

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        study = read_fit_study(options.study)
        count = processors() if options.processes is None else options.processes
        study.options["processes"] = count
        result = study.run(show_line)
        validated = study.cross_validate(show_line) if study.folds else {}
    show_line("")
    report = {"study": study.title, **result.report()}
    report["what the model does not explain"] = {
        f"{one.recording}: {one.kind} of {one.signal}": {
            "mean": one.mean,
            "rms": one.rms,
            "autocorrelation": float(one.autocorrelation[1]),
            "bound": one.bound,
            "follows": f"{one.related} ({one.correlation:+.2f})" if one.related else "no signal",
        }
        for one in unexplained(result)[:_UNEXPLAINED]
        if not one.white
    }
    report["cross_validated_error"] = {
        kind: {"before": before, "after": after} for kind, (before, after) in validated.items()
    }
    said = dict.fromkeys(str(warning.message) for warning in caught)
    report["warnings"] = list(said)
    if said:
        report["verdict"] += " The warnings say what looks wrong in the data."
    if options.plot:
        draw_fit(result, options.plot)
        report["figure"] = str(options.plot)
    if options.residuals:
        draw_unexplained(result, options.residuals)
        report["residuals"] = str(options.residuals)
    print_report({key: value for key, value in report.items() if value}, options.json)
    return 0 if result.explains and result.reached else 1
