# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The articulated-body algorithm (RBDA Table 7.1) in world-parallel frames, pass by pass.

The passes are separate kernels because a step calls each pass at another time. The factorisation
(I_A, U, D) is computed once. For every further set of forces, `wrench_response` needs only two
cheap sweeps. Accelerations here are *proper*: gravity is the acceleration -g of the world, so that
I_A a + p_A is the wrench through a joint.
"""

import math
import threading
import weakref
from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.fields import allocate, new_array, work
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Inertia,
    Kinematics,
    Lanes,
    Mat6,
    Matrix,
    Records,
    Vec3,
    Vec6,
    Vector,
)
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.kinematics.forest import Forest, forest_of
from hrpsim.engine.kinematics.forward import KINEMATICS
from hrpsim.engine.spatial.inertia import bias_force, place_inertia
from hrpsim.engine.spatial.simd import LANES, load, minus_times, plus, plus_times, store, times
from hrpsim.engine.spatial.vector import dot_spatial
from hrpsim.model.model import Model
from hrpsim.model.system import FIXED, FREE, JOINT_NV, PRISMATIC, REVOLUTE, System

# Share of a body's inertia below which inertia is rounding of zero.
_NEGLIGIBLE = 1e-14

# Fields that are read and written eight numbers at a time have two to spare, `_1` ..., and fill
# lines of the cache.
ARTICULATED = np.dtype(
    [
        ("I_A", "f8", (6, LANES)),  # articulated-body inertia; two columns to spare
        ("U", "f8", (6,)),  # I_A S
        ("_1", "f8", (2,)),
        ("p_A", "f8", (6,)),  # articulated bias force
        ("_2", "f8", (2,)),
        ("a_vp", "f8", (6,)),  # acceleration at constant joint rates (RBDA 7.4), 0 at FREE bodies
        ("_3", "f8", (2,)),
        ("a", "f8", (6,)),  # proper spatial acceleration; without a_vp after `accelerations`
        ("_4", "f8", (2,)),
        ("constraint_wrench", "f8", (6,)),  # further forces, see `wrench_response`
        ("_5", "f8", (2,)),
        ("delta_acceleration", "f8", (6,)),  # acceleration that the loads add
        ("_6", "f8", (2,)),
        ("D_inverse", "f8"),  # 1 / (S^T I_A S + rotor inertia), 0 for FIXED and FREE
        ("u", "f8"),  # tau - S^T p_A
        ("external", "f8", (6,)),  # force on the body besides gravity, joints and constraints
        ("inertia", "f8", (10,)),  # placed rigid-body inertia
        ("_7", "f8", (6,)),
        ("root_inverse", "f8", (6, LANES)),  # I_A^-1, at FREE bodies; two columns to spare
    ]
)
_local = threading.local()


def new_articulated(body_count: int) -> np.ndarray:
    """Return zeroed ARTICULATED records for `body_count` bodies."""
    return new_array((body_count,), ARTICULATED)


@kernel
def place_inertias(
    forest: Forest, kinematics: Records[Kinematics], articulated_out: Records[Articulated]
) -> None:
    """Write the rigid-body inertia of every body about the origin of the body's tree.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        articulated_out: ARTICULATED records (n,). `inertia` (10,) is written, along world axes.
    """
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        link = kinematics[i]
        place_inertia(body.mass, body.com, body.inertia, link.R, link.p, articulated_out[i].inertia)


@kernel
def apply_base_wrench(
    forest: Forest, kinematics: Records[Kinematics], tau: Vector, articulated: Records[Articulated]
) -> None:
    """Add the generalised force on free-floating bodies to `external` of their records.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        tau: public generalised force (nv,) [N, Nm], force then moment, in the body frame.
        articulated: ARTICULATED records (n,). `external` (6,) [Nm, N] is changed, along world axes.
    """
    for i in range(forest.bodies.shape[0]):
        if forest.bodies[i].joint_type == FREE:
            k, R, external = forest.bodies[i].v_index, kinematics[i].R, articulated[i].external
            for r in range(3):
                for c in range(3):
                    external[r] += R[r, c] * tau[k + 3 + c]
                    external[3 + r] += R[r, c] * tau[k + c]


@kernel
def start_bodies(
    forest: Forest, kinematics: Records[Kinematics], articulated_out: Records[Articulated]
) -> None:
    """Write the contribution of each body alone: `inertia`, `I_A`, `a_vp` and `p_A` (pass 1).

    The bias force is p_A = I a_vp + v x* I v - external [Nm, N]. The velocity-product acceleration
    a_vp is stored separately (RBDA 7.4). The other accelerations then obey the equations of a
    system at rest, which need no product of I_A and c.
    """
    for number in range(forest.bodies.shape[0]):
        i = forest.order[number]
        body, moving, link = forest.bodies[i], kinematics[i], articulated_out[i]
        placed, a_vp, c = link.inertia, link.a_vp, moving.c
        place_inertia(body.mass, body.com, body.inertia, moving.R, moving.p, placed)
        spread_inertia(placed, link.I_A)
        if body.parent >= 0:
            store(a_vp, 0, plus(load(articulated_out[body.parent].a_vp, 0), load(c, 0)))
        else:
            for r in range(6):
                a_vp[r] = c[r]
        bias_force(placed, moving.v, a_vp, link.external, link.p_A)


@kernel
def factorise(
    forest: Forest,
    kinematics: Records[Kinematics],
    joint_inertia: Vector,
    effort: Vector,
    articulated: Records[Articulated],
) -> int:
    """Propagate I_A and p_A from the leaves to the roots (pass 2).

    Call `start_bodies` before. The kernel writes U, D_inverse, u and root_inverse.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        joint_inertia: inertia (nv,) added at each joint: the rotor inertia, and the terms of an
            implicit integrator for springs and dampers [kg m^2 or kg].
        effort: efforts (nv,) on joints, not on FREE bodies [Nm or N].
        articulated: articulated-body records of the bodies (n,).

    Returns:
        -1, or the number of a body whose joint has no positive inertia.
    """
    n = forest.bodies.shape[0]
    singular = -1
    for number in range(n - 1, -1, -1):
        i = forest.order[number]
        body = forest.bodies[i]
        link = articulated[i]
        I_A, U, p_A = link.I_A, link.U, link.p_A
        joint = body.joint_type
        if joint == REVOLUTE or joint == PRISMATIC:
            S = kinematics[i].S
            store(U, 0, _times_vector(I_A, S))
            D = joint_inertia[body.v_index] + dot_spatial(S, U)
            first = 0 if joint == REVOLUTE else 3  # inertias and masses have different units
            trace = I_A[first, first] + I_A[first + 1, first + 1] + I_A[first + 2, first + 2]
            if not (D > 0.0 and D > _NEGLIGIBLE * trace):
                singular = i
                continue
            link.D_inverse = 1.0 / D
            link.u = effort[body.v_index] - dot_spatial(S, p_A)
            if body.parent >= 0:
                parent = articulated[body.parent]
                _add_to_parent(I_A, U, link.D_inverse, parent.I_A)
                gained = plus_times(load(p_A, 0), load(U, 0), link.u * link.D_inverse)
                store(parent.p_A, 0, plus(load(parent.p_A, 0), gained))
        elif joint == FREE:
            if not invert_symmetric(I_A, link.root_inverse):
                singular = i
        elif body.parent >= 0:
            parent = articulated[body.parent]
            for at in range(0, 6 * LANES, LANES):
                store(parent.I_A, at, plus(load(parent.I_A, at), load(I_A, at)))
            store(parent.p_A, 0, plus(load(parent.p_A, 0), load(p_A, 0)))
    return singular


@inlined_kernel
def _times_vector(A: Mat6, x: Vec6) -> Lanes:
    """Return A x for a symmetric matrix A (6, 8) in one register, by three independent sums."""
    first = plus_times(times(load(A, 0), x[0]), load(A, LANES), x[1])
    second = plus_times(times(load(A, 2 * LANES), x[2]), load(A, 3 * LANES), x[3])
    third = plus_times(times(load(A, 4 * LANES), x[4]), load(A, 5 * LANES), x[5])
    return plus(plus(first, second), third)


@inlined_kernel
def _add_to_parent(I_A: Mat6, U: Vec6, D_inverse: float, above_out: Mat6) -> None:
    """Add I_A - U U^T / D of a body to the articulated inertia of its parent."""
    scaled = times(load(U, 0), D_inverse)
    r = 0
    for at in range(0, 6 * LANES, LANES):
        passed_on = minus_times(load(I_A, at), scaled, U[r])
        store(above_out, at, plus(load(above_out, at), passed_on))
        r += 1


@inner_kernel
def spread_inertia(placed: Inertia, I_out: Mat6) -> None:
    """Write the 6x6 matrix of a spatial inertia.

    Args:
        placed: spatial inertia (10,) [kg, kg m, kg m^2], as written by `place_inertia`.
        I_out: matrix (6, 8) from twist to momentum, angular part first. Six columns are written.
    """
    m, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
    I_out[0, 0], I_out[0, 1], I_out[0, 2] = placed[4], placed[7], placed[8]
    I_out[1, 0], I_out[1, 1], I_out[1, 2] = placed[7], placed[5], placed[9]
    I_out[2, 0], I_out[2, 1], I_out[2, 2] = placed[8], placed[9], placed[6]
    I_out[0, 3], I_out[0, 4], I_out[0, 5] = 0.0, -hz, hy
    I_out[1, 3], I_out[1, 4], I_out[1, 5] = hz, 0.0, -hx
    I_out[2, 3], I_out[2, 4], I_out[2, 5] = -hy, hx, 0.0
    I_out[3, 0], I_out[3, 1], I_out[3, 2] = 0.0, hz, -hy
    I_out[4, 0], I_out[4, 1], I_out[4, 2] = -hz, 0.0, hx
    I_out[5, 0], I_out[5, 1], I_out[5, 2] = hy, -hx, 0.0
    I_out[3, 3], I_out[3, 4], I_out[3, 5] = m, 0.0, 0.0
    I_out[4, 3], I_out[4, 4], I_out[4, 5] = 0.0, m, 0.0
    I_out[5, 3], I_out[5, 4], I_out[5, 5] = 0.0, 0.0, m


@inner_kernel
def invert_symmetric(A: Matrix, inverse_out: Matrix) -> bool:
    """Invert a symmetric positive definite 6x6 matrix by Cholesky's method.

    Args:
        A: matrix (6, 6 or more). Only the lower triangle is read.
        inverse_out: inverse (6, 6 or more), written in full. During the computation, the array also
            holds the factor.

    Returns:
        False if the matrix is not definite. The output is then incomplete.
    """
    L = inverse_out
    for j in range(6):
        first = 0 if j < 3 else 3
        trace = A[first, first] + A[first + 1, first + 1] + A[first + 2, first + 2]
        d = A[j, j]
        for k in range(j):
            d -= L[j, k] * L[j, k]
        if not (d > 0.0 and d > _NEGLIGIBLE * trace):
            return False
        d = 1.0 / math.sqrt(d)
        L[j, j] = d  # of the factor's inverse, as these will all be
        for i in range(j + 1, 6):
            total = A[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total * d
    for j in range(6):
        for i in range(j + 1, 6):
            total = 0.0
            for k in range(j, i):
                total -= L[i, k] * L[k, j]
            L[i, j] = total * L[i, i]
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, 6):
                total += L[k, i] * L[k, j]
            L[i, j] = total
            L[j, i] = total
    return True


@kernel
def accelerations(
    forest: Forest,
    kinematics: Records[Kinematics],
    gravity: Vec3,
    articulated: Records[Articulated],
    dv_out: Vector,
) -> None:
    """Propagate accelerations from the roots to the leaves (pass 3).

    Call `factorise` before. The kernel writes the proper acceleration `a` of every body.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        gravity: acceleration of gravity in the world (3,) [m/s^2].
        articulated: ARTICULATED records of the bodies (n,), factorised.
        dv_out: generalised acceleration (nv,) [rad/s^2, m/s^2], written. A FREE body has the
            angular acceleration first, then the second derivative of the body's position.
    """
    n = forest.bodies.shape[0]
    for number in range(n):
        i = forest.order[number]
        body = forest.bodies[i]
        link = articulated[i]
        a = link.a
        k = body.v_index
        if body.joint_type == FREE:
            v = kinematics[i].v
            store(a, 0, times(_times_vector(link.root_inverse, link.p_A), -1.0))
            dv_out[k], dv_out[k + 1], dv_out[k + 2] = a[0], a[1], a[2]
            dv_out[k + 3] = a[3] + gravity[0] + v[1] * v[5] - v[2] * v[4]
            dv_out[k + 4] = a[4] + gravity[1] + v[2] * v[3] - v[0] * v[5]
            dv_out[k + 5] = a[5] + gravity[2] + v[0] * v[4] - v[1] * v[3]
            continue
        if body.parent < 0:
            a[0] = a[1] = a[2] = 0.0
            a[3], a[4], a[5] = -gravity[0], -gravity[1], -gravity[2]
            above = a
        else:
            above = articulated[body.parent].a
        if body.joint_type != FIXED:
            rate = (link.u - dot_spatial(link.U, above)) * link.D_inverse
            dv_out[k] = rate
            store(a, 0, plus_times(load(above, 0), load(kinematics[i].S, 0), rate))
        else:
            store(a, 0, load(above, 0))


@inner_kernel
def wrench_response(
    forest: Forest,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    effort: Vector,
    dv_out: Vector,
) -> None:
    """Write the motion caused by `constraint_wrench` on bodies and `effort` on joints alone.

    Forces cause accelerations, and impulses cause velocities. Gravity and bias forces are left out.
    The kernel writes `delta_acceleration`. Afterwards `constraint_wrench` is the negated change of
    p_A of each body.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        articulated: ARTICULATED records of the bodies (n,), factorised.
        effort: efforts on joints (nv,) [Nm or N, or Nms or Ns].
        dv_out: resulting motion (nv,) [rad/s^2, m/s^2, or rad/s, m/s], kernels' layout, written.
    """
    n = forest.bodies.shape[0]
    for number in range(n - 1, -1, -1):
        i = forest.order[number]
        body = forest.bodies[i]
        if body.joint_type == FREE:
            continue
        link = articulated[i]
        wrench = link.constraint_wrench
        gain = 0.0
        if body.joint_type != FIXED:
            total = effort[body.v_index] + dot_spatial(kinematics[i].S, wrench)
            dv_out[body.v_index] = total
            gain = total * link.D_inverse
        if body.parent >= 0:
            above = articulated[body.parent].constraint_wrench
            passed_on = minus_times(load(wrench, 0), load(link.U, 0), gain)
            store(above, 0, plus(load(above, 0), passed_on))
    for number in range(n):
        i = forest.order[number]
        body = forest.bodies[i]
        link = articulated[i]
        da = link.delta_acceleration
        k = body.v_index
        if body.joint_type == FREE:
            store(da, 0, _times_vector(link.root_inverse, link.constraint_wrench))
            for r in range(6):
                dv_out[k + r] = da[r]
            continue
        if body.parent < 0:
            for r in range(6):
                da[r] = 0.0
            above = da
        else:
            above = articulated[body.parent].delta_acceleration
        if body.joint_type != FIXED:
            rate = (dv_out[k] - dot_spatial(link.U, above)) * link.D_inverse
            dv_out[k] = rate
            store(da, 0, plus_times(load(above, 0), load(kinematics[i].S, 0), rate))
        else:
            store(da, 0, load(above, 0))


class Workspace(NamedTuple):
    """Work arrays of the algorithms for `n` bodies."""

    forest: Forest
    rotor_inertia: np.ndarray  # (nv,)
    above: np.ndarray  # (nv,) hrpsim.derivatives.motion_derivatives, as what follows `composite`
    kinematics: np.ndarray = work("n", dtype=KINEMATICS)
    articulated: np.ndarray = work("n", dtype=ARTICULATED)
    velocity: np.ndarray = work("nv")
    acceleration: np.ndarray = work("nv")
    effort: np.ndarray = work("nv")
    composite: np.ndarray = work("n, 10")
    motions: np.ndarray = work("nv, 6, lanes")
    forces: np.ndarray = work("7, lanes")
    subtrees: np.ndarray = work("n, 22")
    factor: np.ndarray = work("nv, nv")


def new_workspace(system: System) -> Workspace:
    """Return work arrays for one state of a robot, or of a whole world."""
    return allocate(
        Workspace,
        {"n": len(system.parent), "nv": len(system.dof_body), "lanes": LANES},
        forest=forest_of(system),
        rotor_inertia=np.array(system.rotor_inertia),
        above=_next_above(system),
    )


def _next_above(system: System) -> np.ndarray:
    """Return the next degree of freedom on the path to the root (nv,), -1 at its end."""
    above, last = np.arange(-1, len(system.dof_body) - 1, dtype=np.int64), {-1: -1}
    for i, parent in enumerate(system.parent.tolist()):
        first, count = system.v_index[i], JOINT_NV[system.joint_type[i]]
        last[i] = first + count - 1 if count else last[parent]
        above[first : first + min(count, 1)] = last[parent]
    return above


def workspace_of(model: Model) -> TupleReference[Workspace]:
    """Return a reference to the work arrays of `model` for this thread."""
    references = getattr(_local, "references", None)
    if references is None:
        references = _local.references = weakref.WeakKeyDictionary()
    reference = references.get(model)
    if reference is None:
        reference = references[model] = TupleReference(new_workspace(model.system))
    return reference
