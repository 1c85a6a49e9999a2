# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A sweep on disk: a zarr group for xarray and a journal until the sweep is complete.

A finished run is written to the journal at once. The arrays are written when the store is opened
and closed. The journal is removed when the last run is in the arrays.
"""

from __future__ import annotations

import json
import logging
import math
import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.common.errors import ModelWarning, shown_value
from hrpsim.common.file_names import exists
from hrpsim.common.limits import STORE_SIZE, YAML_SIZE
from hrpsim.sweeps.cells import STATUS, Result, Table, differences
from hrpsim.sweeps.checksums import CHECKSUMS, OWN, damage, seal
from hrpsim.sweeps.framework.scenario import SweepError, needed_package
from hrpsim.sweeps.journal import Journal, kept, read_journal

_CHUNK = 1024  # number of runs in a chunk
_FORMAT = 2  # format of zarr, whose specification includes texts of fixed width
_SHOWN = 4  # largest number of listed files in a message
_SYNC_PERIOD = 5.0  # [s]
# Codecs that only compress. Zarr would write its default, which depends on the release.
_CODECS = ("blosc", "zstd", "lz4", "zlib", "gzip", "bz2", "lzma", "crc32", "crc32c")


class Store:
    """The stored results of a sweep: a folder `path`, and the journal `path`.journal.

    An existing store is continued: the table receives the stored results. Raises SweepError if the
    store belongs to another sweep or to other versions, or cannot be written.
    """

    def __init__(
        self, path: str | Path, table: Table, identity: Mapping[str, Any], title: str
    ) -> None:
        needed_package("zarr", "a store")
        needed_package("xarray", "a store")
        self.path = Path(path)
        if not self.path.name or "\0" in str(path):
            raise SweepError(f"a store must be a folder with a name, got {str(path)!r}")
        self._table, self._identity = table, dict(identity)
        self._attributes = {"title": title, **identity}
        self._last_sync = time.monotonic()
        self._journal: Journal | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SweepError(f"cannot make {self.path.parent}: {error.strerror}") from error
        if not os.path.exists(_journal_of(self.path)) and os.path.exists(self.path):
            self._take_over_arrays()
            if table.finished == table.count:
                return
        self._journal = Journal(_journal_of(self.path))
        try:
            self._take_over_journal()
        except BaseException:
            self._journal.close()
            raise

    def _take_over_arrays(self) -> None:
        """Read a store whose sweep has ended, or whose journal is missing."""
        dataset = open_store(self.path)
        with _damage_of(self.path):
            self._compare(_identity_of(dataset))
            self._read(dataset)

    def _take_over_journal(self) -> None:
        header, results = self._journal.read()
        if header is None:
            if self.path.exists():  # without the journal, which a copy may lack
                self._take_over_arrays()
            there = map(self._table.result, np.flatnonzero(self._table.status).tolist())
            self._journal.append([self._identity, *map(kept, there)])
        else:
            with _damage_of(self._journal.path):
                self._compare(header)
                for result in results:
                    self._table.add(result)
        self._write_arrays()

    def _compare(self, there: Mapping[str, Any]) -> None:
        """Raise SweepError if a store belongs to another sweep."""
        for name, value in self._identity.items():
            if name in ("versions", "run"):
                continue
            if _plain(there.get(name)) != _plain(value):
                difference = first_difference(there.get(name), value)
                if name == "design":
                    difference = self._other_value()
                raise SweepError(
                    f"{self.path} contains another sweep: {name}: {difference}. Name another "
                    "store, or remove this one"
                )
        problem = differences(self._identity["versions"], there.get("versions") or {})
        if problem:
            raise SweepError(
                f"{self.path} was started with other versions or on another processor: {problem}. "
                "Continue with the same ones, or name another store"
            )
        if there.get("run") != self._identity["run"]:
            raise SweepError(
                f"{self.path} was run {there.get('run')}, but this sweep runs "
                f"{self._identity['run']}. Continue in the same way, or name another store"
            )

    def _other_value(self) -> str:
        """Return the first value of a design that differs from this table."""
        try:
            dataset = open_store(self.path)
        except SweepError:
            return "other values of the parameters"
        for name, column in self._table.columns.items():
            for cell in np.flatnonzero(dataset[name].values != column)[:1]:
                there, own = dataset[name].values[cell].item(), column[cell].item()
                return f"cell {cell}: {name} = {there!r} there, {own!r} here"
        return "other values of the parameters"

    def _read(self, found: Any) -> None:
        table = self._table
        table.status[:] = found["status"].values
        for name in table.results:
            table.results[name][:] = found[name].values
        for k in np.flatnonzero(found["error"].values != ""):
            table.errors[int(k)] = str(found["error"].values[k])

    def add(self, results: list[Result]) -> None:
        """Save results. After this call, the results survive the end of the process."""
        self._journal.append([kept(result) for result in results])
        for result in results:
            self._table.add(result)
        if time.monotonic() - self._last_sync > _SYNC_PERIOD:
            self._journal.sync()
            self._last_sync = time.monotonic()

    def _write_arrays(self) -> None:
        """Write the arrays to a temporary folder and rename the folder. Then remove the journal.

        Raises SweepError if the disk refuses the arrays. The journal still has all results.
        """
        is_whole = self._table.finished == self._table.count
        dataset = self._table.dataset({**self._attributes, "complete": "yes" if is_whole else "no"})
        packing = _packing()
        encoding = {
            name: {"chunks": (_CHUNK, *variable.shape[1:]), **packing}
            for name, variable in dataset.variables.items()
            if variable.dims[:1] == ("cell",)
        }
        if self.path.exists() and not _is_store(self.path):
            raise SweepError(f"{self.path} is not a store of a sweep")
        try:
            with (
                tempfile.TemporaryDirectory(prefix=".hrpsim_", dir=self.path.parent) as temporary,
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")  # xarray's about zarr's specification
                new = Path(temporary, "new")
                dataset.to_zarr(new, zarr_format=_FORMAT, consolidated=False, encoding=encoding)
                seal(new)
                if self.path.exists():
                    self.path.rename(Path(temporary, "old"))
                new.rename(self.path)
                _sync_folder(self.path)
        except OSError as error:
            raise SweepError(
                f"cannot write {self.path}: {error.strerror or error}. The finished cells are in "
                f"{_journal_of(self.path)}. Start the sweep again to continue"
            ) from error
        if is_whole:
            _journal_of(self.path).unlink(missing_ok=True)

    def close(self) -> None:
        """Write all new results. Remove the journal if all runs are finished."""
        if self._journal is not None:
            try:
                self._write_arrays()
            finally:
                self.abandon()

    def abandon(self) -> None:
        """Close the store without writing. The journal has all results."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None


def open_store(path: str | Path) -> Any:
    """Return the xarray.Dataset of a store, loaded. Raises SweepError if the path is not a store.

    The dataset includes results that only the journal has.
    """
    xarray = needed_package("xarray", "a store")
    needed_package("zarr", "a store")
    path = Path(path)
    if not exists(path):
        raise SweepError(f"there is no store {path} yet")
    if not _is_store(path):
        raise SweepError(f"{path} is not a store of a sweep")
    # Arrays are read concurrently. Asyncio logs the tracebacks of errors after the first.
    logging.getLogger("asyncio").addFilter(_is_not_of_zarr)
    with _damage_of(path):
        _refuse_programs(path)
        if not check_store(path):
            warnings.warn(
                f"{path} has no checksums: an earlier version wrote the store. Damage cannot be "
                "detected",
                ModelWarning,
                stacklevel=2,
            )
        dataset = xarray.open_zarr(path, consolidated=False, zarr_format=_FORMAT).load()
        if "versions" not in dataset.attrs or "status" not in dataset:
            raise SweepError(f"{path} is a dataset, but not the store of a sweep")
        for name in (CHECKSUMS, OWN):
            dataset.attrs.pop(name, None)
        if flaw := _flaw(dataset):
            raise SweepError(f"{path} is damaged: {flaw}")
        _add_journal(dataset, _journal_of(path))
    return dataset[sorted(dataset.data_vars)]


def _packing() -> dict[str, Any]:
    """Return the codecs of arrays: compression, and a checksum that every reader of zarr checks."""
    codecs, zarr = (needed_package(name, "a store") for name in ("numcodecs", "zarr"))
    key = "compressor" if zarr.__version__.startswith("2.") else "compressors"
    return {"filters": [codecs.Zstd(), codecs.CRC32()], key: None}


def check_store(path: Path) -> bool:
    """Check the checksums and the contents of every file of a store.

    Args:
        path: folder of the store.

    Returns:
        Whether the store has checksums. Stores of earlier versions have none.

    Raises:
        SweepError: names the damaged files.
    """
    with _damage_of(path):
        problems, has_checksums = damage(path)
        if problems:
            raise SweepError(
                f"{path} is damaged: {'; '.join(problems[:_SHOWN])}"
                + (f". And {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else "")
            )
    return has_checksums


def _is_not_of_zarr(record: logging.LogRecord) -> bool:
    return "zarr" not in record.getMessage()


@contextmanager
def _damage_of(path: Path) -> Iterator[None]:
    """Convert any error of a reader within the block to a SweepError about damage."""
    try:
        yield
    except SweepError:
        raise
    except Exception as error:
        raise SweepError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


def _refuse_programs(path: Path) -> None:
    """Raise SweepError for arrays with codecs or contents that a sweep does not write.

    A codec may run programs, as zarr's pickle does. The check precedes any reading by zarr.
    """
    size = 0
    for file in sorted(path.glob("*/.zarray")):
        head = json.loads(file.read_bytes()[:YAML_SIZE])
        codecs = [codec["id"] for codec in (head["compressor"], *(head["filters"] or ())) if codec]
        refused = [codec for codec in codecs if codec not in _CODECS]
        if refused:
            raise SweepError(f"{file}: the codec {shown_value(refused[0])} is not supported")
        kind = np.dtype(head["dtype"])
        if kind.hasobject or kind.kind not in "biufU":
            raise SweepError(
                f"{file}: arrays of type {shown_value(head['dtype'])} are not supported"
            )
        size += math.prod(head["shape"]) * kind.itemsize
        if size > STORE_SIZE or min(head["shape"], default=0) < 0:
            raise SweepError(
                f"{path}: the arrays have more than {STORE_SIZE} bytes (limit STORE_SIZE in "
                "hrpsim.common.limits)"
            )


def _flaw(found: Any) -> str:
    """Return a text if a dataset lacks a variable or attribute of sweeps, or ""."""
    identity = _identity_of(found)
    for name, kind in {"scenario": dict, "versions": dict, "parameters": list}.items():
        if not isinstance(identity.get(name), kind):
            return f"its attribute {name!r} is missing, or no {kind.__name__}"
    kinds = {"status": "iu", "error": "U", "seed": "iu"}
    kinds |= dict.fromkeys(identity["parameters"], "biufU")
    for name in (*kinds, *found.data_vars):
        variable, kind = found.variables.get(name), kinds.get(name, "biuf")
        if variable is None or variable.dims[:1] != ("cell",) or variable.dtype.kind not in kind:
            return f"its array {name!r} is missing, or of another kind"
    if not np.isin(found["status"].values, list(STATUS)).all():
        return f"a status is none of {', '.join(map(str, STATUS))}"
    return ""


def _add_journal(found: Any, journal: Path) -> None:
    """Put the results that only the journal has into a dataset."""
    try:
        header, results, _ = read_journal(journal)
    except FileNotFoundError:
        return
    if header is None or header.get("design") != found.attrs.get("design"):
        return
    for number, status, outcomes, error, _ in results:
        found["status"].values[number] = status
        found["error"].values[number] = error
        for name, value in outcomes.items():
            found[name].values[number] = value


def _is_store(path: Path) -> bool:
    return (path / ".zgroup").is_file()


def _journal_of(path: Path) -> Path:
    return path.with_name(path.name + ".journal")


def _identity_of(found: Any) -> dict[str, Any]:
    read = {}
    for name, text in found.attrs.items():
        try:
            read[name] = json.loads(text)
        except (TypeError, ValueError):
            read[name] = text
    return read


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def first_difference(there: Any, here: Any, path: str = "") -> str:
    """Return "path: VALUE there, VALUE here" for the first different entry, or "" if equal."""
    there, here = _plain(there), _plain(here)
    if there == here:
        return ""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in [*there, *here]:
            if there.get(key) != here.get(key):
                inner = f"{path}.{key}" if path else str(key)
                return first_difference(there.get(key), here.get(key), inner)
    at = f"{path} = " if path else ""
    return f"{at}{shown_value(there)} there, {at}{shown_value(here)} here"


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
