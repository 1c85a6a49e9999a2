# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recorded signals: arrays by name, from a world, an npz file or a bag."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hrpsim.bag.signal_types import SignalField, chosen_columns
from hrpsim.common.errors import UnknownNameError, require_packages, unknown_name


@dataclass(frozen=True, eq=False)
class TopicSignals:
    """The samples of one topic: n rows, and the columns of all fields, one field after another."""

    topic: str
    type_name: str  # type of the ROS message
    fields: tuple[SignalField, ...]
    time: np.ndarray  # (n,) [s]
    values: np.ndarray  # (n, columns), NaN for missing numbers
    frame: str = ""

    @property
    def columns(self) -> list[str]:
        """Full names of the columns."""
        return [name for field in self.fields for name in field.columns(self.topic)]

    def field(self, name: str) -> tuple[SignalField, np.ndarray] | None:
        """Return a field with its values (n, width), or None if the topic has no such field."""
        first = 0
        for field in self.fields:
            if field.name == name:
                return field, self.values[:, first : first + field.width]
            first += field.width
        return None

    def part(self, wanted: Collection[str]) -> TopicSignals | None:
        """Return a topic with only the wanted columns, or None without such columns."""
        fields, indices, first = [], [], 0
        for field in self.fields:
            chosen = [k for k, c in enumerate(field.columns(self.topic)) if c in wanted]
            if chosen:
                labels = tuple(field.labels[k] for k in chosen if field.labels)
                fields.append(field._replace(labels=labels))
                indices += [first + k for k in chosen]
            first += field.width
        if not fields:
            return None
        return replace(self, fields=tuple(fields), values=self.values[:, indices])


class SignalLog(Mapping[str, np.ndarray]):
    """Recorded signals by name.

    `log["joint_states.position.RLEG_JOINT3"]` is a column (n,), and `log["lfsensor.force"]` a field
    (n, 3). `time(name)` has the times of the rows. Topics of one recording may have different
    times. NaN marks numbers that are missing.
    """

    __slots__ = ("_of_column", "topics")

    def __init__(self, topics: Iterable[TopicSignals]) -> None:
        self.topics = {topic.topic: topic for topic in topics}
        self._of_column = {
            column: (topic, k)
            for topic in self.topics.values()
            for k, column in enumerate(topic.columns)
        }

    @property
    def columns(self) -> list[str]:
        """Full names of all columns."""
        return list(self._of_column)

    def __iter__(self):
        return iter(self._of_column)

    def __len__(self) -> int:
        return len(self._of_column)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a column (n,), or a field (n, width). UnknownNameError names similar signals."""
        if name in self._of_column:
            topic, k = self._of_column[name]
            return topic.values[:, k]
        topic, field = self._field(name)
        signal = topic.field(field.name)
        assert signal is not None
        return signal[1]

    def time(self, name: str) -> np.ndarray:
        """Return the times of a signal (n,) [s]."""
        return self._topic(name).time

    def unit(self, name: str) -> str:
        """Return the unit of a signal, "" for numbers without a unit."""
        if name in self._of_column:
            topic, k = self._of_column[name]
            for field in topic.fields:
                if k < field.width:
                    return field.unit
                k -= field.width
        return self._field(name)[1].unit

    def chosen(self, names: Iterable[str] | None) -> list[str]:
        """Return the columns of topics, fields, columns, or patterns such as "*".

        Raises:
            HrpsimError: a name matches no signal. The error lists similar signals.
        """
        return chosen_columns(names, self._of_column)

    def part(self, names: Iterable[str] | None) -> SignalLog:
        """Return a log of only the columns that `names` select, as in `chosen`."""
        columns = set(self.chosen(names))
        return SignalLog(filter(None, (topic.part(columns) for topic in self.topics.values())))

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame: a row for each time, a column for each signal.

        Raises:
            HrpsimError: pandas is not installed.
        """
        require_packages("to_pandas", ("pandas",), "pip install pandas")
        import pandas

        frames = [
            pandas.DataFrame(topic.values, index=pandas.Index(topic.time, name="time [s]"))
            .set_axis(topic.columns, axis=1)
            .groupby(level=0)
            .last()
            for topic in self.topics.values()
        ]
        return pandas.concat(frames, axis=1).sort_index() if frames else pandas.DataFrame()

    def _topic(self, name: str) -> TopicSignals:
        if name in self.topics:
            return self.topics[name]
        return self._of_column[name][0] if name in self._of_column else self._field(name)[0]

    def _field(self, name: str) -> tuple[TopicSignals, SignalField]:
        for topic in self.topics.values():
            for field in topic.fields:
                if f"{topic.topic}.{field.name}" == name:
                    return topic, field
        fields = [f"{t.topic}.{field.name}" for t in self.topics.values() for field in t.fields]
        raise UnknownNameError(unknown_name("signal", name, [*fields, *self._of_column]))
