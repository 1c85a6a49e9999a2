"""Looking at a connection: its errors and what it does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.connection_rows import HELD, find_direction
from hrpsim.constraints.joined_frames import place_frames
from hrpsim.jit.compiled import kernel


class ConnectionSources(NamedTuple):
    """What connections are read from."""

    settings: np.ndarray  # (1,) with the field time_step
    connections: np.ndarray  # (connections,) JOIN


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
    join = s.connections[c]
    scale = -1.0 / s.settings[0].time_step
    for r in range(6):
        wrench_out[r] = 0.0
    for axis in range(6):
        if join.axes[axis]:
            force = scale * (join.impulse[axis] + join.struck[axis])
            first = 0 if axis < 3 else 3
            for r in range(3):
                wrench_out[first + r] += force * join.along[axis, r]
    return 0
