# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Interface of a policy's network. Each file format is a subclass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from hrpsim.control.framework.controller import ControllerError


class Question(NamedTuple):
    """The inputs of a network for one evaluation."""

    observation: np.ndarray  # (n,)
    memory: Sequence[np.ndarray] = ()  # memory of a recurrent network, in the order of its inputs
    further: Mapping[str, np.ndarray] = MappingProxyType({})  # further inputs by name (k,)


class Answer(NamedTuple):
    """The outputs of a network from one evaluation."""

    action: np.ndarray  # (m,)
    memory: Sequence[np.ndarray] = ()  # for the next evaluation
    outputs: Mapping[str, np.ndarray] = MappingProxyType({})  # requested outputs, flattened


class PolicyNetwork(ABC):
    """A network in a file. Errors are raised as ControllerError with the name of the file."""

    observed: str  # name of the input for the observation
    metadata: Mapping[str, str] = MappingProxyType({})  # metadata of the exporter, by name
    shares = False  # whether one network may serve several robots in turn

    @property
    @abstractmethod
    def width(self) -> int | None:
        """Return the length of the observation, or None if the file does not declare the length."""

    @abstractmethod
    def width_of(self, name: str) -> int | None:
        """Return the size of an input or output, or None if the file does not declare the size."""

    @abstractmethod
    def answer(self, question: Question) -> Answer:
        """Evaluate the network once, for the inputs in `question`."""

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """Evaluate the network for several inputs, in one call if the network allows a batch."""
        return [self.answer(question) for question in questions]

    def first_memory(self) -> list[np.ndarray]:
        """Return the memory for the first evaluation. Reset any state inside the network."""
        return []

    def close(self) -> None:  # noqa: B027
        """Release threads and memory of the network."""


def action_of(numbers: np.ndarray) -> np.ndarray:
    """Convert an output of a network to a flat array of float64."""
    try:
        return np.asarray(numbers, dtype=float).ravel()
    except (TypeError, ValueError) as error:
        raise ControllerError(
            f"an output of the network is not an array of numbers: {error}"
        ) from error
