# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""sensor_msgs/PointCloud2 of rows of points."""

from __future__ import annotations

from array import array

import numpy as np
from sensor_msgs.msg import PointCloud2, PointField

_DATATYPES = {"f4": PointField.FLOAT32, "u2": PointField.UINT16}


class PointCloud:
    """A cloud's message, and the points in it.

    points: (rows * columns,) of a type with the float32 fields x, y, z [m], row by row.
    """

    def __init__(self, kind: np.dtype, rows: int, columns: int, frame: str):
        self.points = np.zeros(rows * columns, dtype=kind)
        self.message = PointCloud2(height=rows, width=columns, point_step=kind.itemsize)
        self.message.row_step = columns * kind.itemsize
        self.message.header.frame_id = frame
        self.message.fields = [
            PointField(name=name, offset=offset, datatype=_DATATYPES[type_.str[1:]], count=1)
            for name, (type_, offset) in (kind.fields or {}).items()
        ]

    def fill(self, positions: np.ndarray) -> None:
        """Write `points`, with their positions (n, 3) [m], into the message."""
        for axis, values in zip("xyz", positions.T):
            self.points[axis] = values
        self.message.is_dense = bool(np.isfinite(positions).all())
        self.message.data = array("B", self.points.tobytes())
