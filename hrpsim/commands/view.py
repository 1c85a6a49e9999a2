# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim view`: play a world in a browser, or write one page that plays a run anywhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from hrpsim.commands.parts import view
from hrpsim.commands.parts.output import pairs
from hrpsim.common.arguments import not_negative
from hrpsim.common.errors import HrpsimError, require_name

EPILOG = """  hrpsim view config/stand.yaml                            play in a browser
  hrpsim view config/stand.yaml --worlds config            choose other worlds there
  hrpsim view config/stand.yaml --save stand.html          a page, without a server or a network
"""
_PAGE = ".html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("world", type=Path, help="world file (YAML, MJCF, SDF, USD, .cnoid)")
    parser.add_argument(
        "--follow", default="", metavar="NAME", help="robot or body that cameras follow"
    )
    parser.add_argument(
        "--worlds", type=Path, metavar="FOLDER", help="folder of worlds that the page may load"
    )
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="write a page (.html) that plays a run"
    )
    parser.add_argument(
        "--duration", type=not_negative, default=10.0, help="simulated time of --save [s] (10)"
    )
    parser.add_argument("--xacro", action="append", default=[], metavar="NAME:=VALUE")
    view.add_address_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve the world until the process is interrupted, or write the page of --save."""
    from hrpsim.bag.world_signals import moves_freely
    from hrpsim.world.file.load_world import load_world

    if options.save is not None and options.save.suffix != _PAGE:
        raise HrpsimError(
            f"{options.save}: --save writes a page that ends in {_PAGE}. "
            "`hrpsim run WORLD --film FILE` writes films and pictures"
        )
    world = load_world(options.world, xacro_arguments=pairs(options.xacro))
    if options.follow:
        movable = [name for name, entity in world.entities.items() if moves_freely(entity)]
        require_name("robot or body that moves freely", options.follow, movable, HrpsimError)
    if options.save is not None:
        return view.make_film(options, world, options.save, options.follow)
    return view.view(options, world, follow=options.follow, worlds=options.worlds)
