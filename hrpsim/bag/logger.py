# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Log signals of a world while the world is stepped."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bag.signal_log import SignalLog, TopicSignals
from hrpsim.bag.signal_types import SignalField, chosen_columns, fits
from hrpsim.bag.world_signals import Source, prefixes_of, sources_of, sources_of_entity
from hrpsim.common.closed import Closed
from hrpsim.common.errors import ModelWarning, StateError
from hrpsim.common.typed_values import check_arguments
from hrpsim.common.values import several
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.model.readers.robot_data import free_name
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.plausibility import SLOWEST_SAMPLES, long_period
from hrpsim.world.world import World

_EVERY = 0.005  # default period [s]
_FIRST_ROOM = 64  # initial capacity [rows]


class Logger(Closed):
    """Records signals of a world in each call of `World.step`, until `close`.

    A sample has the state and the commands at its time. Recording does not change the run. After a
    reset or a return to a snapshot, samples later than the present time are dropped. A removed
    robot or body has no samples after its removal. An added robot or body is recorded if the names
    contain its signals.

        log = hrpsim.Logger(world, ["joint_states", "lfsensor.force.z"], every=0.005)
        world.step(1000)
        print(log["lfsensor.force.z"])

    Args:
        world: the world.
        signals: names of topics, fields or columns, or patterns such as "*.force.z". None records
            everything. `Logger.table` lists all signals.
        every: time between samples [s], a whole multiple of the time step. The default is the
            multiple that is nearest to 5 ms.

    Raises:
        HrpsimError: the world has no signal of a name. The error names similar signals.
        StateError: an empty list of signals.
        ControllerError: `every` is not a whole multiple of the time step.
    """

    def __init__(
        self, world: World, signals: str | Iterable[str] | None = None, every: float | None = None
    ) -> None:
        check_arguments(Logger.__init__, locals(), StateError)
        self._world = world
        self._requested = None if signals is None else several(signals, "signals of a Logger")
        self._steps = max(round(_EVERY / world.time_step), 1)
        if every is not None:
            self._steps = steps_in_period("every", every, world.time_step)
            if text := long_period("every", every, SLOWEST_SAMPLES, "a motion"):
                warnings.warn(text, ModelWarning, stacklevel=2)
        self._prefixes = prefixes_of(world)
        if self._requested == ():
            raise StateError("signals of a Logger must not be empty. Give None for all signals")
        sources = sources_of(world, self._prefixes)
        chosen_columns(self._requested, (c for source in sources for c in source.columns))
        self._entities: list[Entity] = list(world.entities.values())
        self._tracks: list[_Track] = []
        self._follow(sources)
        self._next = self._last = round(world.time / world.time_step)
        world.add_watcher(self)
        self.update(self._next)

    def __enter__(self) -> Logger:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop recording. The samples stay available."""
        self._world.remove_watcher(self)

    @staticmethod
    def table(world: World) -> list[Source]:
        """Return the topics of a world with fields, units, frames and meanings."""
        return sources_of(world)

    @property
    def log(self) -> SignalLog:
        """The recorded samples."""
        self._forget_future(round(self._world.time / self._world.time_step))
        alike: dict[tuple[str, str], list[TopicSignals]] = {}
        for track in self._tracks:
            kind = track.source.topic, track.source.type_name
            alike.setdefault(kind, []).append(track.signals(self._world))
        merged: dict[str, TopicSignals] = {}
        for (topic, _), parts in alike.items():
            name = free_name(topic, merged)
            merged[name] = replace(_merged(parts), topic=name)
        return SignalLog(merged.values()).part(self._requested)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the samples of a signal so far: a column (n,), or a field (n, width)."""
        return self.log[name]

    def time(self, name: str) -> np.ndarray:
        """Return the times of the samples of a signal (n,) [s]."""
        return self.log.time(name)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with a row for each sample and a column for each signal."""
        return self.log.to_pandas()

    def save(self, path: str | Path) -> None:
        """Write the samples so far to a file: .npz, or .mcap (needs hrpsim[record])."""
        check_arguments(Logger.save, locals(), StateError)
        from hrpsim.bag.signal_files import write_signals

        write_signals(self.log, path)

    # -- called by World.step ---------------------------------------------------------------------

    def next_step(self, now: int) -> int:
        """Return the step before which the next sample is due."""
        return max(self._next, now)

    def update(self, now: int) -> None:
        """Take a sample if one is due. A sample at the same time replaces the last sample."""
        self._forget_future(now)
        if now < self._next and now != self._last:
            return
        self._look_for_changes()
        for track in self._tracks:
            track.add(now)
        self._last, self._next = now, now + self._steps - now % self._steps

    def _forget_future(self, now: int) -> None:
        """Drop the samples from a step on, if the world was reset or restored to this step."""
        if now < self._last:
            for track in self._tracks:
                track.drop_from(now)
            self._next = self._last = now

    def _look_for_changes(self) -> None:
        entities = list(self._world.entities.values())
        if entities == self._entities:
            return
        for track in self._tracks:
            track.ended = track.ended or track.source.entity not in (None, *entities)
        for entity in entities:
            if entity not in self._entities:
                prefix = self._prefixes.get(entity.name, f"{entity.name}/")
                self._follow(sources_of_entity(entity, prefix))
        self._entities = entities

    def _follow(self, sources: list[Source]) -> None:
        for source in sources:
            columns = source.columns
            if self._requested is None or any(fits(w, c) for w in self._requested for c in columns):
                self._tracks.append(_Track(source))


class _Track:
    """The samples of one topic, while the entity is in the world."""

    def __init__(self, source: Source) -> None:
        self.source, self.ended = source, False
        self._steps: list[int] = []
        self._rows = np.empty((_FIRST_ROOM, len(source.columns)))

    def add(self, step: int) -> None:
        """Take a sample. Replace the last sample if the step is the same."""
        if self.ended:
            return
        if not (self._steps and self._steps[-1] == step):
            self._steps.append(step)
        count = len(self._steps)
        if count > len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[count - 1] = self.source.read()

    def drop_from(self, step: int) -> None:
        """Drop the samples of a step and of later steps."""
        while self._steps and self._steps[-1] >= step:
            self._steps.pop()

    def signals(self, world: World) -> TopicSignals:
        """Return the samples that have at least one number, as signals."""
        source, count = self.source, len(self._steps)
        values = self._rows[:count]
        there = ~np.isnan(values).all(axis=1)
        time = np.array(self._steps, dtype=np.float64) * world.time_step
        rows = time[there], values[there]
        return TopicSignals(source.topic, source.type_name, source.fields, *rows, source.frame)


def _merged_field(field: SignalField, parts: list[TopicSignals]) -> SignalField:
    """Return a field with the labels from all parts of a topic."""
    every = [own for part in parts for own in part.fields if own.name == field.name]
    labels = dict.fromkeys(chain(*(own.labels for own in every)))
    return SignalField(field.name, tuple(labels), field.unit)


def _merged(parts: list[TopicSignals]) -> TopicSignals:
    """Join the samples of a topic of successive robots or bodies with the same name."""
    first = parts[0]
    if len(parts) == 1:
        return first
    fields = [_merged_field(field, parts) for field in first.fields]
    columns = [c for field in fields for c in field.columns(first.topic)]
    place = {column: k for k, column in enumerate(columns)}
    blocks = []
    for part in parts:
        block = np.full((len(part.time), len(columns)), np.nan)
        block[:, [place[column] for column in part.columns]] = part.values
        blocks.append(block)
    time = np.concatenate([part.time for part in parts])
    order = np.argsort(time, kind="stable")
    values = np.concatenate(blocks)[order]
    named = first.topic, first.type_name, tuple(fields)
    return TopicSignals(*named, time[order], values, first.frame)
