"""Dynamics and kinematics of one model as plain functions of (model, q, v, ...).

Shapes, units and layout are those of Model: q (nq,), v, dv, tau (nv,); the generalised force of a
free base is force [N] then moment [Nm], both in the base frame. A wrench on a link is force then
moment, in the link's frame and about its origin.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from hrpsim.compiled import kernel
from hrpsim.dynamics.articulated import (
    Articulated,
    accelerations,
    bias_forces,
    factorise,
    new_articulated,
    place_inertias,
)
from hrpsim.dynamics.recursive import composite_inertia, kinetic_energy, newton_euler
from hrpsim.errors import ModelError, StateError, unknown_name
from hrpsim.kinematics.forward import Kinematics, new_kinematics, update_poses, update_velocities
from hrpsim.kinematics.layout import (
    acceleration_from_kernel,
    acceleration_to_kernel,
    velocity_from_kernel,
    velocity_to_kernel,
)
from hrpsim.model.model import Model
from hrpsim.model.system import FIXED, FREE

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)


class _Workspace(NamedTuple):
    kinematics: Kinematics
    articulated: Articulated
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray
    external: np.ndarray
    wrench: np.ndarray
    composite: np.ndarray


_local = threading.local()


def _workspace(model: Model) -> _Workspace:
    spaces = getattr(_local, "spaces", None)
    if spaces is None:
        spaces = _local.spaces = weakref.WeakKeyDictionary()
    space = spaces.get(model)
    if space is None:
        n, nv = model.body_count, model.nv
        space = spaces[model] = _Workspace(
            kinematics=new_kinematics(n),
            articulated=new_articulated(n),
            velocity=np.zeros(nv),
            acceleration=np.zeros(nv),
            effort=np.zeros(nv),
            external=np.zeros((n, 6)),
            wrench=np.zeros((n, 6)),
            composite=np.zeros((n, 10)),
        )
    return space


def checked_vector(name: str, values, length: int) -> np.ndarray:
    """Return `values` as a contiguous float64 vector; StateError on a wrong length or NaN."""
    vector = np.ascontiguousarray(values, dtype=np.float64)
    if vector.shape != (length,):
        raise StateError(f"{name} must have shape ({length},), got {vector.shape}")
    if not np.isfinite(vector).all():
        at = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise StateError(f"{name}[{at}] is {vector[at]}: every entry must be finite")
    if not vector.flags.writeable:
        vector = vector.copy()
    return vector


def checked_configuration(model: Model, q) -> np.ndarray:
    """Return q checked for shape, finiteness and a quaternion that can be normalised."""
    q = checked_vector("q", q, model.nq)
    for joint in model.joints:
        if joint.joint_type == FREE:
            quaternion = q[joint.q_index + 3 : joint.q_index + 7]
            if not 1e-6 < np.linalg.norm(quaternion) < 1e6:
                raise StateError(
                    f"q[{joint.q_index + 3}:{joint.q_index + 7}], the quaternion x y z w of joint "
                    f"{joint.name!r}, has length {np.linalg.norm(quaternion):g}; it should be 1"
                )
    return q


@kernel
def _place_wrenches(system, kinematics, bodies, Rs, ps, wrenches, external_out):
    for k in range(bodies.shape[0]):
        i = bodies[k]
        if i < 0:
            continue
        R, p = kinematics.R[i], kinematics.p[i]
        A, b = Rs[k], ps[k]
        f = np.zeros(3)
        m = np.zeros(3)
        x = np.zeros(3)
        for r in range(3):
            x[r] = p[r]
            for c in range(3):
                total = R[r, 0] * A[0, c] + R[r, 1] * A[1, c] + R[r, 2] * A[2, c]
                f[r] += total * wrenches[k, c]
                m[r] += total * wrenches[k, 3 + c]
                x[r] += R[r, c] * b[c]
        external_out[i, 0] += m[0] + x[1] * f[2] - x[2] * f[1]
        external_out[i, 1] += m[1] + x[2] * f[0] - x[0] * f[2]
        external_out[i, 2] += m[2] + x[0] * f[1] - x[1] * f[0]
        for r in range(3):
            external_out[i, 3 + r] += f[r]


def _external(model: Model, space: _Workspace, link_wrenches) -> None:
    space.external[:] = 0.0
    if link_wrenches is None:
        return
    if not isinstance(link_wrenches, Mapping):
        rows = np.asarray(link_wrenches, dtype=np.float64)
        if rows.shape != (len(model.frames), 6):
            raise StateError(
                f"link_wrenches must map link names to wrenches or have shape "
                f"({len(model.frames)}, 6), got {rows.shape}"
            )
        link_wrenches = dict(zip(model.frames, rows, strict=True))
    frames = []
    for link in link_wrenches:
        if link not in model.frames:
            raise ModelError(unknown_name("link", link, model.frames))
        frames.append(model.frames[link])
    if not frames:
        return
    wrenches = np.array(
        [checked_vector(f"the wrench of {k!r}", w, 6) for k, w in link_wrenches.items()]
    )
    _place_wrenches(
        model.system,
        space.kinematics,
        np.array([f.body for f in frames], dtype=np.int64),
        np.array([f.R for f in frames], dtype=np.float64, order="C"),
        np.array([f.p for f in frames], dtype=np.float64, order="C"),
        wrenches,
        space.external,
    )


def _base_wrench(model: Model, space: _Workspace, tau: np.ndarray) -> None:
    system = model.system
    for i in np.flatnonzero(system.joint_type == FREE):
        k, R = system.v_index[i], space.kinematics.R[i]
        space.external[i, :3] += R @ tau[k + 3 : k + 6]
        space.external[i, 3:] += R @ tau[k : k + 3]


def forward_dynamics(model, q, v, tau, link_wrenches=None, *, gravity=STANDARD_GRAVITY):
    """Return the acceleration dv (nv,) by the articulated-body algorithm (RBDA Table 7.1).

    Springs, dampers, dry friction and limits of the joints take no part; rotor inertia does.
    `link_wrenches`: {link name: wrench (6,)} or (number of links, 6). Raises StateError on wrong
    shapes or values that are not finite, ModelError where a joint sees no positive inertia.
    """
    q = checked_configuration(model, q)
    v = checked_vector("v", v, model.nv)
    tau = checked_vector("tau", tau, model.nv)
    space = _workspace(model)
    system, kinematics, articulated = model.system, space.kinematics, space.articulated
    velocity_to_kernel(system, q, v, space.velocity)
    update_poses(system, q, kinematics)
    update_velocities(system, space.velocity, kinematics)
    _external(model, space, link_wrenches)
    _base_wrench(model, space, tau)
    place_inertias(system, kinematics, articulated)
    singular = factorise(system, kinematics, system.rotor_inertia, articulated)
    if singular >= 0:
        raise ModelError(_singular_message(model, singular))
    bias_forces(system, kinematics, space.external, articulated)
    gravity = checked_vector("gravity", gravity, 3)
    accelerations(system, kinematics, tau, gravity, articulated, space.acceleration)
    dv = np.empty(model.nv)
    acceleration_from_kernel(system, q, space.velocity, space.acceleration, dv)
    return dv


def _singular_message(model: Model, body: int) -> str:
    names = [joint.name for joint in model.joints if joint.body == body]
    joint = names[0] if names else "the free base"
    return (
        f"{model.source}: joint {joint!r} moves no positive inertia, so its acceleration is "
        "undefined; give the links it moves an <inertial>, or the joint a rotor inertia"
    )


def inverse_dynamics(model, q, v, dv, link_wrenches=None, *, gravity=STANDARD_GRAVITY):
    """Return the generalised force tau (nv,) by recursive Newton-Euler (RBDA Table 5.1).

    Rotor inertia is included; springs, dampers and friction are not. Arguments and errors as in
    `forward_dynamics`.
    """
    q = checked_configuration(model, q)
    v = checked_vector("v", v, model.nv)
    dv = checked_vector("dv", dv, model.nv)
    space = _workspace(model)
    system, kinematics = model.system, space.kinematics
    velocity_to_kernel(system, q, v, space.velocity)
    acceleration_to_kernel(system, q, space.velocity, dv, space.acceleration)
    update_poses(system, q, kinematics)
    update_velocities(system, space.velocity, kinematics)
    _external(model, space, link_wrenches)
    place_inertias(system, kinematics, space.articulated)
    newton_euler(
        system,
        kinematics,
        space.articulated.inertia,
        space.acceleration,
        checked_vector("gravity", gravity, 3),
        space.external,
        space.articulated.a,
        space.wrench,
        space.effort,
    )
    tau = space.effort + system.rotor_inertia * space.acceleration
    for i in np.flatnonzero(system.joint_type == FREE):
        k, R = system.v_index[i], kinematics.R[i]
        moment, force = space.effort[k : k + 3], space.effort[k + 3 : k + 6]
        tau[k : k + 3], tau[k + 3 : k + 6] = R.T @ force, R.T @ moment
    return tau


def mass_matrix(model, q):
    """Return the joint-space inertia matrix M (nv, nv), symmetric (RBDA Table 6.2)."""
    q = checked_configuration(model, q)
    space = _workspace(model)
    system, kinematics = model.system, space.kinematics
    update_poses(system, q, kinematics)
    place_inertias(system, kinematics, space.articulated)
    M = np.empty((model.nv, model.nv))
    composite_inertia(
        system,
        kinematics,
        space.articulated.inertia,
        system.rotor_inertia,
        space.composite,
        M,
    )
    for i in np.flatnonzero(system.joint_type == FREE):
        k, R = system.v_index[i], kinematics.R[i]
        T = np.zeros((6, 6))
        T[:3, 3:] = R
        T[3:, :3] = R
        M[k : k + 6, :] = T.T @ M[k : k + 6, :]
        M[:, k : k + 6] = M[:, k : k + 6] @ T
    return M


def center_of_mass(model, q):
    """Return the position of the centre of mass in the world (3,) [m]."""
    q = checked_configuration(model, q)
    space = _workspace(model)
    system, kinematics = model.system, space.kinematics
    update_poses(system, q, kinematics)
    world = kinematics.p + kinematics.origin[system.root]
    return system.mass @ (world + np.einsum("nij,nj->ni", kinematics.R, system.com)) / model.mass


def link_pose(model, q, link):
    """Return (p, R) of `link` in the world: position (3,) [m] and R_world_link (3, 3)."""
    q = checked_configuration(model, q)
    frame = model.frame(link)
    if frame.body < 0:
        return frame.p.copy(), frame.R.copy()
    kinematics = _workspace(model).kinematics
    update_poses(model.system, q, kinematics)
    R, origin = kinematics.R[frame.body], kinematics.origin[model.system.root[frame.body]]
    return origin + (kinematics.p[frame.body] + R @ frame.p), R @ frame.R


def link_jacobian(model, q, link):
    """Return J (6, nv): (linear velocity of the link origin, angular velocity) = J v, in the world."""
    q = checked_configuration(model, q)
    frame = model.frame(link)
    system = model.system
    J = np.zeros((6, model.nv))
    if frame.body < 0:
        return J
    kinematics = _workspace(model).kinematics
    update_poses(system, q, kinematics)
    point = kinematics.p[frame.body] + kinematics.R[frame.body] @ frame.p
    i = frame.body
    while i >= 0:
        k = system.v_index[i]
        if system.joint_type[i] == FREE:
            R = kinematics.R[i]
            J[:3, k : k + 3] = R
            J[3:, k + 3 : k + 6] = R
            J[:3, k + 3 : k + 6] = np.cross(R.T, point - kinematics.p[i]).T
        elif system.joint_type[i] != FIXED:
            S = kinematics.S[i]
            J[:3, k] = S[3:] + np.cross(S[:3], point)
            J[3:, k] = S[:3]
        i = system.parent[i]
    return J


def energy(model, q, v, *, gravity=STANDARD_GRAVITY):
    """Return (kinetic, potential) energy [J]: rotors, joint springs and gravity included."""
    q = checked_configuration(model, q)
    v = checked_vector("v", v, model.nv)
    space = _workspace(model)
    system, kinematics = model.system, space.kinematics
    velocity_to_kernel(system, q, v, space.velocity)
    update_poses(system, q, kinematics)
    update_velocities(system, space.velocity, kinematics)
    place_inertias(system, kinematics, space.articulated)
    kinetic = kinetic_energy(
        system, kinematics, space.articulated.inertia, system.rotor_inertia, space.velocity
    )
    potential = -model.mass * np.dot(gravity, center_of_mass(model, q))
    for joint in model.joints:
        if joint.joint_type != FREE:
            k = joint.v_index
            stretch = q[joint.q_index] - system.rest[k]
            potential += 0.5 * system.stiffness[k] * stretch * stretch
    return float(kinetic), float(potential)


