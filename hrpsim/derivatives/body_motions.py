# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Jacobians of bodies, and their derivatives with respect to the configuration.

Spatial vectors are along the world's axes, about the present origin of the tree. Columns are for
the kernels' velocity. For a free base this is the angular velocity, then the velocity of its
origin. As in derivatives.motion_derivatives, a change of one degree of freedom moves all bodies
that it carries along its column S. The velocity of its parent body does not change.

Derivatives of inverse dynamics are converted from the public layout of velocities to the kernels'
layout. With the rotation R of a free base, v_pub = R' v and a_pub = R' (a - w x l) change with R.
The force on the base rotates with R. a contains the second derivative of the base's position.
"""

from __future__ import annotations

from hrpsim.derivatives.motion_derivatives import inverse_derivatives
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Index,
    Indices,
    Kinematics,
    Mat3,
    Matrix,
    Records,
    Seconds,
    Tensor,
    Vec3,
    Vec6,
    Vector,
)
from hrpsim.engine.dynamics.articulated import Workspace
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_velocities
from hrpsim.engine.kinematics.layout import acceleration_from_kernel, velocity_from_kernel
from hrpsim.engine.spatial.inertia import apply_inertia
from hrpsim.engine.spatial.vector import dot_spatial
from hrpsim.engine.step.motion.carry import move
from hrpsim.model.system import FIXED, FREE


@kernel
def carry(forest: Forest, velocity: Vector, duration: Seconds, q: Vector) -> None:
    """Integrate the configuration q at a constant velocity (kernels' layout) for `duration` [s]."""
    move(forest, velocity, duration, q)


@kernel
def body_jacobians(
    forest: Forest, kinematics: Records[Kinematics], bodies: Indices, X_out: Matrix
) -> None:
    """Write the Jacobian X (6, nv) of the spatial velocity of bodies.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,). `S` is read.
        bodies: indices of the bodies (k,).
        X_out: Jacobians, one below the other (6 k, nv), written.
    """
    X_out[:, :] = 0.0
    for b in range(bodies.shape[0]):
        i, X = bodies[b], X_out[6 * b : 6 * b + 6]
        while i >= 0:
            body, k = forest.bodies[i], forest.bodies[i].v_index
            if body.joint_type == FREE:
                for r in range(6):
                    X[r, k + r] = 1.0
            elif body.joint_type != FIXED:
                for r in range(6):
                    X[r, k] = kinematics[i].S[r]
            i = body.parent


@kernel
def jacobian_rates(
    forest: Forest,
    kinematics: Records[Kinematics],
    velocity: Vector,
    bodies: Indices,
    D_out: Matrix,
) -> None:
    """Write the derivative of the spatial velocity X v of bodies with respect to q at constant v.

    A column S_j changes the spatial velocity of body i by S_j x (v_i - v_j). The translation of a
    free base changes the spatial velocity by S_j x v_i.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,). Velocities are overwritten.
        velocity: v (nv,) [rad/s, m/s], kernels' layout.
        bodies: indices of the bodies (k,).
        D_out: derivatives, one below the other (6 k, nv), written.
    """
    update_velocities(forest, velocity, kinematics)
    D_out[:, :] = 0.0
    for b in range(bodies.shape[0]):
        i, D, v = bodies[b], D_out[6 * b : 6 * b + 6], kinematics[bodies[b]].v
        while i >= 0:
            body, k, u = forest.bodies[i], forest.bodies[i].v_index, kinematics[i].v
            if body.joint_type == FREE:
                for axis in range(3):
                    y, z = (axis + 1) % 3, (axis + 2) % 3
                    for part in range(2):
                        first = 3 * part
                        D[first + y, k + axis] = -(v[first + z] - u[first + z])
                        D[first + z, k + axis] = v[first + y] - u[first + y]
                    D[3 + y, k + 3 + axis], D[3 + z, k + 3 + axis] = -v[z], v[y]
            elif body.joint_type != FIXED:
                _write_cross(kinematics[i].S, v, u, D, k)
            i = body.parent


@inlined_kernel
def _write_cross(S: Vec6, v: Vec6, u: Vec6, D_out: Matrix, k: Index) -> None:
    """Write S x (v - u) as column `k` of D_out."""
    x, y, z = v[0] - u[0], v[1] - u[1], v[2] - u[2]
    a, b, c = v[3] - u[3], v[4] - u[4], v[5] - u[5]
    D_out[0, k] = S[1] * z - S[2] * y
    D_out[1, k] = S[2] * x - S[0] * z
    D_out[2, k] = S[0] * y - S[1] * x
    D_out[3, k] = S[1] * c - S[2] * b + S[4] * z - S[5] * y
    D_out[4, k] = S[2] * a - S[0] * c + S[5] * x - S[3] * z
    D_out[5, k] = S[0] * b - S[1] * a + S[3] * y - S[4] * x


@inner_kernel
def write_carried_momenta(
    forest: Forest, kinematics: Records[Kinematics], articulated: Records[Articulated]
) -> None:
    """Write the momentum of the subtree of each body to `p_A` [Nms, Ns].

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,), with current velocities.
        articulated: ARTICULATED records of the bodies (n,), with placed inertias. `p_A` is written.
    """
    n = forest.bodies.shape[0]
    for i in range(n):
        apply_inertia(articulated[i].inertia, kinematics[i].v, articulated[i].p_A)
    for i in range(n - 1, -1, -1):
        parent = forest.bodies[i].parent
        if parent >= 0:
            for r in range(6):
                articulated[parent].p_A[r] += articulated[i].p_A[r]


@kernel
def energy_gradients(w: Workspace, velocities: Matrix, gradients_out: Matrix) -> None:
    """Write the derivative of v' M v with respect to q, for several velocities v.

    v' M v is twice the kinetic energy. The derivative is 2 H . (v_parent x S). H is the momentum of
    the subtree of a body. Inertias of `w` must be placed (`place_inertias`).

    Args:
        w: work arrays. Velocities and `p_A` are overwritten.
        velocities: velocities v by row (k, nv) [rad/s, m/s], kernels' layout.
        gradients_out: derivatives by row (k, nv) [J/rad, J/m], written.
    """
    forest, kinematics, articulated = w.forest, w.kinematics, w.articulated
    n = forest.bodies.shape[0]
    for row in range(velocities.shape[0]):
        out = gradients_out[row]
        update_velocities(forest, velocities[row], kinematics)
        write_carried_momenta(forest, kinematics, articulated)
        for i in range(n):
            body, H = forest.bodies[i], articulated[i].p_A
            k = body.v_index
            if body.joint_type == FREE:
                u = kinematics[i].v
                for r in range(3):
                    y, z = (r + 1) % 3, (r + 2) % 3
                    turned = u[y] * H[z] - u[z] * H[y] + u[3 + y] * H[3 + z] - u[3 + z] * H[3 + y]
                    out[k + r], out[k + 3 + r] = -2.0 * turned, 0.0
            elif body.joint_type != FIXED:
                out[k] = 0.0
                if body.parent >= 0:
                    write_motion_cross(kinematics[body.parent].v, kinematics[i].S, w.forces[0])
                    out[k] = 2.0 * dot_spatial(H, w.forces[0])


@inlined_kernel
def write_motion_cross(v: Vec6, m: Vec6, out: Vector) -> None:
    """Write the product v x m of spatial motions (RBDA eq. 2.31).

    Args:
        v: twist (6,), angular part first.
        m: spatial motion (6,), angular part first.
        out: v x m (6,), written.
    """
    out[0] = v[1] * m[2] - v[2] * m[1]
    out[1] = v[2] * m[0] - v[0] * m[2]
    out[2] = v[0] * m[1] - v[1] * m[0]
    out[3] = v[1] * m[5] - v[2] * m[4] + v[4] * m[2] - v[5] * m[1]
    out[4] = v[2] * m[3] - v[0] * m[5] + v[5] * m[0] - v[3] * m[2]
    out[5] = v[0] * m[4] - v[1] * m[3] + v[3] * m[1] - v[4] * m[0]


@kernel
def derivatives_in_world(
    w: Workspace,
    q: Vector,
    velocity: Vector,
    acceleration: Vector,
    gravity: Vec3,
    columns: Matrix,
    out: Tensor,
) -> None:
    """Write M and the derivatives of inverse dynamics with respect to q and velocity.

    Args:
        w: work arrays. `external` of the bodies must be current.
        q: configuration (nq,).
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        acceleration: acceleration (nv,) [rad/s^2, m/s^2], kernels' layout. The entries of free
            bases are overwritten by values without w x l.
        gravity: (3,) [m/s^2].
        columns: work of `inverse_derivatives` (nv, 3 nv or more).
        out: derivative with respect to q, derivative with respect to velocity, M (3, nv, nv),
            written.
    """
    nv, v, dv = velocity.shape[0], out[0, 0], out[1, 0]  # rows of the output serve as work
    velocity_from_kernel(w.forest, q, velocity, v)
    acceleration_from_kernel(w.forest, q, velocity, acceleration, dv)
    inverse_derivatives(w, q, v, dv, gravity, columns)
    for part in range(3):
        for i in range(nv):
            for j in range(nv):
                out[part, i, j] = columns[i, part * nv + j]
    for i in range(w.forest.bodies.shape[0]):
        body = w.forest.bodies[i]
        if body.joint_type == FREE:
            for part in range(3):
                _turn_rows(w.kinematics[i].R, body.v_index, out[part])
                _turn_columns(w.kinematics[i].R, body.v_index, out[part])
    for i in range(w.forest.bodies.shape[0]):
        if w.forest.bodies[i].joint_type == FREE:
            _add_turns(w, velocity, acceleration, w.forest.bodies[i].v_index, out)


@inner_kernel
def _turn_rows(R: Mat3, k: Index, matrix: Matrix) -> None:
    """Convert the rows of a free base from the public layout to the kernels' layout."""
    for j in range(matrix.shape[1]):
        lx, ly, lz = matrix[k, j], matrix[k + 1, j], matrix[k + 2, j]
        wx, wy, wz = matrix[k + 3, j], matrix[k + 4, j], matrix[k + 5, j]
        for r in range(3):
            matrix[k + r, j] = R[r, 0] * wx + R[r, 1] * wy + R[r, 2] * wz
            matrix[k + 3 + r, j] = R[r, 0] * lx + R[r, 1] * ly + R[r, 2] * lz


@inner_kernel
def _turn_columns(R: Mat3, k: Index, matrix: Matrix) -> None:
    """Convert the columns of a free base from the public layout to the kernels' layout."""
    for i in range(matrix.shape[0]):
        lx, ly, lz = matrix[i, k], matrix[i, k + 1], matrix[i, k + 2]
        wx, wy, wz = matrix[i, k + 3], matrix[i, k + 4], matrix[i, k + 5]
        for r in range(3):
            matrix[i, k + r] = R[r, 0] * wx + R[r, 1] * wy + R[r, 2] * wz
            matrix[i, k + 3 + r] = R[r, 0] * lx + R[r, 1] * ly + R[r, 2] * lz


@inner_kernel
def _add_turns(w: Workspace, velocity: Vector, fixed: Vector, k: Index, out: Tensor) -> None:
    """Add the derivatives due to the rotation of a free base.

    The rotation changes the base's velocity, acceleration and force in the public layout. The head
    of the file has the equations. fixed: acceleration of the base. k: first degree of freedom of
    the base.
    """
    by_q, by_v, mass = out[0], out[1], out[2]
    for i in range(velocity.shape[0]):
        for first in (k, k + 3):
            _add_row_times_cross(by_v[i], first, velocity, first, 1.0, by_q[i], k)
        _add_row_times_cross(mass[i], k, fixed, k, 1.0, by_q[i], k)
        _add_row_times_cross(mass[i], k + 3, fixed, k + 3, 1.0, by_q[i], k)
        _add_row_times_cross(mass[i], k + 3, velocity, k + 3, 1.0, by_v[i], k)
        _add_row_times_cross(mass[i], k + 3, velocity, k, -1.0, by_v[i], k + 3)
    force = w.effort
    for first in (k, k + 3):
        for r in range(3):
            y, z = (r + 1) % 3, (r + 2) % 3
            by_q[first + r, k + y] += force[first + z]
            by_q[first + r, k + z] -= force[first + y]


@inlined_kernel
def _add_row_times_cross(
    row: Vector, at: Index, v: Vector, v_at: Index, sign: float, out: Vector, out_at: Index
) -> None:
    """Add `sign` times row[at : at + 3] [v x] to three entries of `out`, from `out_at` on."""
    x, y, z = sign * row[at], sign * row[at + 1], sign * row[at + 2]
    a, b, c = v[v_at], v[v_at + 1], v[v_at + 2]
    out[out_at] += y * c - z * b
    out[out_at + 1] += z * a - x * c
    out[out_at + 2] += x * b - y * a
