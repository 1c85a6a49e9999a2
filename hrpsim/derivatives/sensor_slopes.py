# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the readings of sensors with respect to the motion of a step and to inertias.

In these derivatives, contact forces move with their bodies, and a sensor moves with its body. The
motion of the body is described in a frame that moves with the displaced degree of freedom. It
changes by the twist V_Q and by the acceleration A_Q - v x V_Q. The wrench of a subtree changes by I
A_Q + C V_Q (motion_derivatives.py). docs/explanation/linearization_solution.md, "Outputs", has the
equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.derivatives.balance import write_wrenches
from hrpsim.derivatives.given_impulses import change_inertias
from hrpsim.derivatives.motion_derivatives import (
    A_Q,
    A_V,
    MOTION,
    V_Q,
    add_cross,
    add_cross_force,
    sum_subtrees,
    write_forces,
)
from hrpsim.derivatives.room import DerivativeArrays, TakenStep
from hrpsim.engine.compile.compiled import inner_kernel, kernel, prepared
from hrpsim.engine.compile.kernel_types import Matrix, Tensor, Vec3, Vector
from hrpsim.engine.dynamics.articulated import place_inertias
from hrpsim.engine.dynamics.recursive import newton_euler
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.sensors.quantities import MOTION as OF_MOTION
from hrpsim.model.system import FREE


@kernel
def write_carried_forces(
    s: Scene,
    w: DerivativeArrays,
    acceleration: Vector,
    gravity: Vec3,
    shares: Matrix,
    carried_out: Tensor,
    by_shares_out: Tensor,
) -> None:
    """Write the changes of the wrench on the subtree that each degree of freedom moves.

    The kernel also writes the motions of `w.space` and the quantities of its subtrees.

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `differentiate` and before the position correction.
        acceleration: acceleration of the step (nv,), without the addition of the midpoint rule.
        gravity: (3,) [m/s^2], or 0 for the wrenches of tared sensors.
        shares: derivatives of each body's mass and inertia, relative to its values (p, n).
        carried_out: changes for unit changes of position, velocity and acceleration (nv, 6, 3),
            written.
        by_shares_out: changes of the wrench on each body's subtree for the parameters (p, n, 6),
            written.
    """
    forest, kinematics, articulated = w.space.forest, w.space.kinematics, w.space.articulated
    update_poses(forest, w.q, kinematics)
    update_velocities(forest, w.middle_velocity, kinematics)
    place_inertias(forest, kinematics, articulated)
    write_wrenches(s, w, 1.0 / s.settings[0].time_step)
    newton_euler(forest, kinematics, acceleration, gravity, articulated, w.own_change)
    sum_subtrees(forest, kinematics, articulated, w.space.subtrees)
    _write_world_motions(w, gravity)
    for k in range(carried_out.shape[0]):
        i = forest.dofs[k].body
        write_forces(w.space.subtrees[i], w.space.motions[k], w.space.forces)
        add_cross_force(w.space.motions[k, :, MOTION], articulated[i].p_A, w.space.forces[:, 4])
        for r in range(6):
            for c in range(3):
                carried_out[k, r, c] = w.space.forces[r, 4 + c]
    for j in range(shares.shape[0]):
        change_inertias(s, w, shares[j])
        newton_euler(w.changed, kinematics, acceleration, gravity, articulated, w.own_change)
        for i in range(forest.bodies.shape[0]):
            for r in range(6):
                by_shares_out[j, i, r] = articulated[i].p_A[r]


@inner_kernel
def _write_world_motions(w: DerivativeArrays, gravity: Vec3) -> None:
    """Write S, V_Q, A_Q and A_V of every degree of freedom to w.space.motions, kernels' layout.

    A free base keeps its velocity along the world's axes as it turns. The base therefore counts as
    its own parent.
    """
    forest, kinematics, articulated = w.space.forest, w.space.kinematics, w.space.articulated
    for k in range(w.velocity.shape[0]):
        i, motion = forest.dofs[k].body, w.space.motions[k]
        body, moving = forest.bodies[i], kinematics[i]
        a_q, a_v, v_q, S = motion[:, A_Q], motion[:, A_V], motion[:, V_Q], motion[:, MOTION]
        v_q[:] = a_q[:] = a_v[:] = 0.0
        for r in range(6):
            S[r] = moving.S[r]
        if body.joint_type == FREE:
            S[:] = 0.0
            S[k - body.v_index] = 1.0
            if k - body.v_index < 3:  # a displacement changes no motion
                add_cross(moving.v, S, v_q)
                add_cross(articulated[i].a, S, a_q)
                add_cross(moving.v, v_q, a_q)
                for r in range(3):
                    a_v[r], a_v[3 + r] = v_q[r], 2.0 * v_q[3 + r]
            continue
        if body.parent >= 0:
            add_cross(kinematics[body.parent].v, S, v_q)
            add_cross(articulated[body.parent].a, S, a_q)
            add_cross(kinematics[body.parent].v, v_q, a_q)
        else:
            for r in range(3):
                y, z = (r + 1) % 3, (r + 2) % 3
                a_q[3 + r] = gravity[z] * S[y] - gravity[y] * S[z]
        add_cross(moving.v, S, a_v)
        for r in range(6):
            a_v[r] += v_q[r]


_write_carried_forces = prepared(write_carried_forces)


class SensorPaths(NamedTuple):
    """The degrees of freedom and bodies on which the readings of k sensors depend."""

    moving: np.ndarray  # (k, nv) 1 for a degree of freedom that moves the sensor's body, else 0
    below: np.ndarray  # (k, nv) 1 for a degree of freedom below the sensor's body, else 0
    bodies: np.ndarray  # (k, n) 1 for a body that a force sensor carries, else 0


def sensor_paths(scene: Scene) -> SensorPaths:
    """Return the `SensorPaths` of all sensors. Entries of a sensor fixed to the world are zero."""
    sensors, forest, of = scene.sensors, scene.forest, scene.forest.dofs["body"]
    k, n = len(sensors), len(forest.bodies)
    paths = SensorPaths(np.zeros((k, len(of))), np.zeros((k, len(of))), np.zeros((k, n)))
    for number in np.flatnonzero(sensors["body"] >= 0):
        first = i = sensors["body"][number]
        while i >= 0:
            paths.moving[number, of == i] = 1.0
            i = forest.bodies["parent"][i]
        if sensors["quantity"][number] != OF_MOTION:
            paths.bodies[number, first : first + sensors["subtree_size"][number]] = 1.0
            paths.below[number] = paths.bodies[number, of] * (of > first)
    return paths


class SensorSlopes(NamedTuple):
    """Derivatives of the readings of k sensors at constant contact forces, kernels' layout."""

    by_motion: np.ndarray  # (k, 6, 3, nv) by mid-step position, mid-step velocity, acceleration
    by_shares: np.ndarray  # (k, 6, p)
    placements: np.ndarray  # (k, 6, 6) reading for unit moments and forces on the subtree


def sensor_slopes(
    step: TakenStep, paths: SensorPaths, acceleration: np.ndarray, shares: np.ndarray
) -> SensorSlopes:
    """Return the derivatives of the readings of all sensors of the scene.

    Args:
        step: step after `differentiate`, before its position correction.
        paths: result of `sensor_paths` for the scene.
        acceleration: acceleration of the step (nv,), without the addition of the midpoint rule.
        shares: derivatives of each body's mass and inertia, relative to its values (p, n).
    """
    scene, w = step.scene, step.room.whole
    sensors, nv, (p, n) = scene.sensors, len(w.velocity), shares.shape
    k, gravity = len(sensors), scene.settings["gravity"][0]
    carried, by_shares = np.empty((nv, 6, 3)), np.empty((p, n, 6))
    by_motion, by_parameters = np.zeros((k, 6, 3, nv)), np.zeros((k, 6, p))
    placements = np.zeros((k, 6, 6))
    for tare in np.unique(sensors["tare"]):
        _write_carried_forces(
            step.reference,
            step.room,
            acceleration,
            gravity * (tare == 0),
            shares,
            carried,
            by_shares,
        )
        at = np.flatnonzero((sensors["tare"] == tare) & (sensors["body"] >= 0))
        by_change, by_twist = np.zeros((2, len(at), 6, 6))
        for own, number in enumerate(at):
            place = _write_maps(w, sensors[number], by_change[own], by_twist[own])
            placements[number] = place
            by_parameters[number] = -place @ by_shares[:, sensors[number]["body"]].T
        motions = w.space.motions.transpose(2, 1, 0)  # (8, 6, nv)
        changes = motions[[A_Q, A_V, MOTION]].transpose(1, 0, 2).reshape(6, -1)
        twists = motions[[V_Q, MOTION, MOTION]].transpose(1, 0, 2).reshape(6, -1).copy()
        twists[:, 2 * nv :] = 0.0
        moved = (by_change @ changes + by_twist @ twists).reshape(-1, 6, 3, nv)
        by_motion[at] = moved * paths.moving[at][:, None, None]
        left = (placements[at] @ carried.transpose(1, 2, 0).reshape(6, -1)).reshape(-1, 6, 3, nv)
        by_motion[at] -= left * paths.below[at][:, None, None]
    return SensorSlopes(by_motion, by_parameters, placements)


def _cross(p: np.ndarray) -> np.ndarray:
    """Return the cross product matrix (3, 3) of p."""
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def _write_maps(
    w: DerivativeArrays, sensor: np.ndarray, by_change_out: np.ndarray, by_twist_out: np.ndarray
) -> np.ndarray:
    """Write the matrices that map changes of a body's motion to changes of a reading.

    Args:
        w: DerivativeArrays, after `write_carried_forces`.
        sensor: SENSOR record.
        by_change_out: matrix for A_Q, the change of the acceleration plus v x V_Q (6, 6), written.
        by_twist_out: matrix for V_Q, the change of the twist (6, 6), written.

    Returns:
        The matrix that maps a wrench about the tree's origin to the reading (6, 6), zero for an
        IMU.
    """
    body, place = w.space.kinematics[sensor["body"]], np.zeros((6, 6))
    R, p = (body["R"] @ sensor["R"]).T, body["p"] + body["R"] @ sensor["p"]
    if sensor["quantity"] == OF_MOTION:
        v, cross = body["v"], _cross(p)
        by_twist_out[:3, :3], by_change_out[3:, 3:] = R, R
        by_change_out[3:, :3] = -R @ cross
        by_twist_out[3:, :3] = -2.0 * R @ _cross(v[3:] - cross @ v[:3])
        return place
    place[:3, 3:] = place[3:, :3] = R
    place[3:, 3:] = -R @ _cross(p)
    by_change_out[:], by_twist_out[:] = _carried_matrices(w.space.subtrees[sensor["body"]])
    by_change_out[:], by_twist_out[:] = -place @ by_change_out, -place @ by_twist_out
    return place


def _carried_matrices(carried: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inertia matrix I and the Coriolis matrix C (6, 6) of a subtree.

    carried: row (22,) of `subtrees`.
    """
    inertia, coriolis, (xx, yy, zz, xy, xz, yz) = *np.zeros((2, 6, 6)), carried[4:10]
    inertia[:3, :3] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    inertia[:3, 3:] = _cross(carried[1:4])
    inertia[3:, :3] = -inertia[:3, 3:]
    inertia[[3, 4, 5], [3, 4, 5]] = carried[0]
    coriolis[:3, :3], coriolis[3:, :3] = carried[13:22].reshape(3, 3), -_cross(carried[10:13])
    return inertia, coriolis
