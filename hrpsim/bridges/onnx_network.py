# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A network in an ONNX file, evaluated by onnxruntime."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from hrpsim.common.foreign.bounded_child import call_bounded
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.control.framework.controller import ControllerError

_MOST_MEMORY = 10_000_000  # numbers
_FLOAT = ("tensor(float)",)
_FLOATS = (*_FLOAT, "tensor(double)", "tensor(float16)")
_COPIES = 4  # of a file that onnxruntime may hold while it opens the network


class Network:
    """A network with one observation and, if the network is recurrent, a memory.

    inputs: onnxruntime's descriptions of the inputs, the observation first. metadata: texts of the
    exporter in the file, by name. Errors of onnxruntime are raised as ControllerError with the name
    of the file. The file must exist.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open()
        self.metadata: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        self.inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        self._check_types(outputs)
        self._check_memory(outputs)
        self._worker = None
        if self._repeats:
            self._worker = ThreadPoolExecutor(1, "onnx")

    def _open(self) -> None:
        try:
            from hrpsim.bridges.onnx_trial import REPEATING, open_session, run_options
        except ModuleNotFoundError as error:
            raise ControllerError(
                "policies in ONNX need onnxruntime: pip install hrpsim[onnx]"
            ) from error
        self._options = run_options
        data = read_bytes(self._path, ControllerError, "NETWORK_SIZE", "network")
        self._repeats = any(operator in data for operator in REPEATING)
        call_bounded(
            "hrpsim.bridges.onnx_trial:try_network",
            str(self._path.absolute()),
            not self._repeats,
            label=f"{str(self._path)!r} is no network",
            size=len(data),
            error=ControllerError,
            more_memory=_COPIES * len(data),
        )
        try:
            self._session = open_session(str(self._path))
        except Exception as error:  # of one of onnxruntime's many classes
            raise self._error("is no network", error) from error

    def _names(self, outputs) -> str:
        return " and ".join(
            ", ".join(f"{one.name} {one.shape}" for one in several) or "none"
            for several in (self.inputs, outputs)
        )

    def _check_types(self, outputs) -> None:
        if not (self.inputs and outputs and self.inputs[0].shape):
            raise ControllerError(
                f"{str(self._path)!r}: a network takes an observation of a declared shape and "
                f"answers an action. Its inputs and outputs are {self._names(outputs)}"
            )
        for one, kinds in *((one, _FLOAT) for one in self.inputs), (outputs[0], _FLOATS):
            if one.type not in kinds:
                raise ControllerError(
                    f"{str(self._path)!r}: {one.name!r} is a {one.type}, {kinds[0]} is needed"
                )

    def _check_memory(self, outputs) -> None:
        memory = [one.shape for one in self.inputs[1:]]
        fixed = all(isinstance(length, int) for shape in memory for length in shape)
        if memory != [one.shape for one in outputs[1 : len(self.inputs)]] or not (
            fixed and sum(map(math.prod, memory)) <= _MOST_MEMORY
        ):
            raise ControllerError(
                f"{str(self._path)!r}: the network's inputs after the first must be its memory, of "
                "fixed shapes, which the outputs after the first answer. "
                f"It has {self._names(outputs)}"
            )

    def evaluate(self, observation: np.ndarray, memory: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the action (n,) and the new memory.

        A network with loops runs in another thread. The calling thread can then be interrupted,
        which ends the evaluation, even of an endless loop.
        """
        values = [observation.astype(np.float32)[None], *memory]
        given = {one.name: value for one, value in zip(self.inputs, values)}
        options = self._options()
        run = self._session.run
        try:
            if self._worker is not None:
                answer = self._worker.submit(run, None, given, options).result()
            else:
                answer = run(None, given, options)
            action, *memory = answer[: len(values)]
            return [np.asarray(action, dtype=float).ravel(), *memory]
        except Exception as error:
            raise self._error("cannot be evaluated", error) from error
        except BaseException:
            options.terminate = True
            raise

    def close(self) -> None:
        """End the thread, if there is one."""
        if self._worker is not None:
            self._worker.shutdown(wait=False)

    def _error(self, what: str, error: Exception) -> ControllerError:
        return ControllerError(f"{str(self._path)!r} {what}: {' '.join(str(error).split())[:200]}")
