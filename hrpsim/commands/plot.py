# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim plot`: draws recorded signals against time."""

import argparse
from pathlib import Path

from hrpsim.commands.parts.output import print_rows
from hrpsim.common.arguments import real
from hrpsim.common.errors import HrpsimError, require_packages

EPILOG = """The recording is a file of `hrpsim run --record` or `hrpsim walk --record`, or a bag of
`hrpsim record` or `ros2 bag record`. Without a signal the command lists them.

  hrpsim walk --record walk.npz
  hrpsim plot walk.npz lfsensor.force rfsensor.force.z solver.residual
  hrpsim plot walk.npz '*.position.*KNEE*' --begin 2 --end 4 --output knees.png
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("recording", type=Path, metavar="FILE", help=".npz, .mcap, or a bag")
    parser.add_argument(
        "signals",
        nargs="*",
        metavar="SIGNAL",
        help="topics, fields, columns, or patterns such as '*.force.z'",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="picture to write (FILE_signals.png)"
    )
    parser.add_argument("--begin", type=real(), metavar="S", help="draw from this time on [s]")
    parser.add_argument("--end", type=real(), metavar="S", help="draw up to this time [s]")
    parser.set_defaults(run=plot)


def plot(options: argparse.Namespace) -> int:
    """Draw the signals and print the file's name, or list the signals."""
    from hrpsim.bag.signal_files import read_signals

    if not options.signals:
        return _list(options)
    require_packages("plot", ("matplotlib",), "pip install 'hrpsim[plot]'")
    from hrpsim.bag.signal_figure import draw_signals

    log = read_signals(options.recording, options.signals)
    source = options.recording.resolve()
    picture = options.output or source.with_name(f"{source.stem}_signals.png")
    draw_signals(log, picture, options.begin, options.end)
    print(f"wrote {picture}")
    return 0


def _list(options: argparse.Namespace) -> int:
    from hrpsim.bag.signal_files import read_signals

    log = read_signals(options.recording)
    if not log.topics:
        raise HrpsimError(f"{options.recording}: contains no signals")
    rows = []
    for topic in log.topics.values():
        time = topic.time
        span = f"{len(time)} samples, {time[0]:g} to {time[-1]:g} s" if len(time) else "no samples"
        for field in topic.fields:
            of = " ".join(field.labels) if len(field.labels) <= 4 else f"{field.width} columns"
            rows.append((f"{topic.topic}.{field.name}", field.unit or "-", of or "1", span))
    print_rows(rows)
    return 0
