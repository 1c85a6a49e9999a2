# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A policy whose network is shared with the policies of other worlds, for evaluation in batches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hrpsim.bridges.network_files import open_network
from hrpsim.bridges.onnx_policy import OnnxPolicy
from hrpsim.bridges.policy_description import PolicyDescription, read_policy
from hrpsim.bridges.policy_network import Answer, PolicyNetwork, Question
from hrpsim.common.file_names import exists

_OPEN = 8  # largest number of networks in a process


class SharedPolicy(OnnxPolicy):
    """A policy for many worlds of a process, which share the network if it has no memory."""

    def open_network(
        self, path: Path, further: Collection[str] = (), outputs: Collection[str] = ()
    ) -> PolicyNetwork:
        """Return the shared network of the file, or a new network if the network has a memory.

        A shared network stays open until the process ends.
        """
        names = tuple(further), tuple(outputs)
        return _shared(path, path.stat().st_mtime_ns, *names) or open_network(path, *names)

    def described(self, parameters: Mapping[str, Any]) -> PolicyDescription:
        """Return the description of the policy, read once."""
        return described(Path(parameters["description"]))

    def stop(self) -> None:
        """Do nothing. The networks stay open for the policies of the other worlds."""


def described(path: Path) -> PolicyDescription:
    """Return the description in a file, which is read again only if the file changes."""
    return _read(path, path.stat().st_mtime_ns if exists(path) else 0)


@lru_cache(maxsize=_OPEN)
def _read(path: Path, stamp: int) -> PolicyDescription:
    return read_policy(path)


@lru_cache(maxsize=_OPEN)
def _shared(
    path: Path, stamp: int, further: tuple[str, ...], outputs: tuple[str, ...]
) -> PolicyNetwork | None:
    network = open_network(path, further, outputs)
    return network if network.shares else None


def answers(networks: Sequence[PolicyNetwork], questions: Sequence[Question]) -> list[Answer]:
    """Evaluate networks, and return the output for each input.

    Inputs of the same network are evaluated in one batch.

    Args:
        networks: the network for each input.
        questions: the inputs.
    """
    outputs: dict[int, Answer] = {}
    for network in {id(candidate): candidate for candidate in networks}.values():
        mine = [k for k, candidate in enumerate(networks) if candidate is network]
        outputs.update(zip(mine, network.answers([questions[k] for k in mine])))
    return [outputs[k] for k in range(len(questions))]
