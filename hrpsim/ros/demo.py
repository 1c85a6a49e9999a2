"""The demonstration: `make demo` or `python -m hrpsim.ros.demo [--headless]`.

Simulation node, controller and recorder run as processes of their own and talk over DDS in a
private ROS domain. It ends by itself with a summary; the exit code is not zero if the robot fell,
a topic stayed silent, or a process failed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from hrpsim.ros.demo_run import DemoRun
from hrpsim.ros.domain import PrivateDomain
from hrpsim.ros.stop_signal import StopSignal

DEFAULT_OUTPUT = Path("demo_output")


def main(arguments: list[str] | None = None) -> int:
    """Run the demonstration and return the exit code."""
    options = _parser().parse_args(arguments)
    output = fresh_folder(options.output)
    with StopSignal() as stop, PrivateDomain() as domain:
        if options.domain_id is not None:
            domain.domain_id = options.domain_id
        try:
            with DemoRun(options, output, domain, stop) as run:
                run.play()
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
    return run.verdict()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="demo", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--headless", action="store_true", help="no RViz, even where there is one and a display"
    )
    parser.add_argument(
        "--duration", type=float, default=0.0, metavar="S", help="end the motion early"
    )
    parser.add_argument(
        "--real-time-factor", type=float, default=1.0, metavar="X", help="0: as fast as possible"
    )
    parser.add_argument("--world", default="config/stand.yaml", help="world file")
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT, metavar="DIR")
    parser.add_argument(
        "--domain-id", type=int, help="ROS_DOMAIN_ID to use instead of a private one"
    )
    parser.add_argument(
        "--start-limit",
        type=float,
        default=180.0,
        metavar="S",
        help="give up where not everything is ready after S seconds (%(default)g)",
    )
    return parser


def fresh_folder(folder: Path) -> Path:
    """Make the output folder, remove what an earlier demonstration left in it, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder == DEFAULT_OUTPUT:
        (folder / ".gitignore").write_text("*\n")
    if (folder / "bag" / "metadata.yaml").exists() or list(folder.glob("bag/*.mcap")):
        shutil.rmtree(folder / "bag")
    for name in ("node.log", "controller.log", "recorder.log", "foot_forces.png", "summary.json"):
        (folder / name).unlink(missing_ok=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
