# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Open a network and evaluate the network once, in the child process of `bounded_child.py`.

onnxruntime computes constant parts of a network when it opens the file. A file of a few bytes can
therefore require an array of any size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnxruntime

REPEATING = (b"Loop", b"Scan")  # operators that may compute without end
_NO_LOG = 4  # fatal errors only: all others are raised


def session_options() -> onnxruntime.SessionOptions:
    """Return the options with which networks are opened: one thread, errors instead of a log."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _NO_LOG
    return options


def run_options() -> onnxruntime.RunOptions:
    """Return the options of one evaluation."""
    options = onnxruntime.RunOptions()
    options.log_severity_level = _NO_LOG
    return options


def open_session(path: str) -> onnxruntime.InferenceSession:
    """Return an onnxruntime session of the network in a file."""
    return onnxruntime.InferenceSession(
        path, session_options(), providers=["CPUExecutionProvider"], enable_fallback=0
    )


def try_network(path: str, is_evaluated: bool) -> None:
    """Open a network, and evaluate the network for inputs of zeros if `is_evaluated`.

    Raises errors of onnxruntime.
    """
    session = open_session(path)
    inputs = session.get_inputs()
    if not is_evaluated or any(entry.type != "tensor(float)" for entry in inputs):
        return
    try:
        session.run(None, {entry.name: _zeros(entry.shape) for entry in inputs}, run_options())
    except MemoryError:
        raise
    except Exception as error:
        if "lloc" in str(error):  # onnxruntime's message if memory is lacking
            raise MemoryError from error


def _zeros(shape: Sequence[int | str | None]) -> np.ndarray:
    """Return zeros of a declared shape. Undeclared dimensions become 1."""
    return np.zeros([size if isinstance(size, int) else 1 for size in shape], np.float32)
