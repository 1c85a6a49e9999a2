# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""<link> of SDF: inertia, shapes and sensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hrpsim.model.readers.gazebo.gazebo_sensors import kind_of, sensor_data
from hrpsim.model.readers.gazebo.poses import pose_of
from hrpsim.model.readers.robot_data import (
    LinkData,
    Notes,
    RobotData,
    SampledSensorData,
    SensorData,
    ShapeData,
    free_name,
)
from hrpsim.model.readers.sdf.files import SdfFiles
from hrpsim.model.readers.sdf.frames import SdfFrame
from hrpsim.model.readers.sdf.scopes import relative_to
from hrpsim.model.readers.sdf.shapes import PLANE, shape_of
from hrpsim.model.readers.sdf.surfaces import Surface, surface_of
from hrpsim.model.shapes.placement import IDENTITY, Placement

_MOMENTS = (
    ("ixx", 0, 0),
    ("iyy", 1, 1),
    ("izz", 2, 2),
    ("ixy", 0, 1),
    ("ixz", 0, 2),
    ("iyz", 1, 2),
)


def _visuals_of(files: SdfFiles, link: SdfFrame, notes: Notes) -> Iterator[ShapeData]:
    for visual in link.file.children(link.element, "visual"):
        shape = shape_of(files, link, visual, _place(link, visual), notes)
        if shape is not None and shape.kind != PLANE:
            yield shape


def describe_link(
    files: SdfFiles, link: SdfFrame, data: LinkData, notes: Notes
) -> list[tuple[ShapeData, Surface]]:
    """Read inertia and shapes of a link into `data`. Return the collision shapes with surfaces.

    The material of the link is the surface of the first collision.
    """
    mass, center, moments = inertial_of(link, notes)
    if mass or moments.any():
        data.inertial = mass, center, moments
    if not link.file.flag(link.element, "gravity", default=True):
        data.gravity_compensation = 1.0
    data.visuals += _visuals_of(files, link, notes)
    result = collisions_of(files, link, notes)
    for shape, _ in result:
        if shape.kind == PLANE:
            notes.add("<plane> of a moving link", "left out", f"{link.name}/{shape.name}")
        else:
            data.collisions.append(shape)
    data.material = result[0][1].name if result else None
    if len({surface.key for _, surface in result}) > 1:
        why = "the surface of the first collision applies to all"
        notes.add("<surface>, several in a link", why, link.name)
    return result


def collisions_of(files: SdfFiles, link: SdfFrame, notes: Notes) -> list[tuple[ShapeData, Surface]]:
    """Return the collision shapes of a link, with surfaces."""
    result = []
    for collision in link.file.children(link.element, "collision"):
        shape = shape_of(files, link, collision, _place(link, collision), notes)
        if shape is not None:
            result.append((shape, surface_of(link.file, collision)))
    return result


def _place(link: SdfFrame, element: Any) -> Placement:
    """Return the placement of an element in the link."""
    placement, name = pose_of(link.file, element), relative_to(link.file, element)
    if not name:
        return placement
    scope = link.scope
    asker = SdfFrame("", "frame", link.file, element, scope, IDENTITY, home=link.home)
    there = scope.in_scope(scope.find(name, asker))
    return scope.in_scope(link).inverse().then(there).then(placement)


def inertial_of(link: SdfFrame, notes: Notes) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mass properties of a link in the link's frame.

    A link without <inertial> has 1 kg and unit inertia, as the SDF specification says.

    Returns:
        (mass [kg], centre (3,) [m], inertia about the centre (3, 3) [kg m^2]).
    """
    inertial = link.element.find("inertial")
    if inertial is None:
        return 1.0, np.zeros(3), np.eye(3)
    if inertial.get("auto", "").strip().lower() in ("true", "1"):
        why = "not computed from the shapes: the stated values hold, or 1 kg and unit inertia"
        notes.add('<inertial auto="true">', why, link.name)
    file = link.file
    placement, moments = pose_of(file, inertial), np.zeros((3, 3))
    for name, row, column in _MOMENTS:
        default = 1.0 if row == column else 0.0
        moments[row, column] = file.value(inertial, f"inertia/{name}", default)
        moments[column, row] = moments[row, column]
    mass = file.value(inertial, "mass", 1.0)
    return mass, placement.p, placement.R @ moments @ placement.R.T


def add_sensors(
    robot: RobotData,
    owner: SdfFrame,
    prefix: str,
    link: str,
    at: Placement,
    notes: Notes,
    reverses: bool = False,
) -> None:
    """Add the sensors of a link or joint.

    Args:
        robot: receives the sensors.
        owner: the link or joint with the <sensor> elements.
        prefix: prefix of the sensors' names.
        link: link of `robot` that carries the sensors.
        at: placement of the owner's frame in `link`.
        notes: receives notes on elements that are left out.
        reverses: whether parent and child of the joint were exchanged. Wrenches of the joint then
            cannot be measured.
    """
    for sensor in owner.file.children(owner.element, "sensor"):
        kind, label = kind_of(sensor), prefix + sensor.get("name", "")
        if kind is None or kind.at_joint != (owner.kind == "joint"):
            continue  # the list of parts that are not read has it
        if reverses:
            notes.add("<sensor> of a joint whose child carries its parent", "left out", label)
            continue
        names = {sensor.name for sensor in robot.all_sensors()}
        pose = at.then(_place(owner, sensor))
        data = sensor_data(owner.file, sensor, link, pose, name=free_name(label, names))
        if isinstance(data, SampledSensorData):
            robot.sampled_sensors.append(data)
            continue
        robot.sensors.append(_at_joint(data, at) if kind.at_joint else data)


def _at_joint(data: SensorData, at: Placement) -> SensorData:
    """Return a force-torque sensor, moved to the origin of the joint."""
    placement = Placement(data.placement.R, at.p)
    return SensorData(**{**vars(data), "placement": placement})
