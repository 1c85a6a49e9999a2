# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim check-simulation-interfaces`: tests if a simulator conforms to the standard of ROS 2."""

import argparse

from hrpsim.common.errors import HrpsimError, require_packages
from simulator_conformance import command
from simulator_conformance.errors import ConformanceError

EPILOG = command.EPILOG


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    command.add_arguments(parser)
    parser.set_defaults(run=check)


def check(options: argparse.Namespace) -> int:
    """Run the checks. Return 0 if none failed, else 1."""
    require_packages(
        "check-simulation-interfaces",
        ("rclpy", "simulation_interfaces"),
        "source a ROS 2 that has ros-*-simulation-interfaces, or pip install 'hrpsim[ros]' "
        "./interfaces/simulation_interfaces",
    )
    try:
        return command.check(options)
    except ConformanceError as error:
        raise HrpsimError(str(error)) from error
