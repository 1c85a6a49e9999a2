# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert the derivatives of the new velocity to the derivatives of the state after the step.

Columns belong to the state, then to inputs and parameters. The conversion has three stages:

1. Derivatives with respect to the velocity, and to the position at mid-step, where the forces act.
2. Derivatives with respect to the state at the start of the step, in the layout of the kernels.
3. The same derivatives in the public layout.

In the kernels' layout, a rotation d of a free base is along the world's axes (R <- exp(d) R), and
the angular part comes first. In the public layout, d is along the base's own axes (R <- R exp(d)),
and the linear part comes first.
"""

import math

from hrpsim.derivatives.body_motions import write_carried_momenta, write_motion_cross
from hrpsim.derivatives.free_turns import turn_columns, turn_rows, write_free_turns
from hrpsim.derivatives.room import BY_Q, BY_VELOCITY, MASS, DerivativeArrays
from hrpsim.derivatives.small_matrices import add_product, add_scaled
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Index,
    Mat3,
    Matrix,
    Records,
    Seconds,
    Settings,
    Tensor,
    Vec6,
    Vector,
)
from hrpsim.engine.dynamics.articulated import place_inertias
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.spatial.inertia import apply_inertia
from hrpsim.engine.spatial.rotation import rotation_from_quaternion
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.motion.half_turns import turns_freely
from hrpsim.engine.step.scene.records import Start
from hrpsim.model.system import FREE

START, END = range(2)


@kernel
def write_ends(
    s: Scene,
    w: DerivativeArrays,
    columns: Matrix,
    corrects: bool,
    correction: Matrix,
    momentum: Matrix,
    ends_out: Matrix,
) -> None:
    """Write the derivatives of the state after the step, in the public layout.

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `solve`.
        columns: derivatives of the velocity (nv, 2 nv + p or more) with respect to the position at
            mid-step, the velocity, and p parameters.
        corrects: whether there is a position correction.
        correction: derivatives of the rate of the correction (nv, 2 nv + p or more), with the
            columns of `columns`.
        momentum: derivatives of the momentum of floating trees with respect to the parameters (p,
            nv), without constraint forces. The values are in the columns of the bases' linear
            velocities.
        ends_out: derivatives with respect to position and velocity at the start, and with respect
            to parameters (2 nv + r, 2 nv + p), written. The last r rows belong to outputs. Before
            the call, these rows contain derivatives with respect to the position at mid-step, the
            velocity and the parameters.
    """
    forest, h, nv = s.forest, s.settings[0].time_step, columns.shape[0]
    for k in range(nv):
        position, velocity, derivative = ends_out[k], ends_out[nv + k], columns[k]
        for c in range(ends_out.shape[1]):
            velocity[c] = derivative[c]
            position[c] = 0.5 * h * derivative[c]
        position[k] += 1.0
    _turn_free_bases(forest, w, columns, 0.5 * h, ends_out)
    write_free_turns(s, w)
    for i in range(forest.bodies.shape[0]):
        if turns_freely(forest, i):
            turn_rows(w, forest.bodies[i], nv, ends_out)
    if corrects:
        _add_correction(s.settings[0], forest, w, correction, ends_out)
    _from_start(s.settings[0], forest, w, ends_out)
    _keep_momentum(s, w, columns, momentum, ends_out)
    for i in range(forest.bodies.shape[0]):
        if forest.bodies[i].joint_type == FREE:
            _rows_to_public(forest, s.q, s.velocity, w, i, ends_out)
            _columns_to_public(s.start, forest, w, i, ends_out)


@kernel
def write_exponential(velocity: Vector, k: Index, duration: Seconds, matrices_out: Matrix) -> None:
    """Write the rotation exp(r) and its left Jacobian side by side (3, 6), for r = t w.

    Args:
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        k: index of the angular velocity w in `velocity`.
        duration: t [s].
        matrices_out: exp(r), then the left Jacobian (3, 6), written.
    """
    x, y, z = duration * velocity[k], duration * velocity[k + 1], duration * velocity[k + 2]
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    if angle < 1e-4:
        a, b, c = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        a, b = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
        c = (angle - math.sin(angle)) / (square * angle)
    r = x, y, z
    for i in range(3):
        for j in range(3):
            twice = r[i] * r[j] - (square if i == j else 0.0)
            once = 0.0 if i == j else (-r[3 - i - j] if j == (i + 1) % 3 else r[3 - i - j])
            same = 1.0 if i == j else 0.0
            matrices_out[i, j] = same + a * once + b * twice
            matrices_out[i, 3 + j] = same + b * once + c * twice


@inlined_kernel
def _turn_free_bases(
    forest: Forest, w: DerivativeArrays, columns: Matrix, half: Seconds, ends_out: Matrix
) -> None:
    """Write the derivatives of the orientation of free bases after the second half of the step."""
    for i in range(forest.bodies.shape[0]):
        if forest.bodies[i].joint_type == FREE:
            k = forest.bodies[i].v_index
            write_exponential(w.end_velocity, k, half, w.turns)
            for r in range(3):
                out = ends_out[k + r]
                out[:] = 0.0
                for j in range(3):
                    add_scaled(columns[k + j], half * w.turns[r, 3 + j], out)
                    out[k + j] += w.turns[r, j]


@inner_kernel
def _add_correction(
    settings: Settings, forest: Forest, w: DerivativeArrays, correction: Matrix, ends_out: Matrix
) -> None:
    """Add the derivatives of the position correction, whose rate acts for a whole step."""
    h, nv = settings.time_step, correction.shape[0]
    for i in range(forest.bodies.shape[0]):
        if forest.bodies[i].joint_type == FREE:
            k = forest.bodies[i].v_index
            write_exponential(w.correction, k, h, w.turns)
            for c in range(ends_out.shape[1]):
                x, y, z = ends_out[k, c], ends_out[k + 1, c], ends_out[k + 2, c]
                for r in range(3):
                    turn = w.turns[r, 0] * x + w.turns[r, 1] * y + w.turns[r, 2] * z
                    for j in range(3):
                        # the rows below add h times the rate itself
                        coefficient = w.turns[r, 3 + j] - (1.0 if r == j else 0.0)
                        turn += h * coefficient * correction[k + j, c]
                    ends_out[k + r, c] = turn
    for k in range(nv):
        for c in range(ends_out.shape[1]):
            ends_out[k, c] += h * correction[k, c]


@inner_kernel
def _from_start(settings: Settings, forest: Forest, w: DerivativeArrays, rows: Matrix) -> None:
    """Convert derivatives from the mid-step position to the position at the start of the step.

    The mid-step position is q_m = q + h / 2 v, so the derivatives with respect to v change too.
    """
    h, nv = settings.time_step, w.velocity.shape[0]
    for row_number in range(rows.shape[0]):
        row = rows[row_number]
        for j in range(nv):
            row[nv + j] += 0.5 * h * row[j]
    for i in range(forest.bodies.shape[0]):
        if forest.bodies[i].joint_type != FREE:
            continue
        j = forest.bodies[i].v_index
        write_exponential(w.start_velocity, j, 0.5 * h, w.turns)
        for row_number in range(rows.shape[0]):
            row = rows[row_number]
            x, y, z = row[j], row[j + 1], row[j + 2]
            for r in range(3):
                by_rate = w.turns[0, 3 + r] * x + w.turns[1, 3 + r] * y + w.turns[2, 3 + r] * z
                row[nv + j + r] += 0.5 * h * (by_rate - row[j + r])
            _turn_columns(w.turns, x, y, z, row, j)
            if turns_freely(forest, i):
                turn_columns(w, forest.bodies[i], nv, row)


@inlined_kernel
def _turn_columns(R: Mat3, x: float, y: float, z: float, row_out: Vector, at: Index) -> None:
    """Write the product (x, y, z) R to three entries of a row, from entry `at` on."""
    a = x * R[0, 0] + y * R[1, 0] + z * R[2, 0]
    b = x * R[0, 1] + y * R[1, 1] + z * R[2, 1]
    c = x * R[0, 2] + y * R[1, 2] + z * R[2, 2]
    row_out[at], row_out[at + 1], row_out[at + 2] = a, b, c


@inlined_kernel
def _end_of_tree(forest: Forest, root: Index) -> int:
    """Return the index after the last degree of freedom of a free base's tree."""
    end = forest.bodies[root].v_index + 6
    while end < forest.dofs.shape[0] and forest.bodies[forest.dofs[end].body].root == root:
        end += 1
    return end


@inner_kernel
def _keep_momentum(
    s: Scene, w: DerivativeArrays, columns: Matrix, momentum: Matrix, ends_out: Matrix
) -> None:
    """Add the derivatives of the velocity correction that conserves the trees' linear momentum."""
    forest, nv, n, width = (
        s.forest,
        w.velocity.shape[0],
        s.forest.bodies.shape[0],
        ends_out.shape[1],
    )
    corrections, known = w.kept[:, :width], False
    for root in range(n):
        body = forest.bodies[root]
        if not (body.joint_type == FREE and root + 1 < n and forest.bodies[root + 1].root == root):
            continue
        if not known:
            _write_momenta(forest, w, s.start.q, s.start.velocity, w.momentum[START])
            _write_momenta(forest, w, s.q, w.end_velocity, w.momentum[END])
            known = True
        first, end = body.v_index, _end_of_tree(forest, root)
        for r in range(3):
            _write_pushes(w, columns, momentum, first + 3 + r, corrections[r])
        _from_start(s.settings[0], forest, w, corrections)
        for r in range(3):
            change, start, by_end = corrections[r], w.momentum[START, :, r], w.momentum[END, :, r]
            for k in range(first, end):
                change[k] += start[BY_Q, k]
                change[nv + k] += start[BY_VELOCITY, k]
            own = end - first
            add_product(by_end[BY_Q, first:end], own, -1.0, ends_out[first:], change)
            add_product(by_end[BY_VELOCITY, first:end], own, -1.0, ends_out[nv + first :], change)
        for r in range(3):
            total = w.momentum[END, BY_VELOCITY, r, first + 3 + r]
            add_scaled(corrections[r], 1.0 / total, ends_out[nv + first + 3 + r])


@inner_kernel
def _write_pushes(
    w: DerivativeArrays, columns: Matrix, momentum: Matrix, at: Index, out: Vector
) -> None:
    """Write the derivatives of the external impulse on a tree along one axis of its base.

    at: degree of freedom of the base along the axis.
    """
    nv = columns.shape[0]
    for k in range(nv):
        out[k] = w.linear[at, k] - w.balance[BY_Q, at, k]
        out[nv + k] = -w.balance[BY_VELOCITY, at, k]
    for j in range(momentum.shape[0]):
        out[2 * nv + j] = momentum[j, at]
    add_product(w.balance[MASS, at], nv, 1.0, columns, out)


@inlined_kernel
def _write_carried_inertias(
    forest: Forest, articulated: Records[Articulated], carried_out: Matrix
) -> None:
    """Write the composite inertia (n, 10) of the subtree of each body."""
    n = forest.bodies.shape[0]
    for i in range(n):
        copy_vector(articulated[i].inertia, carried_out[i])
    for i in range(n - 1, -1, -1):
        parent = forest.bodies[i].parent
        if parent >= 0:
            for r in range(10):
                carried_out[parent, r] += carried_out[i, r]


@inner_kernel
def _write_momenta(
    forest: Forest, w: DerivativeArrays, q: Vector, velocity: Vector, out: Tensor
) -> None:
    """Write the derivatives (2, 3, nv) of the linear momentum of trees.

    The derivative with respect to velocity is I S, with the inertia I of the subtree that the
    degree of freedom S moves. The derivative with respect to q is S x* H + I (v x S), with the
    momentum H of this subtree and the velocity v of the parent body.
    """
    kinematics, articulated, carried = w.space.kinematics, w.space.articulated, w.space.composite
    update_poses(forest, q, kinematics)
    update_velocities(forest, velocity, kinematics)
    place_inertias(forest, kinematics, articulated)
    write_carried_momenta(forest, kinematics, articulated)
    _write_carried_inertias(forest, articulated, carried)
    for k in range(velocity.shape[0]):
        i = forest.dofs[k].body
        body, S, H = forest.bodies[i], w.motion, articulated[i].p_A
        v = kinematics[i].v if body.parent < 0 else kinematics[body.parent].v
        for r in range(6):
            S[r] = kinematics[i].S[r]
        if body.joint_type == FREE:
            S[:] = 0.0
            S[k - body.v_index] = 1.0
        _write_momentum(carried[i], S, v, H, w.products, out[:, :, k])
        if body.joint_type == FREE and k - body.v_index >= 3:
            out[BY_Q, :, k] = 0.0


@inner_kernel
def _write_momentum(
    carried: Vector, S: Vector, v: Vec6, H: Vec6, work: Matrix, out: Matrix
) -> None:
    """Write the derivatives of the linear momentum for one degree of freedom.

    carried: inertia of the moved subtree. out: derivatives with respect to q and velocity (2, 3).
    """
    force, turned = work[0], work[1]
    apply_inertia(carried, S, force)
    for r in range(3):
        out[BY_VELOCITY, r] = force[3 + r]
    write_motion_cross(v, S, turned)
    apply_inertia(carried, turned, force)
    for r in range(3):
        y, z = (r + 1) % 3, (r + 2) % 3
        out[BY_Q, r] = force[3 + r] + S[y] * H[3 + z] - S[z] * H[3 + y]


@inner_kernel
def _rows_to_public(
    forest: Forest, q: Vector, velocity: Vector, w: DerivativeArrays, i: Index, ends_out: Matrix
) -> None:
    """Convert the rows of a free base from the layout of the kernels to the public layout."""
    k, nv, v, R = forest.bodies[i].v_index, w.velocity.shape[0], velocity, w.turns
    _write_rotation(q, forest.bodies[i].q_index, R)
    for at in (k, k + 3):
        for r in range(3):
            y, z = (r + 1) % 3, (r + 2) % 3
            add_scaled(ends_out[k + y], -v[at + z], ends_out[nv + at + r])
            add_scaled(ends_out[k + z], v[at + y], ends_out[nv + at + r])
    angular = w.kept
    for at in (k, nv + k):
        for r in range(3):
            copy_vector(ends_out[at + r], angular[r])
        for half, rows in ((0, ends_out[at + 3 :]), (3, angular)):
            for r in range(3):
                out = ends_out[at + half + r]
                out[:] = 0.0
                for j in range(3):
                    add_scaled(rows[j], R[j, r], out)


@inner_kernel
def _columns_to_public(
    start: Start, forest: Forest, w: DerivativeArrays, i: Index, ends_out: Matrix
) -> None:
    """Convert the columns of a free base from the layout of the kernels to the public layout."""
    k, nv, v, R = forest.bodies[i].v_index, w.velocity.shape[0], start.velocity, w.turns
    _write_rotation(start.q, forest.bodies[i].q_index, R)
    for row_number in range(ends_out.shape[0]):
        row = ends_out[row_number]
        for r in range(3):
            y, z = (r + 1) % 3, (r + 2) % 3
            for at in (k, k + 3):
                row[k + r] += v[at + y] * row[nv + at + z] - v[at + z] * row[nv + at + y]
        for at in (k, nv + k):
            wx, wy, wz = row[at], row[at + 1], row[at + 2]
            _turn_columns(R, row[at + 3], row[at + 4], row[at + 5], row, at)
            _turn_columns(R, wx, wy, wz, row, at + 3)


@inlined_kernel
def _write_rotation(q: Vector, j: Index, R_out: Mat3) -> None:
    rotation_from_quaternion(q[j + 3], q[j + 4], q[j + 5], q[j + 6], R_out)
