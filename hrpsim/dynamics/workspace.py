# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Work arrays of the functions of a model, a set for each model and thread."""

import threading
import weakref
from typing import NamedTuple

import numpy as np

from hrpsim.dynamics.articulated import ARTICULATED
from hrpsim.jit.fields import allocate, work
from hrpsim.jit.reference import Reference
from hrpsim.kinematics.forest import Forest, forest_of
from hrpsim.kinematics.forward import KINEMATICS
from hrpsim.model.model import Model
from hrpsim.model.system import JOINT_NV, System
from hrpsim.spatial.simd import LANES

_local = threading.local()


class Workspace(NamedTuple):
    """Work arrays of the algorithms; `n` bodies."""

    forest: Forest
    rotor_inertia: np.ndarray  # (nv,)
    above: np.ndarray  # (nv,) hrpsim.dynamics.motion_derivatives, as what follows `composite`
    kinematics: np.ndarray = work("n", dtype=KINEMATICS)
    articulated: np.ndarray = work("n", dtype=ARTICULATED)
    velocity: np.ndarray = work("nv")
    acceleration: np.ndarray = work("nv")
    effort: np.ndarray = work("nv")
    composite: np.ndarray = work("n, 10")
    motions: np.ndarray = work("nv, 6, lanes")
    forces: np.ndarray = work("7, lanes")
    subtrees: np.ndarray = work("n, 22")
    factor: np.ndarray = work("nv, nv")


def new_workspace(system: System) -> Workspace:
    """Return room for one state of a robot, or of a whole world."""
    return allocate(
        Workspace,
        {"n": len(system.parent), "nv": len(system.dof_body), "lanes": LANES},
        forest=forest_of(system),
        rotor_inertia=np.array(system.rotor_inertia),
        above=_next_above(system),
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
