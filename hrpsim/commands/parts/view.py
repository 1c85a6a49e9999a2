# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`--viewer` of `hrpsim run` and `hrpsim walk`: show the same world in a browser."""

import argparse
import math
import sys
import time
from pathlib import Path

from hrpsim.common.arguments import port
from hrpsim.common.progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --viewer, --host and --port to a command's options."""
    parser.add_argument(
        "--viewer",
        action="store_true",
        help="play in a browser until interrupted; needs viser: pip install 'hrpsim[viewer]'",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="of the viewer (127.0.0.1); by default this machine only",
    )
    parser.add_argument("--port", type=port, default=8080, help="port of the viewer (8080)")


def add_film_argument(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --film to a command's options."""
    parser.add_argument(
        "--film",
        type=Path,
        metavar="FILE",
        help=f"{what}; needs hrpsim[camera], .html hrpsim[viewer]",
    )


def make_film(options: argparse.Namespace, world) -> int:
    """Film the world for --duration. Print the file's name and return 0."""
    from hrpsim.viewer.film import make_film
    from hrpsim.viewer.session import Motion

    begin, progress, end = time.monotonic(), Progress(), world.time + options.duration

    def tick() -> None:
        world.step()
        progress.show(world.time, end, "s filmed")

    pictures = make_film(world, options.film, options.duration, Motion(world.time_step, tick))
    progress.end()
    took = time.monotonic() - begin
    what = "picture" if pictures == 1 else "pictures"
    print(f"{options.film}: {pictures} {what} of {world.time:g} s, drawn in {took:.0f} s")
    return 0


def view(options: argparse.Namespace, world, motion=None, panel=None, follow="") -> int:
    """Serve the world until the process is interrupted. Return 0.

    `panel` takes the viewer and returns an additional panel with an `update`. `follow` is the
    entity that cameras follow.
    """
    from hrpsim.viewer.viewer import Viewer

    viewer = Viewer(world, motion, host=options.host, port=options.port, follow=follow)
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
    """Return the control loop of a robot and its motion.

    After the end of the controller, its last command holds. A reset starts the controller again.
    """
    from hrpsim.control.framework.control_loop import ControlLoop
    from hrpsim.viewer.session import Motion

    loop = ControlLoop(robot, controller, parameters)
    finished_at = math.inf

    def tick() -> None:
        nonlocal finished_at
        if robot.world.time >= finished_at:
            robot.world.step(loop.steps_per_period)
            return
        loop.tick()
        finished_at = robot.world.time if controller.finished else math.inf

    return loop, Motion(controller.period, tick, rewinds=False)
