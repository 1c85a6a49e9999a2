# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the curvature term b of contact rows (engine.constraints.contact_bending).

A contact's rows are J v' = target - b. b is the change of the contact velocity over half a step
that the motion of point and normal causes. For the row along d between free bodies, or a free body
and the world,

    b = d . V + dn . u / 2 (normal row only),   V = sum of +-(omega x dr + h c x r) / 2.

- r: arm from the origin of a body to the contact point. dr: change of r since the last step.
- dn: change of the normal n since the last step.
- u: relative velocity of the bodies at the contact.
- c: acceleration of free rotation of a body. h: time step.

In the first step of a contact, dn is zero and dr is the expected change h (omega x r + f). f is the
velocity at which the contact point moves over a round shape (engine.constraints.round_points).
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from hrpsim.derivatives.room import SLIP, TakenStep
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel, prepared
from hrpsim.engine.compile.kernel_types import (
    Index,
    Kinematics,
    Matrix,
    Records,
    Seconds,
    Spin,
    Tensor,
    Vec6,
    Vector,
)
from hrpsim.engine.constraints.contact_bending import ALL, CLOSES, ROUNDING
from hrpsim.engine.constraints.round_points import path_slopes
from hrpsim.engine.dynamics.spin import TURNING
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import (
    KINEMATICS,
    new_kinematics,
    update_poses,
    update_velocities,
)
from hrpsim.engine.spatial.rotation import rotate_quaternion, rotation_from_quaternion
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.motion.carry import move
from hrpsim.engine.step.motion.half_turns import (
    expect_free_turn,
    turns_freely,
    write_free_acceleration,
)
from hrpsim.model.shapes.geometry import CAPSULE, CYLINDER, SPHERE
from hrpsim.model.system import FREE

_STEP = 1e-5  # of the differences [rad/s or rad]


class Bends(NamedTuple):
    """Derivatives of b for k contact rows with respect to the motions of bodies a and b."""

    by_motion: np.ndarray  # (k, 12) turn and displacement of the origin of body a, then body b
    by_twist: np.ndarray  # (k, 12) angular and linear velocity of body a, then body b
    by_state: np.ndarray  # (k, 2 nv) contribution of links of robots, by q and velocity


@inlined_kernel
def _displace(column: int, step: float, j: Index, q: Vector, v: Vec6) -> None:
    """Displace the state for one column of `free_products`.

    Columns 1 to 3 change a component of the angular velocity v [rad/s]. Columns 4 to 6 rotate the
    quaternion at q[j] about an axis [rad].
    """
    if 0 < column and column < 4:
        v[column - 1] += step
    if column > 3:
        x = 1.0 if column == 4 else 0.0
        y = 1.0 if column == 5 else 0.0
        z = 1.0 if column == 6 else 0.0
        rotate_quaternion(q, j, x, y, z, step)


@kernel  # many parameters: parts of the scene and work arrays of the caller
def free_products(
    forest: Forest, q: Vector, velocity: Vector, past: Matrix, spins: Records[Spin],
    time_step: Seconds, here: Records[Kinematics], turned: Vector, turning: Matrix,
    products_out: Tensor,
) -> int:  # fmt: skip
    """Write the angular accelerations of free bodies in free rotation, and their derivatives.

    Args:
        forest: constants of the bodies and joints.
        q: configuration at the force evaluation (nq,).
        velocity: velocity at the force evaluation (nv,) [rad/s, m/s], kernels' layout.
        past: accelerations of the last two steps (nv, 2) [rad/s^2, m/s^2].
        spins: SPIN records of the bodies (n,).
        time_step: [s].
        here: work (1,) KINEMATICS.
        turned: work (nq,).
        turning: work of the shape TURNING (hrpsim.engine.dynamics.spin).
        products_out: (n, 3, 7), written. Column 0 is the acceleration [rad/s^2]. Columns 1 to 3 are
            its derivatives with respect to the angular velocity, columns 4 to 6 with respect to a
            rotation of the body.
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
            for direction in range(2):
                weight = 0.5 if column == 0 else (0.5 - direction) / _STEP
                copy_vector(velocity[k : k + 3], here[0].v[:3])
                copy_vector(q[j : j + 4], turned[j : j + 4])
                _displace(column, (1.0 - 2.0 * direction) * _STEP, j, turned, here[0].v)
                x, y, z, w = turned[j], turned[j + 1], turned[j + 2], turned[j + 3]
                rotation_from_quaternion(x, y, z, w, here[0].R)
                write_free_acceleration(body.inertia, here[0])
                kick = time_step - spins[i].ahead
                expect_free_turn(body, turned, past, kick, half, turning, here[0])
                for r in range(3):
                    products_out[i, r, column] += weight * here[0].c[r]
    return 0


@kernel
def link_motions(
    forest: Forest,
    kinematics: Records[Kinematics],
    q: Vector,
    velocity: Vector,
    direction: Vector,
    moved: Vector,
    motions_out: Tensor,
) -> int:
    """Write twist and velocity product of each body, and the derivatives of both.

    The velocity product is the acceleration of a body at zero joint accelerations. Central
    differences give the derivatives.

    Args:
        forest: constants of the bodies and joints.
        kinematics: work (n,) KINEMATICS.
        q: configuration (nq,).
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        direction: work (nv,).
        moved: work (nq,).
        motions_out: (1 + 2 nv, n, 12), written. Row 0 has twist and velocity product about the
            origin of the tree. The next nv rows are derivatives with respect to q, the last with
            respect to velocity.
    """
    motions_out[:, :, :] = 0.0
    nv = velocity.shape[0]
    _add_motions(forest, kinematics, q, velocity, 1.0, motions_out[0])
    for k in range(nv):
        for sense in range(2):
            step = (1.0 - 2.0 * sense) * _STEP
            copy_vector(q, moved)
            direction[:] = 0.0
            direction[k] = 1.0
            move(forest, direction, step, moved)
            _add_motions(forest, kinematics, moved, velocity, 0.5 / step, motions_out[1 + k])
            copy_vector(velocity, direction)
            direction[k] += step
            _add_motions(forest, kinematics, q, direction, 0.5 / step, motions_out[1 + nv + k])
    return 0


@inner_kernel
def _add_motions(
    forest: Forest,
    kinematics: Records[Kinematics],
    q: Vector,
    velocity: Vector,
    share: float,
    motions_out: Matrix,
) -> None:
    """Add `share` times each body's twist and velocity product to motions_out (n, 12)."""
    update_poses(forest, q, kinematics)
    update_velocities(forest, velocity, kinematics)
    for b in range(forest.bodies.shape[0]):
        out, i = motions_out[b], b
        for r in range(6):
            out[r] += share * kinematics[b].v[r]
        while i >= 0:
            c, u = kinematics[i].c, kinematics[i].v
            if forest.bodies[i].joint_type == FREE:
                out[9] -= share * (u[1] * u[5] - u[2] * u[4])
                out[10] -= share * (u[2] * u[3] - u[0] * u[5])
                out[11] -= share * (u[0] * u[4] - u[1] * u[3])
            else:
                for r in range(6):
                    out[6 + r] += share * c[r]
            i = forest.bodies[i].parent


_free_products = prepared(free_products)
_link_motions = prepared(link_motions)
_path_slopes = prepared(path_slopes)


def bends_of(step: TakenStep) -> Bends:
    """Return the derivatives of the curvature term b for all contact rows of a step."""
    scene, w, count = step.scene, step.room.whole, 3 * len(step.contacts)
    zeros = (np.zeros((count, columns)) for columns in (12, 12, 2 * len(w.velocity)))
    result = Bends(*zeros)
    for c in np.flatnonzero(step.contacts["closes"]):
        result.by_motion[3 * c] = CLOSES / step.time_step * w.geometry[c, :, 6].ravel()
    numbers = np.flatnonzero(step.contacts["bends"])
    if not len(numbers):
        return result
    products, bodies = np.empty((len(scene.forest.bodies), 3, 7)), scene.forest.bodies
    past, scratch = np.ascontiguousarray(scene.past_accelerations[:, 1:]), np.zeros(1, KINEMATICS)
    velocity, h = w.middle_velocity, step.time_step
    _free_products(
        scene.forest,
        w.q,
        velocity,
        past,
        scene.spins,
        h,
        scratch,
        w.q.copy(),
        np.zeros(TURNING),
        products,
    )
    free, motions = scene.forest.dofs["turns_freely"][bodies["v_index"]] != 0, None
    pairs = np.column_stack([step.contacts["body_a"], step.contacts["body_b"]])
    used = pairs[numbers]
    n, nv, poses = len(bodies), len(velocity), new_kinematics(len(bodies))
    if not free[used[used >= 0]].all():
        motions, work = np.empty((1 + 2 * nv, n, 12)), np.zeros(nv)
        _link_motions(scene.forest, poses, w.q, velocity, work, w.q.copy(), motions)
    update_poses(scene.forest, w.q, poses)
    for c in numbers:
        contact, sides = step.contacts[c], []
        for end, i in enumerate(pairs[c]):
            if i >= 0 and free[i]:
                sides.append(_free_side(step, contact, end, poses, products[i]))
            elif i >= 0:
                sides.append(_link_side(step, contact, end, poses, motions[:, i]))
        _differentiate(step, c, sides, result)
    return result


class _Side(NamedTuple):
    """One body of a contact: the quantities in the formula of the file's head, and derivatives."""

    end: int  # 0 for body a, 1 for body b
    sign: float
    omega: np.ndarray  # (3,) [rad/s]
    speed: np.ndarray  # (3,) velocity of the body at the tree's origin [m/s]
    origin_speed: np.ndarray  # (3,) velocity of the tree's origin, for a link [m/s]
    arm: np.ndarray  # (3,) from the tree's origin to the contact point [m]
    moved: np.ndarray  # (3,) change of `arm` in a step [m]
    path: np.ndarray  # (3,) velocity product at the tree's origin, for a link [m/s^2]
    product: np.ndarray  # (3,) angular velocity product, or torque-free acceleration [rad/s^2]
    by_rate: np.ndarray  # (3, 3) derivative of `product` by omega
    by_turn: np.ndarray  # (3, 3) derivative of `product` by a turn of the body
    by_state: np.ndarray | None  # (2 nv, 12) derivatives of a link's twist and velocity product
    root: int  # first linear dof of a floating robot's base, -1 for none
    begins: bool  # whether the contact begins, so that `moved` is expected
    slopes: np.ndarray  # (12, 3) derivatives of f by omega, normal, axis and radius
    axis: np.ndarray  # (3,) axis of the shape
    center: np.ndarray  # (3,) from the body's origin to the centre of the shape [m]

    def change(self, h: float) -> np.ndarray:
        """Return the term of this body in V (3,) [m/s], without the sign +-.

        The module's docstring defines V. h: time step [s].
        """
        moved = self.moved + h * self.origin_speed
        along = self.path + np.cross(self.product, self.arm)
        return 0.5 * (np.cross(self.omega, moved) + h * along)

    def change_of_path(self, normal: np.ndarray, turn: np.ndarray, radius: np.ndarray) -> Any:
        """Return the change of f (3,) if the normal changes by `normal`.

        turn: turn of the shape's axis (3,) [rad].
        radius: change of the arm from the shape's centre to the contact point (3,) [m].
        """
        by_normal, by_axis, by_radius = self.slopes[3:6], self.slopes[6:9], self.slopes[9:]
        turned = np.cross(turn, self.axis)
        return self.sign * normal @ by_normal + turned @ by_axis + radius @ by_radius

    def change_of_move(
        self, h: float, shift: np.ndarray, rate: np.ndarray, path: np.ndarray
    ) -> np.ndarray:
        """Return the change of `moved` if `arm`, omega and f change.

        shift, rate, path: changes of `arm` [m], omega [rad/s] and f [m/s] (3,).
        """
        if not self.begins:
            return shift
        return h * (np.cross(rate, self.arm) + np.cross(self.omega, shift) + path)

    def change_by_shift(self, h: float, shift: np.ndarray, path: np.ndarray) -> np.ndarray:
        """Return the change of the result of `change` if `arm` and f change.

        shift, path: changes of `arm` [m] and f [m/s] (3,).
        """
        moved = self.change_of_move(h, shift, np.zeros(3), path)
        return 0.5 * (np.cross(self.omega, moved) + h * np.cross(self.product, shift))


def _free_side(
    step: TakenStep, contact: np.void, end: int, poses: np.ndarray, products: np.ndarray
) -> _Side:
    """Return the quantities of a single free body at a contact.

    products: the body's entry (3, 7) of `free_products`.
    """
    w, name, none = step.room.whole, "ab"[end], np.zeros(3)
    k = step.scene.forest.bodies["v_index"][contact[f"body_{name}"]]
    return _Side(
        end=end,
        sign=1.0 - 2.0 * end,
        omega=w.middle_velocity[k : k + 3],
        speed=w.middle_velocity[k + 3 : k + 6],
        origin_speed=none,
        arm=contact[f"point_{name}"],
        moved=contact[f"moved_{name}"],
        path=none,
        product=products[:, 0],
        by_rate=products[:, 1:4],
        by_turn=products[:, 4:],
        by_state=None,
        root=-1,
        **_shape(step, contact, end, w.middle_velocity[k : k + 3], poses),
    )


def _link_side(
    step: TakenStep, contact: np.void, end: int, poses: np.ndarray, motions: np.ndarray
) -> _Side:
    """Return the quantities of a link of a robot at a contact.

    motions: the link's entries (1 + 2 nv, 12) of `link_motions`.
    """
    bodies, name, none = step.scene.forest.bodies, "ab"[end], np.zeros((3, 3))
    twist, product = motions[0, :6], motions[0, 6:]
    root = bodies[bodies["root"][contact[f"body_{name}"]]]
    floats = root["joint_type"] == FREE
    k = int(root["v_index"]) + 3 if floats else -1
    return _Side(
        end=end,
        sign=1.0 - 2.0 * end,
        omega=twist[:3],
        speed=twist[3:],
        origin_speed=step.room.whole.middle_velocity[k : k + 3] if floats else np.zeros(3),
        arm=contact[f"point_{name}"],
        moved=contact[f"moved_{name}"],
        path=product[3:],
        product=product[:3],
        by_rate=none,
        by_turn=none,
        by_state=motions[1:],
        root=k,
        **_shape(step, contact, end, twist[:3], poses),
    )


def _shape(
    step: TakenStep, contact: np.void, end: int, omega: np.ndarray, poses: np.ndarray
) -> dict[str, Any]:
    """Return the fields `begins`, `slopes`, `axis` and `center` of a `_Side`.

    poses: KINEMATICS records of the bodies (n,) at mid-step.
    """
    name = "ab"[end]
    shape = step.scene.collision.shapes[contact[f"shape_{name}"]]
    pose, slopes = poses[contact[f"body_{name}"]], np.zeros((12, 3))
    center, axis = (
        pose["p"] + pose["R"] @ shape["placement_p"],
        pose["R"] @ shape["placement_R"][:, 2],
    )
    begins = contact["is_new"] or np.linalg.norm(contact["bend_before"]) < ROUNDING
    if begins and shape["kind"] in (SPHERE, CAPSULE, CYLINDER):
        normal, radius = (1.0 - 2.0 * end) * contact["normal"], contact[f"point_{name}"] - center
        kind, size = int(shape["kind"]), float(shape["size"][0])
        _path_slopes(kind, size, omega.copy(), normal, axis, radius, slopes)
    return {"begins": bool(begins), "slopes": slopes, "axis": axis, "center": center}


def _differentiate(step: TakenStep, c: int, sides: list[_Side], found: Bends) -> None:
    """Write the derivatives of b for the rows of contact `c` to `found`."""
    contact, h, d = step.contacts[c], step.time_step, step.room.whole.directions[c]
    geometry, n, turned, none = step.room.whole.geometry[c], d[0], contact["turned"], np.zeros(3)
    V = sum(side.sign * side.change(h) for side in sides)
    u = sum(side.sign * (side.speed + np.cross(side.omega, side.arm)) for side in sides)
    for axis, moved in itertools.product(range(6), sides):
        e, unit, sign = 6 * moved.end + axis, np.eye(3)[axis % 3], moved.sign
        point, normal = geometry[moved.end, :3, axis], geometry[moved.end, 3:6, axis]
        dV, du = _changes_of_sides(sides, moved, axis, point, normal, h)
        if axis < 3:
            dV += 0.5 * sign * h * np.cross(moved.by_turn @ unit, moved.arm)
            twist, by_speed = _twist_of_turn(moved, axis, h), sign * np.cross(unit, moved.arm)
        else:
            along = moved.begins and moved.by_state is not None
            twist, by_speed = h * np.cross(moved.omega, unit) if along else none, sign * unit
        found.by_motion[3 * c : 3 * c + 3, e] += d @ dV
        found.by_twist[3 * c : 3 * c + 3, e] = 0.5 * sign * d @ twist
        turning = none if moved.begins else normal
        found.by_motion[3 * c, e] += normal @ V + 0.5 * (turning @ u + turned @ du)
        found.by_twist[3 * c, e] += 0.5 * turned @ by_speed
        found.by_motion[3 * c + 1 : 3 * c + 3, e] -= (n @ V) * (d[1:] @ normal)
    _add_links(step, c, sides, found)


def _changes_of_sides(  # many parameters: the motion of one body, and the contact
    sides: list[_Side], moved: _Side, axis: int, point: np.ndarray, normal: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the changes of V and u (3,) if one body rotates about or moves along an axis.

    Args:
        sides: the bodies of the contact, without the world.
        moved: the body that moves.
        axis: 0 to 2 for a rotation, 3 to 5 for a displacement.
        point: change of the contact point (3,).
        normal: change of the normal (3,).
        h: time step [s].
    """
    unit, none = np.eye(3)[axis % 3], np.zeros(3)
    dV, du = np.zeros(3), np.zeros(3)
    for side in sides:
        turn = unit if side is moved and axis < 3 else none
        displaced = unit if side is moved and axis >= 3 else none
        shift = point - displaced if side.by_state is None else point
        path = side.change_of_path(normal, turn, point - displaced - np.cross(turn, side.center))
        dV += side.sign * side.change_by_shift(h, shift, path)
        du += side.sign * np.cross(side.omega, shift)
    return dV, du


def _twist_of_turn(one: _Side, axis: int, h: float) -> np.ndarray:
    """Return twice the derivative of a body's term of V by its angular velocity (3,).

    axis: the component of the angular velocity.
    """
    unit = np.eye(3)[axis]
    twist = np.cross(unit, one.moved + h * one.origin_speed)
    twist += h * np.cross(one.by_rate @ unit, one.arm)
    if one.begins:
        move = one.change_of_move(h, np.zeros(3), unit, one.slopes[axis])
        twist += np.cross(one.omega, move)
    return twist


def _add_links(step: TakenStep, c: int, sides: list[_Side], found: Bends) -> None:
    """Add the contributions of robot links to the derivatives of b.

    If b has only a normal part, the tangent rows are set to zero.
    """
    contact, d = step.contacts[c], step.room.whole.directions[c]
    for side in sides:
        if side.by_state is not None:
            _add_link(side, c, d, contact["turned"], step.time_step, found)
    if contact["bends"] != ALL:
        for matrix in (found.by_motion, found.by_twist, found.by_state):
            matrix[3 * c + 1 : 3 * c + 3] = 0.0


def _add_link(
    one: _Side, c: int, d: np.ndarray, turned: np.ndarray, h: float, found: Bends
) -> None:
    """Add the contribution of one robot link to the derivatives of b.

    The twist, the velocity product and the origin of the link's tree depend on the state.
    """
    rows, own = found.by_state[3 * c : 3 * c + 3], slice(6 * one.end, 6 * one.end + 6)
    nv = rows.shape[1] // 2
    path = one.by_state[:, 9:] + np.cross(one.by_state[:, 6:9], one.arm)
    rows += 0.5 * one.sign * h * d @ path.T
    rows[:, :nv] += found.by_twist[3 * c : 3 * c + 3, own] @ one.by_state[:nv, :6].T
    if one.root < 0:
        return
    for axis, back in enumerate(-np.eye(3)):
        k = one.root + axis
        rows[:, k] += one.sign * d @ one.change_by_shift(h, back, np.zeros(3))
        rows[0, k] += 0.5 * one.sign * turned @ np.cross(one.omega, back)
        if not one.begins:
            rows[:, nv + k] -= 0.5 * one.sign * h * d @ np.cross(one.omega, back)


def _across(bends: Bends, number: int, slip: np.ndarray) -> Bends:
    """Return the derivatives of b along the tangent direction perpendicular to the slip.

    number: row of the contact's first tangent. slip: slip velocities of the rows [m/s].
    """
    across = np.array([-slip[number + 1], slip[number]])
    across /= np.linalg.norm(across)
    return Bends(*(across @ of[number : number + 2] for of in bends))


def subtract_bends(step: TakenStep, bends: Bends, held: np.ndarray, target: np.ndarray) -> None:
    """Subtract the derivatives of b from the derivatives of the rows' targets.

    Args:
        step: the step.
        bends: derivatives of b (`bends_of`).
        held: HELD_ROW records of the active rows (k,).
        target: derivatives of the targets with respect to q, then with respect to velocity (k, 2
            nv), changed.
    """
    if not any(of.any() for of in bends):
        return
    w, nv = step.room.whole, target.shape[1] // 2
    slip = step.jacobians(w.local[: len(bends.by_motion)]) @ w.end_velocity
    slip -= step.rows["target"][: len(slip)]
    for row, out in zip(held, target, strict=True):
        number = row["number"]
        if number >= len(bends.by_motion):
            continue
        if number % 3 == 1 and w.sides[number // 3, SLIP]:  # the row lies across the slip
            row_bends = _across(bends, number, slip)
        else:
            row_bends = Bends(*(of[number] for of in bends))
        by_motion, by_twist, by_state = row_bends
        out -= by_state
        for end in range(2):
            at = row["at"][end]
            if at >= 0:
                half = slice(6 * end, 6 * end + 6)
                out[:nv] -= by_motion[half] @ w.Z[at : at + 6]
                out[nv:] -= by_twist[half] @ w.Z[at : at + 6]
