# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`--viewer` of `hrpsim run` and `hrpsim walk`: show the same world in a browser."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hrpsim.common.arguments import port
from hrpsim.common.errors import HrpsimError
from hrpsim.common.progress import Progress

if TYPE_CHECKING:
    from hrpsim.viewer.session import TimeAdvance
    from hrpsim.viewer.viewer import Viewer
    from hrpsim.world.world import World

_ADDRESS: dict[str, Any] = {"host": "127.0.0.1", "port": 8080}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --viewer, --host and --port to a command's options."""
    parser.add_argument(
        "--viewer",
        action="store_true",
        help="play in a browser until interrupted; needs viser: pip install 'hrpsim[viewer]'",
    )
    add_address_arguments(parser)


def add_address_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --host and --port to a command's options."""
    parser.add_argument(
        "--host",
        default=_ADDRESS["host"],
        help="of the viewer (127.0.0.1); by default this machine only",
    )
    parser.add_argument(
        "--port", type=port, default=_ADDRESS["port"], help="port of the viewer (8080)"
    )


def check(options: argparse.Namespace) -> None:
    """Raise HrpsimError for an address without --viewer."""
    for name, default in _ADDRESS.items():
        if not options.viewer and getattr(options, name) != default:
            raise HrpsimError(f"--{name} has no effect without --viewer. Add --viewer")


def add_film_argument(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --film to a command's options."""
    parser.add_argument(
        "--film",
        type=Path,
        metavar="FILE",
        help=f"{what}; needs hrpsim[camera], .html hrpsim[viewer]",
    )


def make_film(
    options: argparse.Namespace, world: World, film: Path | None = None, follow: str = ""
) -> int:
    """Film the world for --duration. Print the file's name and return 0.

    Args:
        options: options of the command.
        world: the world.
        film: the file. By default --film.
        follow: the robot that stays in the middle. By default all moving bodies are shown.
    """
    from hrpsim.viewer.film import make_film
    from hrpsim.viewer.session import TimeAdvance

    begin, progress, end = time.monotonic(), Progress("filming", "s"), world.time + options.duration

    def tick() -> None:
        world.step()
        progress.show(world.time, end)

    file, chosen = film or options.film, {"follow": follow} if follow else {}
    motion = TimeAdvance(world.time_step, tick)
    pictures = make_film(world, file, options.duration, motion, **chosen)
    progress.end()
    took = time.monotonic() - begin
    noun = "picture" if pictures == 1 else "pictures"
    print(f"{file}: {pictures} {noun} of {world.time:g} s, drawn in {took:.0f} s")
    return 0


def view(
    options: argparse.Namespace,
    world: World,
    motion: TimeAdvance | None = None,
    panel: Callable[[Viewer], Any] | None = None,
    follow: str = "",
    worlds: Path | None = None,
) -> int:
    """Serve the world until the process is interrupted. Return 0.

    Args:
        options: options of the command, with --host and --port.
        world: the world.
        motion: advances time. The default is the world's own steps.
        panel: function that takes the viewer and returns an additional panel with an `update`.
        follow: the entity that cameras follow.
        worlds: a folder with world files that a page may load.
    """
    from hrpsim.viewer.viewer import Viewer

    viewer = Viewer(
        world, motion, host=options.host, port=options.port, follow=follow, worlds=worlds
    )
    if panel is not None:
        viewer.panels.append(panel(viewer))
    for line in viewer.left_out:
        print(f"hrpsim: not drawn: {line}", file=sys.stderr)
    print(f"{viewer.url} shows the world; Ctrl-C ends it", flush=True)
    try:
        viewer.run()
    except KeyboardInterrupt:
        pass
    finally:
        viewer.stop()
    return 0


def controlled(robot, controller, parameters):
    """Return the control loop and the motion of a robot.

    After the end of the controller, the last command holds. A reset starts the controller again.
    """
    from hrpsim.control.framework.control_loop import ControlLoop
    from hrpsim.viewer.session import TimeAdvance

    loop = ControlLoop(robot, controller, parameters)
    finished_at = math.inf

    def tick() -> None:
        nonlocal finished_at
        if robot.world.time >= finished_at:
            robot.world.step(loop.steps_per_period)
            return
        loop.tick()
        finished_at = robot.world.time if controller.finished else math.inf

    return loop, TimeAdvance(controller.period, tick, rewinds=False)
