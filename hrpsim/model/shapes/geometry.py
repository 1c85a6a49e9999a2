# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Collision geometry in SI units: triangle meshes, and primitives symmetric about z."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Checked
from hrpsim.common.errors import ModelError, shown_value
from hrpsim.common.values import POSITIVE, as_numbers, is_number
from hrpsim.model.shapes.mesh_integrals import doubled_areas, signed_volumes
from hrpsim.model.shapes.mesh_topology import is_convex, why_open

PLANE, SPHERE, BOX, CAPSULE, CYLINDER, MESH = range(6)


def _positive(owner: str, **values: float) -> None:
    for name, value in values.items():
        if not is_number(value) or not POSITIVE.holds(float(value)):
            raise ModelError(f"{owner}: {name} must be {POSITIVE}, got {shown_value(value)}")


@dataclass(frozen=True)
class Plane(metaclass=Checked):
    """A half-space that fills z <= 0 of the frame. The outward normal is +z."""

    kind = PLANE

    @property
    def size(self) -> tuple[float, float, float]:
        """Size parameters for the kernels. A plane has none."""
        return (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Sphere(metaclass=Checked):
    """A ball about the frame's origin with `radius` [m]."""

    radius: float
    kind = SPHERE

    def __post_init__(self) -> None:
        _positive("Sphere", radius=self.radius)

    @property
    def size(self) -> tuple[float, float, float]:
        """Size parameters for the kernels: (radius, 0, 0) [m]."""
        return (float(self.radius), 0.0, 0.0)


@dataclass(frozen=True, init=False)
class Box(metaclass=Checked):
    """A cuboid about the frame's origin with full edge lengths `lengths` x, y, z [m]."""

    lengths: tuple[float, float, float]
    kind = BOX

    def __init__(self, lengths: tuple[float, float, float], *others: float) -> None:
        edges = [lengths] if others else lengths
        numbers = as_numbers("Box: edge lengths", edges, ModelError).ravel().tolist()
        numbers += as_numbers("Box: edge lengths", others, ModelError).tolist()
        if others or len(numbers) != 3:
            listed = ", ".join(f"{v:g}" for v in numbers)
            example = f"({listed})" if len(numbers) == 3 else "(x, y, z)"
            raise ModelError(
                f"Box: give three edge lengths [m] in one argument, Box({example}), got {listed}"
            )
        x, y, z = numbers
        _positive("Box", x=x, y=y, z=z)
        object.__setattr__(self, "lengths", (x, y, z))

    @property
    def size(self) -> tuple[float, float, float]:
        """Size parameters for the kernels: half edge lengths [m]."""
        x, y, z = self.lengths
        return 0.5 * x, 0.5 * y, 0.5 * z


@dataclass(frozen=True)
class _RoundBar(metaclass=Checked):
    """A solid about the z axis, of a `radius` along a `length` [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _positive(type(self).__name__, radius=self.radius, length=self.length)

    @property
    def size(self) -> tuple[float, float, float]:
        """Kernel size parameters: (radius, half of `length`, 0) [m]."""
        return (float(self.radius), 0.5 * float(self.length), 0.0)


@dataclass(frozen=True)
class Capsule(_RoundBar):
    """A cylinder along z with a hemisphere at each end. `length` [m] excludes the hemispheres."""

    kind = CAPSULE


@dataclass(frozen=True)
class Cylinder(_RoundBar):
    """A cylinder along z about the frame's origin, with `radius` and full `length` [m]."""

    kind = CYLINDER


_BARS: dict[str, type[Cylinder | Capsule]] = {"cylinder": Cylinder, "capsule": Capsule}


def primitive(kind: str, size: Sequence[float]) -> Box | Sphere | Cylinder | Capsule:
    """Make a box, sphere, cylinder or capsule, given the name of the kind.

    Args:
        kind: "box", "sphere", "cylinder" or "capsule".
        size: edge lengths, or radius, or radius and length [m].

    Raises:
        ModelError: a size is not positive.
    """
    if kind == "box":
        x, y, z = size
        return Box((x, y, z))
    return Sphere(*size) if kind == "sphere" else _BARS[kind](*size)


@dataclass(frozen=True, eq=False)
class Mesh(metaclass=Checked):
    """Triangles that bound a solid, convex or concave, or an open surface that is solid beneath.

    vertices is (n, 3) [m]. triangles (m, 3) has indices of vertices, counter-clockwise as seen from
    outside. The arrays are read-only copies. `source` names the file in errors.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    source: str = ""
    kind = MESH

    def __post_init__(self) -> None:
        for name, kind in {"vertices": np.float64, "triangles": np.int64}.items():
            values = getattr(self, name)
            if not isinstance(values, np.ndarray) or values.dtype != kind:
                values = as_numbers(f"{self.label}: {name}", values, ModelError)
            array = np.array(values, dtype=kind, order="C")
            if kind is np.int64 and (array != values).any():
                raise ModelError(
                    f"{self.label}: triangles must be whole numbers, the indices of vertices"
                )
            if array.ndim != 2 or array.shape[1] != 3:
                raise ModelError(f"{self.label}: {name} must have shape (n, 3), got {array.shape}")
            if len(array) == 0:
                raise ModelError(f"{self.label}: is empty. It has no {name}")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        bad = np.flatnonzero(~np.isfinite(self.vertices).all(axis=1))
        if bad.size:
            x, y, z = self.vertices[bad[0]]
            raise ModelError(
                f"{self.label}: vertex {bad[0]} is ({x}, {y}, {z}): every number must be finite"
            )
        low, high = self.triangles.min(), self.triangles.max()
        if low < 0 or high >= len(self.vertices):
            raise ModelError(
                f"{self.label}: triangles name vertices {low} to {high}, but there are"
                f" {len(self.vertices)} vertices, counted from 0"
            )

    def __deepcopy__(self, memo) -> Mesh:
        return self  # nothing in it can change

    def __setstate__(self, state: dict) -> None:
        """Restore a mesh of another process. The restored arrays are read-only too."""
        self.__dict__.update(state)
        for name in ("vertices", "triangles"):
            self.__dict__[name].flags.writeable = False

    @cached_property
    def digest(self) -> str:
        """A hash of vertices and triangles."""
        hasher = hashlib.sha256(np.int64(len(self.vertices)).tobytes())
        hasher.update(self.vertices.tobytes())
        hasher.update(self.triangles.tobytes())
        return hasher.hexdigest()[:40]

    @property
    def label(self) -> str:
        """Name of the mesh in errors: "mesh FILE", or the class."""
        return f"mesh {self.source}" if self.source else type(self).__name__

    @property
    def size(self) -> tuple[float, float, float]:
        """Size parameters for the kernels. A mesh has none, because triangles define the size."""
        return (0.0, 0.0, 0.0)

    @cached_property
    def why_open(self) -> str | None:
        """Reason why the triangles bound no solid, or None if the triangles bound a solid."""
        return why_open(self.triangles)

    @property
    def is_closed(self) -> bool:
        """Whether each edge belongs to two triangles with the same orientation."""
        return self.why_open is None

    @cached_property
    def is_convex(self) -> bool:
        """Whether the mesh is closed and bounds one convex solid."""
        return self.is_closed and is_convex(self.vertices, self.triangles)

    @cached_property
    def volume(self) -> float:
        """Volume of the solid [m^3] (closed meshes only), negative if triangles face inwards."""
        return float(signed_volumes(self.vertices, self.triangles).sum())

    @cached_property
    def radius(self) -> float:
        """Radius of the ball about the frame's origin that encloses the mesh [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max())

    @cached_property
    def centered(self) -> tuple[Mesh, np.ndarray]:
        """The same mesh with the middle of its bounding box as origin, and this middle (3,) [m]."""
        middle = 0.5 * (self.vertices.min(axis=0) + self.vertices.max(axis=0))
        return self.moved(-middle), middle

    def require_areas(self) -> None:
        """Raise ModelError for a triangle without area, which has no defined plane."""
        area = np.linalg.norm(doubled_areas(self.vertices[self.triangles]), axis=1)
        flat = np.flatnonzero(~((area > 0.0) & np.isfinite(area)))
        if flat.size:
            raise ModelError(
                f"{self.label}: triangle {flat[0]} has no area. Its corners are"
                f" {self.vertices[self.triangles[flat[0]]].tolist()}. Remove the triangle, or use"
                " load_mesh, which removes such triangles"
            )

    def moved(self, by: ArrayLike) -> Mesh:
        """Return the same mesh with every vertex moved by (3,) [m]."""
        return Mesh(self.vertices + np.asarray(by, dtype=np.float64), self.triangles, self.source)


Geometry = Plane | Sphere | Box | Capsule | Cylinder | Mesh
