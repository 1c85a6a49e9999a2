# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics and centre of mass for all samples of a motion, in one compiled call each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelError, StateError
from hrpsim.engine.compile.compiled import inlined_kernel, kernel, prepared
from hrpsim.engine.compile.kernel_types import (
    Index,
    LoadedLink,
    Mat3,
    Matrix,
    Records,
    Tensor,
    Vec3,
    Vec6,
    Vector,
)
from hrpsim.engine.dynamics.articulated import Workspace, place_inertias, workspace_of
from hrpsim.engine.dynamics.functions import DOWNWARD_GRAVITY, checked_configuration, finite
from hrpsim.engine.dynamics.recursive import newton_euler
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.kinematics.layout import acceleration_to_kernel, velocity_to_kernel
from hrpsim.model.model import Model
from hrpsim.model.system import FREE

# A frame in which wrenches are given, on the body that bears them.
_LOADED = np.dtype([("body", "i8"), ("R", "f8", (3, 3)), ("p", "f8", (3,))])


def inverse_dynamics_along(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dv: ArrayLike,
    links: Sequence[str] = (),
    wrenches: ArrayLike | None = None,
) -> np.ndarray:
    """Return the generalised forces (n, nv) for each of n samples of a motion (`inverse_dynamics`).

    Args:
        model: model of the robot.
        q: configurations (n, nq).
        v: velocities (n, nv).
        dv: accelerations (n, nv).
        links: names of the k links on which wrenches act.
        wrenches: wrenches on these links (n, k, 6), force [N] then moment [Nm], as for
            `forward_dynamics`.

    Raises:
        StateError: A shape is wrong or a value is not finite.
    """
    q = _checked_motion(model, q)
    n, space = len(q), workspace_of(model)
    v, dv = _checked("v", v, (n, model.nv)), _checked("dv", dv, (n, model.nv))
    if wrenches is None:
        wrenches = np.zeros((n, len(links), 6))
    wrenches = _checked("wrenches", wrenches, (n, len(links), 6))
    loaded = np.zeros(len(links), dtype=_LOADED)
    for record, link in zip(loaded, links, strict=True):
        frame = model.frame(link)
        record["body"], record["R"], record["p"] = frame.body, frame.R, frame.p
    tau = np.empty((n, model.nv))
    gravity = np.array(DOWNWARD_GRAVITY)
    _efforts(space, gravity, q, v, dv, loaded, wrenches, tau)
    return finite("generalised force", tau)


def centers_of_mass(model: Model, q: ArrayLike) -> np.ndarray:
    """Return the centre of mass in the world (n, 3) [m] in n configurations.

    Args:
        model: model of the robot.
        q: configurations (n, nq).

    Raises:
        StateError: A shape is wrong or a value is not finite.
        ModelError: No moving body has mass.
    """
    q = _checked_motion(model, q)
    if not model.mass > 0.0:
        raise ModelError(
            f"{model.source}: no moving link has a mass, so the centre of mass is undefined"
        )
    com = np.empty((len(q), 3))
    _centers(workspace_of(model), q, com)
    return finite("centre of mass", com)


def _checked(name: str, values: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """Return `values` as a contiguous array. Raise StateError for a wrong shape or value."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise StateError(f"{name} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        at = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise StateError(f"{name}{list(at)} is {array[at]}: every entry must be finite")
    return array


def _checked_motion(model: Model, q: ArrayLike) -> np.ndarray:
    """Return configurations (n, nq) as an array, with the checks of `checked_configuration`."""
    count = np.shape(q)[0] if np.ndim(q) else 0
    motion = _checked("q", q, (count, model.nq))
    for joint in model.free_joints:
        length = np.linalg.norm(motion[:, joint.q_index + 3 : joint.q_index + 7], axis=1)
        wrong = np.flatnonzero((length < 1e-6) | (length > 1e6))
        if wrong.size:
            checked_configuration(model, motion[wrong[0]])
    return motion


@kernel
def efforts_along(
    w: Workspace,
    gravity: Vec3,
    q: Matrix,
    v: Matrix,
    dv: Matrix,
    loaded: Records[LoadedLink],
    wrenches: Tensor,
    tau_out: Matrix,
) -> None:
    """Write the generalised forces tau_out (n, nv) of the samples q (n, nq), v, dv (n, nv).

    The forces have the public layout.
    """
    for t in range(q.shape[0]):
        update_poses(w.forest, q[t], w.kinematics)
        velocity_to_kernel(w.forest, q[t], v[t], w.velocity)
        update_velocities(w.forest, w.velocity, w.kinematics)
        acceleration_to_kernel(w.forest, q[t], w.velocity, dv[t], w.acceleration)
        for i in range(w.articulated.shape[0]):
            external = w.articulated[i].external
            for r in range(6):
                external[r] = 0.0
        for j in range(loaded.shape[0]):
            if loaded[j].body >= 0:
                _load(w, loaded[j], wrenches[t, j])
        place_inertias(w.forest, w.kinematics, w.articulated)
        newton_euler(w.forest, w.kinematics, w.acceleration, gravity, w.articulated, w.effort)
        tau = tau_out[t]
        for k in range(tau.shape[0]):
            tau[k] = w.effort[k] + w.rotor_inertia[k] * w.acceleration[k]
        for i in range(w.forest.bodies.shape[0]):
            if w.forest.bodies[i].joint_type == FREE:
                _write_base_wrench(w.kinematics[i].R, w.forest.bodies[i].v_index, w.effort, tau)


@inlined_kernel
def _load(w: Workspace, loaded: LoadedLink, wrench: Vec6) -> None:
    """Add a wrench, given in a link's frame, to the `external` force of the link's body."""
    link, external = w.kinematics[loaded.body], w.articulated[loaded.body].external
    R, p, L = link.R, loaded.p, loaded.R
    x = link.p[0] + R[0, 0] * p[0] + R[0, 1] * p[1] + R[0, 2] * p[2]
    y = link.p[1] + R[1, 0] * p[0] + R[1, 1] * p[1] + R[1, 2] * p[2]
    z = link.p[2] + R[2, 0] * p[0] + R[2, 1] * p[1] + R[2, 2] * p[2]
    for a in range(3):
        for b in range(3):
            turned = R[a, 0] * L[0, b] + R[a, 1] * L[1, b] + R[a, 2] * L[2, b]
            force = turned * wrench[b]
            external[a] += turned * wrench[3 + b]
            external[3 + a] += force
            if a == 0:
                external[1] += z * force
                external[2] -= y * force
            elif a == 1:
                external[2] += x * force
                external[0] -= z * force
            else:
                external[0] += y * force
                external[1] -= x * force


@inlined_kernel
def _write_base_wrench(R: Mat3, k: Index, effort: Vector, tau_out: Vector) -> None:
    """Write force, then moment of a free base, both along the base's own axes."""
    for c in range(3):
        tau_out[k + c] = tau_out[k + 3 + c] = 0.0
        for r in range(3):
            tau_out[k + c] += R[r, c] * effort[k + 3 + r]
            tau_out[k + 3 + c] += R[r, c] * effort[k + r]


@kernel
def centers_along(w: Workspace, q: Matrix, com_out: Matrix) -> None:
    """Write the centre of mass (n, 3) of configurations (n, nq)."""
    for t in range(q.shape[0]):
        update_poses(w.forest, q[t], w.kinematics)
        place_inertias(w.forest, w.kinematics, w.articulated)
        mass, com = 0.0, com_out[t]
        com[0] = com[1] = com[2] = 0.0
        for i in range(w.forest.bodies.shape[0]):
            inertia = w.articulated[i].inertia
            origin = w.kinematics[w.forest.bodies[i].root].origin
            mass += inertia[0]
            for r in range(3):
                com[r] += inertia[0] * origin[r] + inertia[1 + r]
        for r in range(3):
            com[r] /= mass


_efforts = prepared(efforts_along)
_centers = prepared(centers_along)
