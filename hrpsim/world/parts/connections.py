# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The connections of a world, which join bodies to each other."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelWarning, WorldError
from hrpsim.common.typed_values import require_fit
from hrpsim.common.values import finite_vector, flag, name_of, not_negative, positive, several
from hrpsim.engine.constraints.connection_rows import CONNECTION_RECORD, LOCKED
from hrpsim.engine.constraints.rows import DAMPING_STEPS, refuse_undamped
from hrpsim.model.described import AXES, held_axes
from hrpsim.model.readers.robot_data import free_name
from hrpsim.model.shapes.placement import (
    IDENTITY,
    Placement,
    quaternion_of,
    rotation_of,
    rotation_with_z_along,
)
from hrpsim.world.objects.connection import Connection, End, EndLike, find_end
from hrpsim.world.objects.plausibility import far_point
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import solver_code
from hrpsim.world.objects.world_frame import WorldFrame
from hrpsim.world.parts.exclusions import Exclusions


class Connections(Exclusions):
    """The connections of a world. New connections act from the next step on."""

    @property
    def connections(self) -> MappingProxyType:
        """Connections by name."""
        return MappingProxyType(self._contents.connections)

    @property
    def frames(self) -> MappingProxyType:
        """Frames made by `add_frame`, by name."""
        return MappingProxyType(self._contents.frames)

    def add_frame(
        self,
        name: str,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (0.0, 0.0, 0.0, 1.0),
    ) -> WorldFrame:
        """Add a fixed frame that the user can move. Return the frame.

        `connect` accepts the frame as an end. Assigning the position of the frame moves the
        connected bodies along.

        Args:
            name: unique among robots, bodies and frames.
            position: position in the world (3,) [m].
            orientation: quaternion x y z w (4,).

        Raises:
            WorldError: the name is taken.
            StateError: another value is invalid.
        """
        if name != "":
            name_of("name of a frame", name)
        if name in ("", "world") or name in self._contents.frames or name in self._contents.by_name:
            raise WorldError(f"the world already has an entity or a frame with the name {name!r}")
        placement = Placement(
            rotation_of("orientation of a frame", orientation),
            finite_vector("position", position, 3),
        )
        frame = self._contents.frames[name] = WorldFrame(self._world, name, placement)
        return frame

    def connect(  # many parameters: keyword arguments
        self,
        a: EndLike,
        b: EndLike = None,
        kind: str | None = None,
        *,
        axes: Iterable[str] | None = None,
        point: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        x_axis: ArrayLike | None = None,
        frame_a: tuple[ArrayLike, ArrayLike] | None = None,
        frame_b: tuple[ArrayLike, ArrayLike] | None = None,
        length: float | None = None,
        compliance: ArrayLike = 0.0,
        damping_time: ArrayLike | None = None,
        force_limit: ArrayLike = np.inf,
        solver: str | None = None,
        name: str | None = None,
        collide: bool = False,
    ) -> Connection:
        """Join `a` and `b`. Return the connection.

        The two frames of the connection coincide at the time of the call, so the present pose has
        no error. `point` is the origin of the frames, `axis` their z axis, and `x_axis` their x
        axis after orthogonalisation. By default the frame of b's link is used, or the frame of a's
        link if b is the world.

        Args:
            a: a Body, a WorldFrame, a Robot with one moving link, (robot, "link"), "entity",
                "entity/link", or None or "world". At least one of a and b must be a moving link.
            b: as `a`.
            kind: "fixed" (the default), "ball", "hinge" (turns about z of the frames), "slider"
                (moves along z), "cylindrical" (both), "universal" (turns about x of frame a and y
                of frame b) or "distance".
            axes: constrained axes, in place of a kind: "x", "y", "z" along and "rx", "ry", "rz"
                about the axes of frame a. An angular axis k keeps axis k + 1 of a perpendicular to
                axis k + 2 of b. With a single free angular axis, the free axis of b is
                perpendicular to two axes of a.
            point: point in the world (3,) [m]. For "distance" two points, on a and on b, which are
                the links' origins by default.
            axis: direction in the world (3,).
            x_axis: direction in the world (3,).
            frame_a: the frame in a's link, as (position, quaternion x y z w), in place of point and
                axes. If only one frame is given, the other frame coincides with it now.
            frame_b: the frame in b's link.
            length: constrained distance of the two points for "distance" [m]. The default is the
                present distance.
            compliance: one over the stiffness of the constrained axes [m/N or rad/Nm], one number
                or six. 0 makes an axis rigid.
            damping_time: damping over stiffness [s], one number or six. The default is two time
                steps. If the compliance is 0, errors decay with this time constant, which must be
                at least one time step.
            force_limit: largest force or torque along each axis [N or Nm], one number or six.
            solver: overrides the world's rules.
            name: unique in the world. The default is a generated name.
            collide: whether the shapes of the joined bodies collide. Fixed shapes of the world
                always collide.

        Raises:
            WorldError: an argument is invalid. Nothing changes then.
        """
        self._sleep.wake()
        ends = find_end(self._world, a), find_end(self._world, b)
        if ends[0].body_of_scene == ends[1].body_of_scene:
            owner = "the world" if ends[0].body < 0 else f"one body, {'/'.join(ends[0].owner)!r}"
            raise WorldError(f"both ends of the connection, {a!r} and {b!r}, belong to {owner}")
        try:
            locked_axes = held_axes(kind, None if axes is None else _axes_of(axes))
        except ValueError as error:
            raise WorldError(str(error)) from error
        kind = "axes" if axes is not None else (kind or "fixed")
        geometry = {"point": point, "axis": axis, "x_axis": x_axis}
        poses = ends[0].pose(self._world), ends[1].pose(self._world)
        if kind == "distance":
            frames = points_in_links(poses, geometry, frame_a, frame_b)
        else:
            base = 1 if ends[1].body >= 0 else 0
            frames = frames_in_links(poses, base, geometry, frame_a, frame_b)
        for end, frame in zip(ends, frames):
            if end.body >= 0 and (text := far_point("the joined point", frame.p, end.link)):
                warnings.warn(text, ModelWarning, stacklevel=2)
        record = _joined(ends, frames, locked_axes)
        record["length"] = distance_between(kind, length, poses, frames)
        record["compliance"] = not_negative("compliance", compliance, 6)
        if damping_time is None:
            damping_time = DAMPING_STEPS * self._contents.time_step
        record["damping_time"] = not_negative("damping_time", damping_time, 6)
        refuse_undamped(record["compliance"], record["damping_time"], self._contents.time_step)
        record["force_limit"] = not_negative("force_limit", force_limit, 6, finite=False)
        if solver is not None:
            solver_code(solver, "connection")
        self._warn_of_equal(record)
        name = self._free_connection_name(name, kind)
        connection = Connection(
            *(self._world, name, kind, ends, frames, flag("collide", collide)),
            self._contents.connections_ever,
        )
        self._add_connection(connection, record)
        connection.solver = solver
        return connection

    def _connect_described(self, robot: Robot) -> None:
        for described in robot.model.connections:
            a, b = described.links
            frame_a, frame_b = ((at.p, quaternion_of(at.R)) for at in described.frames)
            connection = self.connect(
                (robot, a),
                (robot, b),
                described.kind,
                axes=described.axes,
                frame_a=frame_a,
                frame_b=frame_b,
                length=described.length,
                name=self._free_connection_name(None, f"{robot.name}/{described.name}"),
                **described.settings,
            )
            connection.keep_as_initial()

    def disconnect(self, connection: Connection | str) -> None:
        """Remove a connection, given as an object or by name, permanently."""
        require_fit("connection", connection, Connection | str, WorldError)
        name = connection if isinstance(connection, str) else connection.name
        known = self._contents.connections.get(name)
        if known is None or (not isinstance(connection, str) and known is not connection):
            raise WorldError(f"connection {name!r} is not in this world")
        self._sleep.wake()
        del self._contents.connections[name]
        self._scenes.use_connections(np.delete(self._contents.connection_records, known.index))
        for later in self._contents.connections.values():
            later.index -= later.index > known.index
        known.index = -1
        self.refresh_exclusions()

    def _add_connection(self, connection: Connection, record: np.void) -> None:
        self._contents.connections_ever += 1
        connection.index = len(self._contents.connection_records)
        self._contents.connections[connection.name] = connection
        connection_records = np.zeros(connection.index + 1, dtype=CONNECTION_RECORD)
        connection_records[:-1], connection_records[-1] = self._contents.connection_records, record
        self._scenes.use_connections(connection_records)
        connection.keep_as_initial()
        if self._contents.clock[0] > 0:
            connection.start_disabled()
        self.refresh_exclusions()

    def _warn_of_equal(self, record: np.void) -> None:
        """Warn if an enabled connection joins the same frames in the same way."""
        records = self._contents.connection_records
        is_equal = records["enabled"] != 0
        for field in _JOINED:
            column = records[field]
            is_equal &= (column == record[field]).all(axis=tuple(range(1, column.ndim)))
        if is_equal.any():
            other = list(self._contents.connections)[int(is_equal.argmax())]
            warnings.warn(
                f"connection {other!r} joins the same frames already. Change that connection, or "
                "remove one of both",
                ModelWarning,
                stacklevel=3,
            )

    def _free_connection_name(self, name: str | None, kind: str) -> str:
        if name is not None:
            if name_of("name of a connection", name) in self._contents.connections:
                raise WorldError(f"the world already has a connection called {name!r}")
            return name
        return free_name(kind, self._contents.connections)


_JOINED = ("body_a", "body_b", "axes", "length", "p_a", "p_b", "R_a", "R_b")


def _joined(ends: tuple[End, End], frames, held: tuple[str, ...]) -> np.void:
    """Return the record of a connection between two ends.

    frames: frames of the connection in the links' frames. held: the constrained axes.
    """
    record = np.zeros(1, dtype=CONNECTION_RECORD)[0]
    for end, frame, side in zip(ends, frames, "ab", strict=True):
        record[f"body_{side}"] = end.body_of_scene
        record[f"R_{side}"], record[f"p_{side}"] = end.frame.then(frame)
    for k, axis in enumerate(AXES):
        record["axes"][k] = LOCKED if axis in held else 0
    record["enabled"] = True
    return record


def frames_in_links(poses, base: int, given: dict, frame_a, frame_b) -> tuple[Placement, Placement]:
    """Return the two frames of a connection, each in the frame of its link.

    The default is the frame of the link `base`.
    """
    local = [_local("frame_a", frame_a), _local("frame_b", frame_b)]
    _refuse_both(given, frame_a, frame_b)
    if local[0] is not None and local[1] is not None:
        return local[0], local[1]
    for k in (0, 1):
        if local[k] is not None:
            at = poses[k].then(local[k])
            break
    else:
        at = _frame_in_world(poses[base], **given)
    return tuple(poses[k].inverse().then(at) if local[k] is None else local[k] for k in (0, 1))


def _refuse_both(given: dict, frame_a, frame_b) -> None:
    in_world = [name for name, value in given.items() if value is not None]
    if in_world and (frame_a is not None or frame_b is not None):
        raise WorldError(
            f"give either {', '.join(in_world)} in the world, or frames in links, not both"
        )


def _frame_in_world(base: Placement, point, axis, x_axis) -> Placement:
    """Return the common frame of a connection in the world."""
    p = base.p if point is None else finite_vector("point", point, 3)
    if axis is None and x_axis is None:
        return Placement(base.R, p)
    z = base.R[:, 2] if axis is None else _direction("axis", axis)
    if x_axis is None:
        return Placement(rotation_with_z_along(z), p)
    x = _direction("x_axis", x_axis)
    x = x - (x @ z) * z
    if np.linalg.norm(x) < 1e-6:
        raise WorldError(f"x_axis {x_axis!r} must not lie along the axis {z.tolist()}")
    x /= np.linalg.norm(x)
    return Placement(np.column_stack([x, np.cross(z, x), z]), p)


def _direction(what: str, values) -> np.ndarray:
    vector = finite_vector(what, values, 3)
    length = np.linalg.norm(vector)
    if not length > 1e-9:
        raise WorldError(f"{what} must not be zero, got {values!r}")
    return vector / length


def _local(what: str, given) -> Placement | None:
    if given is None:
        return None
    try:
        position, orientation = given
    except (TypeError, ValueError) as error:
        raise WorldError(f"{what} must be (position, quaternion x y z w), got {given!r}") from error
    R = rotation_of(f"{what} orientation", orientation)
    return Placement(R, finite_vector(f"{what} position", position, 3))


def points_in_links(poses, given: dict, frame_a, frame_b) -> tuple[Placement, Placement]:
    """Return the two frames of a distance connection, each in the frame of its link.

    The connection constrains the distance between the origins of the frames.
    """
    _refuse_both(given, frame_a, frame_b)
    if given["axis"] is not None or given["x_axis"] is not None:
        raise WorldError("a connection of kind distance has no axis and no x_axis. Leave them out")
    local = [_local("frame_a", frame_a), _local("frame_b", frame_b)]
    points = given["point"]
    if points is not None:
        if np.shape(points) != (2, 3):
            raise WorldError(f"point of a distance must be two points, got {points!r}")
        local = [
            Placement(np.eye(3), pose.inverse().R @ (finite_vector("point", p, 3) - pose.p))
            for pose, p in zip(poses, points, strict=True)
        ]
    return tuple(IDENTITY if frame is None else frame for frame in local)


def distance_between(kind: str, length, poses, frames) -> float:
    """Return the length [m] for the connection's record, 0 for all kinds but "distance"."""
    if kind != "distance":
        if length is not None:
            raise WorldError(f"a connection of kind {kind!r} has no length")
        return 0.0
    distance = float(np.linalg.norm(poses[0].then(frames[0]).p - poses[1].then(frames[1]).p))
    if length is None and distance == 0.0:
        raise WorldError("the points of the distance coincide. Give different points, or a length")
    return positive("length", distance if length is None else length)


def _axes_of(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of axes. A text names one axis, or axes of one letter each ("xyz")."""
    if isinstance(given, str) and set(given) <= set("xyz"):
        return tuple(given)
    return several(given, "axes")
