"""Looking at a connection: its errors and the directions of its forces."""

from __future__ import annotations

from hrpsim.compiled import kernel
from hrpsim.constraints.connection_rows import HELD, find_direction
from hrpsim.constraints.joined_frames import place_frames


@kernel
def measure_connection(forest, kinematics, connections, c, joined, errors_out, directions_out):
    """Write what connection `c` measures at the poses of `kinematics`.

    errors_out (6,): g of its held axes [m or rad], zero elsewhere. directions_out (6, 3): along
    the world's axes, the direction of each row's force or moment on a, zero for free axes.
    `joined` (1,) is work.
    """
    join, work = connections[c], joined[0]
    place_frames(forest, kinematics, join, work)
    for axis in range(6):
        errors_out[axis] = 0.0
        for r in range(3):
            directions_out[axis, r] = 0.0
        if join.axes[axis]:
            error = find_direction(join, axis, work)
            if join.axes[axis] == HELD:
                errors_out[axis] = error
            for r in range(3):
                directions_out[axis, r] = work.direction[r]
