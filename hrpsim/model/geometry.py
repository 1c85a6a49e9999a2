"""Collision geometry: primitives, symmetric about their z axis, and triangle meshes; SI units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hrpsim.errors import ModelError

PLANE, SPHERE, BOX, CAPSULE, CYLINDER, MESH = range(6)


def _positive(owner: str, **values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise ModelError(f"{owner}: {name} must be positive and finite, got {value!r}")


@dataclass(frozen=True)
class Plane:
    """A half-space that fills z <= 0 of its frame; its outward normal is +z."""

    kind = PLANE

    @property
    def size(self) -> tuple[float, float, float]:
        """Kernel size parameters: none."""
        return (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Sphere:
    """A ball about the frame's origin; `radius` [m]."""

    radius: float
    kind = SPHERE

    def __post_init__(self):
        _positive("Sphere", radius=self.radius)

    @property
    def size(self) -> tuple[float, float, float]:
        """Kernel size parameters: (radius, 0, 0) [m]."""
        return (float(self.radius), 0.0, 0.0)


@dataclass(frozen=True)
class Box:
    """A cuboid about the frame's origin; `lengths` are its full edge lengths x, y, z [m]."""

    lengths: tuple[float, float, float]
    kind = BOX

    def __post_init__(self):
        lengths = tuple(float(v) for v in np.atleast_1d(self.lengths))
        if len(lengths) != 3:
            raise ModelError(f"Box: three edge lengths are needed, got {len(lengths)}")
        _positive("Box", x=lengths[0], y=lengths[1], z=lengths[2])
        object.__setattr__(self, "lengths", lengths)

    @property
    def size(self) -> tuple[float, float, float]:
        """Kernel size parameters: half edge lengths [m]."""
        return tuple(0.5 * v for v in self.lengths)


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with a hemisphere at each end; `length` is the cylinder part's [m]."""

    radius: float
    length: float
    kind = CAPSULE

    def __post_init__(self):
        _positive("Capsule", radius=self.radius, length=self.length)

    @property
    def size(self) -> tuple[float, float, float]:
        """Kernel size parameters: (radius, half length of the cylinder part, 0) [m]."""
        return (float(self.radius), 0.5 * float(self.length), 0.0)


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z about the frame's origin; `radius` and full `length` [m]."""

    radius: float
    length: float
    kind = CYLINDER

    def __post_init__(self):
        _positive("Cylinder", radius=self.radius, length=self.length)

    @property
    def size(self) -> tuple[float, float, float]:
        """Kernel size parameters: (radius, half length, 0) [m]."""
        return (float(self.radius), 0.5 * float(self.length), 0.0)


@dataclass(frozen=True, eq=False)
class Mesh:
    """A solid bounded by triangles, or a surface that is solid beneath; concave or not.

    vertices (n, 3) [m] and triangles (m, 3), indices of vertices counter-clockwise as seen from
    outside. The arrays are copied and cannot be written to.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    kind = MESH

    def __post_init__(self):
        for name, kind in {"vertices": np.float64, "triangles": np.int64}.items():
            array = np.array(getattr(self, name), dtype=kind, order="C")
            if array.ndim != 2 or array.shape[1] != 3:
                raise ModelError(f"Mesh: {name} must have shape (n, 3), got {array.shape}")
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def size(self) -> tuple[float, float, float]:
        """Kernel size parameters: none, the triangles say it all."""
        return (0.0, 0.0, 0.0)


Geometry = Plane | Sphere | Box | Capsule | Cylinder | Mesh
