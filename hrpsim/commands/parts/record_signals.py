# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`--record` of `hrpsim run` and `hrpsim walk`: signals of the world in a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hrpsim.commands.parts.output import print_rows
from hrpsim.common.arguments import positive

OPTIONS = ("record", "signals", "every")
_HEAD = ("signal", "columns", "unit", "frame", "meaning")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --record, --signals and --every to a command's options."""
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="record signals (.npz, .mcap); for hrpsim plot, hrpsim fit and readers of bags",
    )
    parser.add_argument(
        "--signals",
        nargs="+",
        metavar="NAME",
        help="what --record records (all); topics, fields, columns, or patterns such as "
        "'*.force.z'; hrpsim run WORLD --list-signals lists them",
    )
    parser.add_argument("--every", type=positive, metavar="S", help="between samples [s] (0.005)")


def check(options: argparse.Namespace) -> None:
    """Raise HrpsimError for options without --record, and for a file that cannot be written."""
    from hrpsim.bag.signal_files import check_path
    from hrpsim.common.errors import HrpsimError

    if options.record is not None:
        check_path(options.record)
        return
    for name in ("signals", "every"):
        if getattr(options, name) is not None:
            raise HrpsimError(f"--{name} has no effect without --record. Add --record FILE")


@contextmanager
def recording(options: argparse.Namespace, world) -> Iterator[None]:
    """Record the world within the block. The file is written in any case, after errors too."""
    if options.record is None:
        yield
        return
    from hrpsim.bag.logger import Logger

    with Logger(world, options.signals, options.every) as log:
        try:
            yield
        finally:
            log.save(options.record)
            print(f"hrpsim: wrote {options.record}", file=sys.stderr)


def print_table(options: argparse.Namespace, world) -> int:
    """Print the signals of the world, or only --signals if given. Return 0."""
    from hrpsim.bag.logger import Logger
    from hrpsim.bag.signal_types import chosen_columns

    sources = Logger.table(world)
    columns = set(
        chosen_columns(options.signals, (c for source in sources for c in source.columns))
    )
    rows = [_HEAD]
    for source in sources:
        for field in source.fields:
            if not columns.isdisjoint(field.columns(source.topic)):
                of = " ".join(field.labels) if len(field.labels) <= 4 else str(field.width)
                details = of or "1", field.unit or "-", source.frame or "-", source.meaning
                rows.append((f"{source.topic}.{field.name}", *details))
    print_rows(rows)
    return 0
