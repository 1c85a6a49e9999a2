# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read numpy's .npy and .npz files: no pickled objects, sizes checked before any allocation."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import HrpsimError, require_name
from hrpsim.common.foreign.file_bytes import open_file, refuse_pointer

_MEMBERS = 1000  # arrays of an .npz
_HEADER = 1 << 20  # bytes in which a header ends
_HEADERS = {  # by version: bytes of the length, reader
    1: (2, np.lib.format.read_array_header_1_0),
    2: (4, np.lib.format.read_array_header_2_0),
}
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_npy(path: Path, error: type[HrpsimError], limit: str, kinds: str = "iuf") -> np.ndarray:
    """Return the array of a .npy file.

    Args:
        path: name of the file.
        error: class of the error.
        limit: name of the constant of `limits` that bounds the file's size.
        kinds: allowed kinds of entries, as numpy's `dtype.kind`.

    Raises:
        error: the file is not an array, has other entries, or is shorter than its header states.
    """
    with open_file(path, error, limit) as file:
        refuse_pointer(path, file.read(100), error)
        file.seek(0)
        size = getattr(limits, limit)
        try:
            return _array(file, size, kinds)
        except Exception as cause:  # the header is parsed as Python text, and may fail in many ways
            raise error(f"{path}: cannot be read as an array: {reason_of(cause)}") from cause


def read_npz(
    path: Path,
    error: type[HrpsimError],
    limit: str,
    names: Collection[str] | None,
    kinds: str = "iufU",
) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file by name.

    Args:
        path: name of the file.
        error: class of the error.
        limit: name of the constant of `limits` that bounds the sum of the arrays, unpacked.
        names: allowed names of arrays. None: all names.
        kinds: allowed kinds of entries, as numpy's `dtype.kind`.

    Raises:
        error: the file is no .npz, has another array, or has more bytes than the limit allows. The
            message names the array.
    """
    result: dict[str, np.ndarray] = {}
    with open_file(path, error, limit) as file:
        archive = _archive(path, file, error)
        left = getattr(limits, limit)
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if names is not None:
                require_name("array", name, names, error, where=path, limit=30)
            if name in result:
                raise error(f"{path}: has two arrays with the name {name!r}")
            try:
                if member.compress_type not in _PACKED:
                    raise ValueError(f"compression method {member.compress_type} is not supported")
                with archive.open(member) as packed:
                    result[name] = _array(packed, left, kinds)  # type: ignore[arg-type]
                    if packed.read(1):  # the end has the checksum
                        raise ValueError("bytes follow its last entry")
            except Exception as cause:
                raise error(f"{path}: array {name!r}: {reason_of(cause)}") from cause
            left -= result[name].nbytes
            if left < 0:
                raise error(f"{path}: unpacks to {limits.excess(limit, 'bytes')}")
    return result


def names_in_npz(path: Path, error: type[HrpsimError], limit: str) -> list[str]:
    """Return the names of the arrays of an .npz file. Raises `error` as `read_npz` does."""
    with open_file(path, error, limit) as file:
        members = _archive(path, file, error).infolist()
    return [member.filename.removesuffix(".npy") for member in members]


def _archive(path: Path, file: BinaryIO, error: type[HrpsimError]) -> zipfile.ZipFile:
    refuse_pointer(path, file.read(100), error)
    try:
        archive = zipfile.ZipFile(file)
    except Exception as cause:
        raise error(f"{path}: not a file of NumPy arrays (.npz): {reason_of(cause)}") from cause
    if len(archive.infolist()) > _MEMBERS:
        raise error(f"{path}: has more than {_MEMBERS} arrays")
    return archive


def reason_of(cause: BaseException) -> str:
    """Return the first line of a decoder's message, or the kind of the error."""
    return str(cause).strip().partition("\n")[0][:300] or type(cause).__name__


def _array(file: BinaryIO, most: int, kinds: str) -> np.ndarray:
    """Return the array in an open file. The data may have at most `most` bytes."""
    shape, is_fortran, kind = _header(file)
    if kind.hasobject or kind.kind not in kinds:
        raise ValueError(f"its entries are {kind}, not numbers{' or texts' * ('U' in kinds)}")
    size = math.prod(shape) * kind.itemsize
    if size > most or min(shape, default=0) < 0:
        raise ValueError(f"the header states the shape {shape}, which needs more than {most} bytes")
    data = file.read(size)
    if len(data) < size:
        raise ValueError(f"the header states the shape {shape}, but only {len(data)} bytes follow")
    flat = np.frombuffer(data, dtype=kind) if size else np.zeros(math.prod(shape), kind)
    if kind.kind == "U" and size:
        flat.tolist()  # ValueError for characters that do not exist
    order: str = "F" if is_fortran else "C"
    return flat.reshape(shape, order=order).copy(order="C")  # type: ignore[call-overload]


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Read the header of an open .npy file.

    Returns:
        (shape, whether the order is Fortran's, dtype).
    """
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version} of the format is not supported")
    width, read = _HEADERS[version[0]]
    head = file.read(width)
    if (length := int.from_bytes(head, "little")) > _HEADER:
        raise ValueError(
            f"the header states a length of {length} bytes. At most {_HEADER} are read"
        )
    return read(io.BytesIO(head + file.read(length)), max_header_size=_HEADER)
