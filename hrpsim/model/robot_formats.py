# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Formats of robot descriptions: how each is recognised and read.

A reader returns a `RobotData`. URDF and xacro have no reader here, because `load_model` reads URDF
itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hrpsim.common.errors import ModelError
from hrpsim.model.readers.urdf.resolve_uris import Resources

if TYPE_CHECKING:
    from hrpsim.model.readers.robot_data import RobotData

Reader = Callable[[str, Path | None, Resources], "RobotData"]
_SKIPPED = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*>", re.DOTALL)
_ROOT = re.compile(r"<([A-Za-z_][\w.-]*)")


@dataclass(frozen=True)
class RobotFormat:
    """A file format of robot descriptions, with a reader or the reason why there is none."""

    name: str
    title: str = ""  # name in the list of formats that can be read
    suffixes: tuple[str, ...] = ()  # suffixes of files
    root: str = ""  # root element of the XML
    head: str = ""  # first letters of a text
    read: Reader | None = None
    refusal: str = ""


def _read_mjcf(text: str, path: Path | None, resources: Resources) -> RobotData:
    from hrpsim.model.readers.mjcf.read import read_mjcf
    from hrpsim.model.readers.mjcf.robot import whole_robot

    return whole_robot(read_mjcf(text, path))


def _read_body(text: str, path: Path | None, resources: Resources) -> RobotData:
    from hrpsim.model.readers.openhrp.body_file import read_body

    return read_body(text, _named(path), resources)


def _read_vrml(text: str, path: Path | None, resources: Resources) -> RobotData:
    from hrpsim.model.readers.openhrp.wrl import read_wrl

    return read_wrl(text, _named(path))


def _read_sdf(text: str, path: Path | None, resources: Resources) -> RobotData:
    from hrpsim.model.readers.sdf.robot import only_robot
    from hrpsim.model.readers.sdf.scopes import read_sdf

    return only_robot(read_sdf(text, path, resources))


def _read_usd(text: str, path: Path | None, resources: Resources) -> RobotData:
    from hrpsim.model.readers.usd.robot import read_usd

    assert path is not None  # USD is told by its suffix
    return read_usd(path)


def _named(path: Path | None) -> Path:
    return Path("<text>") if path is None else path


URDF = RobotFormat("urdf", "URDF, xacro")  # and all that is not recognised
FORMATS = (
    URDF,
    RobotFormat("mjcf", "MJCF (.xml)", root="mujoco", read=_read_mjcf),
    RobotFormat("sdf", "SDF (.sdf)", suffixes=(".sdf",), root="sdf", read=_read_sdf),
    RobotFormat("usd", "USD", suffixes=(".usd", ".usda", ".usdc", ".usdz"), read=_read_usd),
    RobotFormat("body", "Choreonoid .body", suffixes=(".body",), read=_read_body),
    RobotFormat("vrml", "OpenHRP .wrl", suffixes=(".wrl",), head="#VRML", read=_read_vrml),
    RobotFormat(
        "mjb",
        suffixes=(".mjb",),
        refusal="a compiled MuJoCo model fits one version only, and names no files. Give the .xml",
    ),
    RobotFormat(
        "mesh",
        suffixes=(".stl", ".obj", ".dae", ".ply", ".glb", ".gltf"),
        refusal="is a mesh, not a robot. Name the mesh in a <collision>, or load it by `load_mesh`",
    ),
)
_TITLES = [form.title for form in FORMATS if form.title]
READ_FORMATS = f"{', '.join(_TITLES[:-1])} and {_TITLES[-1]}"


def format_of(text: str, path: Path | None) -> RobotFormat:
    """Return the format of a description: by suffix, else by beginning or root element."""
    suffix = "" if path is None else path.suffix.lower()
    at = 0
    while (skipped := _SKIPPED.match(text, at)) is not None:
        at = skipped.end()
    match = _ROOT.match(text, at)
    root = match[1] if match else None
    by_suffix = [form for form in FORMATS if suffix in form.suffixes]
    by_text = [
        form for form in FORMATS if form.root == root or (form.head and text.startswith(form.head))
    ]
    return next(iter(by_suffix + by_text), URDF)


def refuse_unread(path: Path | None, form: RobotFormat | None = None) -> None:
    """Raise ModelError if a format, or the format of a path's suffix, is not supported."""
    suffix = "" if path is None else path.suffix.lower()
    for known in FORMATS:
        if known.refusal and (known is form or suffix in known.suffixes):
            raise ModelError(
                f"{path or '<text>'}: {known.refusal}. Formats that can be read: {READ_FORMATS}"
            )


def read_foreign(text: str, path: Path | None, resources: Resources) -> RobotData | None:
    """Return the robot of a description in another format than URDF, or None for a URDF."""
    form = format_of(text, path)
    refuse_unread(path, form)
    return None if form.read is None else form.read(text, path, resources)
