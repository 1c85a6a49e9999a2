# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the change of contact velocities to the end of a step.

A row holds J v' = target - b, with b of hrpsim.constraints.contact_bending: for free bodies and the
world over half a step h / 2

    b = d . V + (n) dn . u / 2,   V = sum of +-(omega x dr + h c x r) / 2,

the arms r, their changes dr and that dn of the normal since the last step, the velocity u at the
contact, and the accelerations c of free rotation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.contact_bending import ALL, CLOSES, ROUNDING
from hrpsim.jit.compiled import kernel, prepared
from hrpsim.kinematics.forward import KINEMATICS
from hrpsim.spatial.rotation import rotation_from_quaternion
from hrpsim.step.motion.half_turns import expect_free_turn, turns_freely, write_free_acceleration
from hrpsim.world.linearization.room import SLIP, TakenStep

_STEP = 1e-5  # of the differences [rad/s]


class Bends(NamedTuple):
    """Derivatives of b of all rows of contacts (k,), by the public order of their bodies."""

    by_motion: np.ndarray  # (k, 12) of body a, then b: turn, then displacement of its origin
    by_twist: np.ndarray  # (k, 12) angular, then linear velocity
    refused: list[tuple[str, int]]  # reasons, and rows that have them


@kernel  # many parameters: parts of the scene and work arrays of the caller
def free_products(forest, q, velocity, past, spins, time_step, here, orientation, products_out):
    """Write the accelerations of free rotation, and their derivatives by the angular velocity.

    Args:
        forest: Forest.
        q: (nq,) where the forces act.
        velocity: (nv,) there.
        past: (nv, 2) accelerations of the steps before.
        spins: (n,) SPIN.
        time_step: [s].
        here: (1,) KINEMATICS, work.
        orientation: (4,) work.
        products_out: (n, 3, 4): the acceleration, then its derivatives.
    """
    products_out[:, :, :] = 0.0
    half = 0.5 * time_step
    for i in range(forest.bodies.shape[0]):
        if not turns_freely(forest, i):
            continue
        body = forest.bodies[i]
        k, j = body.v_index, body.q_index + 3
        rotation_from_quaternion(q[j], q[j + 1], q[j + 2], q[j + 3], here[0].R)
        for column in range(4):
            for side in range(2):
                share = 0.5 if column == 0 else (0.5 - side) / _STEP
                for r in range(3):
                    here[0].v[r] = velocity[k + r]
                if column > 0:
                    here[0].v[column - 1] += (1.0 - 2.0 * side) * _STEP
                write_free_acceleration(body.inertia, here[0])
                kick = time_step - spins[i].ahead
                expect_free_turn(body, q, past, kick, half, orientation, here[0])
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
    products, bodies = np.empty((len(scene.forest.bodies), 3, 4)), scene.forest.bodies
    past, here = np.ascontiguousarray(scene.past_accelerations[:, 1:]), np.zeros(1, KINEMATICS)
    velocity, h = w.middle_velocity, step.time_step
    _free_products(scene.forest, w.q, velocity, past, scene.spins, h, here, np.zeros(4), products)
    free = scene.forest.dofs["turns_freely"][bodies["v_index"]] != 0
    for c in numbers:
        contact = step.contacts[c]
        sides = [contact["body_a"], contact["body_b"]]
        if contact["is_new"] or np.linalg.norm(contact["bend_before"]) < ROUNDING:
            found.refused.append(("of a body that turns begins in this step", 3 * c))
        elif not all(i < 0 or free[i] for i in sides):
            found.refused.append(("of a body that turns is with a robot", 3 * c))
        else:
            _differentiate(step, c, sides, products, found)
    return found


def _differentiate(
    step: TakenStep, c: int, sides: list[int], products: np.ndarray, found: Bends
) -> None:
    """Write the derivatives of the rows of contact `c`, whose bodies are `sides`."""
    contact, w, h = step.contacts[c], step.room.whole, step.time_step
    d, geometry, bodies = w.directions[c], w.geometry[c], step.scene.forest.bodies
    n, turned, eye = d[0], contact["turned"], np.eye(3)
    V, u, ends = np.zeros(3), np.zeros(3), []
    for end, i in enumerate(sides):
        if i < 0:
            continue
        k, sign = bodies["v_index"][i], 1.0 - 2.0 * end
        omega, speed = w.middle_velocity[k : k + 3], w.middle_velocity[k + 3 : k + 6]
        arm, moved = contact["point_a" if end == 0 else "point_b"], contact[f"moved_{'ab'[end]}"]
        by_rate, product = products[i, :, 1:], products[i, :, 0]
        ends.append((end, sign, omega, arm, moved, product, by_rate))
        V += 0.5 * sign * (np.cross(omega, moved) + h * np.cross(product, arm))
        u += sign * (speed + np.cross(omega, arm))
    for axis in range(6):
        for end, sign, omega, arm, moved, product, by_rate in ends:
            e, unit = 6 * end + axis, eye[axis % 3]
            point, normal = geometry[end, :3, axis], geometry[end, 3:6, axis]
            dV, du = np.zeros(3), np.zeros(3)
            for other, side, rate, *_, own, _ in ends:
                shift = point - unit if other == end and axis >= 3 else point
                dV += 0.5 * side * (np.cross(rate, shift) + h * np.cross(own, shift))
                du += side * np.cross(rate, shift)
            if axis < 3:
                change = np.cross(unit, product) - by_rate @ np.cross(unit, omega)
                dV += 0.5 * sign * h * np.cross(change, arm)
                twist = 0.5 * sign * (np.cross(unit, moved) + h * np.cross(by_rate @ unit, arm))
                by_speed = sign * np.cross(unit, arm)
            else:
                twist, by_speed = np.zeros(3), sign * unit
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
