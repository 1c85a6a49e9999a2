"""Looking at a connection: its errors and what it does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.compiled import kernel
from hrpsim.constraints.connection_rows import HELD, find_direction
from hrpsim.constraints.joined_frames import place_frames
from hrpsim.kinematics.forest import Forest


class ConnectionSources(NamedTuple):
    """What connections are read from."""

    settings: np.ndarray  # (1,) with the field time_step
    forest: Forest
    kinematics: np.ndarray  # (n,) KINEMATICS
    connections: np.ndarray  # (connections,) JOIN
    joined: np.ndarray  # (1,) JOINED, work


@kernel
def measure_errors(forest, kinematics, connections, c, joined, errors_out):
    """Write g (6,) of connection `c`'s held axes [m or rad], zero elsewhere, at these poses.

    `joined` (1,) is work.
    """
    join, work = connections[c], joined[0]
    place_frames(forest, kinematics, join, work)
    for axis in range(6):
        errors_out[axis] = find_direction(join, axis, work) if join.axes[axis] == HELD else 0.0


@kernel
def read_wrench(s, c, wrench_out):
    """Write force [N] and torque [Nm] (6,) of connection `c` on b, impacts included."""
    join, work = s.connections[c], s.joined[0]
    place_frames(s.forest, s.kinematics, join, work)
    scale = -1.0 / s.settings[0].time_step
    for r in range(6):
        wrench_out[r] = 0.0
    for axis in range(6):
        if join.axes[axis]:
            find_direction(join, axis, work)
            force = scale * (join.impulse[axis] + join.struck[axis])
            first = 0 if axis < 3 else 3
            for r in range(3):
                wrench_out[first + r] += force * work.direction[r]
    return 0
