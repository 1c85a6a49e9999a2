# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots and bodies that are spawned and deleted while a node runs. Needs no ROS.

The codes of refusals are the result codes of simulation_interfaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import HrpsimError, ModelError, WorldError, shown_value, unknown_name
from hrpsim.common.foreign.text import read_text
from hrpsim.common.resources import share_path
from hrpsim.model.load import load_model
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.readers.urdf.xacro_text import is_xacro, read_source
from hrpsim.model.robot_formats import format_of
from hrpsim.model.shapes.placement import IDENTITY, Placement, quaternion_of
from hrpsim.world.file.load_shapes import read_shape
from hrpsim.world.file.load_world import read_body
from hrpsim.world.file.world_notes import EntityNotes
from hrpsim.world.objects.body import rotation_matrix
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot

_MOST_TAGS = 100
_LONGEST_TEXT = 1000  # longest description or tag [characters]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_WORLD_FRAMES = ("", "world")


class Refusal(WorldError):
    """A refused request. `code` names the cause, such as NAME_NOT_UNIQUE."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass
class SpawnLimits:
    """Limits on the number, size and format of entities that are spawned over ROS."""

    entities: int = 1000  # largest number in the world
    links: int = 1000  # largest number of links of a robot
    text: int = 10_000_000  # largest description without meshes [bytes]
    xacro: bool = False  # whether to evaluate xacro files other than hrpsim's
    mjcf: bool = False  # whether MuJoCo's parser may read received descriptions


class EntityMotion(NamedTuple):
    """Pose and velocity of an entity's frame in the world."""

    pose: Placement
    linear: np.ndarray  # (3,) [m/s]
    angular: np.ndarray  # (3,) [rad/s]


class Entities:
    """The robots and bodies of a node's world, by name.

    The frame of a body is at the centre of mass. The frame of a robot is the frame of the base
    link.
    """

    def __init__(self, world, odom_frame: str = "odom", limits: SpawnLimits | None = None) -> None:
        self.limits = limits or SpawnLimits()
        self._world_frames = (*_WORLD_FRAMES, odom_frame)
        self.hold(world)

    def hold(self, world, notes: Mapping[str, EntityNotes] | None = None) -> None:
        """Manage the entities of another world from now on. The world must be in its initial state.

        notes: notes on the entities by name.
        """
        self.world = world
        self._first_state = world.snapshot()
        self._spawned: list[Entity] = []
        self._notes = dict(notes or {})

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Undo the changes of a request to the world if the request raises an error."""
        before, saved = dict(self.world.entities), self.world.snapshot()
        try:
            yield
        except BaseException:
            for name, entity in list(self.world.entities.items()):
                if before.get(name) is not entity:
                    self._remove(entity)
            self.world.restore(saved)
            raise

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that `spawn` accepts."""
        more = [kind for kind in ("xacro", "mjcf") if getattr(self.limits, kind)]
        return ("urdf", *more, "hrpsim")

    def named(self, name: str) -> Entity:
        """Return the entity of a name. Raises Refusal, which lists the existing entities."""
        entities = self.world.entities
        if name not in entities:
            raise Refusal("NOT_FOUND", unknown_name("entity", name, entities))
        return entities[name]

    def notes(self, entity: Entity) -> EntityNotes:
        """Return the notes on an entity."""
        return self._notes.get(entity.name, EntityNotes())

    def note(self, entity: Entity, notes: EntityNotes) -> None:
        """Replace the notes on an entity."""
        texts = [notes.description, *notes.tags]
        if len(notes.tags) > _MOST_TAGS or max(map(len, texts)) > _LONGEST_TEXT:
            raise Refusal(
                "OPERATION_FAILED",
                f"an entity can have at most {_MOST_TAGS} tags. A tag or a description can have at "
                f"most {_LONGEST_TEXT} letters",
            )
        self._notes[entity.name] = notes

    def spawn(
        self, name: str, uri: str, text: str, pose: Placement, *, allow_renaming: bool = False
    ) -> Entity:
        """Add an entity to the world, with the entity's frame at `pose`. Return the entity.

        The file at `uri` describes the entity, or `text` if `uri` is empty. URDF and xacro describe
        a robot. The base of the robot is free unless the root link is called "world". YAML
        describes a body, in the form of an entry of `bodies` in a world file. If `allow_renaming`
        is true, a unique name replaces a taken or missing name.
        """
        if not uri and not text:
            raise Refusal("NO_RESOURCE", "neither uri nor resource_string is given")
        if name in self._world_frames[1:]:
            raise Refusal("NAME_INVALID", f"{name!r} is the frame of the world. Give another name")
        if name and not _NAME.fullmatch(name):
            raise Refusal(
                "NAME_INVALID",
                f"name {name!r} must begin with a letter, and consist of letters, digits, '_', '-' "
                "and '.'",
            )
        if len(self.world.entities) >= self.limits.entities:
            raise Refusal(
                "OPERATION_FAILED",
                f"the world has {self.limits.entities} entities, the maximum. Delete an entity, or "
                "raise the parameter entity_limit",
            )
        source: str | Path = text
        kinds = (".urdf", ".xacro", ".xml", ".yaml", ".yml")
        if not uri and text.endswith(kinds):
            raise Refusal(
                "RESOURCE_PARSE_ERROR",
                f"resource_string is the path {shown_value(text)}. Give it as uri",
            )
        if uri:
            source = located(uri, kinds, f"formats are {', '.join(self.formats)}")
        self.refuse_large(source)
        if _is_body(source):
            entity = self._spawn_body(source, name, pose, allow_renaming)
        else:
            entity = self._spawn_robot(source, name, pose, allow_renaming)
        self._spawned.append(entity)
        return entity

    def delete(self, name: str) -> int:
        """Remove an entity and the connections to the entity. Return the number of connections."""
        entity = self.named(name)
        before = len(self.world.connections)
        self._remove(entity)
        return before - len(self.world.connections)

    def delete_spawned(self) -> int:
        """Remove all spawned entities. Return the number of entities."""
        spawned = list(self._spawned)
        for entity in spawned:
            self._remove(entity)
        return len(spawned)

    def _remove(self, entity: Entity) -> None:
        self.world.remove(entity)
        self._spawned = [other for other in self._spawned if other is not entity]
        self._notes.pop(entity.name, None)

    def restore_first(self) -> None:
        """Restore the initial state of the world.

        If a spawn or delete has changed the entities, each entity is reset instead.
        """
        try:
            self.world.restore(self._first_state)
        except WorldError:
            self.world.reset()

    def motion(self, entity: Entity) -> EntityMotion:
        """Return pose and velocity of an entity's frame in the world."""
        if isinstance(entity, Robot):
            if entity.model.base == "fixed":
                p, quaternion = entity.link_pose(entity.model.base_link)
                pose = Placement(rotation_matrix(quaternion), p)
                return EntityMotion(pose, np.zeros(3), np.zeros(3))
            R = rotation_matrix(entity.q[3:7])
            return EntityMotion(
                Placement(R, entity.q[:3].copy()), R @ entity.v[:3], R @ entity.v[3:6]
            )
        pose = Placement(rotation_matrix(entity.orientation), entity.position.copy())
        return EntityMotion(pose, entity.velocity, entity.angular_velocity)

    def move(self, entity: Entity, motion: EntityMotion) -> None:
        """Set the pose and velocity of an entity's frame. The joints keep their state."""
        if isinstance(entity, Robot) and entity.model.base == "fixed":
            raise Refusal(
                "OPERATION_FAILED", f"{entity.name!r} has a fixed base, which cannot be moved"
            )
        R = motion.pose.R
        q, v = entity.q.copy(), entity.v.copy()
        q[:3], q[3:7] = motion.pose.p, quaternion_of(R)
        v[:3], v[3:6] = R.T @ motion.linear, R.T @ motion.angular
        entity.q = q
        entity.v = v

    def frame(self, name: str) -> Placement:
        """Return the world pose of a frame: "world", the odom frame, or the frame of an entity."""
        if name in self._world_frames:
            return IDENTITY
        if name in self.world.entities:
            return self.motion(self.world.entities[name]).pose
        known = [*filter(None, self._world_frames), *self.world.entities]
        raise Refusal("INVALID_POSE", unknown_name("frame", name, dict.fromkeys(known)))

    def refuse_large(self, source: str | Path) -> None:
        """Raise Refusal for a file or text over `limits.text` bytes."""
        is_file = isinstance(source, Path)
        size = source.stat().st_size if is_file else len(source.encode(errors="replace"))
        if size > self.limits.text:
            source_name = str(source) if is_file else "resource_string"
            raise Refusal(
                "RESOURCE_PARSE_ERROR",
                f"{source_name} has {size} bytes. The parameter spawn_size_limit allows "
                f"{self.limits.text}",
            )

    def refuse_xacro(self, source: str | Path) -> None:
        """Raise Refusal for a description with expressions that this process would evaluate."""
        text, path = _text_of(source)
        own = path and path.resolve().is_relative_to(share_path("urdf").resolve())
        if not (self.limits.xacro or own) and is_xacro(text, path):
            raise Refusal(
                "UNSUPPORTED_FORMAT",
                "xacro is not accepted over ROS, because its expressions are evaluated. Expand the "
                "xacro first, or set the parameter spawn_xacro",
            )

    def refuse_mjcf(self, source: str | Path) -> None:
        """Raise Refusal for a description that MuJoCo's parser would read."""
        if not self.limits.mjcf and format_of(*_text_of(source)).name == "mjcf":
            raise Refusal(
                "UNSUPPORTED_FORMAT",
                "MJCF is not accepted over ROS, because MuJoCo's parser would read it. Make a URDF "
                "by hrpsim convert, or set the parameter spawn_mjcf",
            )

    def _spawn_robot(self, source, name: str, pose: Placement, allow_renaming: bool) -> Robot:
        self.refuse_xacro(source)
        self.refuse_mjcf(source)
        if isinstance(source, str) and not re.search(r"<\s*(robot|mujoco)\b", source):
            raise Refusal(
                "UNSUPPORTED_FORMAT", f"the XML has no <robot>. Formats: {', '.join(self.formats)}"
            )
        try:
            model = load_model(source, package_paths={"hrpsim": share_path()})
        except ModelError as error:
            missing = isinstance(error.__context__, FileNotFoundError)
            raise Refusal(
                "MISSING_ASSETS" if missing else "RESOURCE_PARSE_ERROR", str(error)
            ) from error
        if len(model.link_names) > self.limits.links:
            raise Refusal(
                "RESOURCE_PARSE_ERROR",
                f"{model.name!r} has {len(model.link_names)} links. The parameter spawn_link_limit "
                f"allows {self.limits.links}",
            )
        robot = self.world.add_robot(
            model,
            name=self._free(name or model.name, allow_renaming),
            position=pose.p,
            orientation=quaternion_of(pose.R),
        )
        robot.warn_of_missing_gains()
        return robot

    def _spawn_body(self, source, name: str, pose: Placement, allow_renaming: bool) -> Entity:
        try:
            text = source
            if isinstance(source, Path):
                text = read_text(source, WorldError, "YAML_SIZE")
            reader, entry = read_body(text, str(source) if text != source else "resource_string")
            for key in ("position", "orientation", "on_floor"):
                if key in entry:
                    raise reader.fail(key, "the request defines the pose. Remove this entry")
            shape = read_shape(reader, entry.pop("shape"), "")
        except HrpsimError as error:
            raise Refusal("RESOURCE_PARSE_ERROR", str(error)) from error
        name = self._free(name or str(entry.pop("name", "")), allow_renaming)
        entry.pop("name", None)
        pose_and_name = {"position": pose.p, "orientation": quaternion_of(pose.R), "name": name}
        try:
            with reader.at(""):
                return self.world.add_body(shape, **entry, **pose_and_name)
        except HrpsimError as error:
            raise Refusal("RESOURCE_PARSE_ERROR", str(error)) from error

    def _free(self, name: str, allow_renaming: bool) -> str:
        if not name and not allow_renaming:
            raise Refusal(
                "NAME_INVALID",
                "neither the request nor the resource gives a name. Give one, or allow_renaming",
            )
        name = name or "entity"
        taken = dict.fromkeys((*self._world_frames, *self.world.entities))
        if name not in taken:
            return name
        if not allow_renaming:
            used = ", ".join(filter(None, taken))
            raise Refusal("NAME_NOT_UNIQUE", f"the name {name!r} is in use. Names in use: {used}")
        return next(k for n in range(2, len(taken) + 3) if (k := f"{name}_{n}") not in taken)


def located(uri: str, kinds: tuple[str, ...], formats: str) -> Path:
    """Return the file of a URI or path. The suffix must be one of `kinds`."""
    try:
        path = Resources(None, {"hrpsim": share_path()}).locate(uri)
    except (OSError, ValueError) as error:
        raise Refusal("RESOURCE_PARSE_ERROR", f"uri {uri!r}: {error}") from error
    if path.suffix not in kinds:
        raise Refusal("UNSUPPORTED_FORMAT", f"{path}: has no known ending of the name, {formats}")
    return path


def _text_of(source: str | Path) -> tuple[str, Path | None]:
    if isinstance(source, Path):
        try:
            return read_source(source)
        except ModelError as error:
            raise Refusal("RESOURCE_PARSE_ERROR", str(error)) from error
    return source, None


def _is_body(source: str | Path) -> bool:
    if isinstance(source, Path):
        return source.suffix in (".yaml", ".yml")
    return not source.lstrip("\ufeff \t\r\n").startswith("<")
