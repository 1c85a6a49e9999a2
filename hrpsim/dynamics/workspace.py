# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The arrays that the rigid-body algorithms write for one state of a model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.dynamics.articulated import new_articulated
from hrpsim.kinematics.forest import Forest, forest_of
from hrpsim.kinematics.forward import new_kinematics
from hrpsim.model.model import Model


class Workspace(NamedTuple):
    """What the algorithms work in; `n` bodies."""

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
