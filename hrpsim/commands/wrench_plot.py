"""`hrpsim wrench-plot`: a picture of what the feet of a recorded robot felt."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from hrpsim.errors import HrpsimError

_EPILOG = """The bag is a folder of `hrpsim record` or `ros2 bag record` (mcap or sqlite3, several
files, zstd), or one of its files. A topic is given by its full name or the end of it:
lfsensor stands for /robot1/lfsensor where only one topic ends so. No ROS is needed.
"""


def add_parser(commands) -> None:
    """Add the command to the parsers of `hrpsim`."""
    parser = commands.add_parser(
        "wrench-plot",
        help="plot foot wrenches, centres of pressure and ZMP from a bag",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bag", type=Path, metavar="BAG")
    parser.add_argument(
        "--output", type=Path, metavar="PNG", help="picture to write (BAG_wrenches.png)"
    )
    parser.add_argument("--left", default="lfsensor", metavar="TOPIC", help="left foot (lfsensor)")
    parser.add_argument(
        "--right", default="rfsensor", metavar="TOPIC", help="right foot (rfsensor)"
    )
    parser.add_argument(
        "--zmp", metavar="TOPIC", help="zero-moment point (zmp beside the left foot, if recorded)"
    )
    parser.set_defaults(run=wrench_plot)


def wrench_plot(options: argparse.Namespace) -> int:
    """Plot the bag; print the name of the picture."""
    if importlib.util.find_spec("rosbags") is None:
        raise HrpsimError("bags need the Python package rosbags: pip install 'hrpsim[record]'")
    from hrpsim.bag.wrench_plot import plot_foot_wrenches

    bag = options.bag.resolve()
    picture = options.output or bag.with_name(f"{bag.stem}_wrenches.png")
    plot_foot_wrenches(options.bag, picture, options.left, options.right, options.zmp)
    print(f"wrote {picture}")
    return 0
