"""Services of simulation_interfaces about robots and bodies: come, go, look, move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from geometry_msgs.msg import Pose, Vector3
from rclpy.exceptions import InvalidNamespaceException
from rclpy.validate_namespace import validate_namespace
from simulation_interfaces.msg import Bounds, EntityCategory, EntityFilters, EntityInfo, EntityState
from simulation_interfaces.srv import (
    DeleteEntity,
    GetEntities,
    GetEntitiesStates,
    GetEntityBounds,
    GetEntityInfo,
    GetEntityState,
    SetEntityState,
    SpawnEntity,
)

from hrpsim.model.shapes.placement import Placement, quaternion_of
from hrpsim.ros.base import parameters
from hrpsim.ros.base.entities import EntityMotion, Refusal
from hrpsim.ros.base.service_results import answering
from hrpsim.ros.simulation.entity_bounds import bounding_box, meets_box, meets_sphere
from hrpsim.ros.simulation.name_pattern import NamePattern, PatternError
from hrpsim.world.objects.body import rotation_matrix
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot

if TYPE_CHECKING:
    from hrpsim.ros.simulation.simulation_node import SimulationNode

_FASTEST = 1e4  # [m/s], [rad/s]; no step is short enough for more
_FARTHEST = 1e4  # [m]; there positions are still exact to 2e-12 m


class EntityServices:
    """Offers the services on a SimulationNode; they run between two steps of its loop."""

    def __init__(self, simulation: SimulationNode):
        self._simulation = simulation
        self._entities = simulation.entities
        self._services = [
            simulation.node.create_service(kind, f"~/{name}", answering(action))
            for kind, name, action in (
                (SpawnEntity, "spawn_entity", self._spawn),
                (DeleteEntity, "delete_entity", self._delete),
                (GetEntities, "get_entities", self._get_names),
                (GetEntitiesStates, "get_entities_states", self._get_states),
                (GetEntityState, "get_entity_state", self._get_state),
                (SetEntityState, "set_entity_state", self._set_state),
                (GetEntityInfo, "get_entity_info", self._get_info),
                (GetEntityBounds, "get_entity_bounds", self._get_bounds),
            )
        ]

    def _spawn(self, request, response) -> str:
        resource = getattr(request, "entity_resource", None)  # simulation_interfaces 2
        uri = request.uri if resource is None else resource.uri
        text = request.resource_string if resource is None else resource.resource_string
        if request.entity_namespace:
            try:
                validate_namespace("/" + request.entity_namespace.lstrip("/"))
            except InvalidNamespaceException as error:
                raise Refusal("NAMESPACE_INVALID", str(error)) from error
        frame = self._entities.frame(request.initial_pose.header.frame_id)
        with self._entities.all_or_nothing():
            entity = self._entities.spawn(
                request.name,
                uri,
                text,
                frame.then(_placement(request.initial_pose.pose)),
                allow_renaming=request.allow_renaming,
            )
            response.entity_name = entity.name
            if not isinstance(entity, Robot):
                return ""
            topics = self._simulation.robots.add(entity, request.entity_namespace)
            return f"{entity.name!r} is there; its topics are in {topics!r}"

    def _delete(self, request, response) -> str:
        count = self._simulation.delete(request.entity)
        return f"{count} connections went with it" if count else ""

    def _get_names(self, request, response) -> None:
        response.entities = [entity.name for entity in self._chosen(request.filters)]

    def _get_states(self, request, response) -> None:
        chosen = self._chosen(request.filters)
        response.entities = [entity.name for entity in chosen]
        response.states = [self._state_of(entity) for entity in chosen]

    def _get_state(self, request, response) -> None:
        response.state = self._state_of(self._entities.named(request.entity))

    def _set_state(self, request, response) -> None:
        entity = self._entities.named(request.entity)
        frame = self._entities.frame(request.state.header.frame_id)
        motion = self._entities.motion(entity)
        if getattr(request, "set_pose", True):  # simulation_interfaces 1 sets all
            motion = motion._replace(pose=frame.then(_placement(request.state.pose)))
        if getattr(request, "set_twist", True):
            twist = request.state.twist
            linear, angular = _vector(twist.linear), _vector(twist.angular)
            if not (np.abs([linear, angular]) <= _FASTEST).all():
                raise Refusal(
                    "OPERATION_FAILED",
                    f"the twist must be finite, {_FASTEST:g} m/s or rad/s along each axis at most",
                )
            motion = EntityMotion(motion.pose, frame.R @ linear, frame.R @ angular)
        with self._entities.all_or_nothing():
            self._entities.move(entity, motion)

    def _get_info(self, request, response) -> None:
        entity = self._entities.named(request.entity)
        description = f"mass {entity.system.mass.sum():.6g} kg"
        if isinstance(entity, Robot):
            joints = len(entity.joint_names)
            description += f", {joints} joints, base {entity.model.base}, {entity.model.source}"
        response.info = EntityInfo(
            category=EntityCategory(category=_category(entity)), description=description
        )

    def _get_bounds(self, request, response) -> None:
        entity = self._entities.named(request.entity)
        lower, upper = bounding_box(entity, self._entities.motion(entity).pose)
        corners = [Vector3(x=x, y=y, z=z) for x, y, z in (upper.tolist(), lower.tolist())]
        response.bounds = Bounds(type=Bounds.TYPE_BOX, points=corners)

    def _state_of(self, entity: Entity) -> EntityState:
        motion = self._entities.motion(entity)
        state = EntityState()
        state.header.frame_id = "world"
        state.header.stamp = self._simulation.clock.stamp.to_message()
        _fill(state.pose.position, motion.pose.p)
        _fill(state.pose.orientation, quaternion_of(motion.pose.R))
        _fill(state.twist.linear, motion.linear)
        _fill(state.twist.angular, motion.angular)
        return state

    def _chosen(self, filters: EntityFilters) -> list[Entity]:
        """Return the entities that pass all filters, in the order in which they came."""
        if filters.tags.tags:
            raise Refusal("FEATURE_UNSUPPORTED", "entities have no tags here")
        pattern = self._pattern(filters.filter)
        categories = {category.category for category in filters.categories}
        reaches = _region(filters.bounds)
        return [
            entity
            for entity in self._entities.world.entities.values()
            if pattern.found_in(entity.name)
            and (not categories or _category(entity) in categories)
            and reaches(entity)
        ]

    def _pattern(self, text: str) -> NamePattern:
        most = parameters.value_of(self._simulation.node, "filter_limit")
        if len(text) > most:
            raise Refusal(
                "OPERATION_FAILED", f"a filter has {most} letters at most, this one {len(text)}"
            )
        try:
            return NamePattern(text)
        except PatternError as error:
            raise Refusal("OPERATION_FAILED", f"filter {text!r}: {error}") from error


def _category(entity: Entity) -> int:
    robot = isinstance(entity, Robot) and entity.joint_names
    return EntityCategory.CATEGORY_ROBOT if robot else EntityCategory.CATEGORY_OBJECT


def _region(bounds: Bounds):
    """Return a function that says whether an entity reaches into the bounds."""
    if bounds.type == Bounds.TYPE_EMPTY:
        return lambda entity: True
    if bounds.type not in (Bounds.TYPE_BOX, Bounds.TYPE_SPHERE):
        raise Refusal("FEATURE_UNSUPPORTED", "bounds can be a box (1) or a sphere (3)")
    points = np.array([_vector(point) for point in bounds.points])
    if points.shape != (2, 3) or not np.isfinite(points).all():
        raise Refusal("OPERATION_FAILED", f"bounds need two points, got {len(points)}")
    if bounds.type == Bounds.TYPE_SPHERE:
        return lambda entity: meets_sphere(bounding_box(entity), points[0], points[1, 0])
    lower, upper = points.min(axis=0), points.max(axis=0)
    return lambda entity: meets_box(bounding_box(entity), lower, upper)


def _placement(pose: Pose) -> Placement:
    p = _vector(pose.position)
    turn = pose.orientation
    quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
    if not (np.abs(p) <= _FARTHEST).all():
        raise Refusal(
            "INVALID_POSE", f"the position must be finite, {_FARTHEST:g} m from the origin at most"
        )
    length = np.linalg.norm(quaternion)
    if not abs(length - 1.0) < 1e-2:
        raise Refusal("INVALID_POSE", f"the quaternion's length must be 1, it is {length:.6g}")
    return Placement(rotation_matrix(quaternion / length), p)


def _vector(message) -> np.ndarray:
    return np.array([message.x, message.y, message.z])


def _fill(message, numbers) -> None:
    for axis, number in zip("xyzw", numbers):
        setattr(message, axis, float(number))
