# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Draw a world into a viser scene once, then update the poses. Arrows show the forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.model import visuals
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Plane, Sphere
from hrpsim.model.shapes.mesh_files import capsule_mesh
from hrpsim.model.shapes.placement import Placement, quaternion_of
from hrpsim.model.shapes.terrain import HeightField
from hrpsim.world.objects.body import rotation_matrix
from hrpsim.world.objects.sensor_view import SensorView
from hrpsim.world.parts.results import Contact
from hrpsim.world.world import World

SCENE = "/scene"  # the frame of all drawn objects, which moves relative to following cameras
_ARROWS = {"contacts": (230, 60, 40), "forces": (40, 110, 220), "torques": (120, 60, 190)}
_SEEN_THROUGH = 0.35  # opacity of transparent objects
_STILL = 1e-6  # a smaller change of a pose is not sent
LEAST_FORCE = 1e-3  # [N], a smaller force has no arrow
_LONGEST_WEIGHT = 1.0  # length of the arrow of the heaviest entity's weight [m]


def force_scale(world) -> float:
    """Return the scale of force arrows [m/N] at which the heaviest entity's weight is 1 m long."""
    weights = [entity.system.mass.sum() for entity in world.entities.values()]
    return _LONGEST_WEIGHT / (9.8 * max(weights, default=1.0))


def contact_arrows(contacts: list[Contact], scale: float) -> np.ndarray:
    """Return start and tip (k, 2, 3) [m] of the arrows of `contact_arrows_by_link`."""
    by_link = contact_arrows_by_link(contacts, scale)
    return np.concatenate([np.empty((0, 2, 3)), *by_link.values()])


def contact_arrows_by_link(
    contacts: list[Contact], scale: float
) -> dict[tuple[str, str], np.ndarray]:
    """Return the arrows of contact forces, by the link on which the force acts.

    Forces below LEAST_FORCE have no arrow.

    Args:
        contacts: contacts with forces.
        scale: length of an arrow per force [m/N].

    Returns:
        {(entity name, link name): start and tip (k, 2, 3) [m] in the world}. The link is the first
        of the two bodies, or the second if the first is the world.
    """
    arrows: dict[tuple[str, str], list] = {}
    for contact in contacts:
        if np.linalg.norm(contact.force) >= LEAST_FORCE:
            link, force = contact.a, contact.force
            if link[0] == "world":
                link, force = contact.b, -force
            arrow = [contact.point, contact.point + scale * force]
            arrows.setdefault(link, []).append(arrow)
    return {link: np.array(points) for link, points in arrows.items()}


def wrench_arrows(sensors: list[SensorView], scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the arrows of forces and torques measured by sensors.

    The arrows start at the sensors. The length is `scale` [m/N] times the force, and ten times
    `scale` [m/Nm] times the torque.

    Returns:
        (start and tip of force arrows (k, 2, 3) [m], start and tip of torque arrows (k, 2, 3) [m]).
    """
    forces, torques = [], []
    for sensor in sensors:
        origin, R = sensor_pose(sensor)
        force, torque = R @ sensor.force, R @ sensor.torque
        if np.linalg.norm(force) >= LEAST_FORCE:
            forces.append([origin, origin + scale * force])
        if np.linalg.norm(torque) >= LEAST_FORCE:
            torques.append([origin, origin + 10.0 * scale * torque])
    return np.array(forces).reshape(-1, 2, 3), np.array(torques).reshape(-1, 2, 3)


def sensor_pose(sensor: SensorView) -> tuple[np.ndarray, np.ndarray]:
    """Return origin (3,) [m] and rotation (3, 3) of a sensor's frame in the world."""
    described = sensor.description
    origin, orientation = sensor.robot.frame_pose(described.body, described.R, described.p)
    return origin, rotation_matrix(orientation)


class Drawing:
    """The nodes of a world in the scene of a viser server.

    The frame SCENE contains links as nodes "robot/link", free bodies as "body/body", and fixed
    shapes as "world/name". Each arrow is a child of the link on which the force acts. Link and
    arrow therefore appear together, even on a slow page.

    Attributes:
        left_out: meshes that cannot be drawn, with the cause.
        parts: nodes that a user can grab, as (entity name, link name, node).
        arrow_size: thickness of arrows, 1 for scenes as large as a robot.
        hidden: links without arrows, as (entity name, link name).
    """

    def __init__(self, server, world) -> None:
        self._server, self._scene = server, server.scene
        self.world = world
        self.hidden: set[tuple[str, str]] = set()
        self.left_out: list[str] = []
        self.parts: list[tuple[str, str, object]] = []
        self._poses: dict[tuple[str, str], np.ndarray] = {}  # of links: position, quaternion (7,)
        self._links: dict[tuple[str, str], Any] = {}  # nodes of links
        self._sent: dict[tuple[str, str], np.ndarray] = {}
        self._arrows: dict[tuple[str, tuple[str, str]], Any] = {}  # by kind and link
        self._roots: list = []  # nodes without a parent node of the viewer
        self._fixed: list[tuple[str, object]] = []  # names and nodes of fixed shapes
        self._paints: dict[str, tuple[int, int, int]] = {}
        self.arrow_size = 1.0
        self.shows = dict.fromkeys(_ARROWS, True)
        self._read_poses()
        for robot in world.robots.values():
            self._add_robot(robot)
        for number, body in enumerate(world.bodies.values()):
            usual = visuals.BODY_COLORS[number % len(visuals.BODY_COLORS)]
            self._add_body(body, body.color or usual)
        for number, shape in enumerate(world.fixed_shapes):
            self._add_fixed(shape, number)
        self._force_scale = force_scale(world)
        self.update()

    def update(self) -> None:
        """Move all nodes to the world's present poses."""
        self._read_poses()
        for link in self._links:
            self._place(link)
        self._draw_arrows()

    def remove(self) -> None:
        """Remove all nodes from the scene."""
        for node in self._roots:
            node.remove()

    def redrawn(self, world: World) -> Drawing:
        """Draw a world's present contents again, with the same colours and arrows."""
        drawing = Drawing(self._server, world)
        drawing.shows, drawing.arrow_size = self.shows, self.arrow_size
        for name, color in self._paints.items():
            drawing.paint(name, color)
        return drawing

    def paint(self, name: str, color: tuple[int, int, int]) -> None:
        """Set the colour of all free bodies and fixed shapes with this name."""
        self._paints[name] = color
        bodies = [(entity, node) for entity, _, node in self.parts if entity in self.world.bodies]
        for entity, node in (*bodies, *self._fixed):
            if entity == name and hasattr(node, "color"):  # a plane has the colours of its grid
                node.color = color

    def path_of(self, entity: str, link: str) -> str:
        """Return the path of a link's node in the scene."""
        return str(self._link(entity, link).name)

    def see_through(self, wanted: bool) -> None:
        """Draw robots and bodies translucent to show the arrows inside, or opaque."""
        for _, _, node in self.parts:
            if hasattr(node, "opacity"):  # a mesh file has its own
                node.opacity = _SEEN_THROUGH if wanted else None

    def _add_robot(self, robot) -> None:
        for number, visual in enumerate(visuals.visuals_of_model(robot.model)):
            name = f"{self._link(robot.name, visual.link).name}/{number}"
            node = self._add_visual(name, visual, robot.model)
            if node is not None and robot.model.frame(visual.link).body >= 0:
                self.parts.append((robot.name, visual.link, node))

    def _add_body(self, body, color) -> None:
        path = self._link(body.name, body.name).name
        for number, shape in enumerate(body.shapes):
            name = f"{path}/shape{number or ''}"
            node = self._add_geometry(name, shape.geometry, Placement(shape.R, shape.p), color)
            self.parts.append((body.name, body.name, node))

    def _add_fixed(self, shape, number: int) -> None:
        placement = Placement(shape.R, shape.p)
        name = f"{SCENE}/world/{shape.name}_{number}"
        node = self._add_geometry(name, shape.geometry, placement, visuals.STATIC_COLOR)
        self._roots.append(node)
        self._fixed.append((shape.name, node))

    def _add_visual(self, name: str, visual: visuals.Visual, model):
        if not isinstance(visual.geometry, visuals.MeshFile):
            return self._add_geometry(name, visual.geometry, visual.placement, visual.color)
        try:
            mesh = visuals.load_mesh(model, visual.geometry, visual.color)
        except ModelError as cause:
            self.left_out.append(f"{model.name}/{visual.link}: {visual.geometry.uri}: {cause}")
            return None
        for note in mesh.metadata["notes"]:
            self.left_out.append(f"{model.name}/{visual.link}: {visual.geometry.uri}: {note}")
        return self._scene.add_mesh_trimesh(name, mesh, **_pose(visual.placement))

    def _add_geometry(self, name: str, geometry: Geometry, placement: Placement, color):
        pose = _pose(placement)
        add = self._scene
        if isinstance(geometry, Box):
            return add.add_box(name, color, geometry.lengths, **pose)
        if isinstance(geometry, Sphere):
            return add.add_icosphere(name, geometry.radius, color, **pose)
        if isinstance(geometry, Cylinder):
            return add.add_cylinder(name, geometry.radius, geometry.length, color, **pose)
        if isinstance(geometry, Capsule):
            vertices, faces = capsule_mesh(geometry)
            return add.add_mesh_simple(name, vertices, faces, color=color, **pose)
        if isinstance(geometry, Mesh):
            if isinstance(geometry, HeightField):
                geometry = geometry.thinned()
            vertices = geometry.vertices.astype(np.float32)
            faces = geometry.triangles.astype(np.uint32)
            return add.add_mesh_simple(
                name, vertices, faces, color=color, flat_shading=True, side="double", **pose
            )
        assert isinstance(geometry, Plane), geometry
        return add.add_grid(name, 10.0, 10.0, infinite_grid=True, fade_distance=15.0, **pose)

    def _read_poses(self) -> None:
        for robot in self.world.robots.values():
            poses = np.hstack(robot.link_poses())
            for link, pose in zip(robot.model.link_names, poses):
                self._poses[robot.name, link] = pose
        for name, body in self.world.bodies.items():
            self._poses[name, name] = np.concatenate([body.position, body.orientation])

    def _link(self, *link: str):
        """Return the node of a link, given (entity name, link name).

        The first call makes the node.
        """
        if link not in self._links:
            node = self._scene.add_frame("/".join((SCENE, *link)), show_axes=False)
            self._links[link] = node
            self._roots.append(node)
            self._place(link)
        return self._links[link]

    def _place(self, link: tuple[str, str]) -> None:
        pose, sent = self._poses[link], self._sent.get(link)
        if sent is not None and np.abs(pose - sent).max() < _STILL:
            return
        self._sent[link] = pose
        self._links[link].position = pose[:3]
        self._links[link].wxyz = pose[[6, 3, 4, 5]]

    def _draw_arrows(self) -> None:
        scale = self._force_scale
        arrows: dict[tuple, np.ndarray] = dict.fromkeys(self._arrows, np.empty((0, 2, 3)))
        for link, points in contact_arrows_by_link(self.world.contacts, scale).items():
            arrows["contacts", link] = points
        for robot in self.world.robots.values():
            of_link: dict[str, list] = {}
            for sensor in robot.sensors.values():
                if sensor.description.kind == "force_torque":
                    of_link.setdefault(sensor.description.link, []).append(sensor)
            for name, sensors in of_link.items():
                link = robot.name, name
                arrows["forces", link], arrows["torques", link] = wrench_arrows(sensors, scale)
        for (kind, link), points in arrows.items():
            self._show_arrows(kind, link, points if link not in self.hidden else points[:0])

    def _show_arrows(self, kind: str, link: tuple[str, str], points: np.ndarray) -> None:
        node, visible = self._arrows.get((kind, link)), self.shows[kind] and len(points) > 0
        if node is not None and node.visible != visible:
            node.visible = visible
        if not visible:
            return
        pose = self._poses[link]
        points = ((points - pose[:3]) @ rotation_matrix(pose[3:])).astype(np.float32)
        if node is None:
            self._arrows[kind, link] = self._scene.add_arrows(
                f"{self._link(*link).name}/{kind}",
                points,
                _ARROWS[kind],
                shaft_radius=0.006 * self.arrow_size,
                head_radius=0.014 * self.arrow_size,
                head_length=0.03 * self.arrow_size,
            )
        elif not np.array_equal(node.points, points):
            node.points = points


def _pose(placement: Placement) -> dict[str, np.ndarray]:
    return {"position": placement.p, "wxyz": quaternion_of(placement.R)[[3, 0, 1, 2]]}
