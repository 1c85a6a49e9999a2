# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Open the network in a file, ONNX or TorchScript."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hrpsim.bridges.policy_network import PolicyNetwork

_TORCH = (".pt", ".pth", ".jit", ".ts")


def open_network(
    path: Path, further: Collection[str] = (), outputs: Collection[str] = ()
) -> PolicyNetwork:
    """Open a network in ONNX, or in TorchScript if the suffix is .pt, .pth, .jit or .ts.

    Args:
        path: path of the file, which must exist.
        further: names of the inputs besides the observation that hrpsim computes.
        outputs: names of required outputs, in addition to the action.

    Raises:
        ControllerError: the file is not a network, or lacks one of these inputs or outputs.
    """
    if is_torch(path):
        from hrpsim.bridges.torch_network import TorchNetwork

        return TorchNetwork(path, further, outputs)
    from hrpsim.bridges.onnx_network import Network

    return Network(path, further, outputs)


def is_torch(path: Path) -> bool:
    """Return whether the suffix of a file is a suffix of TorchScript."""
    return path.suffix in _TORCH
