# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Samples of one sensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hrpsim.common.errors import FitError, require_name, require_names
from hrpsim.common.typed_values import Finite, require_fit
from hrpsim.common.values import as_numbers
from hrpsim.fitting.signals.signal_kind import DELAY, DELAY_SETTING, Setting, SignalKind
from hrpsim.fitting.signals.signal_kinds import SIGNAL_KINDS

_KINDS: dict[str, Any] = {"name": str, "joints": Sequence[str], "of": str}
_KINDS |= {"known": Mapping[str, Finite]}
PREFIX = "signals."  # prefix of the paths of unknowns


@dataclass(frozen=True, eq=False)
class Signal:
    """Samples of a sensor, with times of the clock of the recording.

    Args:
        kind: "torque", "current", "motor_position", "wrench", "imu", "contact" or "point".
        name: name for reports and for the paths of unknowns, `signals.NAME.UNKNOWN`.
        time: times of the samples (n,) [s], increasing. The times may differ from the times of the
            states.
        values: values of the samples (n, columns). Torques [Nm or N], currents [A] and positions of
            motors [rad or m] have one column for each joint. A wrench has force [N] and torque [Nm]
            in and about the sensor's frame. An IMU has angular velocity [rad/s] and specific force
            [m/s^2] in the sensor's frame. A contact is 0 or 1. A point is a position in the world
            [m]. Samples with NaN are left out.
        joints: joints of the columns, for signals with one column for each joint.
        of: the sensor or link. The default is `name`.
        known: values of unknowns that are not fitted, by name, such as {"delay": 0.002}.

    Raises:
        FitError: the kind or a name in `known` is unknown, array shapes do not match, values are
            not finite, or times do not increase.
    """

    kind: str
    name: str
    time: np.ndarray
    values: np.ndarray
    joints: tuple[str, ...] = ()
    of: str = ""
    known: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for attribute, kind in _KINDS.items():
            require_fit(f"Signal.{attribute}", getattr(self, attribute), kind, FitError)
        require_name("kind", self.kind, SIGNAL_KINDS, FitError, where=self.name)
        put = object.__setattr__  # the class is frozen
        put(self, "joints", tuple(map(str, self.joints)))
        put(self, "of", self.of or self.name)
        if not self.columns:
            raise FitError(f"signal {self.name}: `joints` must name the columns")
        time, values = self._samples()
        if not (np.isfinite(time).all() and np.isfinite(values).all()):
            raise FitError(f"signal {self.name}: a time or a value is not finite")
        for k in np.flatnonzero(np.diff(time) <= 0.0)[:1]:
            raise FitError(
                f"signal {self.name}: time does not increase: {time[k + 1]:.9g} s follows "
                f"{time[k]:.9g} s"
            )
        put(self, "time", time)
        put(self, "values", values)
        put(self, "known", {str(key): float(value) for key, value in self.known.items()})
        require_names("unknown", self.known, self.settings, FitError, where=f"signal {self.name}")

    def _samples(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times (n,) and values (n, columns) of the samples without NaN."""
        label = f"signal {self.name}: a time or a value"
        time, values = (as_numbers(label, array, FitError) for array in (self.time, self.values))
        shape = time.size, len(self.columns)
        if time.ndim != 1 or values.shape != shape:
            raise FitError(
                f"signal {self.name}: values must have shape {shape}, got {values.shape}"
            )
        measured = ~np.isnan(values).any(axis=1)
        return time[measured], values[measured]

    @property
    def rules(self) -> SignalKind:
        """The class that implements this kind of signal."""
        return SIGNAL_KINDS[self.kind]

    @property
    def columns(self) -> tuple[str, ...]:
        """Labels of the columns."""
        return self.rules.columns or self.joints

    @property
    def settings(self) -> dict[str, Setting]:
        """The unknowns of the signal by name."""
        return {**self.rules.settings(self.columns), DELAY: DELAY_SETTING}

    @property
    def quantities(self) -> tuple[str, ...]:
        """The name of each column's quantity: NAME, or NAME.QUANTITY if the kind has several."""
        names = self.rules.quantity_of(self.columns)
        return tuple(f"{self.name}.{name}" if name else self.name for name in names)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each of `quantities`."""
        own = self.rules.quantities
        return {f"{self.name}.{name}" if name else self.name: unit for name, unit in own.items()}

    def path(self, setting: str) -> str:
        """Return the path of an unknown of the signal."""
        return f"{PREFIX}{self.name}.{setting}"
