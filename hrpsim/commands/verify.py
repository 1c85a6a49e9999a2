# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim verify`: finds damage in stores of sweeps, in bags, and in recorded signals."""

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from hrpsim.commands.parts.output import print_report
from hrpsim.common.errors import HrpsimError
from hrpsim.common.extras import MissingPackageError

EPILOG = """exit status: 0 sound; 1 damaged, or not readable; 2 usage; 3 nothing wrong was
found, but some parts have no checksums, and damage of these may not show.

  hrpsim verify study.zarr my_bag
"""
_UNCHECKED = 3  # exit status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "path", type=Path, nargs="+", help="store of a sweep, bag, or recorded .npz"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=verify)


def verify(options: argparse.Namespace) -> int:
    """Check each path, and print what was found. Return the exit status."""
    report, status = {}, 0
    for path in options.path:
        try:
            verdict, code = _check_of(path)(path)
        except MissingPackageError:
            raise
        except (HrpsimError, OSError) as error:
            verdict, code = f"damaged: {error}", 1
        report[str(path)] = verdict
        status = code if status == 0 or code == 1 else status
    print_report(report, options.json)
    return status


def _check_of(path: Path) -> Callable[[Path], tuple[str, int]]:
    """Return the check for the kind of file at a path: store, signals or bag."""
    if (path / ".zgroup").exists():
        return _store
    return _signals if path.suffix == ".npz" else _bag


def _store(path: Path) -> tuple[str, int]:
    from hrpsim.sweeps.store import check_store, open_store

    for package in ("zarr", "xarray"):  # a missing package is not damage
        import_module(package)
    has_checksums = check_store(path)
    dataset = open_store(path)
    if not has_checksums:
        return "nothing wrong was found, but an earlier version wrote no checksums", _UNCHECKED
    return f"sound: {dataset.sizes['cell']} cells, all files by their checksums", 0


def _signals(path: Path) -> tuple[str, int]:
    from hrpsim.bag.signal_files import read_signals

    return f"sound: {len(read_signals(path).topics)} topics, all arrays by their checksums", 0


def _bag(path: Path) -> tuple[str, int]:
    from hrpsim.bag.verify import verify_bag

    check = verify_bag(path)
    if check.problems:
        return f"damaged: {'; '.join(check.problems)}", 1
    if check.unchecked:
        return f"nothing wrong was found, but {'; '.join(check.unchecked)}", _UNCHECKED
    return f"sound: {check.messages} messages, all decoded and by their checksums", 0
