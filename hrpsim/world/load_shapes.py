"""What a file says about shapes: {kind: size}."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.errors import WorldError, unknown_name
from hrpsim.model.compound import Compound
from hrpsim.model.geometry import Box, Capsule, Cylinder, Geometry, Sphere
from hrpsim.model.resources import Resources
from hrpsim.resources import share_path
from hrpsim.world.file_reader import FileReader

SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh", "height_field", "compound")
_OWN_PACKAGE = "package://hrpsim/"


def read_shape(reader: FileReader, value: Any, where: str) -> Geometry | Compound:
    """Return the geometry of {kind: size}; WorldError names the file and the place."""
    if not isinstance(value, Mapping) or len(value) != 1:
        raise reader.fail(where, f"shape must be one of {', '.join(SHAPES)}: {value!r}")
    kind, size = next(iter(value.items()))
    where = f"{where}.shape"
    with reader.at(where):
        if kind == "box":
            return Box(size)
        if kind == "sphere":
            return Sphere(float(size))
        if kind in ("cylinder", "capsule"):
            size = reader.mapping(size, where, ("radius", "length"))
            return (Cylinder if kind == "cylinder" else Capsule)(**size)
        if kind == "mesh":
            return _mesh(reader, size, f"{where}.mesh")
        if kind == "height_field":
            return _height_field(reader, size, f"{where}.height_field")
        if kind == "compound":
            return _compound(reader, size, where)
        raise WorldError(unknown_name("shape", str(kind), SHAPES))


def locate(reader: FileReader, uri: str) -> Path:
    """Return the file that a path relative to the read file, or a package:// URI, names."""
    if uri.startswith(_OWN_PACKAGE):
        return share_path(uri.removeprefix(_OWN_PACKAGE))
    if "://" not in uri:
        uri = str(Path(uri).expanduser())
    return Resources(reader.path.parent).locate(uri)


def _mesh(reader: FileReader, value: Any, where: str) -> Geometry:
    from hrpsim.model.mesh_files import load_mesh

    given = reader.mapping(value, where, ("file", "scale", "hull"))
    with reader.at(where):
        if "file" not in given:
            raise WorldError("a mesh needs a file")
        hull = given.get("hull", False)
        if not isinstance(hull, bool):
            raise WorldError(f"hull must be true or false, got {hull!r}")
        return load_mesh(locate(reader, str(given["file"])), given.get("scale", 1.0), hull)


def _height_field(reader: FileReader, value: Any, where: str) -> Geometry:
    from hrpsim.model.height_field import HeightField

    given = reader.mapping(value, where, ("heights", "file", "spacing", "size", "origin"))
    with reader.at(where):
        if ("heights" in given) == ("file" in given):
            raise WorldError("a height field needs either heights or a file (.npy, .csv)")
        if "file" in given:
            given["heights"] = _numbers(locate(reader, str(given.pop("file"))))
        return HeightField(**given)


def _numbers(path: Path) -> np.ndarray:
    """Return the table of numbers in a .npy file, or in a text file with commas."""
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        return np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError) as cause:
        raise WorldError(f"{path}: cannot be read as a table of numbers: {cause}") from cause


def _compound(reader: FileReader, value: Any, where: str) -> Compound:
    parts = []
    for place, part in reader.entries({"compound": value}, "compound", where):
        part = reader.mapping(part, place, ("shape", "position", "orientation"))
        shape = read_shape(reader, part.get("shape"), place)
        position = part.get("position", (0.0, 0.0, 0.0))
        parts.append((shape, position, part.get("orientation", (0.0, 0.0, 0.0, 1.0))))
    return Compound(parts)
