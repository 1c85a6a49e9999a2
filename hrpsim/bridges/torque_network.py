# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Learned actuators: a network whose output is the torque of a joint.

A network without memory (ActuatorNetMLP of Isaac Lab) reads position errors and velocities of
several past periods. A network with memory (ActuatorNetLSTM, `anydrive_v3_lstm.pt` of legged_gym)
reads the present values. Several joints can share a network. Each joint has its own memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges.network_files import is_torch, open_network
from hrpsim.bridges.policy_network import PolicyNetwork, Question
from hrpsim.control.framework.controller import ControllerError

_OPEN = 8  # largest number of modules in a process
_WEIGHTS_PER_LAYER = 4  # number of arrays in a layer of PyTorch's LSTM


class TorqueNetwork(ABC):
    """The actuator network of k joints."""

    def __init__(self, path: Path, count: int) -> None:
        self.path, self._count = path, count

    @abstractmethod
    def reset(self) -> None:
        """Clear the memory."""

    @abstractmethod
    def torques(self, rows: np.ndarray) -> np.ndarray:
        """Evaluate the network for the inputs of all joints.

        Args:
            rows: inputs of each joint (k, m).

        Returns:
            Outputs of the network (k,), before `torque_scale`.
        """

    def _checked(self, found: Any) -> np.ndarray:
        torques = np.asarray(found, dtype=float).ravel()
        if torques.shape != (self._count,) or not np.isfinite(torques).all():
            raise ControllerError(
                f"{str(self.path)!r} must return {self._count} finite torques, one for each joint, "
                f"got {torques.size}, {np.isfinite(torques).sum()} of them finite"
            )
        return torques


class _Questioned(TorqueNetwork):
    """An actuator network in ONNX. The memory of each joint consists of the additional inputs."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path, count)
        self._network: PolicyNetwork = open_network(path)
        self.reset()

    def reset(self) -> None:
        self._memories = [self._network.first_memory() for _ in range(self._count)]

    def torques(self, rows: np.ndarray) -> np.ndarray:
        questions = [Question(row, memory) for row, memory in zip(rows, self._memories)]
        answers = self._network.answers(questions)
        self._memories = [list(answer.memory) for answer in answers]
        return self._checked([answer.action for answer in answers])


class _Module(TorqueNetwork):
    """A TorchScript module. If the module has the member `lstm`, it has two memory states."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path, count)
        self._torch, self._module = _opened(path, path.stat().st_mtime_ns)
        self._is_recurrent = hasattr(self._module, "lstm")
        self.reset()

    def reset(self) -> None:
        if self._is_recurrent:
            weights = self._module.lstm.state_dict()
            layers = len(weights) // _WEIGHTS_PER_LAYER
            width = weights["weight_hh_l0"].shape[1]
            self._state = [self._torch.zeros(layers, self._count, width) for _ in range(2)]

    def torques(self, rows: np.ndarray) -> np.ndarray:
        inputs = self._torch.from_numpy(rows.astype(np.float32))
        try:
            with self._torch.no_grad():
                if not self._is_recurrent:
                    return self._checked(self._module(inputs))
                outputs, self._state = self._module(inputs[:, None], tuple(self._state))
                return self._checked(outputs)
        except RuntimeError as error:
            last = str(error).strip().splitlines()[-1][:200]
            raise ControllerError(f"{str(self.path)!r} cannot be evaluated: {last}") from error


def open_torques(path: Path, count: int) -> TorqueNetwork:
    """Open the actuator network of `count` joints, in ONNX or TorchScript.

    Raises:
        ControllerError: the file is missing, or is not a network.
    """
    if not path.is_file():
        raise ControllerError(f"actuators: network {str(path)!r} does not exist")
    return (_Module if is_torch(path) else _Questioned)(path, count)


@lru_cache(maxsize=_OPEN)
def _opened(path: Path, stamp: int) -> tuple[Any, Any]:
    from hrpsim.bridges.torch_network import load_module

    return load_module(path)
