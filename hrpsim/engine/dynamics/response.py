# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Link-space inverse inertia: the response of constraint bodies to forces on constraint bodies.

The link-space inverse inertia J M^-1 J^T is the motion of all constraint bodies per unit force on
each of them. J is the Jacobian of the constraint bodies. Sweeps along the paths from these bodies
to the roots compute this matrix. A sweep handles the six unit forces on a body, or the unit effort
on a joint, as columns in the lanes of vector registers.

Limbs of a floating tree are the branches at the tree's base. Limbs couple through the base alone.
P_i are the unit forces on constraint body i propagated to the base, and L is the inverse of the
base's articulated inertia. The block of constraint bodies i and j on different limbs is P_i^T L
P_j, so no sweep goes down one limb for forces on another. If a limb has only one constraint body,
its diagonal block is P^T L P + sum u u^T / D. The sum runs over the joints on the path to the base.
u is the effort that the unit forces cause at the joint.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Body,
    ConstraintBody,
    Index,
    Kinematics,
    Lanes,
    Mat6,
    Records,
    Support,
    Vector,
)
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.simd import (
    LANES,
    broadcast,
    load,
    minus_times,
    plus,
    plus_times,
    store,
    store_six,
    store_six_transposed,
    times,
    unit,
)
from hrpsim.model.system import FIXED, FREE

# Lane of `at_base` for the unit effort of a body's joint.
_EFFORT = 6


@inner_kernel
def constrained_responses(
    forest: Forest,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    constrained_count: int,
    constrained_out: ConstraintBodies,
) -> None:
    """Write the response block of every tree, and `largest` of every constraint body.

    The blocks are written to constrained_out.inverse_inertia.

    Column j of a block is the motion that the unit force j causes [1/kg, 1/(kg m), 1/(kg m^2)].
    Blocks are symmetric. The kernel computes three kinds of responses for each constraint body: the
    body itself, later constraint bodies on the same limb, and earlier constraint bodies on other
    limbs.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        articulated: ARTICULATED records of the bodies (n,), factorised.
        constrained_count: number of constraint bodies.
        constrained_out: constraint bodies, numbered.
    """
    supports = constrained_out.supports
    for number in range(constrained_count):
        constraint_body = constrained_out.bodies[number]
        base, limb = forest.bodies[constraint_body.body].root, supports[constraint_body.body].limb
        root = supports[base]
        floats = forest.bodies[base].joint_type == FREE
        if floats and constraint_body.body == base:
            _answer_of_base(articulated[base].root_inverse, number, root)
        else:
            _carry_up(forest, kinematics, articulated, number, constraint_body, supports)
        if floats and constraint_body.body != base:
            _note_at_base(root.sweep, constraint_body, supports[constraint_body.body])
            _apply_inverse(articulated[base].root_inverse, root.sweep)
            for other in range(root.first_constrained, number):
                if supports[constrained_out.bodies[other].body].limb != limb:
                    _couple_limbs(other, base, constraint_body, root, constrained_out)
        if constraint_body.alone:
            _couple_with_itself(forest, articulated, constraint_body, root, constrained_out)
            continue
        for k in range(root.first_listed, root.first_listed + root.listed_count):
            i = supports[k].listed
            if supports[i].limb == limb and (
                supports[i].source == number or i > constraint_body.body
            ):
                _carry_down(forest.bodies[i], kinematics[i], articulated[i], supports, i, number)
                if i >= constraint_body.body:
                    _write_answer(forest.bodies[i], supports[i], number, root, constrained_out)
    for number in range(constrained_count):
        constraint_body = constrained_out.bodies[number]
        root = supports[forest.bodies[constraint_body.body].root]
        constraint_body.largest = _largest_response(
            constraint_body, root, constrained_out.inverse_inertia
        )


@inlined_kernel
def _largest_response(constraint_body: ConstraintBody, tree: Support, block: Vector) -> float:
    """Return the largest diagonal entry of the block of a constraint body with itself."""
    at = constraint_body.offset - tree.tree_start
    largest = 0.0
    for k in range(at, at + (6 if constraint_body.dof < 0 else 1)):
        largest = max(largest, block[tree.tree_block + k * tree.tree_width + k])
    return largest


@inlined_kernel
def _carry_up(
    forest: Forest,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    number: Index,
    constraint_body: ConstraintBody,
    supports: Records[Support],
) -> None:
    """Propagate unit forces on constraint body `number` to the root's `sweep`.

    The efforts along each joint on the path are stored in `answer`.
    """
    i = constraint_body.body
    body = forest.bodies[i]
    if constraint_body.dof < 0:
        f0, f1, f2, f3, f4, f5 = unit(0), unit(1), unit(2), unit(3), unit(4), unit(5)
        u = broadcast(0.0)
        if body.joint_type != FREE and body.joint_type != FIXED:
            u = load(kinematics[i].S, 0)
    else:
        f0 = f1 = f2 = f3 = f4 = f5 = broadcast(0.0)
        u = unit(0)
    while True:
        support = supports[i]
        support.source = number
        store(support.answer, 0, u)
        if body.parent < 0:
            break
        U, scaled = articulated[i].U, times(u, articulated[i].D_inverse)
        f0, f1 = minus_times(f0, scaled, U[0]), minus_times(f1, scaled, U[1])
        f2, f3 = minus_times(f2, scaled, U[2]), minus_times(f3, scaled, U[3])
        f4, f5 = minus_times(f4, scaled, U[4]), minus_times(f5, scaled, U[5])
        i = body.parent
        body = forest.bodies[i]
        u = broadcast(0.0)
        if body.joint_type != FREE and body.joint_type != FIXED:
            u = _product(kinematics[i].S, f0, f1, f2, f3, f4, f5)
    _store_lanes(f0, f1, f2, f3, f4, f5, supports[i].sweep)


@inlined_kernel
def _answer_of_base(inverse: Mat6, number: Index, root: Support) -> None:
    """Write the motions of a FREE root under unit forces on the root itself."""
    root.source = number
    for r in range(6):
        store(root.sweep, r * LANES, load(inverse, r * LANES))


@inlined_kernel
def _store_lanes(
    a0: Lanes, a1: Lanes, a2: Lanes, a3: Lanes, a4: Lanes, a5: Lanes, A_out: Mat6
) -> None:
    """Store six vector registers as the rows of A_out (6, 8)."""
    store(A_out, 0, a0)
    store(A_out, LANES, a1)
    store(A_out, 2 * LANES, a2)
    store(A_out, 3 * LANES, a3)
    store(A_out, 4 * LANES, a4)
    store(A_out, 5 * LANES, a5)


@inlined_kernel
def _note_at_base(F: Mat6, constraint_body: ConstraintBody, own: Support) -> None:
    """Store the unit forces F (6, 8) on a constraint body, propagated to the base."""
    if constraint_body.dof < 0:
        for r in range(6):
            store(own.at_base, r * LANES, load(F, r * LANES))
        return
    for r in range(6):
        own.at_base[r, _EFFORT] = F[r, 0]


@inlined_kernel
def _product(x: Vector, a0: Lanes, a1: Lanes, a2: Lanes, a3: Lanes, a4: Lanes, a5: Lanes) -> Lanes:
    """Return the sum of registers a0..a5 times the numbers x (6,), in three separate sums."""
    first = plus_times(times(a0, x[0]), a1, x[1])
    second = plus_times(times(a2, x[2]), a3, x[3])
    third = plus_times(times(a4, x[4]), a5, x[5])
    return plus(plus(first, second), third)


@inlined_kernel
def _carry_down(
    body: Body,
    kinematics_i: Kinematics,
    articulated_i: Articulated,
    supports: Records[Support],
    i: Index,
    number: Index,
) -> None:
    """Write the motions of body `i`, given the motions of its parent.

    A body off the path of the forces on constraint body `number` moves with its parent only.
    """
    support = supports[i]
    if body.joint_type == FREE:
        return  # its motions are known
    A, S, D_inverse = support.sweep, kinematics_i.S, articulated_i.D_inverse
    rate = broadcast(0.0)
    if support.source == number:
        rate = times(load(support.answer, 0), D_inverse)
    if body.parent < 0:
        for r in range(6):
            store(A, r * LANES, times(rate, S[r]))
    else:
        above = supports[body.parent].sweep
        a0, a1, a2 = load(above, 0), load(above, LANES), load(above, 2 * LANES)
        a3, a4, a5 = load(above, 3 * LANES), load(above, 4 * LANES), load(above, 5 * LANES)
        U = articulated_i.U
        rate = minus_times(rate, _product(U, a0, a1, a2, a3, a4, a5), D_inverse)
        store(A, 0, plus_times(a0, rate, S[0]))
        store(A, LANES, plus_times(a1, rate, S[1]))
        store(A, 2 * LANES, plus_times(a2, rate, S[2]))
        store(A, 3 * LANES, plus_times(a3, rate, S[3]))
        store(A, 4 * LANES, plus_times(a4, rate, S[4]))
        store(A, 5 * LANES, plus_times(a5, rate, S[5]))
    store(support.answer, 0, rate)


@inlined_kernel
def _apply_inverse(inverse: Mat6, A: Mat6) -> None:
    """Replace A (6, 8) by the product of `inverse` (6, 8) and A."""
    a0, a1, a2 = load(A, 0), load(A, LANES), load(A, 2 * LANES)
    a3, a4, a5 = load(A, 3 * LANES), load(A, 4 * LANES), load(A, 5 * LANES)
    for r in range(6):
        store(A, r * LANES, _product(inverse[r], a0, a1, a2, a3, a4, a5))


@inlined_kernel
def _couple_limbs(
    other: int,
    base: Index,
    constraint_body: ConstraintBody,
    tree: Support,
    constrained_out: ConstraintBodies,
) -> None:
    """Write the response of an earlier constraint body, `other`, on another limb or on the base.

    tree.sweep holds the motions of the base under the unit forces on `constraint_body`.
    """
    earlier, block, width = (
        constrained_out.bodies[other],
        constrained_out.inverse_inertia,
        tree.tree_width,
    )
    support = constrained_out.supports[earlier.body]
    A, P = tree.sweep, support.at_base
    row, column = earlier.offset - tree.tree_start, constraint_body.offset - tree.tree_start
    at, mirrored = tree.tree_block + row * width + column, tree.tree_block + column * width + row
    a0, a1, a2 = load(A, 0), load(A, LANES), load(A, 2 * LANES)
    a3, a4, a5 = load(A, 3 * LANES), load(A, 4 * LANES), load(A, 5 * LANES)
    if earlier.dof >= 0:
        store(support.answer, 0, _along(P, _EFFORT, a0, a1, a2, a3, a4, a5))
        for k in range(6 if constraint_body.dof < 0 else 1):
            block[at + k] = block[mirrored + k * width] = support.answer[k]
        return
    if earlier.body != base:
        b0, b1 = _along(P, 0, a0, a1, a2, a3, a4, a5), _along(P, 1, a0, a1, a2, a3, a4, a5)
        b2, b3 = _along(P, 2, a0, a1, a2, a3, a4, a5), _along(P, 3, a0, a1, a2, a3, a4, a5)
        b4, b5 = _along(P, 4, a0, a1, a2, a3, a4, a5), _along(P, 5, a0, a1, a2, a3, a4, a5)
        a0, a1, a2, a3, a4, a5 = b0, b1, b2, b3, b4, b5
    if constraint_body.dof < 0:
        _write_square(a0, a1, a2, a3, a4, a5, block, at, mirrored, width)
    else:
        _store_lanes(a0, a1, a2, a3, a4, a5, support.sweep)
        for r in range(6):
            block[at + r * width] = block[mirrored + r] = support.sweep[r, 0]


@inlined_kernel
def _couple_with_itself(
    forest: Forest,
    articulated: Records[Articulated],
    constraint_body: ConstraintBody,
    tree: Support,
    constrained_out: ConstraintBodies,
) -> None:
    """Write the response of a constraint body, alone on its limb, to its own unit forces."""
    supports = constrained_out.supports
    A, P = tree.sweep, supports[constraint_body.body].at_base
    a0, a1, a2 = load(A, 0), load(A, LANES), load(A, 2 * LANES)
    a3, a4, a5 = load(A, 3 * LANES), load(A, 4 * LANES), load(A, 5 * LANES)
    b0, b1 = _along(P, 0, a0, a1, a2, a3, a4, a5), _along(P, 1, a0, a1, a2, a3, a4, a5)
    b2, b3 = _along(P, 2, a0, a1, a2, a3, a4, a5), _along(P, 3, a0, a1, a2, a3, a4, a5)
    b4, b5 = _along(P, 4, a0, a1, a2, a3, a4, a5), _along(P, 5, a0, a1, a2, a3, a4, a5)
    i = constraint_body.body
    while forest.bodies[i].parent >= 0:
        u = supports[i].answer
        rate = times(load(u, 0), articulated[i].D_inverse)
        b0, b1 = plus_times(b0, rate, u[0]), plus_times(b1, rate, u[1])
        b2, b3 = plus_times(b2, rate, u[2]), plus_times(b3, rate, u[3])
        b4, b5 = plus_times(b4, rate, u[4]), plus_times(b5, rate, u[5])
        i = forest.bodies[i].parent
    row, block, width = (
        constraint_body.offset - tree.tree_start,
        constrained_out.inverse_inertia,
        tree.tree_width,
    )
    at = tree.tree_block + row * width + row
    _write_square(b0, b1, b2, b3, b4, b5, block, at, at, width)


@inlined_kernel
def _along(
    P: Mat6, k: Index, a0: Lanes, a1: Lanes, a2: Lanes, a3: Lanes, a4: Lanes, a5: Lanes
) -> Lanes:
    """Return the sum of registers a0..a5 times column `k` of P (6, 8), in three separate sums."""
    first = plus_times(times(a0, P[0, k]), a1, P[1, k])
    second = plus_times(times(a2, P[2, k]), a3, P[3, k])
    third = plus_times(times(a4, P[4, k]), a5, P[5, k])
    return plus(plus(first, second), third)


@inlined_kernel
def _write_answer(
    body: Body, here: Support, number: Index, tree: Support, constrained_out: ConstraintBodies
) -> None:
    """Copy the motions of a body and its joint to the columns of constraint body `number`.

    The transpose is written to rows of the block. Earlier constraint bodies have these entries
    already.
    """
    constraint_body = constrained_out.bodies[number]
    column = constraint_body.offset - tree.tree_start
    columns = 6 if constraint_body.dof < 0 else 1
    block, width = constrained_out.inverse_inertia, tree.tree_width
    if here.constraint_body >= number:
        row = constrained_out.bodies[here.constraint_body].offset - tree.tree_start
        at, mirrored = (
            tree.tree_block + row * width + column,
            tree.tree_block + column * width + row,
        )
        A = here.sweep
        if columns == 6:
            a0, a1, a2 = load(A, 0), load(A, LANES), load(A, 2 * LANES)
            a3, a4, a5 = load(A, 3 * LANES), load(A, 4 * LANES), load(A, 5 * LANES)
            _write_square(a0, a1, a2, a3, a4, a5, block, at, mirrored, width)
        else:
            for r in range(6):
                block[at + r * width] = block[mirrored + r] = A[r, 0]
    if body.joint_type != FREE and body.joint_type != FIXED:
        other = constrained_out.of_dof[body.v_index]
        if other >= number:
            row = constrained_out.bodies[other].offset - tree.tree_start
            at = tree.tree_block + row * width + column
            mirrored = tree.tree_block + column * width + row
            for k in range(columns):
                block[at + k] = here.answer[k]
                block[mirrored + k * width] = here.answer[k]


@inlined_kernel
def _write_square(
    a0: Lanes,
    a1: Lanes,
    a2: Lanes,
    a3: Lanes,
    a4: Lanes,
    a5: Lanes,
    block: Vector,
    at: Index,
    mirrored: int,
    width: int,
) -> None:
    """Write a 6x6 matrix at entry `at` of a block of row length `width`, and its transpose.

    mirrored: first entry of the transpose.
    """
    # many parameters: six rows of numbers stay in registers
    store_six(block, at, a0)
    store_six(block, at + width, a1)
    store_six(block, at + 2 * width, a2)
    store_six(block, at + 3 * width, a3)
    store_six(block, at + 4 * width, a4)
    store_six(block, at + 5 * width, a5)
    if mirrored != at:
        store_six_transposed(block, mirrored, width, a0, a1, a2, a3, a4, a5)
        return
    for r in range(6):  # symmetric to the last bit
        for k in range(r):
            block[at + k * width + r] = block[at + r * width + k]


@inner_kernel
def constrained_velocities(
    forest: Forest,
    kinematics: Records[Kinematics],
    velocity: Vector,
    constrained_count: int,
    constrained_out: ConstraintBodies,
) -> None:
    """Write the velocity of every constraint body to constrained_out.velocity.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,). `S` is read.
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        constrained_count: number of constraint bodies.
        constrained_out: constraint bodies. A body gets its twist (6,), a degree of freedom its
            rate.
    """
    supports = constrained_out.supports
    last = forest.bodies[forest.order[forest.order.shape[0] - 1]].root
    for k in range(supports[last].first_listed + supports[last].listed_count):
        i = supports[k].listed
        body, twist = forest.bodies[i], supports[i].twist
        if body.joint_type == FREE:
            for r in range(6):
                twist[r] = velocity[body.v_index + r]
            continue
        rate = velocity[body.v_index] if body.joint_type != FIXED else 0.0
        own = times(load(kinematics[i].S, 0), rate)
        if body.parent >= 0:
            own = plus(load(supports[body.parent].twist, 0), own)
        store(twist, 0, own)
    for number in range(constrained_count):
        constraint_body = constrained_out.bodies[number]
        if constraint_body.dof >= 0:
            constrained_out.velocity[constraint_body.offset] = velocity[constraint_body.dof]
        else:
            twist = supports[constraint_body.body].twist
            for r in range(6):
                constrained_out.velocity[constraint_body.offset + r] = twist[r]
