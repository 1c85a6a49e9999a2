# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The connections of a world, which join bodies to each other."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.constraints.connection_rows import CONNECTION_RECORD, LOCKED
from hrpsim.errors import WorldError
from hrpsim.model.connection import AXES, held_axes
from hrpsim.model.shapes.placement import quaternion_of
from hrpsim.values import not_negative
from hrpsim.world.objects.compliance import DAMPING_STEPS, refuse_undamped
from hrpsim.world.objects.connection import Connection
from hrpsim.world.objects.connection_frames import (
    distance_between,
    frames_in_links,
    points_in_links,
)
from hrpsim.world.objects.ends import End, EndLike, find_end
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import solver_code
from hrpsim.world.parts.exclusions import JoiningPart


class Connections(JoiningPart):
    """The connections of a world. They hold from the next step on."""

    @property
    def connections(self) -> MappingProxyType:
        """Connections by name."""
        return MappingProxyType(self._contents.connections)

    def connect(  # many parameters: keywords, told by name
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
        """Join `a` and `b`; return the connection.

        The frames coincide now, so that the present pose has no error: `point` is their origin,
        `axis` their z and `x_axis`, made square to it, their x. Without these the frame of b's link
        is taken (of a's, if b is the world).

        Args:
            a: a Body, a Robot with one moving link, (robot, "link"), "entity", "entity/link", or
                None or "world". At least one of a and b must move.
            b: likewise.
            kind: "fixed" (the default), "ball", "hinge" (turns about z of the frames), "slider"
                (moves along z), "cylindrical" (both), "universal" (turns about x of frame a and y
                of frame b) or "distance".
            axes: in place of a kind, the axes that are held: "x", "y", "z" along and "rx", "ry",
                "rz" about the axes of frame a. An angular axis k holds axis k + 1 of a square to
                axis k + 2 of b; with a single free axis, the free axis of b square to two axes of
                a.
            point: in the world (3,) [m]. For "distance" two points, on a and on b; by default the
                links' origins.
            axis: in the world (3,).
            x_axis: in the world (3,).
            frame_a: in place of the above, the frame in a's link, as (position, quaternion x y z
                w). If only one frame is given, the other coincides with it now.
            frame_b: the frame in b's link.
            length: distance of the points of "distance" [m]; the present one by default.
            compliance: [m/N or rad/Nm], one number or six.
            damping_time: [s], one number or six; by default two time steps. At least one time step
                where the compliance is 0.
            force_limit: [N or Nm], one number or six.
            solver: overrides the world's rules.
            name: unique in the world; made up by default.
            collide: whether the shapes of the joined bodies collide; those of the world always do.

        Raises:
            WorldError: for other values; nothing changes then.
        """
        self._sleep.wake()
        ends = find_end(self._world, a), find_end(self._world, b)
        if ends[0].body_of_scene == ends[1].body_of_scene:
            what = "the world" if ends[0].body < 0 else f"the same body, that of {ends[0].owner}"
            raise WorldError(f"both ends of the connection, {a!r} and {b!r}, are {what}")
        try:
            held = held_axes(kind, axes)
        except ValueError as error:
            raise WorldError(str(error)) from error
        kind = "axes" if axes is not None else (kind or "fixed")
        given = {"point": point, "axis": axis, "x_axis": x_axis}
        poses = ends[0].pose(self._world), ends[1].pose(self._world)
        if kind == "distance":
            frames = points_in_links(poses, given, frame_a, frame_b)
        else:
            base = 1 if ends[1].body >= 0 else 0
            frames = frames_in_links(poses, base, given, frame_a, frame_b)
        record = _joined(ends, frames, held)
        record["length"] = distance_between(kind, length, poses, frames)
        record["compliance"] = not_negative("compliance", compliance, 6)
        if damping_time is None:
            damping_time = DAMPING_STEPS * self._contents.time_step
        record["damping_time"] = not_negative("damping_time", damping_time, 6)
        refuse_undamped(record["compliance"], record["damping_time"], self._contents.time_step)
        record["force_limit"] = not_negative("force_limit", force_limit, 6, finite=False)
        if solver is not None:
            solver_code(solver, "connection")
        name = self._free_connection_name(name, kind)
        connection = Connection(self._world, name, kind, ends, bool(collide), self._made)
        self._hold(connection, record)
        connection.solver = solver
        return connection

    def connect_described(self, robot: Robot) -> None:
        """Make the connections of a robot's description."""
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
        """Remove a connection, or one of this name, from the world for good."""
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
        self._exclusions.refresh()

    def _hold(self, connection: Connection, record: np.void) -> None:
        self._made += 1
        connection.index = len(self._contents.connection_records)
        self._contents.connections[connection.name] = connection
        connection_records = np.zeros(connection.index + 1, dtype=CONNECTION_RECORD)
        connection_records[:-1], connection_records[-1] = self._contents.connection_records, record
        self._scenes.use_connections(connection_records)
        connection.keep_as_initial()
        if self._contents.clock[0] > 0:
            connection.start_disabled()
        self._exclusions.refresh()

    def _free_connection_name(self, name: str | None, kind: str) -> str:
        if name is not None:
            if name in self._contents.connections:
                raise WorldError(f"the world already has a connection called {name!r}")
            return name
        name, k = kind, 2
        while name in self._contents.connections:
            name, k = f"{kind}_{k}", k + 1
        return name


def _joined(ends: tuple[End, End], frames, held: tuple[str, ...]) -> np.void:
    """Return the record of a connection that holds `held` of frames in the ends' links."""
    record = np.zeros(1, dtype=CONNECTION_RECORD)[0]
    for end, frame, side in zip(ends, frames, "ab", strict=True):
        record[f"body_{side}"] = end.body_of_scene
        record[f"R_{side}"], record[f"p_{side}"] = end.frame.then(frame)
    for k, axis in enumerate(AXES):
        record["axes"][k] = LOCKED if axis in held else 0
    record["enabled"] = True
    return record
