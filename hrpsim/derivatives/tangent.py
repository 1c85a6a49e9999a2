# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of forward and inverse dynamics in the tangent space, as plain functions."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelError
from hrpsim.derivatives.motion_derivatives import PANEL, forward_derivatives, inverse_derivatives
from hrpsim.engine.compile.compiled import prepared
from hrpsim.engine.dynamics.articulated import workspace_of
from hrpsim.engine.dynamics.functions import (
    DOWNWARD_GRAVITY,
    LinkWrenches,
    apply_wrenches,
    checked_configuration,
    checked_vector,
    finite,
    singular_message,
)
from hrpsim.engine.kinematics.forward import update_poses
from hrpsim.model.model import Model

_forward_derivatives = prepared(forward_derivatives)
_inverse_derivatives = prepared(inverse_derivatives)


def new_columns(nv: int) -> np.ndarray:
    """Allocate three matrices (nv, nv) side by side, padded to a multiple of PANEL columns."""
    return np.empty((nv, -(-3 * nv // PANEL) * PANEL))


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    link_wrenches: LinkWrenches = None,
    *,
    gravity: ArrayLike = DOWNWARD_GRAVITY,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives of `forward_dynamics` with respect to q, v and tau, each (nv, nv).

    The derivatives are analytic (Carpentier and Mansard 2018). The derivative with respect to q is
    in the tangent space. Its column k is the rate of change while q moves with the velocity v =
    e_k. For a free base this motion is along or about an axis of the base. The derivative with
    respect to tau is the inverse of the mass matrix.

    Args:
        model: model of the robot.
        q: configuration (nq,).
        v: velocity (nv,).
        tau: generalised force (nv,) [N, Nm].
        link_wrenches: as for `forward_dynamics`. The wrenches turn with their links.
        gravity: (3,) [m/s^2].

    Returns:
        (d dv/dq, d dv/dv, M^-1). Row k belongs to the acceleration dv[k].

    Raises:
        StateError: A shape is wrong or a value is not finite.
        ModelError: A joint has no positive inertia.
    """
    q = checked_configuration(model, q)
    tau = checked_vector("tau", tau, model.nv)
    return _derivatives(_forward_derivatives, model, q, v, tau, link_wrenches, gravity)


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dv: ArrayLike,
    link_wrenches: LinkWrenches = None,
    *,
    gravity: ArrayLike = DOWNWARD_GRAVITY,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives of `inverse_dynamics` with respect to q, v and dv, each (nv, nv).

    The derivatives are analytic (Carpentier and Mansard 2018). The derivative with respect to q is
    in the tangent space, as in `forward_dynamics_derivatives`. The derivative with respect to dv is
    the mass matrix.

    Args:
        model: model of the robot.
        q: configuration (nq,).
        v: velocity (nv,).
        dv: acceleration (nv,).
        link_wrenches: as for `forward_dynamics`. The wrenches turn with their links.
        gravity: (3,) [m/s^2].

    Returns:
        (d tau/dq, d tau/dv, M). Row k belongs to the generalised force tau[k].

    Raises:
        StateError: A shape is wrong or a value is not finite.
    """
    q = checked_configuration(model, q)
    dv = checked_vector("dv", dv, model.nv)
    return _derivatives(_inverse_derivatives, model, q, v, dv, link_wrenches, gravity)


def _derivatives(kernel: Callable, model: Model, q, v, last, link_wrenches, gravity):
    """Return the matrices that `kernel` writes side by side, as views.

    last: tau for forward dynamics, dv for inverse dynamics.
    """
    v = checked_vector("v", v, model.nv)
    gravity, work, nv = checked_vector("gravity", gravity, 3), workspace_of(model), model.nv
    if link_wrenches is not None:
        update_poses(work.whole.forest, q, work.whole.kinematics)
    apply_wrenches(model, work.whole, link_wrenches)
    columns = new_columns(nv)
    singular = kernel(work, q, v, last, gravity, columns)
    if singular >= 0:
        raise ModelError(singular_message(model, singular))
    finite("derivative", columns)
    return columns[:, :nv], columns[:, nv : 2 * nv], columns[:, 2 * nv : 3 * nv]
