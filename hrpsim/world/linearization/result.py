# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The derivatives of a step, and the constraints that are about to change sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class ConstraintEdge(NamedTuple):
    """A constraint so near to another side that the derivatives hold in one direction only.

    `side` is the one for which they were computed, `other` the one nearby, `distance` how far it
    is from there, as a velocity [m/s or rad/s].
    """

    name: str
    side: str
    other: str
    distance: float


@dataclass(frozen=True)
class Linearization:
    """The derivatives of one step: x' = A x + B u + C p for small changes.

    These are x of the state, u of inputs, p of parameters.

    x (2 nv,) has the changes of all positions, then of all velocities, robot by robot and body by
    body in the order of `World.entities`. Those of a free base are along and about its own axes:
    linear part first [m], then angular [rad], as for `Robot.v`; its rotation R becomes R exp(x).
    """

    A: np.ndarray
    B: np.ndarray
    entities: Mapping[str, slice]  # entries of each robot or body among the nv positions
    inputs: tuple[tuple[str, str, str], ...]  # columns of B: kind, robot and joint
    C: np.ndarray
    parameters: tuple[str, ...]  # columns of C, by their paths
    on_edge: tuple[ConstraintEdge, ...]
