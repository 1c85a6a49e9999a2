# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A tree of links with check boxes, and frames, masses, contact forces and force readings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hrpsim.viewer.panels.workbench import Panel, Workbench
from hrpsim.world.objects.entity import Entity

FRAMES, MASSES, ARROWS = "frames", "masses", ("contacts", "forces", "torques")
_MOST_LINKS = 300  # largest number of listed links, others are drawn as if ticked
_AXES = 0.12, 0.004  # length and radius of a frame's axes [m]
_MASS_COLOR, _MASS_OPACITY = (245, 180, 40), 0.8
_DENSITY = 1000.0  # density of the sphere for a mass [kg/m^3]


@dataclass(frozen=True)
class LinkEntry:
    """A link of the tree.

    Attributes:
        branch: path in the tree: the entity, then the first link of each branch.
        body: index of the body whose frame is the link, or -1 for a fixed link. The mass of a fixed
            link is part of the body to which the link is fixed.
    """

    entity: str
    link: str
    branch: tuple[str, ...]
    body: int


class LinksPanel(Panel):
    """A tab that selects what is drawn for each link.

    `shows` has the check boxes of frames, masses and arrows. `ticks` has the check box of each
    link. Only links that are ticked have frames, masses and arrows.
    """

    def __init__(self, desk: Workbench) -> None:
        super().__init__(desk)
        gui = desk.gui
        self.shows = {
            "contacts": gui.add_checkbox("Contact forces", True),
            "forces": gui.add_checkbox("Sensor forces", True),
            "torques": gui.add_checkbox("Sensor torques", True),
            FRAMES: gui.add_checkbox("Frames", False),
            MASSES: gui.add_checkbox("Masses", False),
        }
        self.clear = gui.add_checkbox("See through", False)
        self.every = gui.add_button_group("Tick", ("all", "none"))
        self.details = gui.add_markdown("")
        self._tree = gui.add_folder("Links")
        self.entries: list[LinkEntry] = []
        self.ticks: dict[tuple[str, str], Any] = {}
        self._nodes: dict[tuple[str, str, str], Any] = {}  # by kind, entity, link
        for kind, box in self.shows.items():
            box.on_update(lambda _, kind=kind: desk.request(lambda: self._use(kind)))
        self.clear.on_update(lambda _: desk.request(self._see_through))
        self.every.on_click(lambda _: desk.request(lambda: self.tick(self.every.value == "all")))
        self._fill()

    def tick(self, wanted: bool) -> None:
        """Tick all links, or untick all links."""
        for box in self.ticks.values():
            box.value = wanted
        self._use_ticks()

    def update(self) -> None:
        """Show number, mass and contact force of the ticked links."""
        world, ticked = self._desk.world, {key for key, box in self.ticks.items() if box.value}
        mass = sum(_mass(world, entry) for entry in self.entries if _key(entry) in ticked)
        force = np.zeros(3)
        for contact in world.contacts:
            for link, sign in ((contact.a, 1.0), (contact.b, -1.0)):
                if link in ticked:
                    force += sign * contact.force
        force = force.round(1) + 0.0  # replaces -0.0
        self.details.content = (
            f"{len(ticked)} of {len(self.ticks)} links ticked: {mass:.2f} kg, "
            f"contact forces ({force[0]:.1f}, {force[1]:.1f}, {force[2]:.1f}) N"
        )

    def rebuild(self) -> None:
        """List the present links, and redraw frames and masses."""
        self._nodes.clear()  # the nodes were removed with the links
        self._fill()
        self._use_ticks()
        self._see_through()

    def _fill(self) -> None:
        entries = tree_of(self._desk.world)[:_MOST_LINKS]
        if entries == self.entries:
            return
        before = {key: box.value for key, box in self.ticks.items()}
        self._tree.remove()
        gui = self._desk.gui
        self._tree = gui.add_folder("Links", order=self._tree.order)
        self.entries, self.ticks = entries, {}
        folders = {(): self._tree}
        for entry in entries:
            if entry.branch not in folders:
                with folders[entry.branch[:-1]]:
                    opened = len(entry.branch) == 1
                    folder = gui.add_folder(entry.branch[-1], expand_by_default=opened)
                folders[entry.branch] = folder
            with folders[entry.branch]:
                box = gui.add_checkbox(entry.link, before.get(_key(entry), True))
            box.on_update(lambda _: self._desk.request(self._use_ticks))
            self.ticks[_key(entry)] = box

    def _use(self, kind: str) -> None:
        if kind in ARROWS:
            self._desk.drawing.shows[kind] = self.shows[kind].value
        else:
            self._draw(kind)

    def _use_ticks(self) -> None:
        hidden = self._desk.drawing.hidden
        hidden.clear()
        hidden.update(key for key, box in self.ticks.items() if not box.value)
        for kind in (FRAMES, MASSES):
            self._draw(kind)

    def _see_through(self) -> None:
        self._desk.drawing.see_through(self.clear.value)

    def _draw(self, kind: str) -> None:
        """Show frames or masses of ticked links. Nodes are made when they are first needed."""
        for entry in self.entries:
            visible = self.shows[kind].value and self.ticks[_key(entry)].value
            node = self._nodes.get((kind, *_key(entry)))
            if node is None and visible:
                node = self._frame(entry) if kind == FRAMES else self._mass(entry)
                self._nodes[kind, entry.entity, entry.link] = node
            if node is not None and node.visible != visible:
                node.visible = visible

    def _frame(self, entry: LinkEntry) -> Any:
        path, (length, radius) = self._desk.drawing.path_of(*_key(entry)), _AXES
        scene = self._desk.server.scene
        return scene.add_frame(f"{path}/axes", axes_length=length, axes_radius=radius)

    def _mass(self, entry: LinkEntry) -> Any:
        """Draw the mass of a link as a sphere of water of equal mass at the centre of mass."""
        mass = _mass(self._desk.world, entry)
        if mass <= 0.0:
            return None
        return self._desk.server.scene.add_icosphere(
            f"{self._desk.drawing.path_of(*_key(entry))}/mass",
            radius_of(mass),
            _MASS_COLOR,
            subdivisions=2,
            opacity=_MASS_OPACITY,
            position=self._desk.world.entities[entry.entity].system.com[entry.body],
        )


def radius_of(mass: float) -> float:
    """Return the radius of a sphere of water with a given mass [kg] [m]."""
    return float((3.0 * mass / (4.0 * np.pi * _DENSITY)) ** (1.0 / 3.0))


def tree_of(world: Any) -> list[LinkEntry]:
    """Return the links of all robots and bodies. Each link follows its parent."""
    return [entry for entity in world.entities.values() for entry in _links_of(entity)]


def _links_of(entity: Entity) -> list[LinkEntry]:
    """Return the links of an entity, depth first."""
    parents = entity.system.parent.tolist()
    of_body: dict[int, list[str]] = {}
    for frame in entity.frames:
        of_body.setdefault(frame.body, []).append(frame.name)
    result: list[LinkEntry] = []

    def visit(body: int, branch: tuple[str, ...]) -> None:
        for k, name in enumerate(of_body.get(body, [])):
            result.append(LinkEntry(entity.name, name, branch, body if k == 0 else -1))
        children = [child for child, parent in enumerate(parents) if parent == body]
        for child in children:
            begins = len(children) > 1 and child in of_body
            visit(child, (*branch, of_body[child][0]) if begins else branch)

    visit(-1, (entity.name,))
    return result


def _mass(world: Any, entry: LinkEntry) -> float:
    if entry.body < 0 or entry.entity not in world.entities:
        return 0.0
    return float(world.entities[entry.entity].system.mass[entry.body])


def _key(entry: LinkEntry) -> tuple[str, str]:
    return entry.entity, entry.link
