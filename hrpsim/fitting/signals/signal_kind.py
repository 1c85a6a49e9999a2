# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The base class of the kinds of signals: columns, quantities, unknowns, and predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hrpsim.common.errors import FitError, require_name
from hrpsim.common.values import ANY, Range
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

MIDDLE = 0.5  # time of a mean over the last step, before the end of the step [steps]
DELAY = "delay"
MOST_DELAY = 0.1  # [s]


class Tangent(NamedTuple):
    """The derivatives of one step of a world with respect to p unknowns."""

    state: np.ndarray  # (2 nv, p) of the robot or body at the end of the step
    outputs: Mapping[tuple[str, str, str], np.ndarray]  # (r, p), of `World.linearize`, by name
    # changes of the same by the difference of the velocities in the middle and at the start
    ahead: Mapping[tuple[str, str, str], np.ndarray]


class Setting(NamedTuple):
    """The declaration of an unknown of a signal."""

    usual: float | None  # value of an ideal sensor, None without one
    bounds: Range = ANY
    unit: str = ""


DELAY_SETTING = Setting(0.0, Range(-MOST_DELAY, MOST_DELAY, "s"), "s")


class SignalKind(ABC):
    """A kind of signal. Instances have no state.

    Attributes:
        name: name in files and paths.
        quantities: units by name of the quantity. Each quantity has its own noise. If a kind has
            only one quantity, the quantity is called "".
        columns: labels of the columns. Empty if the columns are joints, which a recording names.
        outputs: the outputs of `World.linearize` that `slopes` needs, or () for none. None means
            that the kind has no derivatives.
    """

    name: ClassVar[str]
    outputs: ClassVar[tuple[str, ...] | None] = ()
    quantities: ClassVar[Mapping[str, str]]
    columns: ClassVar[tuple[str, ...]] = ()

    def quantity_of(self, columns: Sequence[str]) -> list[str]:
        """Return the quantity of each column.

        By default all quantities have equally many columns.
        """
        names = list(self.quantities)
        return [names[k * len(names) // len(columns)] for k in range(len(columns))]

    @abstractmethod
    def settings(self, columns: Sequence[str]) -> dict[str, Setting]:
        """Return the unknowns of a signal with these columns, by name, without the delay."""

    @abstractmethod
    def check(self, thing: Any, of: str, columns: Sequence[str]) -> None:
        """Raise FitError if a robot or body lacks the sensor, joints or link."""

    def phase(self, world: World) -> float:
        """Return the time from the values of `read` to the end of the last step [steps].

        The time is positive if the values belong to a time before the end of the step.
        """
        return MIDDLE

    @abstractmethod
    def read(self, thing: Any, of: str, columns: Sequence[str]) -> np.ndarray:
        """Return raw values (width,) of the last step of a robot or body."""

    def slopes(self, thing: Any, of: str, columns: Sequence[str], tangent: Tangent) -> np.ndarray:
        """Return the derivatives of the values of `read` by the p unknowns (width, p)."""
        raise NotImplementedError

    @abstractmethod
    def predict(
        self, raw: np.ndarray, settings: Mapping[str, float], columns: Sequence[str]
    ) -> np.ndarray:
        """Return predicted values (samples, columns).

        Args:
            raw: values of `read` at the times of the samples (samples, width).
            settings: values of all unknowns by name.
            columns: labels of the columns.
        """


def robot_only(thing: Any, kind: str) -> Robot:
    """Return `thing` if it is a robot. Raises FitError for a body."""
    if not isinstance(thing, Robot):
        raise FitError(f"a signal of kind {kind} needs a robot, but {thing.name!r} is a body")
    return thing


def check_sensor(thing: Any, kind: str, of: str, sensor_kind: str) -> None:
    """Raise FitError if a robot has no sensor named `of` of this kind."""
    known = [s.name for s in robot_only(thing, kind).model.sensors if s.kind == sensor_kind]
    require_name("sensor", of, known, FitError, where=f"signal of kind {kind}")


def check_link(thing: Any, kind: str, of: str) -> None:
    """Raise FitError if a robot or body has no link named `of`."""
    known = [frame.name for frame in thing.frames]
    require_name("link", of, known, FitError, where=f"signal of kind {kind}")
