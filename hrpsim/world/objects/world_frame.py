# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fixed frames that the user moves. Connections pull bodies to the frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Closed
from hrpsim.common.values import finite_vector
from hrpsim.model.shapes.placement import Placement, quaternion_of, rotation_of
from hrpsim.world.objects.entity import WorldState, _frozen


class WorldFrame(Closed):
    """A frame of the world without mass or shape, like a mocap body of MuJoCo.

    `World.add_frame` makes such frames.

    Only assignments to its properties move the frame. Connections follow the frame from the next
    step on. Connections pull the connected bodies to the frame's new pose, at the speed of error
    correction. Turn a frame by less than 90 degrees at a time. After larger turns a connection may
    converge to another orientation that also fits.

    Args:
        world: the world of the frame.
        name: unique in the world.
        placement: placement in the world.
    """

    def __init__(self, world: WorldState, name: str, placement: Placement) -> None:
        self.world = world
        self.name = name
        self._placement = self._initial = placement

    def __repr__(self) -> str:
        return f"<WorldFrame {self.name!r}: at {self.position.round(3).tolist()}>"

    @property
    def placement(self) -> Placement:
        """Placement of the frame in the world."""
        return self._placement

    @property
    def position(self) -> np.ndarray:
        """Position in the world (3,) [m]. Assign a position to move the frame."""
        return _frozen(self._placement.p)

    @position.setter
    def position(self, values: ArrayLike) -> None:
        self.put(Placement(self._placement.R, finite_vector("position", values, 3)))

    @property
    def orientation(self) -> np.ndarray:
        """Quaternion x y z w (4,). Assign a quaternion of any length to turn the frame."""
        return _frozen(quaternion_of(self._placement.R))

    @orientation.setter
    def orientation(self, values: ArrayLike) -> None:
        self.put(Placement(rotation_of("orientation of a frame", values), self._placement.p))

    def put(self, placement: Placement) -> None:
        """Move the frame. Connected bodies follow from the next step on."""
        self._placement = placement
        for connection in self.world.connections.values():
            connection.follow(self)

    def initialise(self) -> None:
        """Restore the pose at addition, or the pose saved by `keep_as_initial`."""
        self.put(self._initial)

    def keep_as_initial(self) -> None:
        """Save the present pose as the pose that a reset restores."""
        self._initial = self._placement
