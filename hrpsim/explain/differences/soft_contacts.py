# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Approximate MuJoCo's soft contacts by a spring and a damper at each contact point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_HARD = 0.99  # impedance of hard contacts


class Soft(NamedTuple):
    """The spring and the damper of each contact point."""

    compliance: float  # [m/N]
    damping_time: float  # damping over stiffness [s]


def soft_contact(model: Any, feet: Sequence[str]) -> Soft | None:
    """Return the spring and damper that approximate MuJoCo's contacts of feet with fixed geoms.

    MuJoCo's constraint has the reference acceleration -b v - k r at depth r, and the regularisation
    R = (1 - d) / d A. Here A is the inverse mass of the point from body_invweight0, and d is the
    impedance. At rest k r = R f, so the compliance is R / k, and the time constant of the damper is
    b / k (MuJoCo's documentation, Computation, Parameters). d is the middle of the impedance range.

    Args:
        model: MuJoCo's compiled model.
        feet: names of bodies.

    Returns:
        Means over the pairs of geoms, or None if no foot can touch a fixed geom.
    """
    bodies = {model.body(k).name: k for k in range(model.nbody)}
    solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    fixed = np.flatnonzero(solid & (model.body_weldid[model.geom_bodyid] == 0))
    own = [
        geom
        for link in feet
        if link in bodies
        for geom in np.flatnonzero(solid & (model.geom_bodyid == bodies[link]))
    ]
    if not len(fixed) or not own:
        return None
    springs = [_of_pair(model, geom, int(fixed[0])) for geom in own]
    compliance, time = np.mean(springs, axis=0)
    return Soft(float(compliance), float(time))


def _of_pair(model: Any, geom: int, floor: int) -> Soft:
    solref, solimp = _mixed(model, geom, floor)
    low, high = np.clip(solimp[:2], 1e-4, 0.9999)
    impedance = 0.5 * (low + high)
    if solref[0] > 0.0:
        time, ratio = max(solref[0], 2.0 * model.opt.timestep), solref[1]
        stiffness = impedance / (high * time * ratio) ** 2
        damping = 2.0 / (high * time)
    else:
        stiffness, damping = -solref[0] * impedance / high**2, -solref[1] / high
    inverse_mass = model.body_invweight0[model.geom_bodyid[geom], 0]
    regularisation = (1.0 - impedance) / impedance * inverse_mass
    return Soft(regularisation / stiffness, damping / stiffness)


def _mixed(model: Any, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """Return solref and solimp of a pair of geoms, by priority or as the weighted mean."""
    first, second = model.geom_priority[a], model.geom_priority[b]
    if first != second:
        geom = a if first > second else b
        return model.geom_solref[geom], model.geom_solimp[geom]
    weights = np.array([model.geom_solmix[a], model.geom_solmix[b]])
    weights = weights / weights.sum() if weights.sum() > 0.0 else np.array([0.5, 0.5])
    mixed = (weights @ values[[a, b]] for values in (model.geom_solref, model.geom_solimp))
    solref, solimp = mixed
    return solref, solimp


def harden(model: Any) -> None:
    """Make all contacts of MuJoCo's compiled model as stiff as the time step allows."""
    model.geom_solref[:] = 2.0 * model.opt.timestep, 1.0
    model.geom_solimp[:, :2] = _HARD
