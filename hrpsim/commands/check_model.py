# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim check-model`: loads a description, lists the contents and the self-collisions."""

import argparse
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

from hrpsim.commands.parts.output import pairs, print_report
from hrpsim.common.arguments import whole
from hrpsim.common.errors import HrpsimError, ModelWarning

_CLOSEST = 5  # pairs
SAMPLES = 10_000  # finds with 99 % probability a pair that overlaps in one of 2170 postures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", type=Path, help="URDF, xacro, MJCF, SDF, USD, .body or .wrl file")
    parser.add_argument(
        "--base",
        choices=("free", "fixed"),
        help="free or fixed base (default free; fixed for a root link with the name world)",
    )
    parser.add_argument("--xacro", action="append", default=[], metavar="NAME:=VALUE")
    parser.add_argument(
        "--meshes", default="hull", help="how collision meshes collide: hull, exact or none"
    )
    parser.add_argument("--srdf", type=Path, help="SRDF with disable_collisions")
    parser.add_argument(
        "--accept-nonphysical-inertia", action="store_true", help="take all inertias as they are"
    )
    parser.add_argument(
        "--self-collisions",
        action="store_true",
        help="list the pairs of links that overlap in the neutral posture (adjacent ones left "
        "out), and with coal or FCL the closest others",
    )
    parser.add_argument(
        "--write-srdf",
        type=Path,
        metavar="FILE",
        help="write the pairs that are adjacent, or overlap always or never, as an SRDF",
    )
    parser.add_argument(
        "--samples",
        type=whole(1, 10_000_000),
        default=SAMPLES,
        help=f"random postures for that ({SAMPLES})",
    )
    parser.add_argument(
        "--seed", type=whole(0, 2**32 - 1), default=0, help="of the random postures (0)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=check_model)


_LISTED = "not simulated as it says"  # begins the warning with what the report lists


def check_model(options: argparse.Namespace) -> int:
    """Load a description. Print joints, links, mass, sensors, meshes and self-collisions."""
    from hrpsim.model.load import load_model

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        model = load_model(
            options.model,
            base=options.base,
            xacro_arguments=pairs(options.xacro),
            accept_nonphysical_inertia=options.accept_nonphysical_inertia,
            meshes=options.meshes,
            srdf=options.srdf,
        )
    report = {
        "name": model.name,
        "base": model.base,
        "nq": model.nq,
        "nv": model.nv,
        "mass": round(model.mass, 6),
        "links": len(model.link_names),
        "bodies": model.body_count,
        "joints": list(model.joint_names),
        "sensors": {
            s.name: f"{s.kind} on {s.link}" for s in (*model.sensors, *model.sampled_sensors)
        },
        "collision_shapes": len(model.shapes),
        "collision_meshes": [asdict(use) for use in model.meshes],
        "keyframes": list(model.keyframes),
        "not_simulated": list(model.not_simulated),
        "warnings": [str(warning.message) for warning in caught],
    }
    if options.self_collisions or options.write_srdf:
        report.update(_self_collisions(options, model))
    if not options.json:
        for line in report.pop("warnings"):
            if _LISTED not in line:
                print(f"hrpsim: warning: {line}", file=sys.stderr)
        report["collision_meshes"] = _lines(model)
    print_report(report, options.json)
    return 0


def _lines(model) -> dict[str, str]:
    """Return the results of loading meshes, by link."""
    lines: dict[str, list[str]] = {}
    for use in model.meshes:
        kind = {"hull": "hull of", "exact": "exact,", "none": "does not collide"}[use.use]
        size = "" if use.use == "none" else f" {use.vertices} vertices, {use.triangles} triangles"
        lines.setdefault(use.link, []).append(f"{use.uri}: {kind}{size}")
    return {link: "; ".join(texts) for link, texts in lines.items()}


def _self_collisions(options: argparse.Namespace, model) -> dict:
    from hrpsim.model.readers.urdf.srdf import write_disabled_collisions
    from hrpsim.world.self_collisions import SelfContacts, survey_pairs

    touching = SelfContacts(model).touching(model.neutral())
    report: dict = {
        "overlaps_in_neutral_posture": {
            f"{a} - {b}": f"{1e3 * depth:.3g} mm" for (a, b), depth in sorted(touching.items())
        }
    }
    if options.self_collisions:
        report["closest_in_neutral_posture"] = _closest(model, touching)
    if options.write_srdf:
        survey = survey_pairs(model, options.samples, options.seed)
        write_disabled_collisions(options.write_srdf, model.name, survey.reasons)
        kinds = list(survey.reasons.values())
        report["postures"] = survey.samples
        report["pairs_disabled"] = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
        report["pairs_left"] = {
            f"{a} - {b}": f"{100 * fraction:.3g} % of the postures"
            for (a, b), fraction in survey.shares.items()
        }
        report["srdf"] = str(options.write_srdf)
    return report


def _closest(model, touching) -> dict[str, str] | str:
    """Return the closest pairs of links, or the reason why no distances are known."""
    from hrpsim.geometry.link_distances import LinkDistances

    try:
        distances = LinkDistances(model)
    except HrpsimError as error:
        return str(error)
    nearest = distances.closest(model.neutral(), _CLOSEST + len(touching))
    apart = [pair for pair in nearest if pair.links not in touching][:_CLOSEST]
    return {" - ".join(pair.links): f"{1e3 * pair.distance:.3g} mm" for pair in apart}
