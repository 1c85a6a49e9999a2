# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`--push` of `hrpsim walk`: pushes as in studies, given on the command line."""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING, NamedTuple

from hrpsim.common.arguments import not_negative, real
from hrpsim.common.errors import HrpsimError, ModelWarning, require_name

if TYPE_CHECKING:
    from hrpsim.sweeps.worlds.world_run import Push
    from hrpsim.world.objects.robot import Robot

_FORM = "LINK,IMPULSE,HEADING,TIME"


class GivenPush(NamedTuple):
    """A push of the command line: link, impulse [Ns], heading [rad], and time in the walk [s]."""

    link: str
    impulse: float
    heading: float
    time: float


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add --push to a command's options."""
    parser.add_argument(
        "--push",
        action="append",
        type=_parse,
        metavar="PUSH",
        help=f"{_FORM} [Ns, rad, s]; the heading from x, for 0.1 s; may be repeated",
    )


def pushes_of(options: argparse.Namespace, robot: Robot) -> list[Push]:
    """Return the pushes of the options.

    Raises HrpsimError for a link that the robot does not have.
    """
    from hrpsim.model.readers.plausibility import wide_turn
    from hrpsim.sweeps.worlds.world_run import PUSH_DEFAULTS, Push

    duration = PUSH_DEFAULTS["duration"]
    for push in options.push or ():
        require_name("link", push.link, robot.model.frames, HrpsimError, where="--push")
        if robot.model.frames[push.link].body < 0:
            raise HrpsimError(f"--push: link {push.link!r} is fixed to the world")
        if text := wide_turn("--push: the heading", [push.heading]):
            warnings.warn(text, ModelWarning, stacklevel=2)
        if options.duration is not None and push.time >= options.duration:
            raise HrpsimError(
                f"--push: the time {push.time:g} s is not before the end, --duration "
                f"{options.duration:g} s"
            )
    return [Push(robot.name, *push, duration) for push in options.push or ()]


def _parse(text: str) -> GivenPush:
    parts = text.split(",")
    if len(parts) != 4 or not parts[0]:
        raise argparse.ArgumentTypeError(
            f"must be {_FORM}, such as BODY,20,1.57,3.0, got {text[:60]!r}"
        )
    number = real(-1e6, 1e6)
    return GivenPush(parts[0], number(parts[1]), number(parts[2]), not_negative(parts[3]))
