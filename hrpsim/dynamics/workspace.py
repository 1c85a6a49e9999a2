# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Work arrays of the functions of a model, a set for each model and thread."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from hrpsim.dynamics.articulated import new_articulated
from hrpsim.kinematics.forest import Forest, forest_of
from hrpsim.kinematics.forward import new_kinematics
from hrpsim.model.model import Model

_Work = TypeVar("_Work")
_local = threading.local()


class Workspace(NamedTuple):
    """Work arrays of the algorithms; `n` bodies."""

    forest: Forest
    kinematics: np.ndarray  # (n,) KINEMATICS
    articulated: np.ndarray  # (n,) ARTICULATED
    velocity: np.ndarray  # (nv,)
    acceleration: np.ndarray  # (nv,)
    effort: np.ndarray  # (nv,)
    rotor_inertia: np.ndarray  # (nv,)
    composite: np.ndarray  # (n, 10)


def new_workspace(model: Model) -> Workspace:
    """Return room for one state of `model`."""
    n, nv = model.body_count, model.nv
    return Workspace(
        forest=forest_of(model.system),
        kinematics=new_kinematics(n),
        articulated=new_articulated(n),
        velocity=np.zeros(nv),
        acceleration=np.zeros(nv),
        effort=np.zeros(nv),
        rotor_inertia=np.array(model.system.rotor_inertia),
        composite=np.zeros((n, 10)),
    )


def work_of_thread(model: Model, new: Callable[[Model], _Work]) -> _Work:
    """Return what `new` made for `model` in this thread; it is made when it is first needed."""
    kept = vars(_local).get(new.__name__)
    if kept is None:
        kept = vars(_local)[new.__name__] = weakref.WeakKeyDictionary()
    work = kept.get(model)
    if work is None:
        work = kept[model] = new(model)
    return work


def workspace_of(model: Model) -> Workspace:
    """Return the work arrays of `model` for this thread."""
    return work_of_thread(model, new_workspace)
