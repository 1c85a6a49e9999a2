# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A network in an ONNX file, evaluated by onnxruntime."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from hrpsim.bridges.policy_network import Answer, PolicyNetwork, Question, action_of
from hrpsim.common.errors import unknown_name
from hrpsim.common.foreign.bounded_child import call_bounded
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.control.framework.controller import ControllerError

_MOST_MEMORY = 10_000_000  # largest number of values
_FLOAT = ("tensor(float)",)
_FLOATS = (*_FLOAT, "tensor(double)", "tensor(float16)")
_COPIES = 4  # copies of a file that onnxruntime may make during loading


class Network(PolicyNetwork):
    """A network with an observation, additional observed inputs, and optionally recurrent memory.

    The observation is the first input that is not named in `further`. The inputs that are neither
    the observation nor in `further` are the memory. The outputs after the action are the memory for
    the next evaluation.

    Args:
        path: path of the file, which must exist.
        further: names of the inputs besides the observation that hrpsim computes.
        outputs: names of required outputs, in addition to the action.
    """

    shares = True

    def __init__(
        self, path: Path, further: Collection[str] = (), outputs: Collection[str] = ()
    ) -> None:
        self._path = path
        self._open()
        self.metadata: Mapping[str, str] = self._session.get_modelmeta().custom_metadata_map
        inputs = {tensor.name: tensor for tensor in self._session.get_inputs()}
        returned = {tensor.name: tensor for tensor in self._session.get_outputs()}
        self._require("input", further, inputs)
        self._require("output", outputs, returned)
        self._further = {name: inputs[name] for name in further}
        self._references = {name: returned[name] for name in outputs}
        self.inputs = [tensor for name, tensor in inputs.items() if name not in self._further]
        """onnxruntime's descriptions of the observation, then of the memory."""
        answered = list(returned.values())
        self._check_types(answered)
        self._check_memory(answered)
        self.observed = self.inputs[0].name
        names = [tensor.name for tensor in answered[: len(self.inputs)]]
        self._requested = list(dict.fromkeys([*names, *self._references]))
        tensors = (*self.inputs, *self._further.values(), *self._references.values(), answered[0])
        self._batches = len(self.inputs) == 1 and all(map(_has_open_batch, tensors))
        self._worker = ThreadPoolExecutor(1, "onnx") if self._repeats else None

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
            label=f"{str(self._path)!r} is not a network",
            size=len(data),
            error=ControllerError,
            more_memory=_COPIES * len(data),
        )
        try:
            self._session = open_session(str(self._path))
        except Exception as error:  # onnxruntime has many classes of errors
            raise self._error("is not a network", error) from error

    def _require(self, kind: str, names: Collection[str], known: Mapping[str, object]) -> None:
        for name in names:
            if name not in known:
                raise ControllerError(f"{str(self._path)!r}: {unknown_name(kind, name, known)}")

    def _names(self, outputs) -> str:
        return " and ".join(
            ", ".join(f"{tensor.name} {tensor.shape}" for tensor in several) or "none"
            for several in (self.inputs, outputs)
        )

    def _check_types(self, outputs) -> None:
        if not (self.inputs and outputs and self.inputs[0].shape):
            raise ControllerError(
                f"{str(self._path)!r}: a network must have an observation of a declared shape as "
                f"input and an action as output. The network has {self._names(outputs)}"
            )
        taken = [(value, _FLOAT) for value in (*self.inputs, *self._further.values())]
        answered = [(value, _FLOATS) for value in (outputs[0], *self._references.values())]
        for value, kinds in (*taken, *answered):
            if value.type not in kinds:
                raise ControllerError(
                    f"{str(self._path)!r}: {value.name!r} must be a {kinds[0]}, got a {value.type}"
                )

    def _check_memory(self, outputs) -> None:
        memory = [tensor.shape for tensor in self.inputs[1:]]
        fixed = all(isinstance(length, int) for shape in memory for length in shape)
        if memory != [output.shape for output in outputs[1 : len(self.inputs)]] or not (
            fixed and sum(map(math.prod, memory)) <= _MOST_MEMORY
        ):
            raise ControllerError(
                f"{str(self._path)!r}: all inputs after the first must be the network's memory. "
                "Each must have a fixed shape, and an output after the first with the same shape. "
                f"List observed inputs under `inputs`. The network has {self._names(outputs)}"
            )

    @property
    def width(self) -> int | None:
        """Return the length of the observation, or None if the file does not declare the length."""
        last = self.inputs[0].shape[-1]
        return last if isinstance(last, int) else None

    def width_of(self, name: str) -> int | None:
        """Return the size of an input or output, or None if the file does not declare the size."""
        shape = (self._further | self._references)[name].shape[1:]
        return math.prod(shape) if all(isinstance(length, int) for length in shape) else None

    def first_memory(self) -> list[np.ndarray]:
        """Return the memory for the first evaluation, which is zero."""
        return [np.zeros(tensor.shape, np.float32) for tensor in self.inputs[1:]]

    def answer(self, question: Question) -> Answer:
        """Evaluate the network once.

        A network with loops runs in another thread. The calling thread can then be interrupted,
        which ends the evaluation, even of an endless loop.
        """
        arrays = {self.inputs[0].name: question.observation.astype(np.float32)[None]}
        arrays |= {tensor.name: value for tensor, value in zip(self.inputs[1:], question.memory)}
        arrays |= {name: self._shaped(name, row[None]) for name, row in question.further.items()}
        results = self._run(arrays)
        memory = [results[name] for name in self._requested[1 : len(self.inputs)]]
        action, outputs = self._outputs(results)
        return Answer(action, memory, outputs)

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """Evaluate the network for several inputs, in one call if the batch size is undeclared."""
        if not self._batches or len(questions) < 2:
            return super().answers(questions)
        rows = np.array([question.observation for question in questions], dtype=np.float32)
        arrays = {self.inputs[0].name: rows}
        for name in self._further:
            arrays[name] = self._shaped(
                name, np.array([question.further[name] for question in questions])
            )
        results = self._run(arrays)
        if any(len(results[name]) != len(questions) for name in self._requested):
            return super().answers(questions)
        single = [{name: results[name][k] for name in results} for k in range(len(questions))]
        return [Answer(action, (), outputs) for action, outputs in map(self._outputs, single)]

    def _outputs(self, found: Mapping[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return the action and the other required outputs. Errors name the file."""
        try:
            outputs = {name: action_of(found[name]) for name in self._references}
            return action_of(found[self._requested[0]]), outputs
        except ControllerError as error:
            raise self._error("cannot be evaluated", error) from error

    def _shaped(self, name: str, rows: np.ndarray) -> np.ndarray:
        """Reshape rows (k, n) to the shape that the network declares for one row."""
        shape = self._further[name].shape[1:]
        fixed = all(isinstance(length, int) for length in shape)
        return rows.astype(np.float32).reshape(len(rows), *(shape if fixed else (-1,)))

    def _run(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        options = self._options()
        run = self._session.run
        try:
            if self._worker is not None:
                results = self._worker.submit(run, self._requested, given, options).result()
            else:
                results = run(self._requested, given, options)
            return dict(zip(self._requested, results))
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


def _has_open_batch(tensor) -> bool:
    """Return whether the file leaves the first dimension of an input or output undeclared."""
    return len(tensor.shape) > 1 and not isinstance(tensor.shape[0], int)
