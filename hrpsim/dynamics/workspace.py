# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Work arrays of the functions of a model, a set for each model and thread."""

from __future__ import annotations

import threading
import weakref
from typing import NamedTuple

import numpy as np

from hrpsim.dynamics.articulated import new_articulated
from hrpsim.jit.reference import Reference
from hrpsim.kinematics.forest import Forest, forest_of
from hrpsim.kinematics.forward import new_kinematics
from hrpsim.model.model import Model
from hrpsim.model.system import JOINT_NV, System
from hrpsim.spatial.simd import LANES

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
    above: np.ndarray  # (nv,) and the rest: hrpsim.dynamics.motion_derivatives
    motions: np.ndarray  # (nv, 6, LANES)
    forces: np.ndarray  # (7, LANES)
    subtrees: np.ndarray  # (n, 22)
    factor: np.ndarray  # (nv, nv)


def new_workspace(system: System) -> Workspace:
    """Return room for one state of a robot, or of a whole world."""
    n, nv = len(system.parent), len(system.dof_body)
    return Workspace(
        forest=forest_of(system),
        kinematics=new_kinematics(n),
        articulated=new_articulated(n),
        velocity=np.zeros(nv),
        acceleration=np.zeros(nv),
        effort=np.zeros(nv),
        rotor_inertia=np.array(system.rotor_inertia),
        composite=np.zeros((n, 10)),
        above=_next_above(system),
        motions=np.zeros((nv, 6, LANES)),
        forces=np.zeros((7, LANES)),
        subtrees=np.zeros((n, 22)),
        factor=np.zeros((nv, nv)),
    )


def _next_above(system: System) -> np.ndarray:
    """Return the next degree of freedom on the path to the root (nv,), -1 at its end."""
    above, last = np.arange(-1, len(system.dof_body) - 1, dtype=np.int64), {-1: -1}
    for i, parent in enumerate(system.parent.tolist()):
        first, count = system.v_index[i], JOINT_NV[system.joint_type[i]]
        last[i] = first + count - 1 if count else last[parent]
        above[first : first + min(count, 1)] = last[parent]
    return above


def workspace_of(model: Model) -> Reference[Workspace]:
    """Return a reference to the work arrays of `model` for this thread."""
    references = getattr(_local, "references", None)
    if references is None:
        references = _local.references = weakref.WeakKeyDictionary()
    reference = references.get(model)
    if reference is None:
        reference = references[model] = Reference(new_workspace(model.system))
    return reference
