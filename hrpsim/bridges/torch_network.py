# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A network in a TorchScript file, evaluated by PyTorch on the processor."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges.policy_network import Answer, PolicyNetwork, Question, action_of
from hrpsim.common.errors import require_names
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.control.framework.controller import ControllerError


class TorchNetwork(PolicyNetwork):
    """A TorchScript module with one observation and additional observed inputs.

    A recurrent module stores its memory in buffers. The buffers are reset to the values in the file
    before each run. Several robots therefore need one module each. The additional inputs have the
    names of the arguments of `forward`. An additional output is named by its index: "1" is the
    output after the action.

    Args:
        path: path of the file, which must exist.
        further: names of the inputs besides the observation that hrpsim computes.
        outputs: indices of required outputs as texts, in addition to the action.
    """

    def __init__(
        self, path: Path, further: Collection[str] = (), outputs: Collection[str] = ()
    ) -> None:
        self._path = path
        self._torch, self._module = load_module(path)
        self._arguments = [argument.name for argument in self._module.forward.schema.arguments[1:]]
        observed = [name for name in self._arguments if name not in further]
        require_names("input", further, self._arguments, ControllerError, where=path)
        if len(observed) != 1:
            raise ControllerError(
                f"{path}: exactly one input of the network must be the observation, got "
                f"{', '.join(observed) or 'no input'}. Name all other inputs under `inputs`"
            )
        self.observed, self._outputs = observed[0], tuple(outputs)
        self._start = {name: buffer.clone() for name, buffer in self._module.named_buffers()}

    @property
    def width(self) -> int | None:
        """Return None, because a TorchScript file does not declare shapes."""
        return None

    def width_of(self, name: str) -> int | None:
        """Return None, because a TorchScript file does not declare shapes."""
        return None

    def first_memory(self) -> list[np.ndarray]:
        """Reset the buffers of the module to the values in the file. Return an empty memory."""
        with self._torch.no_grad():
            for name, buffer in self._module.named_buffers():
                buffer.copy_(self._start[name])
        return []

    def answer(self, question: Question) -> Answer:
        """Evaluate the module once."""
        rows = {self.observed: question.observation, **question.further}
        tensor = self._torch.from_numpy
        arguments = [tensor(rows[name].astype(np.float32)[None]) for name in self._arguments]
        try:
            with self._torch.no_grad():
                result = self._module(*arguments)
            values = result if isinstance(result, tuple) else (result,)
            outputs = {name: action_of(_numbers(values[int(name)])) for name in self._outputs}
            return Answer(action_of(_numbers(values[0])), (), outputs)
        except Exception as error:  # PyTorch has many classes of errors
            raise _error(self._path, "cannot be evaluated", error) from error


def load_module(path: Path) -> tuple[Any, Any]:
    """Import PyTorch and load the module in a TorchScript file.

    Returns:
        The package torch and the module.

    Raises:
        ControllerError: PyTorch is missing, or the file is not TorchScript.
    """
    data = read_bytes(path, ControllerError, "NETWORK_SIZE", "network")
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ControllerError(
            "policies in TorchScript need torch: pip install hrpsim[torch]"
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the usual format of policies
            return torch, torch.jit.load(BytesIO(data), map_location="cpu").eval()
    except Exception as error:  # PyTorch has many classes of errors
        raise _error(path, "is not a TorchScript network", error) from error


def _error(path: Path, what: str, error: Exception) -> ControllerError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return ControllerError(f"{str(path)!r} {what}: {lines[-1].strip()[:200]}")


def _numbers(tensor: Any) -> np.ndarray:
    return tensor.detach().numpy()
