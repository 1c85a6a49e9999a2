# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Add bodies to the world, move bodies and robots with a free base, and remove added bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Sphere
from hrpsim.viewer.panels.signals import middle_of, moves_freely
from hrpsim.viewer.panels.workbench import Panel, Workbench, bounded, place_of

MOST_ADDED = 50  # largest number of bodies that pages may add to a world
FARTHEST = 100.0  # largest distance of a position from the origin [m]
SHAPES: dict[str, Callable[[float], Geometry]] = {
    "box": lambda size: Box((size, size, size)),
    "sphere": lambda size: Sphere(0.5 * size),
    "cylinder": lambda size: Cylinder(0.5 * size, size),
    "capsule": lambda size: Capsule(0.25 * size, 0.5 * size),
}
_NONE = "none"
_ABOVE = 1.0  # initial height of an added body above the middle of the moving bodies [m]
_HANDLES = 0.4  # length of the handles [m]


class BodiesPanel(Panel):
    """A tab to add, move and remove bodies. `added` names the bodies that pages have added."""

    def __init__(self, desk: Workbench) -> None:
        super().__init__(desk)
        self.added: list[str] = []
        self.gizmo: Any = None
        gui, (middle, _) = desk.gui, middle_of(desk.world)
        place = middle + (0.0, 0.0, _ABOVE)
        with gui.add_folder("Add"):
            self.shape = gui.add_dropdown("Shape", tuple(SHAPES))
            self.size = gui.add_slider("Size [m]", 0.02, 1.0, 0.01, 0.2)
            self.mass = gui.add_slider("Mass [kg]", 0.1, 50.0, 0.1, 1.0)
            self.place = gui.add_vector3("At [m]", tuple(place.round(2)), step=0.01)
            self.add = gui.add_button("Add body")
        with gui.add_folder("Move"):
            self.chosen = gui.add_dropdown("Body", self._movable())
            self.handles = gui.add_checkbox("Handles", False)
            self.target = gui.add_vector3("To [m]", (0.0, 0.0, 1.0), step=0.01)
            self.move = gui.add_button("Move there")
            self.remove = gui.add_button("Remove added body")
        for button, action in (
            (self.add, self.add_body),
            (self.move, lambda: self.move_to(self.target.value)),
            (self.remove, self.remove_body),
        ):
            button.on_click(lambda _, action=action: desk.request(action))
        for element in (self.chosen, self.handles):
            element.on_update(lambda _: desk.request(self._show_handles))

    def add_body(self) -> None:
        """Add a body of the chosen shape, size and mass.

        Raises:
            HrpsimError: the position is not valid, or pages have already added `MOST_ADDED` bodies.
        """
        if self.shape.value not in SHAPES:
            return
        if len(self.added) >= MOST_ADDED:
            raise HrpsimError(f"pages have added {MOST_ADDED} bodies. Remove a body first")
        geometry, mass = SHAPES[self.shape.value](bounded(self.size)), bounded(self.mass)
        place = place_of(self.place.value, FARTHEST)
        world = self._desk.world

        def add() -> None:
            self.added.append(world.add_body(geometry, mass, place).name)

        self._desk.session.edit(add)

    def move_to(self, place: Any, orientation: Any = None) -> None:
        """Move the chosen body or robot, and set its velocity to zero.

        Args:
            place: position of the body or the base in the world (3,) [m].
            orientation: quaternion x y z w (4,), or None to keep the orientation.

        Raises:
            HrpsimError: the position is not valid.
        """
        entity = self._desk.world.entities.get(self.chosen.value)
        if entity is None or not moves_freely(entity):
            return
        place = place_of(place, FARTHEST)

        def move() -> None:
            q = entity.q.copy()
            q[:3] = place
            if orientation is not None:
                q[3:7] = orientation
            entity.place(q)  # commands remain
            entity.v = np.zeros(len(entity.v))

        self._desk.session.edit(move)

    def remove_body(self) -> None:
        """Remove the chosen body.

        Raises:
            HrpsimError: the body was not added by a page.
        """
        name = self.chosen.value
        if name not in self.added:
            raise HrpsimError(f"{name!r} belongs to the world. Only added bodies can be removed")
        world = self._desk.world
        self._desk.session.edit(lambda: world.remove(name))
        self.added.remove(name)

    def rebuild(self) -> None:
        """Update the list of bodies that can be chosen."""
        entities = self._desk.world.entities
        self.added = [name for name in self.added if name in entities]
        names = self._movable()
        if tuple(self.chosen.options) != names:
            chosen = self.chosen.value
            self.chosen.options = names
            self.chosen.value = chosen if chosen in names else names[0]
        self._show_handles()

    def update(self) -> None:
        """Move the handles to the chosen body."""
        entity = self._desk.world.entities.get(self.chosen.value)
        if self.gizmo is not None and entity is not None and self._desk.session.playing:
            self._put_handles(entity)

    def _movable(self) -> tuple[str, ...]:
        entities = self._desk.world.entities.items()
        return tuple(name for name, entity in entities if moves_freely(entity)) or (_NONE,)

    def _show_handles(self) -> None:
        """Show the handles at the chosen body if the visitor has enabled handles."""
        if self.gizmo is not None:
            self.gizmo.remove()
            self.gizmo = None
        entity = self._desk.world.entities.get(self.chosen.value)
        if entity is None or not self.handles.value:
            return
        path = f"{self._desk.scene.name}/handles"
        self.gizmo = gizmo = self._desk.server.scene.add_transform_controls(path, scale=_HANDLES)
        self._put_handles(entity)

        def drag(event: Any) -> None:
            if event.client is not None:
                place, wxyz = np.array(gizmo.position), np.array(gizmo.wxyz)
                self._desk.request(lambda: self.move_to(place, wxyz[[1, 2, 3, 0]]))

        gizmo.on_update(drag)

    def _put_handles(self, entity: Any) -> None:
        self.gizmo.position, self.gizmo.wxyz = entity.q[:3], entity.q[[6, 3, 4, 5]]
