# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Analyse motions of a robot whose supporting links may change.

The results are joint torques, the ZMP in the outline of the soles, the centre of mass, and
violations of limits.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hrpsim.commands.parts.output import pairs
from hrpsim.common.arguments import not_negative, positive
from hrpsim.common.errors import HrpsimError, require_packages
from hrpsim.common.progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("robot", type=Path, help="URDF or xacro file")
    parser.add_argument(
        "motions", nargs="+", metavar="MOTION", help=".csv, .yaml, or basename of an hrpsys set"
    )
    parser.add_argument(
        "--fixed-link",
        action="append",
        default=[],
        metavar="[TIME:]LINK[+LINK...]",
        help="link fixed from TIME [s] on, else from the beginning; may be repeated. Without it: "
        "as in the motion's file, else detected from the soles' heights",
    )
    parser.add_argument(
        "--sole",
        action="append",
        default=[],
        metavar="LINK=XMIN,XMAX,YMIN,YMAX",
        help="outline [m] of a sole in its link's frame, if the description has no box",
    )
    parser.add_argument(
        "--split",
        default="minimum_norm",
        help="how fixed links share the wrench: minimum_norm (default) or center_of_pressure",
    )
    parser.add_argument("--period", type=positive, help="analyse every so many seconds")
    parser.add_argument(
        "--smoothing",
        type=not_negative,
        default=0.0,
        help="window of the differentiation [s]; 0: none",
    )
    parser.add_argument(
        "--friction", type=not_negative, help="flag tangential forces beyond this ratio"
    )
    parser.add_argument(
        "--lift-tolerance",
        type=not_negative,
        default=0.005,
        help="refuse a fixed link that moves [m]",
    )
    parser.add_argument(
        "--self-collisions",
        action="store_true",
        help="list where links overlap each other, between samples too (needs coal or FCL)",
    )
    parser.add_argument("--xacro", action="append", default=[], metavar="NAME:=VALUE")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON")
    output.add_argument("--csv", action="store_true", help="print a table, one line a sample")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the motion (.png, .svg)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a report, one HTML page")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Analyse motions. Print, plot or write the results."""
    from hrpsim.analysis.analyser import Analyser
    from hrpsim.analysis.fixed_links import parse_fixed_links
    from hrpsim.analysis.motion_files import read_motion
    from hrpsim.analysis.summary import analyse_motion
    from hrpsim.geometry.link_distances import LinkDistances
    from hrpsim.model.load import load_model

    _check_output(options)
    model = load_model(options.robot, xacro_arguments=pairs(options.xacro))
    fixed = parse_fixed_links(options.fixed_link, model)
    distances = LinkDistances(model) if options.self_collisions else None
    progresses = [MotionProgress(str(path)) for path in options.motions]
    sampling = {"period": options.period, "smoothing": options.smoothing}
    motions = [
        read_motion(path, model, **sampling, progress=progress)
        for path, progress in zip(options.motions, progresses)
    ]
    entries = itertools.chain(*(motion.fixed for motion in motions), fixed)
    named = [link for entry in entries for link in entry.links]
    analyser = Analyser(model, _soles(model, options.sole, named), split=options.split)
    how = {"friction": options.friction, "lift_tolerance": options.lift_tolerance}
    results = [
        analyse_motion(analyser, motion, fixed, **how, distances=distances, progress=progress)
        for motion, progress in zip(motions, progresses)
    ]
    _show(options, results)
    return 0


def _check_output(options: argparse.Namespace) -> None:
    """Raise HrpsimError if the requested output is not possible."""
    if len(options.motions) > 1 and (options.csv or options.plot):
        raise HrpsimError("--csv and --plot need a single motion. Name one")
    if options.plot:
        require_packages("a figure of a motion", ("matplotlib",), "pip install 'hrpsim[plot]'")


def _show(options: argparse.Namespace, results: Sequence[Any]) -> None:
    """Print the results, and write the files."""
    from hrpsim.analysis.summary import as_data, as_text, write_csv

    if options.json:
        print(json.dumps([as_data(result) for result in results], indent=2, allow_nan=False))
    elif options.csv:
        write_csv(results[0], sys.stdout)
    else:
        print("\n\n".join(map(as_text, results)))
    if options.plot:
        _draw(results[0], options.plot)
    if options.html:
        from hrpsim.analysis.html_report import as_html

        options.html.write_text(as_html(results), encoding="utf-8")
        print(f"report: {options.html}", file=sys.stderr)


class MotionProgress:
    """Shows the progress of a long motion on a terminal."""

    def __init__(self, name: str) -> None:
        self._name, self._progress = name, Progress("", "samples")

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Record that `done` of `total` samples have passed `stage`."""
        self._progress.what = f"{stage} {self._name}"
        self._progress.show(done, total)
        if done >= total:
            self._progress.end()


def _soles(model, texts: Sequence[str], named: Sequence[str]):
    """Return the soles of links that may be fixed.

    Args:
        model: model of the robot.
        texts: outlines LINK=XMIN,XMAX,YMIN,YMAX [m]. Without texts, soles are detected.
        named: further links to include.
    """
    from hrpsim.analysis.soles import Sole, sole_of, soles_of

    soles = []
    for link, text in pairs(texts, "--sole", "=").items():
        model.frame(link)
        try:
            x0, x1, y0, y1 = (float(x) for x in text.split(","))
        except ValueError:
            raise HrpsimError(
                f"--sole {link}={text}: must be four numbers XMIN,XMAX,YMIN,YMAX [m]"
            ) from None
        soles.append(Sole(link, [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]))
    if not soles:
        try:
            soles = list(soles_of(model))
        except HrpsimError:
            if not named:
                raise
    known = {sole.link for sole in soles}
    return [*soles, *(sole_of(model, link) for link in dict.fromkeys(named) if link not in known)]


def _draw(result, path: Path) -> None:
    from hrpsim.analysis.motion_figures import overview

    figure = overview(result)
    figure.savefig(path, metadata={"Software": None} if path.suffix == ".png" else None)
    print(f"figure: {path}", file=sys.stderr)
