# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Ray casting in a world: distance, normal and link of the first surface that a ray meets."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import HrpsimError, WorldError, require_name, shown_value, unknown_name
from hrpsim.common.values import LARGEST, as_numbers, is_number, several
from hrpsim.engine.compile.compiled import entry_point
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.rays.casting import cast
from hrpsim.engine.rays.records import Target, new_ray_scene
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.model import CollisionShape
from hrpsim.model.sensors.ray_pattern import GEOMETRIES
from hrpsim.model.shapes.placement import Placement
from hrpsim.model.visuals import visual_geometry, visuals_of_model
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import is_named
from hrpsim.world.parts.part import Core
from hrpsim.world.parts.readings import LinkTable, Readings


class RayHits(NamedTuple):
    """The first surfaces that n rays hit.

    A ray without a hit has the distance inf, a normal of zeros, and the indices -1.
    """

    distances: np.ndarray  # (n,) [m]
    normals: np.ndarray  # (n, 3) outward, or along the ray if it starts inside a shape
    links: np.ndarray  # (n,) indices in World.link_names
    entities: np.ndarray  # (n,) indices in tuple(World.entities), -1 for none and for fixed shapes


class RayCaster:
    """The ray-casting scene of one world, and the kernels that cast rays."""

    def __init__(self, scene: Scene, names: tuple[tuple[str, str], ...], entities, targets) -> None:
        self.scene = scene
        self._names, self._targets = names, targets
        numbers = {entity.name: k for k, entity in enumerate(entities)}
        of_link = [numbers.get(owner, -1) for owner, _ in names]
        self.entity_of_link = np.array([*of_link, -1], dtype=np.int64)
        flat = [target for _, target in targets]
        self._rays = new_ray_scene(scene.forest, scene.q, flat)
        self._local = self._rays.targets["body"].copy()
        self._skips: dict = {}
        self.renumber()

    def fits(self, scene: Scene) -> bool:
        """Return whether this caster was made from the arrays of `scene`."""
        mine = self.scene
        return (
            mine.q is scene.q
            and mine.forest is scene.forest
            and mine.collision.shapes is scene.collision.shapes
        )

    def renumber(self) -> None:
        """Update the indices of bodies in the scene, for example after some bodies fell asleep."""
        first = np.array([0 if e is None else e.first_body for e, _ in self._targets], dtype=int)
        self._rays.targets["body"] = np.where(self._local >= 0, self._local + first, -1)
        self._rays.placed_q[:] = np.nan

    @cached_property
    def arrays(self) -> TupleReference:
        """The arrays of the shapes, for `cast`."""
        return TupleReference(self._rays)

    @cached_property
    def cast(self):
        """The compiled `cast`. Its first argument is `arrays`."""
        vectors, numbers = np.empty((0, 3)), np.empty(0)
        skipped, links = np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64)
        out = numbers, vectors, links
        return entry_point(cast, self.arrays, skipped, vectors, vectors, 1.0, *out)

    def skipped_of(self, owners: tuple) -> np.ndarray:
        """Return whether each target (n,) belongs to one of some entities."""
        if owners not in self._skips:
            chosen = [owner is not None and owner in owners for owner, _ in self._targets]
            self._skips[owners] = np.array(chosen, dtype=np.uint8)
        return self._skips[owners]

    def skipped(self, patterns: tuple[str, ...]) -> np.ndarray:
        """Return whether each target (n,) matches a pattern.

        A pattern that matches nothing raises WorldError.
        """
        for pattern in patterns:
            if not isinstance(pattern, str):
                raise WorldError(f'exclude: must be "entity" or "entity/link", got {pattern!r}')
        if patterns not in self._skips:
            chosen = np.zeros(len(self._targets), dtype=np.uint8)
            for pattern in patterns:
                fits = np.array([is_named(name, pattern) for name in self._names], dtype=bool)
                if not fits.any():
                    names = [n if "/" not in pattern else "/".join((n, k)) for n, k in self._names]
                    known = dict.fromkeys(names)
                    raise WorldError(f"exclude: {unknown_name('entity or link', pattern, known)}")
                chosen |= fits[[target.link for _, target in self._targets]]
            self._skips[patterns] = chosen
        return self._skips[patterns]


class Rays(Readings):
    """Ray casting against the shapes of a world."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._casters: dict[str, RayCaster] = {}  # by geometry

    def cast_rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_range: float = np.inf,
        exclude: str | Iterable[str] = (),
        geometry: str = "collision",
    ) -> RayHits:
        """Return the first surface that each of n rays meets in the present state.

        The result is exact for planes, spheres, boxes, capsules, cylinders, height fields and
        triangles. A ray that starts inside a solid hits the surface from within. A ray that starts
        on a surface hits it at distance 0. The first cast compiles the kernel.

        Args:
            origins: starts in the world (n, 3) [m], or one start for all rays (3,).
            directions: (n, 3) or (3,), of any length but 0. Distances are in metres regardless of
                the length.
            max_range: largest distance [m].
            exclude: patterns of entities, links and fixed shapes that rays pass through, "entity"
                or "entity/link" with * and ?. Fixed shapes and the ground are "world/name".
            geometry: "collision" uses the collision shapes. "visual" uses the drawn shapes of
                robots, if <visual> elements exist.

        Returns:
            RayHits: distances, normals, links and entities.

        Raises:
            WorldError: a direction has no length, values are not finite, arrays have another shape,
                nothing in the world fits a pattern, or a visual mesh cannot be read.
        """
        rays = []
        for name, vectors in (("origins", origins), ("directions", directions)):
            array = as_numbers(f"{name} of rays", vectors)
            if array.ndim not in (1, 2) or array.shape[-1] != 3:
                raise WorldError(f"{name} of rays must have shape (n, 3), got {array.shape}")
            rays.append(np.atleast_2d(array))
            for k in np.flatnonzero(~(np.abs(rays[-1]) <= LARGEST).all(axis=1))[:1]:
                raise WorldError(
                    f"{name}[{k}] of rays must be finite and at most {LARGEST:g}, got {rays[-1][k]}"
                )
        try:
            starts, ways = (np.ascontiguousarray(a) for a in np.broadcast_arrays(*rays))
        except ValueError:
            shapes = " and ".join(str(a.shape) for a in rays)
            raise WorldError(
                f"origins and directions of rays must have equal numbers, got {shapes}"
            ) from None
        still = np.flatnonzero(~ways.any(axis=1))
        if still.size:
            raise WorldError(f"directions[{still[0]}] of rays must not be zero")
        if not (is_number(max_range) and max_range > 0.0):
            raise WorldError(f"max_range of rays must be positive, got {shown_value(max_range)}")
        caster, n = self.ray_caster(geometry), len(starts)
        out = np.empty(n), np.empty((n, 3)), np.empty(n, dtype=np.int64)
        skipped = caster.skipped(several(exclude, "exclude"))
        caster.cast(caster.arrays, skipped, starts, ways, float(max_range), *out)
        return RayHits(*out, caster.entity_of_link[out[2]])

    def ray_caster(self, geometry: str = "collision") -> RayCaster:
        """Return the RayCaster for the present arrays (`cast_rays` explains `geometry`)."""
        require_name("geometry", geometry, GEOMETRIES)
        caster, scene = self._casters.get(geometry), self._scenes.scene
        if caster is None or not caster.fits(scene):
            entities, table = self._contents.entities, self.reader.table
            of_shape = iter(table.of_shape.tolist())
            targets = [(None, _as_it_collides(s, next(of_shape))) for s in self._contents.fixed]
            for entity in entities:
                shapes = [_as_it_collides(shape, next(of_shape)) for shape in entity.shapes]
                if geometry == "visual" and isinstance(entity, Robot):
                    shapes = _as_it_is_drawn(entity, table)
                targets += [(entity, shape) for shape in shapes]
            caster = RayCaster(scene, table.names, entities, targets)
            self._casters[geometry] = caster
        elif caster.scene is not scene:
            caster.scene = scene
            caster.renumber()
        return caster


def _as_it_collides(shape: CollisionShape, link: int) -> Target:
    return Target(shape.geometry, shape.body, shape.R, shape.p, link)


def _as_it_is_drawn(robot: Robot, table: LinkTable) -> list[Target]:
    """Return the visuals of a robot. Raises WorldError if a mesh cannot be read."""
    targets = []
    for visual in visuals_of_model(robot.model):
        frame = robot.model.frame(visual.link)
        try:
            geometry = visual_geometry(robot.model, visual)
        except HrpsimError as error:
            raise WorldError(
                f"{robot.name!r}: rays cannot be cast against the visual of link {visual.link!r}: "
                f"{error}. Use geometry='collision'"
            ) from error
        R, p = Placement(frame.R, frame.p).then(visual.placement)
        targets.append(Target(geometry, frame.body, R, p, table.range_of(robot, visual.link)[0]))
    return targets
