# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the change of contact velocities to the end of a step.

A row holds J v' = target - b, with b of hrpsim.constraints.contact_bending: for free bodies and the
world over half a step h / 2

    b = d . V + (n) dn . u / 2,   V = sum of +-(omega x dr + h c x r) / 2,

the arms r, their changes dr and that dn of the normal since the last step, the velocity u at the
contact, and the accelerations c of free rotation. Where a contact begins dr is the one expected,
h (omega x r), less the part by the turn of a round shape about its own axis.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from hrpsim.constraints.contact_bending import ALL, CLOSES, ROUNDING
from hrpsim.dynamics.spin import TURNING
from hrpsim.jit.compiled import kernel, prepared
from hrpsim.kinematics.forward import KINEMATICS
from hrpsim.model.shapes.geometry import CAPSULE, CYLINDER, SPHERE
from hrpsim.model.shapes.placement import rotation_matrix
from hrpsim.spatial.rotation import rotate_quaternion, rotation_from_quaternion
from hrpsim.spatial.vector import copy_vector
from hrpsim.step.motion.half_turns import expect_free_turn, turns_freely, write_free_acceleration
from hrpsim.world.linearization.room import SLIP, TakenStep

_STEP = 1e-5  # of the differences [rad/s or rad]


class Bends(NamedTuple):
    """Derivatives of b of all rows of contacts (k,), by the public order of their bodies."""

    by_motion: np.ndarray  # (k, 12) of body a, then b: turn, then displacement of its origin
    by_twist: np.ndarray  # (k, 12) angular, then linear velocity
    refused: list[tuple[str, int]]  # reasons, and rows that have them


@kernel  # many parameters: parts of the scene and work arrays of the caller
def free_products(forest, q, velocity, past, spins, time_step, here, turned, turning, products_out):
    """Write the accelerations of free rotation, and their derivatives by rate and by turn.

    Args:
        forest: Forest.
        q: (nq,) where the forces act.
        velocity: (nv,) there.
        past: (nv, 2) accelerations of the steps before.
        spins: (n,) SPIN.
        time_step: [s].
        here: (1,) KINEMATICS, work.
        turned: (nq,) work.
        turning: TURNING of hrpsim.dynamics.spin, work.
        products_out: (n, 3, 7): the acceleration, its derivatives by the angular velocity, and
            those by a turn of the body.
    """
    products_out[:, :, :] = 0.0
    half = 0.5 * time_step
    copy_vector(q, turned)
    for i in range(forest.bodies.shape[0]):
        if not turns_freely(forest, i):
            continue
        body = forest.bodies[i]
        k, j = body.v_index, body.q_index + 3
        for column in range(7):
            for side in range(2):
                share = 0.5 if column == 0 else (0.5 - side) / _STEP
                for r in range(3):
                    here[0].v[r] = velocity[k + r]
                if 0 < column and column < 4:
                    here[0].v[column - 1] += (1.0 - 2.0 * side) * _STEP
                for r in range(j, j + 4):
                    turned[r] = q[r]
                if column > 3:
                    x = 1.0 if column == 4 else 0.0
                    y = 1.0 if column == 5 else 0.0
                    z = 1.0 if column == 6 else 0.0
                    rotate_quaternion(turned, j, x, y, z, (1.0 - 2.0 * side) * _STEP)
                x, y, z, w = turned[j], turned[j + 1], turned[j + 2], turned[j + 3]
                rotation_from_quaternion(x, y, z, w, here[0].R)
                write_free_acceleration(body.inertia, here[0])
                kick = time_step - spins[i].ahead
                expect_free_turn(body, turned, past, kick, half, turning, here[0])
                for r in range(3):
                    products_out[i, r, column] += share * here[0].c[r]
    return 0


_free_products = prepared(free_products)


def bends_of(step: TakenStep) -> Bends:
    """Return the derivatives of b of all rows of contacts."""
    scene, w, count = step.scene, step.room.whole, 3 * len(step.contacts)
    found = Bends(np.zeros((count, 12)), np.zeros((count, 12)), [])
    for c in np.flatnonzero(step.contacts["closes"]):
        found.by_motion[3 * c] = CLOSES / step.time_step * w.geometry[c, :, 6].ravel()
    numbers = np.flatnonzero(step.contacts["bends"])
    if not len(numbers):
        return found
    products, bodies = np.empty((len(scene.forest.bodies), 3, 7)), scene.forest.bodies
    past, here = np.ascontiguousarray(scene.past_accelerations[:, 1:]), np.zeros(1, KINEMATICS)
    velocity, h = w.middle_velocity, step.time_step
    _free_products(
        scene.forest,
        w.q,
        velocity,
        past,
        scene.spins,
        h,
        here,
        w.q.copy(),
        np.zeros(TURNING),
        products,
    )
    free = scene.forest.dofs["turns_freely"][bodies["v_index"]] != 0
    for c in numbers:
        contact = step.contacts[c]
        sides = [contact["body_a"], contact["body_b"]]
        if not all(i < 0 or free[i] for i in sides):
            found.refused.append(("of a body that turns is with a robot", 3 * c))
        else:
            _differentiate(step, c, products, found)
    return found


class _Side(NamedTuple):
    """One body at a contact: what its change of velocity depends on."""

    end: int  # 0 for body a, 1 for body b
    sign: float
    omega: np.ndarray  # (3,) [rad/s]
    speed: np.ndarray  # (3,) of the body's origin [m/s]
    arm: np.ndarray  # (3,) of the contact point, from the body's origin [m]
    moved: np.ndarray  # (3,) change of `arm` in a step [m]
    product: np.ndarray  # (3,) acceleration of free rotation [rad/s^2]
    by_rate: np.ndarray  # (3, 3) its derivative by omega
    by_turn: np.ndarray  # (3, 3) its derivative by a turn of the body
    begins: bool  # whether `moved` is the one expected
    round_share: np.ndarray  # (3, 3) of omega, that turns the shape about its own axis
    center: np.ndarray  # (3,) of the shape, from the body's origin [m]

    def change_of_move(
        self, h: float, shift: np.ndarray, turn: np.ndarray, rate: np.ndarray
    ) -> np.ndarray:
        """Return by how much `moved` changes as `arm` shifts, the body turns, and omega changes."""
        if not self.begins:
            return shift
        P, w, radius = self.round_share, self.omega, self.arm - self.center
        turned = np.cross(turn, P, axisb=0, axisc=0)  # a a' becomes da a' + a da'
        own = np.cross((turned + turned.T) @ w + P @ rate, radius)
        own += np.cross(P @ w, shift - np.cross(turn, self.center))
        return h * (np.cross(rate, self.arm) + np.cross(w, shift) - own)


def _side(step: TakenStep, contact: np.void, end: int, products: np.ndarray) -> _Side:
    scene, w, name = step.scene, step.room.whole, "ab"[end]
    i, shape = contact[f"body_{name}"], scene.collision.shapes[contact[f"shape_{name}"]]
    k, j = scene.forest.bodies["v_index"][i], scene.forest.bodies["q_index"][i] + 3
    R, share = rotation_matrix(w.q[j : j + 4]), np.zeros((3, 3))
    if shape["kind"] == SPHERE:
        share = np.eye(3)
    elif shape["kind"] in (CAPSULE, CYLINDER):
        axis = R @ shape["placement_R"][:, 2]
        share = np.outer(axis, axis)
    return _Side(
        end,
        1.0 - 2.0 * end,
        w.middle_velocity[k : k + 3],
        w.middle_velocity[k + 3 : k + 6],
        contact[f"point_{name}"],
        contact[f"moved_{name}"],
        products[i, :, 0],
        products[i, :, 1:4],
        products[i, :, 4:],
        bool(contact["is_new"]) or np.linalg.norm(contact["bend_before"]) < ROUNDING,
        share,
        R @ shape["placement_p"],
    )


def _differentiate(step: TakenStep, c: int, products: np.ndarray, found: Bends) -> None:
    """Write the derivatives of the rows of contact `c`."""
    contact, h, d = step.contacts[c], step.time_step, step.room.whole.directions[c]
    geometry, n, turned = step.room.whole.geometry[c], d[0], contact["turned"]
    present = [end for end in range(2) if contact[f"body_{'ab'[end]}"] >= 0]
    sides, V, u, none = (
        [_side(step, contact, end, products) for end in present],
        0.0,
        0.0,
        np.zeros(3),
    )
    for one in sides:
        V = V + 0.5 * one.sign * (
            np.cross(one.omega, one.moved) + h * np.cross(one.product, one.arm)
        )
        u = u + one.sign * (one.speed + np.cross(one.omega, one.arm))
    for axis, one in itertools.product(range(6), sides):
        e, unit, sign = 6 * one.end + axis, np.eye(3)[axis % 3], one.sign
        point, normal = geometry[one.end, :3, axis], geometry[one.end, 3:6, axis]
        turn, dV, du = unit if axis < 3 else none, np.zeros(3), np.zeros(3)
        for other in sides:
            shift = point - unit if other is one and axis >= 3 else point
            moved = other.change_of_move(h, shift, turn if other is one else none, none)
            change = np.cross(other.omega, moved) + h * np.cross(other.product, shift)
            dV += 0.5 * other.sign * change
            du += other.sign * np.cross(other.omega, shift)
        if axis < 3:
            dV += 0.5 * sign * h * np.cross(one.by_turn @ unit, one.arm)
            twist = np.cross(unit, one.moved) + h * np.cross(one.by_rate @ unit, one.arm)
            if one.begins:
                twist += np.cross(one.omega, one.change_of_move(h, none, none, unit))
            twist, by_speed = 0.5 * sign * twist, sign * np.cross(unit, one.arm)
        else:
            twist, by_speed = none, sign * unit
        found.by_motion[3 * c : 3 * c + 3, e] += d @ dV
        found.by_twist[3 * c : 3 * c + 3, e] = d @ twist
        found.by_motion[3 * c, e] += normal @ V + 0.5 * (normal @ u + turned @ du)
        found.by_twist[3 * c, e] += 0.5 * turned @ by_speed
        found.by_motion[3 * c + 1 : 3 * c + 3, e] -= (n @ V) * (d[1:] @ normal)
    if contact["bends"] != ALL:
        found.by_motion[3 * c + 1 : 3 * c + 3] = found.by_twist[3 * c + 1 : 3 * c + 3] = 0.0


def subtract_bends(step: TakenStep, bends: Bends, held: np.ndarray, target: np.ndarray) -> None:
    """Subtract the derivatives of b from the targets (k, 2 nv) of the rows `held` (k,)."""
    if not (bends.by_motion.any() or bends.by_twist.any()):
        return
    w, nv = step.room.whole, target.shape[1] // 2
    slip = step.jacobians(w.local[: len(bends.by_motion)]) @ w.end_velocity
    slip -= step.rows["target"][: len(slip)]
    for row, out in zip(held, target, strict=True):
        number = row["number"]
        if number >= len(bends.by_motion):
            continue
        by_motion, by_twist = bends.by_motion[number], bends.by_twist[number]
        if number % 3 == 1 and w.sides[number // 3, SLIP]:  # the row lies across the slip
            across = np.array([-slip[number + 1], slip[number]])
            across /= np.linalg.norm(across)
            by_motion = across @ bends.by_motion[number : number + 2]
            by_twist = across @ bends.by_twist[number : number + 2]
        for end in range(2):
            at = row["at"][end]
            if at >= 0:
                half = slice(6 * end, 6 * end + 6)
                out[:nv] -= by_motion[half] @ w.Z[at : at + 6]
                out[nv:] -= by_twist[half] @ w.Z[at : at + 6]
