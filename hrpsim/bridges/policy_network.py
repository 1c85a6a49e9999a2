# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interface of a policy's network: answer questions. A file format is a subclass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from hrpsim.control.framework.controller import ControllerError


class Question(NamedTuple):
    """What a network is asked at one time."""

    observation: np.ndarray  # (n,)
    memory: Sequence[np.ndarray] = ()  # of a recurrent network, in the order of its inputs
    further: Mapping[str, np.ndarray] = MappingProxyType({})  # observed inputs by name (k,)


class Answer(NamedTuple):
    """What a network answers."""

    action: np.ndarray  # (m,)
    memory: Sequence[np.ndarray] = ()  # for the next question
    outputs: Mapping[str, np.ndarray] = MappingProxyType({})  # the wanted ones, flat


class PolicyNetwork(ABC):
    """A network in a file. Errors are raised as ControllerError with the name of the file."""

    observed: str  # name of the input that takes the observation
    metadata: Mapping[str, str] = MappingProxyType({})  # texts of the exporter, by name
    shares = False  # whether one network may answer several robots in turn

    @property
    @abstractmethod
    def width(self) -> int | None:
        """Return how many numbers the observation has, None if the file leaves this open."""

    @abstractmethod
    def width_of(self, name: str) -> int | None:
        """Return how many numbers a further input or a wanted output has, None if left open."""

    @abstractmethod
    def answer(self, question: Question) -> Answer:
        """Evaluate the network once."""

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """Evaluate the network at several questions, together if the network allows a batch."""
        return [self.answer(question) for question in questions]

    def first_memory(self) -> list[np.ndarray]:
        """Return the memory before the first question, and forget what the network keeps itself."""
        return []

    def close(self) -> None:  # noqa: B027
        """Release what the network holds."""


def action_of(numbers: np.ndarray) -> np.ndarray:
    """Return an output as a flat array of float64."""
    try:
        return np.asarray(numbers, dtype=float).ravel()
    except (TypeError, ValueError) as error:
        raise ControllerError(f"an output is no array of numbers: {error}") from error
