# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compute the present errors and wrench of a connection."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.kernel_types import (
    Connection,
    Index,
    Kinematics,
    PlacedConnection,
    Records,
    Vec6,
    Vector,
)
from hrpsim.engine.constraints.connection_rows import LOCKED, find_direction
from hrpsim.engine.constraints.placed_connection import place_frames
from hrpsim.engine.kinematics.forest import Forest


class ConnectionSources(NamedTuple):
    """The arrays from which the state of connections is read."""

    settings: np.ndarray  # (1,) with the field time_step
    connections: np.ndarray  # (connections,) JOIN


@kernel
def measure_errors(
    forest: Forest,
    kinematics: Records[Kinematics],
    connections: Records[Connection],
    c: Index,
    placed: Records[PlacedConnection],
    errors_out: Vec6,
) -> None:
    """Write the errors g of a connection's constrained axes at the present poses.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        connections: CONNECTION_RECORD records.
        c: index of the connection.
        placed: work (1,).
        errors_out: errors (6,) [m, rad], linear first, written. Free axes have 0.
    """
    connection, work = connections[c], placed[0]
    place_frames(forest, kinematics, connection, work)
    for axis in range(6):
        errors_out[axis] = (
            find_direction(connection, axis, work) if connection.axes[axis] == LOCKED else 0.0
        )


@kernel
def read_wrench(s: ConnectionSources, c: int, wrench_out: Vector) -> int:
    """Write the wrench of a connection on body b, including impacts. Return 0.

    Args:
        s: arrays of the connections.
        c: index of the connection.
        wrench_out: force [N], then torque [Nm], along world axes (6,).
    """
    connection = s.connections[c]
    scale = -1.0 / s.settings[0].time_step
    for r in range(6):
        wrench_out[r] = 0.0
    for axis in range(6):
        if connection.axes[axis]:
            force = scale * (connection.impulse[axis] + connection.impact_impulse[axis])
            first = 0 if axis < 3 else 3
            for r in range(3):
                wrench_out[first + r] += force * connection.along[axis, r]
    return 0
