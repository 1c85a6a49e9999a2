# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim wrench-plot`: plots the foot wrenches of a recorded robot."""

import argparse
from pathlib import Path

from hrpsim.commands.parts.output import BAG_REMEDY
from hrpsim.common.errors import require_packages

EPILOG = """The bag is a folder of `hrpsim record` or `ros2 bag record` (mcap or sqlite3, several
files, zstd), or one of its files. Name a topic by its full name or its end:
lfsensor means /robot1/lfsensor if no other topic has this end. No ROS is needed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("bag", type=Path, metavar="BAG", help="recording, or a file of one")
    parser.add_argument(
        "--output", type=Path, metavar="PNG", help="picture to write (BAG_wrenches.png)"
    )
    parser.add_argument("--left", default="lfsensor", metavar="TOPIC", help="left foot (lfsensor)")
    parser.add_argument(
        "--right", default="rfsensor", metavar="TOPIC", help="right foot (rfsensor)"
    )
    parser.add_argument(
        "--zmp",
        metavar="TOPIC",
        help="zero-moment point (zmp in the left foot's namespace, if recorded)",
    )
    parser.set_defaults(run=wrench_plot)


def wrench_plot(options: argparse.Namespace) -> int:
    """Plot the bag and print the file's name."""
    require_packages("wrench-plot", ("rosbags", "matplotlib"), BAG_REMEDY)
    from hrpsim.bag.foot_wrenches import plot_foot_wrenches

    bag = options.bag.resolve()
    picture = options.output or bag.with_name(f"{bag.stem}_wrenches.png")
    plot_foot_wrenches(options.bag, picture, options.left, options.right, options.zmp)
    print(f"wrote {picture}")
    return 0
