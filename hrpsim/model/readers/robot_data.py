# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot independent of the file format, with meshes as files and notes on unsupported parts."""

from __future__ import annotations

import atexit
import hashlib
import math
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.common.stored_files import cache_home, write_at_once
from hrpsim.model.shapes.mesh_integrals import doubled_areas
from hrpsim.model.shapes.placement import IDENTITY, Placement

WORLD_LINK = "world"  # the root link of a robot that does not float


LONGEST_DELAY = 1.0  # of commands and of sensors [s]
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEAD = b"hrpsim, metres".ljust(80, b" ")
_SHOWN = 4  # names listed at most


@dataclass(frozen=True, eq=False)
class MeshData:
    """Triangles of a mesh: vertices (n, 3) [m], triangles (m, 3). `name` is for file names."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray


@dataclass(frozen=True)
class MeshFile:
    """A mesh file that hrpsim reads itself, scaled along its axes."""

    path: Path
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class ShapeData:
    """One shape of a link. The kind determines `size`.

    box: edge lengths; sphere: radius; cylinder, capsule: radius, length of the straight part (all
    [m]). A mesh has no size, and its data are in `mesh`.
    """

    kind: str
    size: tuple[float, ...] = ()
    placement: Placement = IDENTITY
    mesh: MeshData | MeshFile | None = None
    color: tuple[float, float, float, float] | None = None


@dataclass
class LinkData:
    """A link with its inertia in the link's frame.

    The inertia is mass [kg], centre (3,) [m], and inertia about the centre (3, 3).
    """

    name: str
    inertial: tuple[float, np.ndarray, np.ndarray] | None = None
    collisions: list[ShapeData] = field(default_factory=list)
    visuals: list[ShapeData] = field(default_factory=list)
    material: str | None = None
    gravity_compensation: float = 0.0  # the part of its weight that is borne


@dataclass
class JointData:
    """A joint above the link `child`. `type` is one of URDF's. SI units, with inf for no limit."""

    name: str
    type: str
    parent: str
    child: str
    origin: Placement = IDENTITY
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0  # reflected
    stiffness: float = 0.0
    rest: float = 0.0
    gains: tuple[float, float] | None = None
    actuator: dict[str, float] = field(default_factory=dict)  # properties of hrpsim.Actuator
    mimic: tuple[str, float, float] | None = None  # leader, ratio, offset


@dataclass
class TendonData:
    """A fixed tendon of two joints and its actuator, with fields as in `JointData`."""

    name: str
    joints: tuple[str, str]
    coefficients: tuple[float, float]
    effort: float = math.inf
    gains: tuple[float, float] | None = None
    damping: float = 0.0
    rotor_inertia: float = 0.0
    actuator: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SensorData:
    """A sensor of kind "force_torque" (of the joint above the link) or "imu" in a link."""

    name: str
    kind: str
    link: str
    placement: Placement = IDENTITY
    latency: float = 0.0  # [s]


@dataclass(frozen=True)
class LoopData:
    """A connection that closes a loop: two links, a frame in each, and the held axes."""

    name: str
    kind: str
    links: tuple[str, str]
    frames: tuple[Placement, Placement]


@dataclass(frozen=True)
class KeyframeData:
    """A named posture: the base's placement (None: as described) and the joints' positions."""

    name: str
    base: Placement | None
    joints: dict[str, tuple[float, ...]]  # one number, of a floating joint x y z qx qy qz qw


@dataclass
class RobotData:
    """A robot with `joints` in any order.

    commanded: (joint, interfaces) in the actuators' order.
    notes: elements that hrpsim does not simulate, one line for each kind.
    """

    name: str
    root: str
    links: dict[str, LinkData] = field(default_factory=dict)
    joints: dict[str, JointData] = field(default_factory=dict)
    sensors: list[SensorData] = field(default_factory=list)
    loops: list[LoopData] = field(default_factory=list)
    tendons: list[TendonData] = field(default_factory=list)
    apart: list[tuple[str, str]] = field(default_factory=list)  # links that never collide
    keyframes: list[KeyframeData] = field(default_factory=list)
    commanded: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add_link(self, name: str) -> LinkData:
        """Add a link and return the link. Its name must be new."""
        self.links[name] = LinkData(name)
        return self.links[name]

    def add_joint(self, joint: JointData) -> JointData:
        """Add a joint and return the joint. Its name must be new."""
        self.joints[joint.name] = joint
        return joint

    def free_joint_name(self, wanted: str) -> str:
        """Return `wanted`, or a similar name that no joint has."""
        return free_name(wanted, self.joints)


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, with a number if the name is taken."""
    taken = taken if isinstance(taken, Mapping) else set(taken)
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


class Notes:
    """Notes by element, in order of appearance."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], list[str]] = {}

    def add(self, element: str, why: str, name: str = "") -> None:
        """Note that an element is not simulated as described.

        `name` is the name of the element, or "" for one more element without a name.
        """
        self._names.setdefault((element, why), []).append(name)

    def lines(self) -> list[str]:
        """Return "element (count: names): why" for each."""
        found = []
        for (element, why), names in self._names.items():
            named = [name for name in dict.fromkeys(names) if name]
            shown = ", ".join(named[:_SHOWN]) + (", ..." if len(named) > _SHOWN else "")
            count = str(len(names)) + (f": {shown}" if shown else "")
            found.append(f"{element} ({count}): {why}")
        return found


def cached_mesh(mesh: MeshData) -> Path:
    """Return a file with this mesh, below the cache folder and named by its content.

    If the cache folder cannot be written, the file is in a folder that is deleted with this
    process. ModelError if neither folder can be written.
    """
    data = stl_of(mesh)
    name = f"{_safe(mesh.name)}-{hashlib.sha256(data).hexdigest()[:20]}.stl"
    failure: OSError | None = None
    for folder in (_kept, _temporary):
        try:
            path = folder() / name
            if not path.is_file() or path.stat().st_size != len(data):
                write_at_once(path, data)
            return path
        except OSError as cause:
            failure = cause
    raise ModelError(f"mesh {mesh.name!r}: cannot be written: {failure}")


def stl_of(mesh: MeshData) -> bytes:
    """Return the mesh as a binary STL, single precision."""
    corners = np.asarray(mesh.vertices, dtype=np.float64)[np.asarray(mesh.triangles)]
    normals = doubled_areas(corners)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    table = np.zeros(len(corners), dtype=_TRIANGLE)
    table["normal"] = normals / np.where(lengths > 0.0, lengths, 1.0)
    table["corners"] = corners
    return _HEAD + np.uint32(len(table)).tobytes() + table.tobytes()


def file_names(meshes: list[MeshData]) -> list[str]:
    """Return a different file name for each mesh."""
    names: list[str] = []
    taken: set[str] = set()
    for mesh in meshes:
        stem, name, number = _safe(mesh.name), "", 1
        while not name or name.lower() in taken:
            name = f"{stem}.stl" if number == 1 else f"{stem}_{number}.stl"
            number += 1
        taken.add(name.lower())
        names.append(name)
    return names


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", Path(name).name, flags=re.ASCII)[:60].strip(".") or "mesh"


def _kept() -> Path:
    """Return the folder of meshes that outlive the process."""
    return cache_home() / "meshes"


@lru_cache(maxsize=1)
def _temporary() -> Path:
    """Return a new folder that is deleted with the process."""
    folder = tempfile.mkdtemp(prefix="hrpsim-meshes-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
