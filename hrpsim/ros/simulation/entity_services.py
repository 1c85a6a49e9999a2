# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Services of simulation_interfaces for robots and bodies: spawn, delete, query, move."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.exceptions import InvalidNamespaceException
from rclpy.node import Node
from rclpy.validate_namespace import validate_namespace
from simulation_interfaces import msg, srv

from hrpsim.common.errors import WorldError
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER, MESH, SPHERE
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.ros.base import parameters
from hrpsim.ros.base.entities import Entities, EntityMotion, Refusal
from hrpsim.ros.base.faults import fill_result, resource_of, service_name
from hrpsim.ros.base.geometry_values import fill, fill_pose, numbers_of, placement_of, vector_of
from hrpsim.ros.core.simulation import Simulation
from hrpsim.world.file.world_notes import EntityNotes
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot

_MOST_POINTS = 1000  # largest number of points of a convex hull
_PART_OF_A_NAME = re.compile(r"[\w/-]*")
CATEGORIES = {
    getattr(msg.EntityCategory, f"CATEGORY_{name.upper()}"): name
    for name in ("object", "robot", "human", "dynamic_object", "static_object")
}
_NUMBERS = {name: number for number, name in CATEGORIES.items()}
_FASTEST = 1e4  # [m/s], [rad/s], no step is short enough for higher velocities


def bounding_box(entity: Entity, frame: Placement = IDENTITY) -> tuple[np.ndarray, np.ndarray]:
    """Return the box around all shapes of an entity, along the axes of `frame`.

    Without shapes, both corners are the entity's origin.

    Returns:
        (lower corner (3,) [m], upper corner (3,) [m]).
    """
    poses = new_kinematics(len(entity.system.parent))
    update_poses(entity.forest, entity.q.copy(), poses)
    lower, upper = [], []
    for shape in entity.shapes:
        placed = Placement(shape.R, shape.p)
        if shape.body >= 0:
            body, root = poses[shape.body], poses[entity.system.root[shape.body]]
            placed = Placement(body["R"], root["origin"] + body["p"]).then(placed)
        centre = frame.R.T @ (placed.p - frame.p)
        reach = np.abs(frame.R.T @ placed.R) @ half_lengths(shape.geometry)
        lower.append(centre - reach)
        upper.append(centre + reach)
    if not lower:
        point = poses[0]["origin"] + poses[0]["p"] if len(poses) else np.zeros(3)
        point = frame.R.T @ (point - frame.p)
        return point, point
    return np.min(lower, axis=0), np.max(upper, axis=0)


def half_lengths(geometry) -> np.ndarray:
    """Return the half edges (3,) [m] of a shape's bounding box, along the axes of the shape."""
    if geometry.kind == MESH:
        return np.abs(geometry.vertices).max(axis=0)
    a, b, c = geometry.size
    return np.array(
        {BOX: (a, b, c), SPHERE: (a, a, a), CYLINDER: (a, a, b), CAPSULE: (a, a, a + b)}[
            geometry.kind
        ]
    )


def meets_box(box: tuple[np.ndarray, np.ndarray], lower: np.ndarray, upper: np.ndarray) -> bool:
    """Return whether two boxes along the same axes overlap."""
    return bool((box[0] <= upper).all() and (box[1] >= lower).all())


def meets_sphere(box: tuple[np.ndarray, np.ndarray], centre: np.ndarray, radius: float) -> bool:
    """Return whether a box and a sphere overlap."""
    nearest = np.clip(centre, *box)
    return float(np.linalg.norm(nearest - centre)) <= radius


def meets_hull(box: tuple[np.ndarray, np.ndarray], points: np.ndarray) -> bool:
    """Return whether a box and the convex hull of points (n, 3) overlap.

    A linear programme searches for weights >= 0 with sum 1 for which the weighted mean of the
    points is in the box.
    """
    from scipy.optimize import linprog  # slow to import and rarely used

    if not meets_box(box, points.min(axis=0), points.max(axis=0)):
        return False
    solution = linprog(
        np.zeros(len(points)),
        A_ub=np.vstack([points.T, -points.T]),
        b_ub=np.concatenate([box[1], -box[0]]),
        A_eq=np.ones((1, len(points))),
        b_eq=[1.0],
    )
    return solution.status == 0


def category_of(entities: Entities, entity: Entity) -> int:
    """Return the category of an entity from its notes.

    Without notes, a robot with joints is a robot, and any other entity is an object.
    """
    noted = entities.notes(entity).category
    if noted:
        return _NUMBERS[noted]
    robot = isinstance(entity, Robot) and entity.joint_names
    return msg.EntityCategory.CATEGORY_ROBOT if robot else msg.EntityCategory.CATEGORY_OBJECT


def chosen_entities(node: Node, entities: Entities, filters: msg.EntityFilters) -> list[Entity]:
    """Return the entities that pass all filters, in the order of addition."""
    is_named = name_filter(filters.filter, parameters.value_of(node, "filter_limit"))
    categories = {category.category for category in filters.categories}
    has_tags, reaches = tag_filter(filters.tags), _region(filters.bounds)
    return [
        entity
        for entity in entities.world.entities.values()
        if is_named(entity.name)
        and (not categories or category_of(entities, entity) in categories)
        and has_tags(entities.notes(entity).tags)
        and reaches(entity)
    ]


def tag_filter(wanted: msg.TagsFilter) -> Callable[[Iterable[str]], bool]:
    """Return a predicate of tags: whether they include any, or all, of the wanted tags.

    The filter mode of `wanted` selects any or all. Without wanted tags the predicate is true.
    """
    modes = {msg.TagsFilter.FILTER_MODE_ANY: any, msg.TagsFilter.FILTER_MODE_ALL: all}
    if wanted.filter_mode not in modes:
        raise Refusal("FEATURE_UNSUPPORTED", "filter_mode must be any (0) or all (1)")
    enough, tags = modes[wanted.filter_mode], set(wanted.tags)
    return lambda present: not tags or enough(tag in set(present) for tag in tags)


def name_filter(text: str, longest: int) -> Callable[[str], bool]:
    """Return a function that tests whether a name matches a regular expression.

    The RE2 library is used, because its search time is proportional to the length of the name.
    Python's re may take for ever.
    """
    if len(text) > longest:
        raise Refusal(
            "OPERATION_FAILED", f"a filter can have at most {longest} letters, got {len(text)}"
        )
    if _PART_OF_A_NAME.fullmatch(text):
        return lambda name: text in name
    try:
        import re2
    except ImportError as error:
        raise Refusal(
            "FEATURE_UNSUPPORTED",
            f"filter {text!r} is a regular expression, which needs google-re2 (pip install "
            "google-re2). A plain part of a name needs no package",
        ) from error
    options = re2.Options()
    options.log_errors = False
    try:
        expression = re2.compile(text, options)
    except re2.error as error:
        reason = str(error.args[0], "utf-8", "replace")
        raise Refusal("OPERATION_FAILED", f"filter {text!r}: {reason}") from error
    return lambda name: expression.search(name) is not None


def _region(bounds: msg.Bounds) -> Callable[[Entity], bool]:
    """Return a predicate: whether an entity overlaps the bounds."""
    if bounds.type == msg.Bounds.TYPE_EMPTY:
        return lambda entity: True
    if bounds.type == msg.Bounds.TYPE_CONVEX_HULL:
        hull = _points(bounds, range(3, _MOST_POINTS + 1), f"3 to {_MOST_POINTS}")
        return lambda entity: meets_hull(bounding_box(entity), hull)
    if bounds.type == msg.Bounds.TYPE_SPHERE:
        centre, (radius, *_) = _points(bounds, (2,), "two")
        return lambda entity: meets_sphere(bounding_box(entity), centre, radius)
    if bounds.type == msg.Bounds.TYPE_BOX:
        points = _points(bounds, (2,), "two")
        lower, upper = points.min(axis=0), points.max(axis=0)
        return lambda entity: meets_box(bounding_box(entity), lower, upper)
    raise Refusal(
        "FEATURE_UNSUPPORTED", "bounds must be none (0), a box (1), a hull (2) or a sphere (3)"
    )


def _points(bounds: msg.Bounds, counts: Sequence[int], allowed: str) -> np.ndarray:
    """Return the points (n, 3) [m] of bounds. Raise Refusal if their number is not in `counts`."""
    points = np.array([numbers_of(point) for point in bounds.points]).reshape(-1, 3)
    if len(points) not in counts or not np.isfinite(points).all():
        raise Refusal(
            "OPERATION_FAILED", f"such bounds need {allowed} finite points, got {len(points)}"
        )
    return points


class EntityServices:
    """Offers the services on the node. Services run between two steps of the loop."""

    def __init__(self, node: Node, simulation: Simulation) -> None:
        self._node = node
        self._simulation = simulation
        self._entities = simulation.entities
        self._services = offer(
            node,
            {
                "SpawnEntity": self._spawn,
                "SpawnEntities": self._spawn_several,
                "DeleteEntity": self._delete,
                "GetEntities": self._get_names,
                "GetEntitiesStates": self._get_states,
                "GetEntityState": self._get_state,
                "SetEntityState": self._set_state,
                "GetEntityInfo": self._get_info,
                "SetEntityInfo": self._set_info,
                "GetEntityBounds": self._get_bounds,
            },
        )

    def _spawn(self, request, response) -> str:
        resource = resource_of(request)
        if request.entity_namespace:
            try:
                validate_namespace("/" + request.entity_namespace.lstrip("/"))
            except InvalidNamespaceException as error:
                raise Refusal("NAMESPACE_INVALID", str(error)) from error
        initial: PoseStamped = request.initial_pose
        frame, on_floor = self._entities.frame(initial.header.frame_id), False
        if math.isnan(initial.pose.position.z):
            initial.pose.position.z, on_floor = 0.0, True
        entity, topics = self._simulation.contents.spawn(
            request.name,
            resource.uri,
            resource.resource_string,
            frame.then(placement_of(initial.pose)),
            namespace=request.entity_namespace,
            allow_renaming=request.allow_renaming,
        )
        if on_floor:
            try:
                entity.place_on_floor()
                entity.keep_as_initial()
            except WorldError:
                self._simulation.contents.delete(entity.name)
                raise
        response.entity_name = entity.name
        return f"{entity.name!r} is spawned. Its topics are in {topics!r}" if topics else ""

    def _spawn_several(self, request, response) -> str | Refusal:
        """Spawn one entity after another. Continue after a refusal."""
        failed = 0
        for spawn_request in request.spawn_requests:
            spawn_result = msg.SpawnResult()
            try:
                spawn_result.result.error_message = self._spawn(spawn_request, spawn_result)
                spawn_result.result.result = spawn_result.result.RESULT_OK
            except Exception as error:
                text = self._simulation.faults.explain(error, "~/spawn_entities")
                fill_result(spawn_result.result, error, text, type(spawn_result))
                failed += 1
            response.results.append(spawn_result)
        if failed:
            return Refusal(
                "ENTITIES_SPAWN_FAILED", f"{failed} of {len(response.results)} could not be spawned"
            )
        return f"spawned {len(response.results)}"

    def _delete(self, request, response) -> str:
        count = self._simulation.contents.delete(request.entity)
        return f"{count} connections were removed with it" if count else ""

    def _get_names(self, request, response) -> None:
        response.entities = [entity.name for entity in self._chosen(request)]

    def _get_states(self, request, response) -> None:
        chosen = self._chosen(request)
        response.entities = [entity.name for entity in chosen]
        motions = map(self._entities.motion, chosen)
        response.states = [self._message_of(motion) for motion in motions]

    def _get_state(self, request, response) -> None:
        if request.entity in self._entities.world.frames:
            placement = self._entities.world.frames[request.entity].placement
            motion = EntityMotion(placement, np.zeros(3), np.zeros(3))
        else:
            motion = self._entities.motion(self._entities.named(request.entity))
        response.state = self._message_of(motion)

    def _set_state(self, request, response) -> None:
        """Set the pose and twist of an entity, or the pose of a fixed frame."""
        if request.entity in self._entities.world.frames:
            if getattr(request, "set_pose", True):
                frame = self._entities.frame(request.state.header.frame_id)
                placement = frame.then(placement_of(request.state.pose))
                self._entities.world.frames[request.entity].put(placement)
            return
        entity = self._entities.named(request.entity)
        frame = self._entities.frame(request.state.header.frame_id)
        motion = self._entities.motion(entity)
        if getattr(request, "set_pose", True):  # simulation_interfaces 1 always sets both
            motion = motion._replace(pose=frame.then(placement_of(request.state.pose)))
        if getattr(request, "set_twist", True):
            twist = request.state.twist
            linear, angular = numbers_of(twist.linear), numbers_of(twist.angular)
            if not (np.abs([linear, angular]) <= _FASTEST).all():
                raise Refusal(
                    "OPERATION_FAILED",
                    f"the twist must be finite, and at most {_FASTEST:g} m/s or rad/s along each "
                    "axis",
                )
            motion = EntityMotion(motion.pose, frame.R @ linear, frame.R @ angular)
        with self._entities.all_or_nothing():
            self._entities.move(entity, motion)

    def _get_info(self, request, response) -> None:
        entity = self._entities.named(request.entity)
        notes = self._entities.notes(entity)
        response.info = msg.EntityInfo(
            category=msg.EntityCategory(category=category_of(self._entities, entity)),
            description=notes.description or _described(entity),
            tags=list(notes.tags),
        )

    def _set_info(self, request, response) -> None:
        entity, info = self._entities.named(request.entity), request.info
        category = CATEGORIES.get(info.category.category)
        if category is None:
            known = ", ".join(f"{name} ({number})" for number, name in CATEGORIES.items())
            raise Refusal(
                "OPERATION_FAILED",
                f"category {info.category.category} does not exist. Available: {known}",
            )
        self._entities.note(entity, EntityNotes(category, info.description, tuple(info.tags)))

    def _get_bounds(self, request, response) -> None:
        entity = self._entities.named(request.entity)
        lower, upper = bounding_box(entity, self._entities.motion(entity).pose)
        corners = [vector_of(upper), vector_of(lower)]
        response.bounds = msg.Bounds(type=msg.Bounds.TYPE_BOX, points=corners)

    def _chosen(self, request) -> list[Entity]:
        return chosen_entities(self._node, self._entities, request.filters)

    def _message_of(self, motion: EntityMotion) -> msg.EntityState:
        state = msg.EntityState()
        state.header.frame_id = "world"
        state.header.stamp = self._simulation.clock.stamp.to_message()
        fill_pose(state.pose, motion.pose)
        fill(state.twist.linear, motion.linear)
        fill(state.twist.angular, motion.angular)
        return state


def offer(node: Node, actions: dict) -> list:
    """Make a service for each type that the installed version of the standard has.

    actions: callbacks by type. The service of the type SpawnEntity is ~/spawn_entity.
    """
    return [
        node.create_service(getattr(srv, kind), f"~/{service_name(kind)}", action)
        for kind, action in actions.items()
        if hasattr(srv, kind)
    ]


def _described(entity: Entity) -> str:
    text = f"mass {entity.system.mass.sum():.6g} kg"
    if isinstance(entity, Robot):
        joints = len(entity.joint_names)
        text += f", {joints} joints, base {entity.model.base}, {entity.model.source}"
    return text
