# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The present errors and wrench of a connection."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.constraints.connection_rows import LOCKED, find_direction
from hrpsim.engine.constraints.placed_connection import place_frames


class ConnectionSources(NamedTuple):
    """The arrays that connections are read from."""

    settings: np.ndarray  # (1,) with the field time_step
    connections: np.ndarray  # (connections,) JOIN


@kernel
def measure_errors(forest, kinematics, connections, c, placed, errors_out):
    """Write g (6,) of connection `c`'s held axes [m or rad], zero elsewhere, at these poses.

    `joined` (1,) is work.
    """
    connection, work = connections[c], placed[0]
    place_frames(forest, kinematics, connection, work)
    for axis in range(6):
        errors_out[axis] = (
            find_direction(connection, axis, work) if connection.axes[axis] == LOCKED else 0.0
        )


@kernel
def read_wrench(s, c, wrench_out):
    """Write force [N] and torque [Nm] (6,) of connection `c` on b, impacts included."""
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
