# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load the shapes of a file, which are written as {kind: size}."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.common.errors import ModelError, WorldError
from hrpsim.common.extras import missing_package
from hrpsim.common.foreign.arrays import read_npy
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.common.foreign.number_table import number_table
from hrpsim.common.foreign.text import read_text
from hrpsim.common.resources import user_path
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.shapes.compound import Compound
from hrpsim.model.shapes.geometry import Box, Geometry, Sphere, primitive
from hrpsim.model.shapes.terrain import TERRAINS, check_size
from hrpsim.world.file.file_reader import FileReader

_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".pgm")
_WHITE, _DEEP_WHITE = 255.0, 65535.0  # largest values of 8-bit and 16-bit images


def read_shape(reader: FileReader, value: dict[str, Any], where: str) -> Geometry | Compound:
    """Return the geometry of a shape, which is written as {kind: size} (see the schema).

    Files named in the shape are read. WorldError names file and entry.
    """
    kind, size = next(iter(value.items()))
    where = f"{where}.shape.{kind}"
    with reader.at(where):
        if kind in ("box", "sphere"):
            return Box(size) if kind == "box" else Sphere(size)
        if kind in ("cylinder", "capsule"):
            return primitive(kind, (size["radius"], size["length"]))
        if kind == "mesh":
            from hrpsim.model.shapes.mesh_files import load_mesh

            file = locate(reader, size["file"])
            return load_mesh(file, size.get("scale", 1.0), size.get("hull", False))
        if kind == "height_field":
            return _height_field(reader, size)
        if kind in TERRAINS:
            return TERRAINS[kind](**size)
        parts = []
        for k, part in enumerate(size):
            inner = read_shape(reader, part["shape"], f"{where}[{k}]")
            position = part.get("position", (0.0, 0.0, 0.0))
            parts.append((inner, position, part.get("orientation", (0.0, 0.0, 0.0, 1.0))))
        return Compound(parts)


def locate(reader: FileReader, uri: str) -> Path:
    """Return the file named by a package:// URI, or by a path relative to the read file."""
    if "://" not in uri:
        uri = str(user_path(uri))
    return Resources(reader.path.parent).locate(uri)


def _height_field(reader: FileReader, given: dict[str, Any]) -> Geometry:
    from hrpsim.model.shapes.terrain import HeightField

    given = dict(given)
    if ("heights" in given) == ("file" in given):
        raise WorldError("a height field needs either heights, or a file (.npy, .csv or an image)")
    span = given.pop("range", None)
    if "file" in given:
        path = locate(reader, given.pop("file"))
        is_image = path.suffix.lower() in _IMAGES
        given["heights"] = read_image(path, span) if is_image else read_table(path)
    else:
        is_image = False
    if span is not None and not is_image:
        raise WorldError(f"range is for images only ({', '.join(_IMAGES)}). Leave it out")
    lengths = {len(row) for row in given["heights"]}
    if len(lengths) != 1:
        raise WorldError(f"rows of heights must have equal lengths, got {sorted(lengths)[:6]}")
    return HeightField(**given)


def read_image(path: Path, span: Sequence[float] | None) -> np.ndarray:
    """Return heights from the brightness of a picture seen from above: x to the right, y up.

    Colours are converted to brightness. span: heights of black and of white [m].

    Raises WorldError if `span` is missing, or if the file cannot be read.
    """
    if span is None:
        raise WorldError(f"{path}: an image needs range: [height of black, height of white]")
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        raise missing_package("a height field from an image", error) from error
    try:
        with Image.open(BytesIO(read_bytes(path, ModelError, "TABLE_SIZE"))) as image:
            check_size(str(path), image.width, image.height)
            if image.mode == "F":
                raise ModelError(f"{path}: has numbers, not grey values. Store them as .npy")
            deep = image.mode.startswith("I")
            pixels = np.asarray(image if deep else image.convert("L"), dtype=np.float64)
    except ModelError:
        raise
    except Exception as cause:  # each format has its own errors
        reason = str(cause).strip().partition("\n")[0] or type(cause).__name__
        raise ModelError(f"{path}: cannot be read as an image: {reason}") from cause
    white = _DEEP_WHITE if deep else _WHITE
    low, high = span
    return np.ascontiguousarray((low + (high - low) / white * pixels)[::-1].T)


def read_table(path: Path) -> np.ndarray:
    """Return the numbers (n, m) in a .npy file, or in a text file with commas.

    Raises ModelError if the file cannot be read, is not a table of finite numbers, or is larger
    than declared.
    """
    if path.suffix == ".npy":
        table = read_npy(path, ModelError, "TABLE_SIZE").astype(np.float64)
    else:
        lines = read_text(path, ModelError, "TABLE_SIZE").splitlines()
        table = number_table(lines, path, ModelError)
    if table.ndim != 2 or not table.size:
        raise ModelError(f"{path}: must be a table of rows and columns, got shape {table.shape}")
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        i, j = bad[0]
        raise ModelError(f"{path}: row {i}, column {j} must be finite, got {table[i, j]}")
    return table
