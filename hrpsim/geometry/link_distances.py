# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances of links from each other and from the world, at any configuration of a robot.

distances = LinkDistances(model, world.fixed_shapes)
distances.nearest(q, "LARM_LINK6", "BODY")      # distance and nearest points
distances.closest(q, 5)                         # the five closest pairs
distances.overlaps(q)                           # pairs that overlap, and how deep
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Closed
from hrpsim.common.errors import ModelError, WorldError, require_name
from hrpsim.common.typed_values import check_arguments
from hrpsim.common.values import finite_vector, whole_count
from hrpsim.engine.kinematics.forest import forest_of
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses
from hrpsim.geometry.engines import distance_engine
from hrpsim.model.model import CollisionShape, Model, adjacent_bodies
from hrpsim.model.readers.urdf.srdf import Pair, pair_of
from hrpsim.model.shapes.convex_hull import farthest_against
from hrpsim.model.shapes.geometry import Plane

WORLD = "world"


class Nearest(NamedTuple):
    """The nearest points and the signed distance of two links, or of a link and "world/NAME".

    A negative distance is an overlap. Between convex shapes the distance is too large by at most
    `LinkDistances.error`, and the depth is the shortest translation that separates the shapes. If
    triangles that form no convex solid overlap, the distance is at most 0, and is not the depth.
    """

    links: Pair
    distance: float  # [m]
    points: np.ndarray  # on the first and on the second link, in the world (2, 3) [m]


class LinkDistances(Closed):
    """Compute distances between the links of a model, and from links to fixed shapes.

    `pairs` lists the pairs of links, and of links with "world/NAME", that can collide. Links that
    meet at a joint and pairs disabled in the description are left out. `nearest` also accepts
    pairs that are left out. Configurations q (nq,) may exceed the joint limits.

    Args:
        model: model of the robot.
        fixed: shapes of the world (`World.fixed_shapes`).
        engine: "coal" or "fcl". None: coal, or FCL if coal is not installed.

    Raises:
        HrpsimError: if the engine is not installed.
    """

    def __init__(
        self, model: Model, fixed: Iterable[CollisionShape] = (), engine: str | None = None
    ) -> None:
        check_arguments(LinkDistances.__init__, locals(), WorldError)
        self.model = model
        self._engine = distance_engine(engine)
        self._forest = forest_of(model.system)
        self._kinematics = new_kinematics(model.body_count)
        self._q = np.full(model.nq, np.nan)
        self._moved: set[int] = set()  # shapes that have their poses of `_q` in the engine
        self.shapes: dict[str, list[CollisionShape]] = {}
        for shape in model.shapes:
            self.shapes.setdefault(shape.link, []).append(shape)
        links = list(self.shapes)
        for shape in fixed:
            self.shapes.setdefault(f"{WORLD}/{shape.name}", []).append(shape)
        self._objects: dict[int, Any] = {}
        for shape in (shape for shapes in self.shapes.values() for shape in shapes):
            if not isinstance(shape.geometry, Plane):
                self._objects[id(shape)] = self._engine.object_of(shape.geometry)
        self.pairs = tuple(self._pairs_of(links))

    @property
    def error(self) -> float:
        """Largest error of a distance between convex shapes [m]: coal 1e-6, FCL 1e-3."""
        return self._engine.error

    def nearest(self, q: ArrayLike, a: str, b: str) -> Nearest:
        """Return the nearest points of two links.

        Args:
            q: configuration (nq,).
            a: name of a link.
            b: name of a link.

        Raises:
            ModelError: for a link without a shape, with the names of the links that have shapes.
        """
        for name in (a, b):
            require_name("link with a shape", name, self.shapes, ModelError)
        self._place(q)
        return self._nearest((a, b))

    def closest(self, q: ArrayLike, count: int = 10) -> list[Nearest]:
        """Return the closest pairs in ascending order of distance, at most `count` pairs."""
        check_arguments(LinkDistances.closest, locals(), WorldError)
        whole_count("count of closest", count, 0)
        self._place(q)
        return sorted(map(self._nearest, self.pairs), key=lambda pair: pair.distance)[:count]

    def overlaps(self, q: ArrayLike) -> dict[Pair, float]:
        """Return the depth of overlap [m] of each overlapping pair at the configuration q."""
        self._place(q)
        distances = map(self._nearest, self.pairs)
        return {pair.links: -pair.distance for pair in distances if pair.distance <= 0.0}

    def distance(self, q: np.ndarray, pair: Pair) -> float:
        """Return the distance of a pair [m], as in `nearest`, without a check of q."""
        self._move(q)
        return self._nearest(pair).distance

    def _pairs_of(self, links: Sequence[str]) -> Iterable[Pair]:
        """Yield the pairs that may collide."""
        body_of = {link: self.shapes[link][0].body for link in links}
        adjacent = adjacent_bodies(self.model)
        for pair in combinations(links, 2):
            bodies = tuple(sorted(body_of[link] for link in pair))
            if bodies[0] == bodies[1] or bodies in adjacent:
                continue
            if pair_of(*pair) not in self.model.disabled_collisions:
                yield pair_of(*pair)
        fixed = [name for name in self.shapes if name.startswith(f"{WORLD}/")]
        yield from ((link, name) for link in links for name in fixed if body_of[link] >= 0)

    def _place(self, q: ArrayLike) -> None:
        self._move(finite_vector("q", q, self.model.nq))

    def _move(self, q: np.ndarray) -> None:
        """Move all shapes to their poses at q."""
        if np.array_equal(q, self._q):
            return
        self._q[:] = q
        update_poses(self._forest, self._q, self._kinematics)
        self._moved.clear()

    def _pose(self, shape: CollisionShape) -> tuple[np.ndarray, np.ndarray]:
        """Return the rotation matrix and the position of a shape in the world frame."""
        if shape.body < 0:
            return shape.R, shape.p
        link = self._kinematics[shape.body]
        origin = self._kinematics["origin"][self._forest.bodies["root"][shape.body]]
        R = link["R"]
        return R @ shape.R, origin + link["p"] + R @ shape.p

    def _object(self, shape: CollisionShape):
        """Return the engine's object of a shape, moved to the present pose."""
        number = id(shape)
        placed = self._objects[number]
        if number not in self._moved:
            self._moved.add(number)
            self._engine.place(placed, *self._pose(shape))
        return placed

    def _nearest(self, pair: Pair) -> Nearest:
        best = Nearest(pair, np.inf, np.zeros((2, 3)))
        for a in self.shapes[pair[0]]:
            for b in self.shapes[pair[1]]:
                distance, points = self._between(a, b)
                if distance < best.distance:
                    best = Nearest(pair, distance, points)
        return best

    def _between(self, a: CollisionShape, b: CollisionShape) -> tuple[float, np.ndarray]:
        """Return the distance of two shapes and the nearest points (2, 3)."""
        if isinstance(b.geometry, Plane):
            return self._above(a, b)
        if isinstance(a.geometry, Plane):
            distance, points = self._above(b, a)
            return distance, points[::-1]
        return self._engine.distance(self._object(a), self._object(b))

    def _above(self, shape: CollisionShape, plane: CollisionShape) -> tuple[float, np.ndarray]:
        """Return the height of a shape above a half-space, and the nearest points (2, 3)."""
        R, p = self._pose(shape)
        R_plane, p_plane = self._pose(plane)
        normal = R_plane[:, 2]
        point = p + R @ farthest_against(shape.geometry, R.T @ normal)
        distance = float(normal @ (point - p_plane))
        return distance, np.array([point, point - distance * normal])
