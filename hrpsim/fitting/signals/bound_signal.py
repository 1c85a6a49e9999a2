# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A sensor signal bound to a world: the samples that windows compare, and predicted values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hrpsim.common.errors import FitError
from hrpsim.fitting.signals.signal import Signal
from hrpsim.fitting.signals.signal_kind import DELAY, Setting, Tangent
from hrpsim.world.world import World

_ROUNDING = 1e-9  # [s]
_TINY = 1e-30  # of the complex step


class BoundSignal:
    """A signal of the robot or body `entity` of a world.

    Args:
        signal: the samples.
        world: a world with the entity.
        entity: name of the robot or body.
        delays: smallest and largest possible delay [s].

    Raises:
        FitError: the entity has no such sensor, joint or link.
    """

    def __init__(
        self, signal: Signal, world: World, entity: str, delays: tuple[float, float]
    ) -> None:
        self.signal, self.time_step = signal, world.time_step
        rules = signal.rules
        rules.check(world.entities[entity], signal.of, signal.columns)
        self.phase = rules.phase(world)
        earliest = (1.0 - self.phase) * self.time_step if self.phase > 0.0 else 0.0
        self._first = max(delays[1] + earliest, 0.0)  # first usable time in a window [s]
        self._settings = {
            name: (signal.path(name), setting) for name, setting in signal.settings.items()
        }

    def samples(self, begin: float, end: float, with_end: bool) -> slice:
        """Return the range of samples that a window from `begin` to `end` [s] can predict.

        Sensors read the mean over a step, so no value exists at the beginning of a window. A delay
        shifts the values to even earlier times.
        """
        time, tiny = self.signal.time, _ROUNDING if with_end else -_ROUNDING
        first = int(np.searchsorted(time, begin + self._first - _ROUNDING))
        return slice(first, max(first, int(np.searchsorted(time, end + tiny))))

    def settings(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the unknowns of the signal by name.

        Args:
            values: values of unknowns by path.

        Raises:
            FitError: an unknown has no value.
        """
        return {
            n: self._value(n, path, setting, values)
            for n, (path, setting) in self._settings.items()
        }

    def _value(self, name: str, path: str, one: Setting, values: Mapping[str, float]) -> float:
        value = values.get(path, self.signal.known.get(name, one.usual))
        if value is None:
            raise FitError(f"{path} is not known. List the unknown under `parameters`")
        return value

    def steps(self, samples: slice, begin: float, settings: Mapping[str, float]) -> np.ndarray:
        """Return the times at which readings must be predicted, as steps after `begin` (m,).

        Args:
            samples: range of the samples.
            begin: begin of the window [s].
            settings: values of the signal's unknowns by name, including the delay.
        """
        elapsed = self.signal.time[samples] - settings[DELAY] - begin
        return np.maximum(elapsed / self.time_step + self.phase, float(self.phase > 0.0))

    def read(self, thing: Any) -> np.ndarray:
        """Return the raw values of a robot's or body's last step."""
        return self.signal.rules.read(thing, self.signal.of, self.signal.columns)

    def differences(
        self, raw: np.ndarray, samples: slice, settings: Mapping[str, float]
    ) -> np.ndarray:
        """Return predicted minus measured (m, columns), from raw values (m, width)."""
        predicted = self.signal.rules.predict(raw, settings, self.signal.columns)
        return predicted - self.signal.values[samples]

    def slopes(self, thing: Any, tangent: Tangent) -> np.ndarray:
        """Return the derivatives of the last step's raw values by the p unknowns (width, p)."""
        return self.signal.rules.slopes(thing, self.signal.of, self.signal.columns, tangent)

    def differentials(
        self, raw: np.ndarray, slopes: np.ndarray, settings: Mapping[str, float]
    ) -> np.ndarray:
        """Return derivatives of predictions (m, columns, p), by complex-step differentiation.

        Args:
            raw: raw values (m, width).
            slopes: derivatives of the raw values (m, width, p).
            settings: values of all unknowns by name.
        """
        m, width, p = slopes.shape
        moved = raw[:, None, :] + 1j * _TINY * slopes.transpose(0, 2, 1)
        rules, columns = self.signal.rules, self.signal.columns
        predicted = rules.predict(moved.reshape(m * p, width), settings, columns)
        return predicted.imag.reshape(m, p, -1).transpose(0, 2, 1) / _TINY

    def still(self, samples: slice) -> np.ndarray:
        """Return the differences (m, columns) if the prediction is the mean of the signal."""
        return self.signal.values.mean(axis=0) - self.signal.values[samples]
