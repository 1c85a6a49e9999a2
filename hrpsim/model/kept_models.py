# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Models of URDF texts, kept on disk: reading a text again takes longer than all else of a robot.

A text with the same settings gives the same model, as long as nothing else is read: one with meshes
or an SRDF, whose files may change, is not kept, nor one that there is something to say about. The
files lie beside the kernels, in a folder of these sources, with a checksum; what is damaged or
cannot be written costs time only.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from pathlib import Path

import numpy as np

from hrpsim import limits
from hrpsim.jit.kernel_files import read_whole, remove_oldest, write_whole
from hrpsim.jit.kernel_folders import cache_for
from hrpsim.model.model import Model

# What makes models: this room, and what lies at the top of the package (numbers, texts, limits).
_AT_TOP = sorted(path.name for path in Path(limits.__file__).parent.glob("*.py"))
_FOLDER = cache_for("model", *_AT_TOP)
_KEPT = 200  # models, the last used


def key_of(text: str, *settings: object) -> str:
    """Return what tells models apart: the text, the settings, the limits, NumPy's version."""
    bounds = sorted((k, v) for k, v in vars(limits).items() if k.isupper())
    told = repr((settings, bounds, np.__version__, text))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def recall(key: str) -> Model | None:
    """Return a model that was kept; None where there is none, or the key is ""."""
    path = _FOLDER / f"{key}.pickle"
    content = read_whole(path) if key else None
    if content is None:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return pickle.loads(content)


def keep(key: str, model: Model) -> Model:
    """Keep a model for later processes, if that can be written, and return it as they will get it.

    Nothing is kept under the key "".
    """
    if not key:
        return model
    content = pickle.dumps(model)
    with contextlib.suppress(OSError):
        write_whole(_FOLDER / f"{key}.pickle", content)
        remove_oldest(_FOLDER, "*.pickle", _KEPT)
    return pickle.loads(content)
