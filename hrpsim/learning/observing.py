# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compute observations of all worlds from terms, with noise, bounds, scales and histories."""

from __future__ import annotations

import numpy as np

from hrpsim.common.errors import StateError
from hrpsim.learning.bound_terms import bound_term
from hrpsim.learning.configs import ObservationGroupCfg, ObservationTermCfg, UniformNoiseCfg
from hrpsim.learning.terms.observations import OBSERVATIONS
from hrpsim.learning.terms.task_state import TaskState


class ObservedTerm:
    """One term of a group, with its history.

    Args:
        name: name of the term, for errors.
        cfg: settings of the term.
        group: settings of the group.
        state: state of the worlds.

    Raises:
        StateError: the function does not exist, or its result or the scale has another shape.
    """

    def __init__(
        self, name: str, cfg: ObservationTermCfg, group: ObservationGroupCfg, state: TaskState
    ) -> None:
        self.name, self._cfg, self._state = name, cfg, state
        self._term = bound_term("observation", name, cfg.func, cfg.params, OBSERVATIONS, state)
        self._noise = cfg.noise if group.enable_corruption else None
        length = cfg.history_length if group.history_length is None else group.history_length
        shape = np.shape(self._term.value(state))
        if len(shape) != 2 or shape[0] != state.count:
            raise StateError(
                f"observation {name!r}: the term returns the shape {shape}. It must be"
                f" ({state.count}, k)"
            )
        self.size = shape[1]
        self._scale = None if cfg.scale is None else np.asarray(cfg.scale, dtype=np.float64)
        if self._scale is not None and self._scale.shape not in ((), (self.size,)):
            raise StateError(
                f"observation {name!r}: the scale has {self._scale.size} numbers, but the term has"
                f" {self.size}"
            )
        self._history = np.zeros((state.count, max(length, 1), self.size))

    @property
    def width(self) -> int:
        """Length of the term with its history."""
        return self._history.shape[1] * self.size

    def observe(self, worlds: np.ndarray, begins: bool) -> np.ndarray:
        """Return the observations of worlds (m,), including the history (m, history * size).

        begins: whether the worlds begin an episode. The present value then fills the history.
        """
        values = np.array(self._term.value(self._state), dtype=np.float64)[worlds]
        if self._noise is not None:
            values += self._noise_of(worlds)
        if self._cfg.clip is not None:
            values = np.clip(values, *self._cfg.clip)
        if self._scale is not None:
            values = values * self._scale
        history = self._history
        if history.shape[1] == 1:
            return values
        if begins:
            history[worlds] = values[:, None]
        else:
            history[worlds, :-1] = history[worlds, 1:]
            history[worlds, -1] = values
        return history[worlds].reshape(len(worlds), -1)

    def _noise_of(self, worlds: np.ndarray) -> np.ndarray:
        noise, draws = self._noise, self._state.random
        if isinstance(noise, UniformNoiseCfg):
            return draws.uniform(worlds, noise.n_min, noise.n_max, self.size)
        assert noise is not None
        return noise.mean + noise.std * draws.normal(worlds, self.size)


class ObservationGroups:
    """The groups of observations of a task, by name."""

    def __init__(self, groups: dict[str, ObservationGroupCfg], state: TaskState) -> None:
        self.terms = {
            group: [ObservedTerm(name, term, cfg, state) for name, term in cfg.terms.items()]
            for group, cfg in groups.items()
        }
        for group, terms in self.terms.items():
            if not terms:
                raise StateError(f"the observation group {group!r} has no terms. Give at least one")

    def observe(self, worlds: np.ndarray, begins: bool) -> dict[str, np.ndarray]:
        """Return the observations (m, size) of worlds (m,), by group."""
        return {
            group: np.concatenate([_checked_values(term, worlds, begins) for term in terms], axis=1)
            for group, terms in self.terms.items()
        }


def _checked_values(term: ObservedTerm, worlds: np.ndarray, begins: bool) -> np.ndarray:
    """Return the values of a term in worlds (m,). Raises StateError for NaN."""
    values = term.observe(worlds, begins)
    if np.isnan(values).any():
        world = worlds[np.isnan(values).any(axis=1)][0]
        raise StateError(f"observation {term.name!r} of world {world} has NaN")
    return values
