# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Dynamics and kinematics of one model as plain functions of (model, q, v, ...).

Shapes, units and layout are the same as in Model: q (nq,), v, dv, tau (nv,). The generalised force
of a free base is force [N] then moment [Nm], both in the base frame. A wrench on a link is force
then moment, in the link's frame and about the link's origin.
"""

import math
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import ModelError, StateError, shown_value, unknown_name
from hrpsim.common.values import as_numbers
from hrpsim.engine.compile.compiled import prepared
from hrpsim.engine.dynamics.articulated import (
    Workspace,
    accelerations,
    apply_base_wrench,
    factorise,
    place_inertias,
    start_bodies,
    workspace_of,
)
from hrpsim.engine.dynamics.recursive import composite_inertia, kinetic_energy, newton_euler
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.kinematics.layout import (
    acceleration_from_kernel,
    acceleration_to_kernel,
    velocity_to_kernel,
)
from hrpsim.model.model import Model
from hrpsim.model.system import FIXED, FREE

# The arguments are checked, and of one kind each.
_acceleration_from_kernel = prepared(acceleration_from_kernel)
_acceleration_to_kernel = prepared(acceleration_to_kernel)
_accelerations = prepared(accelerations)
_apply_base_wrench = prepared(apply_base_wrench)
_composite_inertia = prepared(composite_inertia)
_factorise = prepared(factorise)
_kinetic_energy = prepared(kinetic_energy)
_newton_euler = prepared(newton_euler)
_place_inertias = prepared(place_inertias)
_start_bodies = prepared(start_bodies)
_update_poses = prepared(update_poses)
_update_velocities = prepared(update_velocities)
_velocity_to_kernel = prepared(velocity_to_kernel)
DOWNWARD_GRAVITY = (0.0, 0.0, -STANDARD_GRAVITY)
LinkWrenches: TypeAlias = Mapping[str, ArrayLike] | ArrayLike | None


def checked_vector(name: str, values, length: int) -> np.ndarray:
    """Return `values` as a contiguous float64 vector (length,).

    Raises:
        StateError: The length is wrong or a value is not finite.
    """
    try:
        vector = np.ascontiguousarray(as_numbers(name, values))
    except StateError as error:
        raise StateError(f"{name} must be {length} numbers, got {shown_value(values)}") from error
    if vector.shape != (length,):
        raise StateError(f"{name} must have shape ({length},), got {vector.shape}")
    if not is_finite(vector):
        at = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise StateError(f"{name}[{at}] is {vector[at]}: every entry must be finite")
    if not vector.flags.carray:
        vector = vector.copy()
    return vector


def is_finite(numbers: np.ndarray) -> bool:
    """Return whether all numbers are finite. The sum of squares is a fast first test."""
    flat = numbers.ravel()
    return math.isfinite(flat.dot(flat)) or bool(np.isfinite(flat).all())


def checked_configuration(model: Model, q) -> np.ndarray:
    """Return q as a contiguous array. Raise StateError for a wrong shape or an invalid value.

    Values must be finite, and quaternions must not be zero.
    """
    if not isinstance(model, Model):
        raise ModelError(f"model must be a Model, such as robot.model, got {shown_value(model)}")
    q = checked_vector("q", q, model.nq)
    for joint in model.free_joints:
        first = joint.q_index + 3
        length = math.hypot(*q[first : first + 4].tolist())
        if not 1e-6 < length < 1e6:
            raise StateError(
                f"q[{first}:{first + 4}], the quaternion x y z w of joint "
                f"{joint.name!r}, has length {length:g}. It should be 1"
            )
    return q


def apply_wrenches(model: Model, space: Workspace, link_wrenches) -> None:
    """Write the wrenches on links to `external` of the bodies' records.

    The poses in `space` must be current.
    """
    space.articulated["external"] = 0.0
    if link_wrenches is None:
        return
    if not isinstance(link_wrenches, Mapping):
        rows, expected = np.asarray(link_wrenches, dtype=object), (len(model.frames), 6)
        if rows.shape != expected:
            raise StateError(
                f"link_wrenches must map link names to wrenches or have shape {expected}, "
                f"got {rows.shape}"
            )
        link_wrenches = dict(zip(model.frames, rows, strict=True))
    for link, wrench in link_wrenches.items():
        if link not in model.frames:
            raise ModelError(unknown_name("link", str(link), model.frames))
        wrench = checked_vector(f"the wrench of {link!r}", wrench, 6)
        frame = model.frames[link]
        if frame.body < 0:
            continue
        body_pose = space.kinematics[frame.body]
        R = body_pose["R"] @ frame.R
        force, moment = R @ wrench[:3], R @ wrench[3:]
        external = space.articulated[frame.body]["external"]
        external[:3] += moment + np.cross(body_pose["p"] + body_pose["R"] @ frame.p, force)
        external[3:] += force


def _update(space: Workspace, q: np.ndarray, v: np.ndarray | None = None) -> None:
    """Update poses and, if `v` is given, velocities."""
    _update_poses(space.forest, q, space.kinematics)
    if v is not None:
        _velocity_to_kernel(space.forest, q, v, space.velocity)
        _update_velocities(space.forest, space.velocity, space.kinematics)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    link_wrenches: LinkWrenches = None,
    *,
    gravity: ArrayLike = DOWNWARD_GRAVITY,
) -> np.ndarray:
    """Return the acceleration dv (nv,) by the articulated-body algorithm (RBDA Table 7.1).

    Rotor inertia is included. Springs, dampers, dry friction and limits of the joints are ignored.

    Args:
        model: model of the robot.
        q: configuration (nq,).
        v: velocity (nv,).
        tau: generalised force (nv,) [N, Nm].
        link_wrenches: {link name: wrench (6,)} or (number of links, 6). A wrench is force [N], then
            moment [Nm], in the link's frame and about the link's origin.
        gravity: acceleration of gravity in the world (3,) [m/s^2].

    Raises:
        StateError: A shape is wrong or a value is not finite.
        ModelError: A joint has no positive inertia.
    """
    q = checked_configuration(model, q)
    v = checked_vector("v", v, model.nv)
    tau = checked_vector("tau", tau, model.nv)
    gravity = checked_vector("gravity", gravity, 3)
    space = workspace_of(model).whole
    forest, kinematics, articulated = space.forest, space.kinematics, space.articulated
    _update(space, q, v)
    apply_wrenches(model, space, link_wrenches)
    _apply_base_wrench(forest, kinematics, tau, articulated)
    _start_bodies(forest, kinematics, articulated)
    singular = _factorise(forest, kinematics, space.rotor_inertia, tau, articulated)
    if singular >= 0:
        raise ModelError(singular_message(model, singular))
    _accelerations(forest, kinematics, gravity, articulated, space.acceleration)
    dv = np.empty(model.nv)
    _acceleration_from_kernel(forest, q, space.velocity, space.acceleration, dv)
    return finite("acceleration", dv)


def finite(name: str, result):
    """Return `result`. Raise StateError if the result is not finite because of an overflow."""
    if not is_finite(np.asarray(result)):
        raise StateError(f"the {name} would not be finite. The given numbers are too large")
    return result


def singular_message(model: Model, body: int) -> str:
    """Return the error text for a body whose joint moves no positive inertia."""
    names = [joint.name for joint in model.joints if joint.body == body]
    joint = names[0] if names else "the free base"
    return (
        f"{model.source}: joint {joint!r} moves no positive inertia here, so its acceleration is "
        "undefined; give the links it moves an <inertial>, or the joint a rotor inertia"
    )


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dv: ArrayLike,
    link_wrenches: LinkWrenches = None,
    *,
    gravity: ArrayLike = DOWNWARD_GRAVITY,
) -> np.ndarray:
    """Return the generalised force tau (nv,) by recursive Newton-Euler (RBDA Table 5.1).

    Rotor inertia is included. Springs, dampers and friction are ignored.

    Args:
        model: model of the robot.
        q: configuration (nq,).
        v: velocity (nv,).
        dv: acceleration (nv,).
        link_wrenches: as for `forward_dynamics`.
        gravity: acceleration of gravity in the world (3,) [m/s^2].

    Raises:
        StateError: A shape is wrong or a value is not finite.
    """
    q = checked_configuration(model, q)
    v = checked_vector("v", v, model.nv)
    dv = checked_vector("dv", dv, model.nv)
    gravity = checked_vector("gravity", gravity, 3)
    space = workspace_of(model).whole
    forest, kinematics = space.forest, space.kinematics
    _update(space, q, v)
    _acceleration_to_kernel(forest, q, space.velocity, dv, space.acceleration)
    apply_wrenches(model, space, link_wrenches)
    _place_inertias(forest, kinematics, space.articulated)
    _newton_euler(forest, kinematics, space.acceleration, gravity, space.articulated, space.effort)
    tau = space.effort + space.rotor_inertia * space.acceleration
    for i in np.flatnonzero(model.system.joint_type == FREE):
        k, R = model.system.v_index[i], kinematics[i]["R"]
        moment, force = space.effort[k : k + 3], space.effort[k + 3 : k + 6]
        tau[k : k + 3], tau[k + 3 : k + 6] = R.T @ force, R.T @ moment
    return finite("generalised force", tau)


def mass_matrix(model: Model, q: ArrayLike) -> np.ndarray:
    """Return the joint-space inertia matrix M (nv, nv), symmetric (RBDA Table 6.2).

    Args:
        model: model of the robot.
        q: configuration (nq,).
    """
    q = checked_configuration(model, q)
    space = workspace_of(model).whole
    _update(space, q)
    M = np.empty((model.nv, model.nv))
    _place_inertias(space.forest, space.kinematics, space.articulated)
    _composite_inertia(space.forest, space.kinematics, space.articulated, space.composite, M)
    for i in np.flatnonzero(model.system.joint_type == FREE):
        k, R = model.system.v_index[i], space.kinematics[i]["R"]
        T = np.zeros((6, 6))
        T[:3, 3:] = R
        T[3:, :3] = R
        M[k : k + 6, :] = T.T @ M[k : k + 6, :]
        M[:, k : k + 6] = M[:, k : k + 6] @ T
    return finite("mass matrix", M)


def center_of_mass(model: Model, q: ArrayLike) -> np.ndarray:
    """Return the position of the centre of mass in the world (3,) [m].

    Args:
        model: model of the robot.
        q: configuration (nq,).

    Raises:
        ModelError: No moving body has mass.
    """
    q = checked_configuration(model, q)
    if not model.mass > 0.0:
        raise ModelError(
            f"{model.source}: no moving link has a mass, so the centre of mass is undefined"
        )
    space = workspace_of(model).whole
    _update_poses(space.forest, q, space.kinematics)
    return _moment_of_mass(model, space) / model.mass


def _moment_of_mass(model: Model, space: Workspace) -> np.ndarray:
    """Return the sum of mass times position of all bodies (3,) [kg m]. Poses must be current."""
    system, kinematics = model.system, space.kinematics
    centers = np.einsum("nij,nj->ni", kinematics["R"], system.com) + kinematics["p"]
    return system.mass @ (kinematics["origin"][system.root] + centers)


def link_pose(model: Model, q: ArrayLike, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (p, R) of a link in the world: position (3,) [m] and R_world_link (3, 3).

    Args:
        model: model of the robot.
        q: configuration (nq,).
        link: name of the link.
    """
    q = checked_configuration(model, q)
    frame = model.frame(link)
    if frame.body < 0:
        return frame.p.copy(), frame.R.copy()
    space = workspace_of(model).whole
    _update_poses(space.forest, q, space.kinematics)
    body_pose = space.kinematics[frame.body]
    origin = space.kinematics[model.system.root[frame.body]]["origin"]
    return origin + (body_pose["p"] + body_pose["R"] @ frame.p), body_pose["R"] @ frame.R


def link_jacobian(model: Model, q: ArrayLike, link: str) -> np.ndarray:
    """Return the Jacobian J (6, nv) of a link.

    J v is the velocity of the link's origin, then the link's angular velocity, both along the
    world's axes.

    Args:
        model: model of the robot.
        q: configuration (nq,).
        link: name of the link.
    """
    q = checked_configuration(model, q)
    frame = model.frame(link)
    J = np.zeros((6, model.nv))
    if frame.body < 0:
        return J
    space = workspace_of(model).whole
    _update_poses(space.forest, q, space.kinematics)
    kinematics = space.kinematics
    body_pose = kinematics[frame.body]
    point = body_pose["p"] + body_pose["R"] @ frame.p
    i = frame.body
    while i >= 0:
        body = space.forest.bodies[i]
        k = body["v_index"]
        if body["joint_type"] == FREE:
            R = kinematics[i]["R"]
            J[:3, k : k + 3] = R
            J[3:, k + 3 : k + 6] = R
            J[:3, k + 3 : k + 6] = np.cross(R.T, point - kinematics[i]["p"]).T
        elif body["joint_type"] != FIXED:
            S = kinematics[i]["S"]
            J[:3, k] = S[3:] + np.cross(S[:3], point)
            J[3:, k] = S[:3]
        i = body["parent"]
    return J


def energy(
    model: Model, q: ArrayLike, v: ArrayLike, *, gravity: ArrayLike = DOWNWARD_GRAVITY
) -> tuple[float, float]:
    """Return the kinetic and the potential energy of a state.

    The kinetic energy includes the rotors. The potential energy includes gravity and joint springs.

    Args:
        model: model of the robot.
        q: configuration (nq,).
        v: velocity (nv,).
        gravity: acceleration of gravity in the world (3,) [m/s^2].

    Returns:
        (kinetic, potential) [J].
    """
    q = checked_configuration(model, q)
    v = checked_vector("v", v, model.nv)
    gravity = checked_vector("gravity", gravity, 3)
    space = workspace_of(model).whole
    _update(space, q, v)
    _place_inertias(space.forest, space.kinematics, space.articulated)
    kinetic = _kinetic_energy(space.forest, space.kinematics, space.articulated, space.velocity)
    potential = -np.dot(gravity, _moment_of_mass(model, space))
    system = model.system
    for joint in model.joints:
        if joint.joint_type != FREE:
            k = joint.v_index
            stretch = q[joint.q_index] - system.rest[k]
            potential += 0.5 * system.stiffness[k] * stretch * stretch
    return finite("energy", (float(kinetic), float(potential)))
