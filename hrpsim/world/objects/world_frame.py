# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Frames that stand where they are put, and lead what is connected to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.errors import StateError
from hrpsim.model.shapes.placement import Placement, quaternion_of, rotation_matrix
from hrpsim.values import finite_vector
from hrpsim.world.objects.entity import WorldState, _frozen


class WorldFrame:
    """A frame of the world without mass or shape, as MuJoCo's mocap bodies; `World.add_frame`.

    Nothing moves it but its properties. Connections follow it from the next step on: what they
    hold is drawn to the frame's new pose as fast as connections correct their errors. Turn a frame
    by less than 90 degrees at a time: beyond that a connection may find another turn that fits.

    Args:
        world: that it is in.
        name: unique in the world.
        placement: in the world.
    """

    def __init__(self, world: WorldState, name: str, placement: Placement):
        self.world = world
        self.name = name
        self._placement = self._initial = placement

    def __repr__(self) -> str:
        return f"<WorldFrame {self.name!r}: at {self.position.round(3).tolist()}>"

    @property
    def placement(self) -> Placement:
        """Its placement in the world."""
        return self._placement

    @property
    def position(self) -> np.ndarray:
        """Position in the world (3,) [m]; assign to move the frame."""
        return _frozen(self._placement.p)

    @position.setter
    def position(self, values: ArrayLike) -> None:
        self.put(Placement(self._placement.R, finite_vector("position", values, 3)))

    @property
    def orientation(self) -> np.ndarray:
        """Quaternion x y z w (4,); assign one of any length to turn the frame."""
        return _frozen(quaternion_of(self._placement.R))

    @orientation.setter
    def orientation(self, values: ArrayLike) -> None:
        self.put(Placement(rotation_of(values), self._placement.p))

    def put(self, placement: Placement) -> None:
        """Move the frame, and what its connections hold with it."""
        self._placement = placement
        for connection in self.world.connections.values():
            connection.follow(self)

    def initialise(self) -> None:
        """Return to where the frame was added, or was when the start was saved."""
        self.put(self._initial)

    def keep_as_initial(self) -> None:
        """Save the present pose as the one that a reset returns to."""
        self._initial = self._placement


def rotation_of(quaternion: ArrayLike) -> np.ndarray:
    """Return R (3, 3) of a quaternion x y z w of any length but zero; StateError for that."""
    values = finite_vector("orientation", quaternion, 4)
    length = float(np.linalg.norm(values))
    if length < 1e-6:
        raise StateError("the orientation of a frame must not be zero")
    return rotation_matrix(values / length)
