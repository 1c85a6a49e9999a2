# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which format a description is in, and robots of formats other than URDF as `RobotData`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hrpsim.errors import ModelError
from hrpsim.model.urdf.resources import Resources

if TYPE_CHECKING:
    from hrpsim.model.formats.robot_data import RobotData

READ_FORMATS = "URDF, xacro, MJCF (.xml), Choreonoid .body and OpenHRP .wrl"

_SKIPPED = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*>", re.DOTALL)
_ROOT = re.compile(r"<([A-Za-z_][\w.-]*)")
_NOT_READ = {
    ".mjb": "a compiled MuJoCo model holds no names of files and fits one version: give the .xml",
    ".sdf": "SDF is not read: convert it to URDF or MJCF first",
    ".usd": "USD is not read: export it as URDF or MJCF first",
}
_NOT_READ.update({suffix: _NOT_READ[".usd"] for suffix in (".usda", ".usdc", ".usdz")})


def refuse_unread(path: Path | None) -> None:
    """Raise the ModelError of a file whose name says that it is in a format that is not read."""
    why = _NOT_READ.get("" if path is None else path.suffix.lower())
    if why:
        raise ModelError(f"{path}: {why}; what is read: {READ_FORMATS}")


def format_of(text: str, path: Path | None) -> str:
    """Return "mjcf", "sdf", "body", "vrml" or "urdf"; what is unknown counts as URDF."""
    suffix = "" if path is None else path.suffix.lower()
    if suffix == ".body":
        return "body"
    if suffix == ".wrl" or text.startswith("#VRML"):
        return "vrml"
    at = 0
    while (skipped := _SKIPPED.match(text, at)) is not None:
        at = skipped.end()
    root = _ROOT.match(text, at)
    return {"mujoco": "mjcf", "sdf": "sdf"}.get(root[1] if root else "", "urdf")


def read_foreign(text: str, path: Path | None, resources: Resources) -> RobotData | None:
    """Return the robot of a description that is no URDF, None for one that is."""
    kind = format_of(text, path)
    if kind == "sdf":
        raise ModelError(f"{path or '<text>'}: {_NOT_READ['.sdf']}; what is read: {READ_FORMATS}")
    if kind == "mjcf":
        from hrpsim.model.mjcf.read import read_mjcf
        from hrpsim.model.mjcf.robot import whole_robot

        return whole_robot(read_mjcf(text, path))
    if kind == "vrml":
        from hrpsim.model.openhrp.wrl import read_wrl

        return read_wrl(text, _named(path))
    if kind == "body":
        from hrpsim.model.openhrp.body import read_body

        return read_body(text, _named(path), resources)
    return None


def _named(path: Path | None) -> Path:
    return Path("<text>") if path is None else path
