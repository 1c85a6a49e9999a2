# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Acceleration without constraint forces, with geometric stiffness for stability.

Light bodies between loaded connections stay stable at large steps. A force f at the arm r gives the
moment r x f. If the body rotates by d, the moment changes by -K d. The geometric stiffness is
K = (f . r) 1 - sym(r f^T), where 1 is the identity and sym the symmetric part. A link of mass m and
length l under the tension T then oscillates with the frequency sqrt(12 T / (m l)). With a constant
moment over the step, this is stable only while dt is a fraction of the period.

The moment is therefore applied at the end of the step, as for joint springs. The positive part of
K adds dt^2 K to the rotational inertia of the body. Only the part that exceeds the inertia of the
body itself is added. Short steps therefore do not change (compare Tournier et al. 2015).
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Connection,
    Index,
    Kinematics,
    Matrix,
    PlacedConnection,
    Records,
    Scene,
    Seconds,
    Vec3,
    Vector,
    Work,
    Wrench,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.connection_rows import LOCKED, find_direction
from hrpsim.engine.constraints.placed_connection import place_frames
from hrpsim.engine.dynamics.articulated import (
    accelerations,
    factorise,
    spread_inertia,
    start_bodies,
)
from hrpsim.engine.dynamics.first_order_forces import SYMMETRIC, first_order_forces
from hrpsim.engine.dynamics.joint_forces import apply_frictions, joint_forces
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import placed_point
from hrpsim.engine.step.motion.actuators import drive_joints
from hrpsim.engine.step.motion.half_turns import expect_free_turns, write_free_accelerations
from hrpsim.engine.step.scene.status import DIVERGED, DONE, SINGULAR
from hrpsim.model.system import FREE


@lazy_kernel(np.float64, feature="connections")
def add_geometric_stiffness(s: Scene, horizon: Seconds) -> int:
    """Add the geometric stiffness of connection forces to the inertias of free bodies.

    The connection forces of the last step are used. `horizon` is the time step [s].
    """
    for i in range(s.work.geometric_stiffness.shape[0]):
        geometric_stiffness = s.work.geometric_stiffness[i]
        for k in range(6):
            geometric_stiffness[k] = 0.0
    placed = s.work.placed_connection[0]
    for c in range(s.connections.shape[0]):
        connection = s.connections[c]
        if connection.enabled and not _holds_rotation(connection):
            _load_ends(s.forest, s.kinematics, s.work, connection, placed, horizon)
    for i in range(s.work.geometric_stiffness.shape[0]):
        geometric_stiffness, inertia = s.work.geometric_stiffness[i], s.articulated[i].inertia
        size = geometric_stiffness[0] + geometric_stiffness[1] + geometric_stiffness[2]
        own = s.forest.bodies[i].inertia
        least = min(own[0, 0], own[1, 1], own[2, 2])
        if size > least:
            fraction = 1.0 - least / size
            for k in range(6):
                inertia[4 + k] += fraction * geometric_stiffness[k]
            spread_inertia(inertia, s.articulated[i].I_A)
    return DONE


@inlined_kernel
def _holds_rotation(connection: Connection) -> bool:
    return (
        connection.axes[3] == LOCKED
        and connection.axes[4] == LOCKED
        and connection.axes[5] == LOCKED
    )


@inlined_kernel
def _load_ends(
    forest: Forest,
    kinematics: Records[Kinematics],
    work: Work,
    connection: Connection,
    placed: PlacedConnection,
    horizon: Seconds,
) -> None:
    """Add the stiffness from a connection's force in the last step to both of its bodies."""
    place_frames(forest, kinematics, connection, placed)
    force = placed.force
    for r in range(3):
        force[r] = 0.0
    for axis in range(3):
        if connection.axes[axis]:
            find_direction(connection, axis, placed)
            for r in range(3):
                force[r] += horizon * connection.impulse[axis] * placed.direction[r]
    _load_end(forest, connection.body_a, placed.point_a, force, 1.0, work.geometric_stiffness)
    _load_end(forest, connection.body_b, placed.point_b, force, -1.0, work.geometric_stiffness)


@inlined_kernel
def _load_end(
    forest: Forest, body: Index, point: Vec3, force: Vec3, sign: float, geometric_stiffness: Matrix
) -> None:
    """Add the stiffness of `sign` times a force at a point of a body, if the body is free."""
    if body >= 0 and forest.bodies[body].joint_type == FREE:
        fx, fy, fz = sign * force[0], sign * force[1], sign * force[2]
        _add_stiffness(fx, fy, fz, point[0], point[1], point[2], geometric_stiffness[body])


@inlined_kernel
def _add_stiffness(
    fx: float, fy: float, fz: float, x: float, y: float, z: float, tension_out: Vector
) -> None:
    """Add the positive part of (f . r) 1 - sym(r f^T), as xx, yy, zz, xy, xz, yz.

    With unit vectors of f and r, the eigenvectors are n along f x r, e = f - r, and f + r. The
    eigenvalue of n is f . r. The eigenvalue of e is (|f| |r| + f . r) / 2. The eigenvalue of f + r
    is negative or zero.
    """
    f, r = math.sqrt(fx * fx + fy * fy + fz * fz), math.sqrt(x * x + y * y + z * z)
    if f == 0.0 or r == 0.0:
        return
    fx, fy, fz, x, y, z = fx / f, fy / f, fz / f, x / r, y / r, z / r
    nx, ny, nz = fy * z - fz * y, fz * x - fx * z, fx * y - fy * x
    square = nx * nx + ny * ny + nz * nz
    along = f * r * (fx * x + fy * y + fz * z)
    if square < 1e-16:
        along = max(along, 0.0)
        _add_square(-along, x, y, z, tension_out)
        for k in range(3):
            tension_out[k] += along
        return
    _add_square(max(along, 0.0) / square, nx, ny, nz, tension_out)
    ex, ey, ez = fx - x, fy - y, fz - z
    square = ex * ex + ey * ey + ez * ez
    _add_square(0.5 * (f * r + along) / square, ex, ey, ez, tension_out)


@inlined_kernel
def _add_square(weight: float, x: float, y: float, z: float, tension_out: Vector) -> None:
    tension_out[0] += weight * x * x
    tension_out[1] += weight * y * y
    tension_out[2] += weight * z * z
    tension_out[3] += weight * x * y
    tension_out[4] += weight * x * z
    tension_out[5] += weight * y * z


@lazy_kernel(feature="first_order")
def find_first_order_forces(s: Scene) -> int:
    """Write the efforts and inertias of joints for an integrator with first-order forces."""
    horizon, rule = s.settings[0].horizon, s.settings[0].damping
    first_order_forces(s.forest, s.control, s.q, s.velocity, horizon, rule, s.work)
    return DONE


@inlined_kernel
def unconstrained_dynamics(s: Scene) -> int:
    """Factorise the forest and compute its acceleration without constraints, work.dv.

    Poses and velocities must be current.

    Returns:
        DONE, or SINGULAR or DIVERGED if a joint has no positive inertia.

    Reads: actuators, articulated, connections, control, counts, forest, kinematics,
    past_accelerations, q, settings, spins, velocity, work, wrenches.
    Writes: actuators, articulated, control, failure, forest, kinematics, spins, work.
    """
    work, settings, horizon = s.work, s.settings[0], s.settings[0].horizon
    external_forces(s.kinematics, s.wrenches, s.counts[0].wrench_count, s.articulated)
    if settings.damping == SYMMETRIC:
        joint_forces(s.forest, s.control, s.q, s.velocity, horizon, work)
    else:
        find_first_order_forces(s)
    if settings.actuators:
        drive_joints(s)
    if horizon > 0.0 and settings.joint_friction:
        apply_frictions(work.friction, work.effort, work.joint_inertia)
    free = settings.free_rotation != 0 and settings.order > 1
    if free:
        write_free_accelerations(s)
    status = accelerate(s, horizon)
    if free and (s.counts[0].contact_count > 0 or s.connections.shape[0] > 0):
        expect_free_turns(s)  # for their rows
    return status


@inlined_kernel
def accelerate(s: Scene, horizon: Seconds) -> int:
    """Compute the acceleration from work.effort, work.joint_inertia and the external forces.

    The acceleration is work.dv (nv,) [rad/s^2, m/s^2].

    Args:
        s: the scene.
        horizon: time step of an implicit step, 0 for the forces of the state itself [s].

    Returns:
        DONE, or SINGULAR or DIVERGED if a joint has no positive inertia.
    """
    work = s.work
    start_bodies(s.forest, s.kinematics, s.articulated)
    loaded = horizon > 0.0 and s.connections.shape[0] > 0
    if loaded:
        add_geometric_stiffness(s, horizon)
    singular = factorise(s.forest, s.kinematics, work.joint_inertia, work.effort, s.articulated)
    if singular >= 0:
        added = work.geometric_stiffness[singular]
        s.failure[0].needed = singular
        s.failure[0].load = added[0] + added[1] + added[2] if loaded else 0.0
        return SINGULAR if _is_finite(s.kinematics, s.articulated, singular) else DIVERGED
    accelerations(s.forest, s.kinematics, s.settings[0].gravity, s.articulated, work.dv)
    return DONE


@inner_kernel
def _is_finite(
    kinematics: Records[Kinematics], articulated: Records[Articulated], i: Index
) -> bool:
    """Return whether the inertia and the joint direction of a body are finite."""
    total = 0.0
    for r in range(6):
        for c in range(6):
            total += 0.0 * articulated[i].I_A[r, c]
        total += 0.0 * kinematics[i].S[r]
    return total == 0.0


@inner_kernel
def external_forces(
    kinematics: Records[Kinematics],
    wrenches: Records[Wrench],
    wrench_count: int,
    articulated_out: Records[Articulated],
) -> None:
    """Write the users' wrenches as spatial forces on bodies.

    Args:
        kinematics: KINEMATICS records of the bodies (n,).
        wrenches: WRENCH records, of which the first `wrench_count` are used.
        wrench_count: number of wrenches.
        articulated_out: ARTICULATED records (n,). `external` (6,) [Nm, N] is written.
    """
    for i in range(articulated_out.shape[0]):
        external = articulated_out[i].external
        for r in range(6):
            external[r] = 0.0
    for k in range(wrench_count):
        wrench = wrenches[k]
        link = kinematics[wrench.body]
        f = wrench.force
        x, y, z = placed_point(link.R, link.p, wrench.point)
        external = articulated_out[wrench.body].external
        external[0] += wrench.torque[0] + y * f[2] - z * f[1]
        external[1] += wrench.torque[1] + z * f[0] - x * f[2]
        external[2] += wrench.torque[2] + x * f[1] - y * f[0]
        for r in range(3):
            external[3 + r] += f[r]
