# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim convert`: writes any description as a URDF, SDF or MJCF, for other tools."""

import argparse
from pathlib import Path

from hrpsim.commands.parts.output import pairs, print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", type=Path, help="URDF, xacro, MJCF, SDF, USD, .body or .wrl file")
    parser.add_argument("target", type=Path, help="file to write: .urdf, .sdf, or .xml for MJCF")
    parser.add_argument("--xacro", action="append", default=[], metavar="NAME:=VALUE")
    parser.add_argument(
        "--accept-nonphysical-inertia", action="store_true", help="take all inertias as they are"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=convert_model)


def convert_model(options: argparse.Namespace) -> int:
    """Convert a description and print a report."""
    from hrpsim.model.convert import convert

    written = convert(
        options.model,
        options.target,
        xacro_arguments=pairs(options.xacro),
        accept_nonphysical_inertia=options.accept_nonphysical_inertia,
    )
    report = {
        "written": str(options.target),
        "meshes": len(written.meshes),
        "not_simulated": list(written.not_simulated),
        "not_written": list(written.not_written),
    }
    print_report(report, options.json)
    return 0
