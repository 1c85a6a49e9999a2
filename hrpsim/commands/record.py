"""`hrpsim record`: all topics of ROS 2 go to a bag, as `ros2 bag record` writes them."""

from __future__ import annotations

import argparse
import importlib.util

from hrpsim.errors import HrpsimError
from hrpsim.ros.recording.recorder import add_arguments

_EPILOG = """It says "ready" once it is matched with every publisher it can see and has heard
what it is told to expect, records until Ctrl-C or its time limit, topics that appear
later included, and then tells what got lost, by the publishers' sequence numbers.

  hrpsim record --output my_bag --plot my_bag.png
  hrpsim record --output my_bag --namespace /robot1 --expect joint_states lfsensor rfsensor
"""


def add_parser(commands) -> None:
    """Add the command to the parsers of `hrpsim`."""
    parser = commands.add_parser(
        "record",
        help="record all topics of ROS 2 to a bag",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.set_defaults(run=record)


def record(options: argparse.Namespace) -> int:
    """Record; return 0, or 1 where nothing could be recorded or the picture not be drawn."""
    wanted = ["rclpy", "rosbags", *(["matplotlib"] if options.plot else [])]
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if missing:
        raise HrpsimError(
            f"record needs {', '.join(missing)}: pip install 'hrpsim[ros,record,plot]', or source "
            "a ROS 2 and pip install 'hrpsim[record,plot]'"
        )
    from hrpsim.ros.recording import recorder

    return recorder.record(options)
