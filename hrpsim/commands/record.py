# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim record`: records all topics of ROS 2 to a bag, as `ros2 bag record` does."""

import argparse

from hrpsim.commands.parts.output import ROS_REMEDY
from hrpsim.common.errors import require_packages
from hrpsim.ros.recording import recorder

EPILOG = """It prints "ready" once it is matched with every publisher it can see and has received
the topics of --expect. It records until Ctrl-C or its time limit, topics that appear later
included, and then reports lost messages, by the publishers' sequence numbers. Images and point
clouds are recorded only if --images names them. A line says when the recorder cannot keep up.

  hrpsim record --output my_bag --plot my_bag.png
  hrpsim record --output my_bag --images '/head/*' --exclude tf '/debug/*'
  hrpsim record --output my_bag --namespace /robot1 --expect joint_states lfsensor rfsensor
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    recorder.add_arguments(parser)
    parser.set_defaults(run=record)


def record(options: argparse.Namespace) -> int:
    """Record topics of ROS 2 until a signal or the time limit.

    Return 0, or 1 if nothing could be recorded or plotted.
    """
    packages = ["rclpy", "rosbags", *(["matplotlib"] if options.plot else [])]
    require_packages("record", packages, ROS_REMEDY)
    return recorder.record(options)
