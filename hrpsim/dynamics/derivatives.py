# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of forward and inverse dynamics of one model, as plain functions.

Derivatives by q are in the tangent space: column k is the rate of change while q moves with the
public velocity whose k-th entry is 1 and all others are 0. The first three columns of a free base
are displacements along its own axes, the next three turns about them; v, dv and tau, which are in
the frame of the base, keep their numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.dynamics.functions import (
    DOWNWARD_GRAVITY,
    LinkWrenches,
    apply_wrenches,
    checked_configuration,
    checked_gravity,
    checked_vector,
    finite,
    singular_message,
)
from hrpsim.dynamics.motion_derivatives import (
    DOF_FORCES,
    DOF_MOTION,
    PANEL,
    SUBTREE_MOTION,
    forward_derivatives,
    inverse_derivatives,
)
from hrpsim.dynamics.workspace import Workspace, new_workspace, work_of_thread
from hrpsim.errors import ModelError
from hrpsim.jit.compiled import prepared
from hrpsim.jit.reference import Reference
from hrpsim.kinematics.forward import update_poses
from hrpsim.model.model import Model
from hrpsim.model.system import JOINT_NV


class DerivativeWorkspace(NamedTuple):
    """Work arrays of the derivatives; `n` bodies."""

    state: Workspace
    above: np.ndarray  # (nv,) next degree of freedom on the path to the root, -1 at its end
    dofs: np.ndarray  # (nv,) DOF_MOTION
    forces: np.ndarray  # (1,) DOF_FORCES
    subtrees: np.ndarray  # (n,) SUBTREE_MOTION
    factor: np.ndarray  # (nv, nv)


_forward_derivatives = prepared(forward_derivatives)
_inverse_derivatives = prepared(inverse_derivatives)


def new_derivative_workspace(model: Model) -> DerivativeWorkspace:
    """Return room for the derivatives at one state of `model`."""
    system, nv = model.system, model.nv
    dofs = np.zeros(nv, DOF_MOTION)
    dofs["body"] = system.dof_body
    last = {-1: -1}  # degree of freedom of each body, or of the next body above that moves
    for i, parent in enumerate(system.parent.tolist()):
        count = JOINT_NV[system.joint_type[i]]
        last[i] = system.v_index[i] + count - 1 if count else last[parent]
    first = {system.v_index[i]: last[system.parent[i]] for i in set(system.dof_body.tolist())}
    above = np.array([first.get(k, k - 1) for k in range(nv)], dtype=np.int64)
    return DerivativeWorkspace(
        new_workspace(model),
        above,
        dofs,
        np.zeros(1, DOF_FORCES),
        np.zeros(model.body_count, SUBTREE_MOTION),
        np.zeros((nv, nv)),
    )


def new_columns(model: Model) -> np.ndarray:
    """Return room for three matrices (nv, nv) side by side, and columns to spare."""
    return np.empty((model.nv, -(-3 * model.nv // PANEL) * PANEL))


def _reference_to_new(model: Model) -> Reference:
    return Reference(new_derivative_workspace(model))


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    link_wrenches: LinkWrenches = None,
    *,
    gravity: ArrayLike = DOWNWARD_GRAVITY,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives of `forward_dynamics` by q, v and tau, each (nv, nv).

    Analytic (Carpentier and Mansard 2018). The derivative by q is in the tangent space: column k
    is the rate of change while q moves with the velocity v = e_k, which for a free base is along
    or about an axis of the base. That by tau is the inverse of the mass matrix.

    Args:
        model: of the robot.
        q: configuration (nq,).
        v: velocity (nv,).
        tau: generalised force (nv,) [N, Nm].
        link_wrenches: as for `forward_dynamics`; they turn with their links.
        gravity: (3,) [m/s^2].

    Returns:
        (d dv/dq, d dv/dv, M^-1); row k is about the acceleration dv[k].

    Raises:
        StateError: on wrong shapes or values that are not finite.
        ModelError: where a joint has no positive inertia.
    """
    numbers = (
        checked_configuration(model, q),
        checked_vector("v", v, model.nv),
        checked_vector("tau", tau, model.nv),
        checked_gravity(gravity),
    )
    columns = new_columns(model)
    work = _with_wrenches(model, numbers[0], link_wrenches)
    singular = _forward_derivatives(work, *numbers, columns)
    if singular >= 0:
        raise ModelError(singular_message(model, singular))
    return _matrices(columns, "derivative of the acceleration")


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dv: ArrayLike,
    link_wrenches: LinkWrenches = None,
    *,
    gravity: ArrayLike = DOWNWARD_GRAVITY,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives of `inverse_dynamics` by q, v and dv, each (nv, nv).

    Analytic (Carpentier and Mansard 2018); by q as in `forward_dynamics_derivatives`. That by dv is
    the mass matrix.

    Args:
        model: of the robot.
        q: configuration (nq,).
        v: velocity (nv,).
        dv: acceleration (nv,).
        link_wrenches: as for `forward_dynamics`; they turn with their links.
        gravity: (3,) [m/s^2].

    Returns:
        (d tau/dq, d tau/dv, M); row k is about the generalised force tau[k].

    Raises:
        StateError: on wrong shapes or values that are not finite.
    """
    numbers = (
        checked_configuration(model, q),
        checked_vector("v", v, model.nv),
        checked_vector("dv", dv, model.nv),
        checked_gravity(gravity),
    )
    columns = new_columns(model)
    _inverse_derivatives(_with_wrenches(model, numbers[0], link_wrenches), *numbers, columns)
    return _matrices(columns, "derivative of the generalised force")


def _with_wrenches(model: Model, q: np.ndarray, link_wrenches: LinkWrenches) -> Reference:
    """Return the work of this thread, with the wrenches of links in its state."""
    work = work_of_thread(model, _reference_to_new)
    space = work.whole.state
    if link_wrenches is not None:
        update_poses(space.forest, q, space.kinematics)
    apply_wrenches(model, space, link_wrenches)
    return work


def _matrices(columns: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the three matrices that lie side by side, as views."""
    nv = len(finite(name, columns))
    return columns[:, :nv], columns[:, nv : 2 * nv], columns[:, 2 * nv : 3 * nv]
