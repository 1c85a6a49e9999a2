# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Ground and fixed shapes of a world, and the contact properties of surfaces."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import (
    ModelWarning,
    StateError,
    WorldError,
    require_name,
    suggestion,
    unknown_name,
)
from hrpsim.common.values import finite_vector, not_negative, setting
from hrpsim.engine.constraints.rows import DAMPING_STEPS, refuse_undamped
from hrpsim.model.model import CollisionShape
from hrpsim.model.shapes.compound import Compound, centered_shape, require_shape
from hrpsim.model.shapes.geometry import Geometry, Plane
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.world.objects.body import rotation_matrix
from hrpsim.world.objects.plausibility import soft_contact
from hrpsim.world.parts.part import Part
from hrpsim.world.parts.world_contents import check_names


class Surroundings(Part):
    """Fixed shapes, and properties of pairs of materials."""

    def _changed(self) -> None:
        self._sleep.wake()
        self._scenes.rebuild()

    @property
    def fixed_shapes(self) -> tuple[CollisionShape, ...]:
        """Fixed shapes: ground and static shapes, in order of addition."""
        return tuple(self._contents.fixed)

    def add_ground(
        self, height: float = 0.0, normal: ArrayLike = (0.0, 0.0, 1.0), material: str = "default"
    ) -> None:
        """Add a fixed plane that is solid below its normal.

        Args:
            height: the plane passes through (0, 0, height) [m].
            normal: (3,) in the world, of any length.
            material: name of the material.
        """
        normal = finite_vector("normal", normal, 3)
        length = np.linalg.norm(normal)
        if length < 1e-9:
            raise WorldError("the normal of the ground must not be zero")
        z = normal / length
        x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (0.0, 0.0, 1.0), z)
        x /= np.linalg.norm(x)
        R = np.column_stack([x, np.cross(z, x), z])
        position = np.array([0.0, 0.0, setting("height", height)])
        self._add_fixed(Plane(), position, R, material, "ground")

    def add_static(
        self,
        geometry: Geometry | Compound,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        material: str = "default",
        name: str | None = None,
    ) -> None:
        """Add a shape that never moves.

        The shape is solid on the inner side of its surface. An open mesh, such as a HeightField, is
        therefore possible too.

        Args:
            geometry: the shape. All parts of a Compound have one name.
            position: position in the world (3,) [m].
            orientation: quaternion x y z w (4,).
            material: name of the material.
            name: name of the shape. Shapes of one object may share a name. The default is
                generated.

        Raises:
            WorldError: the name is not text.
            StateError: another value is invalid.
        """
        require_shape(geometry, "a static shape")
        orientation = finite_vector("orientation", orientation, 4)
        length = np.linalg.norm(orientation)
        if length < 1e-6:
            raise StateError("the orientation of a static shape must not be zero")
        self._add_fixed(
            geometry,
            finite_vector("position", position, 3),
            rotation_matrix(orientation / length),
            material,
            f"static{self._contents.fixed_ever}" if name is None else name,
        )

    def _add_fixed(self, geometry, position, R, material, name) -> None:
        check_names(material, name)
        placement = Placement(R, position)
        parts = geometry.parts if isinstance(geometry, Compound) else [(geometry, IDENTITY)]
        shapes: list[CollisionShape] = []
        for part, at in parts:
            shape, (R, p) = centered_shape(part, placement.then(at))
            shapes.append(CollisionShape(name, name, -1, R, p, shape, material))
        self._sleep.wake()
        self._contents.materials.add(material)
        self._scenes.expect_more()
        warning = self._contents.add_fixed(shapes)
        if warning:
            warnings.warn(warning, ModelWarning, stacklevel=3)

    def remove_static(self, name: str) -> None:
        """Remove the ground and the static shapes called `name`.

        Everything else keeps its state and the forces of its last step, bit for bit. Bodies that
        lay on the shape fall. Afterwards, `restore` refuses earlier snapshots.

        Raises:
            WorldError: no fixed shape has this name. The error lists the existing names.
        """
        contents = self._contents
        require_name("fixed shape", name, {shape.name: shape for shape in contents.fixed})
        self._sleep.wake()
        self._scenes.scene  # noqa: B018  builds the arrays with the shape
        numbers = np.flatnonzero([shape.name == name for shape in contents.fixed])
        runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
        for run in reversed(runs):
            contents.drop_fixed(int(run[0]), len(run))
            self._scenes.take_out_fixed(int(run[0]), len(run))

    def set_friction(
        self,
        a: str,
        b: str,
        static: float,
        kinetic: float | None = None,
        restitution: float = 0.0,
        impact_law: str | None = None,
        torsional: float = 0.0,
        rolling: float = 0.0,
    ) -> None:
        """Set friction and restitution of a pair of materials.

        Args:
            a: first material.
            b: second material.
            static: coefficient of static friction.
            kinetic: coefficient of kinetic friction. The default is `static`.
            restitution: coefficient of restitution.
            impact_law: law for contacts with restitution that are already closed at an impact,
                "simultaneous" or "sequential" (see `World`). The default is the world's law.
            torsional: largest moment along the normal of a contact point, divided by the normal
                force [m]. The moment resists spin.
            rolling: largest moment across the normal, divided by the normal force [m].
        """
        kinetic = static if kinetic is None else kinetic
        self._contents.materials.set_pair(
            a, b, static, kinetic, restitution, impact_law, torsional, rolling
        )
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
        """Set the compliance of contacts of a pair of materials along the normal.

        Penetration follows a spring and damper. Without compliance and damping time, which is the
        default, contacts are rigid. The penetration of rigid contacts is corrected at a bounded
        speed.

        Args:
            a: first material.
            b: second material.
            compliance: compliance of each contact point [m/N].
            damping_time: decay time of a deviation [s]. The default is two time steps.
            force_limit: largest normal force of each point [N].
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
        if text := soft_contact(float(compliance[0]), float(damping_time[0])):
            warnings.warn(text, ModelWarning, stacklevel=2)
        self._contents.materials.change(
            a, b, compliance=compliance[0], damping_time=damping_time[0], force_limit=force_limit[0]
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
        """Set the springs of a pair of materials for the contact solver "penalty".

        The default stiffness is k = 0.5 m / dt^2, with the smallest effective mass m of a point
        along its axes and the time step dt. It is lower if all points of two shapes together would
        be too stiff for the step. A point under the load m g sinks by m g / k. `set_friction` sets
        the friction of sliding points. Restitution has no effect.

        Args:
            a: first material.
            b: second material.
            stiffness: stiffness of each contact point along the normal, and along the tangents
                while the point sticks [N/m].
            damping_ratio: damping ratio of a single point. n points that move together have a
                damping ratio sqrt(n) times as large.
            max_extension: penetration beyond this extension is a constraint [m]. Infinity disables
                the constraint. The default is four times the extension of the default spring under
                the weight of m, 4 * 9.80665 m / k.
        """
        checked = 0.0 if stiffness is None else not_negative("stiffness", stiffness, 1)[0]
        if stiffness is not None and checked == 0.0:
            raise WorldError(f"stiffness must be positive, got {stiffness!r}")
        ratio = not_negative("damping_ratio", damping_ratio, 1)[0]
        furthest = -1.0
        if max_extension is not None:
            furthest = not_negative("max_extension", max_extension, 1, finite=False)[0]
        self._contents.materials.change(
            a, b, stiffness=checked, damping_ratio=ratio, max_extension=furthest
        )
        self._changed()

    def unknown_materials(self, names: Iterable[str]) -> dict[str, str]:
        """Return a text for each name in `names` that is the material of no shape.

        Each name is reported once. In a world without entities only misspelt names count, because
        shapes may be added later.
        """
        self._contents.materials.named = set()
        names = set(names)
        if not names:
            return {}
        shapes = [*self.fixed_shapes, *(s for e in self._contents.entities for s in e.shapes)]
        known = list(dict.fromkeys(["default", *(shape.material for shape in shapes)]))
        return {
            name: f"{unknown_name('material', name, known)}; no shape has it"
            for name in sorted(names.difference(known))
            if self._contents.entities or suggestion(name, known)
        }
