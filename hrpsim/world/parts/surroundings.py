# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The part of a world that does not move: ground, fixed shapes, and how surfaces meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.errors import StateError, WorldError
from hrpsim.model.model import CollisionShape
from hrpsim.model.shapes.compound import Compound, centered_shape
from hrpsim.model.shapes.geometry import Geometry, Plane
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.values import finite_vector, not_negative, setting
from hrpsim.world.objects.body import rotation_matrix
from hrpsim.world.objects.compliance import DAMPING_STEPS, refuse_undamped
from hrpsim.world.objects.materials import check_names
from hrpsim.world.parts.part import Part


class Surroundings(Part):
    """Fixed shapes, and what is set for pairs of materials."""

    def _changed(self) -> None:
        self._sleep.wake()
        self._scenes.rebuild()

    @property
    def fixed_shapes(self) -> tuple[CollisionShape, ...]:
        """What never moves: ground and static shapes, in the order that they were added."""
        return tuple(self._contents.fixed)

    def add_ground(
        self,
        height: float = 0.0,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        material: str = "default",
    ) -> None:
        """Add a fixed plane through (0, 0, height) [m] that is solid below its `normal`."""
        normal = finite_vector("normal", normal, 3)
        length = np.linalg.norm(normal)
        if length < 1e-9:
            raise WorldError("the normal of the ground must not be zero")
        z = normal / length
        x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (0.0, 0.0, 1.0), z)
        x /= np.linalg.norm(x)
        R = np.column_stack([x, np.cross(z, x), z])
        place = np.array([0.0, 0.0, setting("height", height)])
        self._add_fixed(Plane(), place, R, material, "ground")

    def add_static(
        self,
        geometry: Geometry | Compound,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        material: str = "default",
        name: str | None = None,
    ) -> None:
        """Add a shape that never moves; position [m] and quaternion x y z w in the world.

        It is solid on the inner side of its surface, so that also an open mesh, such as a
        HeightField, may stand here. The parts of a Compound bear one name.
        """
        orientation = finite_vector("orientation", orientation, 4)
        length = np.linalg.norm(orientation)
        if length < 1e-6:
            raise StateError("the orientation of a static shape must not be zero")
        self._add_fixed(
            geometry,
            finite_vector("position", position, 3),
            rotation_matrix(orientation / length),
            material,
            name or f"static{len(self._contents.fixed)}",
        )

    def _add_fixed(self, geometry, position, R, material, name) -> None:
        check_names(material, name)
        self._sleep.wake()
        self._contents.materials.add(material)
        place = Placement(R, position)
        parts = [(geometry, IDENTITY)]
        if isinstance(geometry, Compound):
            parts = geometry.parts
        for part, at in parts:
            shape, (R, p) = centered_shape(part, place.then(at))
            self._contents.fixed.append(CollisionShape(name, name, -1, R, p, shape, material))
        self._changed()

    def set_friction(
        self,
        a: str,
        b: str,
        static: float,
        kinetic: float | None = None,
        restitution: float = 0.0,
        impact_law: str | None = None,
    ) -> None:
        """Set friction coefficients (kinetic = static by default) and restitution of a pair.

        impact_law says what its contacts do at an impact, where they have restitution and are
        already closed: "simultaneous" or "sequential" (see `World`); by default the world's.
        """
        kinetic = static if kinetic is None else kinetic
        self._contents.materials.set_pair(a, b, static, kinetic, restitution, impact_law)
        self._sleep.wake()
        self._scenes.use_materials()

    def set_contact(
        self,
        a: str,
        b: str,
        compliance: float = 0.0,
        damping_time: float | None = None,
        force_limit: float = np.inf,
    ) -> None:
        """Set how contacts of a pair of materials yield along the normal.

        compliance [m/N] of each contact point and damping_time [s] (two time steps by default):
        penetration follows a spring and damper. With neither, as at first, contacts are rigid and
        penetration is taken back at a bounded speed. force_limit [N] bounds each point's normal
        force.
        """
        compliance = not_negative("compliance", compliance, 1)
        if damping_time is not None:
            damping_time = not_negative("damping_time", damping_time, 1)
        else:
            damping_time = np.where(
                compliance > 0.0, DAMPING_STEPS * self._contents.time_step, -1.0
            )
        refuse_undamped(compliance, damping_time, self._contents.time_step)
        force_limit = not_negative("force_limit", force_limit, 1, finite=False)
        self._contents.materials.change(
            a,
            b,
            compliance=compliance[0],
            damping_time=damping_time[0],
            force_limit=force_limit[0],
        )
        self._changed()

    def set_penalty(
        self,
        a: str,
        b: str,
        stiffness: float | None = None,
        damping_ratio: float = 0.2,
        max_extension: float | None = None,
    ) -> None:
        """Set the springs of a pair of materials where the solver of contacts is "penalty".

        stiffness [N/m] of each contact point, normal and, while it sticks, tangential; damping
        ratio of one point alone (n points that move together have sqrt(n) times as much), and
        max_extension [m], beyond which penetration is a constraint; infinite for none. With m the
        smallest mass that a point feels along its axes, the defaults are k = 0.5 m / dt^2, less
        where the points of two shapes together would be too stiff for the step, and four times
        what such a spring gives under the weight of m, 4 * 9.80665 m / k. A point that bears m g
        sinks by m g / k. `set_friction` says how it slides; restitution has no part.
        """
        given = 0.0 if stiffness is None else not_negative("stiffness", stiffness, 1)[0]
        if stiffness is not None and given == 0.0:
            raise WorldError(f"stiffness must be positive, got {stiffness!r}")
        ratio = not_negative("damping_ratio", damping_ratio, 1)[0]
        furthest = -1.0
        if max_extension is not None:
            furthest = not_negative("max_extension", max_extension, 1, finite=False)[0]
        self._contents.materials.change(
            a, b, stiffness=given, damping_ratio=ratio, max_extension=furthest
        )
        self._changed()
