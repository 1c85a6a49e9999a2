# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Energy of trees at one state: kinetic energy, gravity, joint springs and connections.

A spring with a force limit stores 1/2 e^2 / c up to the limit, with deflection e and compliance c.
Beyond the limit, the spring also stores the limit times the further deflection.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Audited,
    Body,
    Connection,
    JointHold,
    JointParameters,
    Kinematics,
    PlacedConnection,
    Records,
    Scene,
    Vec3,
    Vector,
)
from hrpsim.engine.constraints.connection_rows import LOCKED, find_direction
from hrpsim.engine.constraints.joint_rows import LIMIT_PARAMETERS, LOCK_PARAMETERS, MIMIC_PARAMETERS
from hrpsim.engine.constraints.placed_connection import place_frames
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.spatial.vector import placed_point, point_velocity, transposed_times


@inner_kernel
def measure_energies(
    s: Scene, q: Vector, velocity: Vector, kinematics_out: Records[Kinematics]
) -> None:
    """Write the mass [kg] and the kinetic, potential and elastic energy [J] of each tree.

    Contact springs are left out.

    Args:
        s: the scene.
        q: configuration (nq,).
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        kinematics_out: KINEMATICS records of the bodies (n,), written.
    """
    trees = s.audit.trees
    update_poses(s.forest, q, kinematics_out)
    update_velocities(s.forest, velocity, kinematics_out)
    for i in range(trees.shape[0]):
        trees[i].mass = trees[i].kinetic = trees[i].potential = trees[i].elastic = 0.0
    _add_bodies(s.forest.bodies, s.settings[0].gravity, kinematics_out, trees)
    _add_joints(s.forest, s.joint_parameters, s.joint_holds, q, velocity, trees)
    for number in range(s.actuators.units.shape[0]):
        actuator = s.actuators.units[number]
        if actuator.two_mass:  # the rotor belongs to the actuator
            k = actuator.dof
            tree = trees[s.forest.bodies[s.forest.dofs[k].body].root]
            tree.kinetic -= 0.5 * s.forest.dofs[k].rotor_inertia * velocity[k] * velocity[k]
    placed = s.work.placed_connection[0]
    for c in range(s.connections.shape[0]):
        if s.connections[c].enabled:
            _add_connection(s.forest, kinematics_out, s.connections[c], placed, trees)


@inlined_kernel
def _add_bodies(
    bodies: Records[Body], gravity: Vec3, kinematics: Records[Kinematics], trees: Records[Audited]
) -> None:
    """Add each body's mass, kinetic energy and potential energy."""
    for i in range(bodies.shape[0]):
        body, link, tree = bodies[i], kinematics[i], trees[bodies[i].root]
        origin, m, I, w = kinematics[body.root].origin, body.mass, body.inertia, link.v
        x, y, z = placed_point(link.R, link.p, body.com)
        vx, vy, vz = point_velocity(w, x, y, z)
        a, b, c = transposed_times(link.R, w[0], w[1], w[2])
        turning = a * (I[0, 0] * a + I[0, 1] * b + I[0, 2] * c)
        turning += b * (I[1, 0] * a + I[1, 1] * b + I[1, 2] * c)
        turning += c * (I[2, 0] * a + I[2, 1] * b + I[2, 2] * c)
        tree.mass += m
        tree.kinetic += 0.5 * (m * (vx * vx + vy * vy + vz * vz) + turning)
        height = gravity[0] * (origin[0] + x) + gravity[1] * (origin[1] + y)
        tree.potential -= m * (height + gravity[2] * (origin[2] + z))


@inlined_kernel
def _add_joints(
    forest: Forest,
    own: Records[JointParameters],
    holds: Records[JointHold],
    q: Vector,
    velocity: Vector,
    trees: Records[Audited],
) -> None:
    """Add rotors, joint springs, and compliant limits, locks and mimics of joints.

    `own` has the JOINT_PARAMETERS of each joint, by kind.
    """
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= forest.dofs.shape[0]:
            break
        dof = forest.dofs[k]
        tree, position = trees[forest.bodies[dof.body].root], q[dof.q_index]
        tree.kinetic += 0.5 * dof.rotor_inertia * velocity[k] * velocity[k]
        tree.elastic += 0.5 * dof.stiffness * (position - dof.rest) * (position - dof.rest)
        beyond = max(dof.lower - position, position - dof.upper, 0.0)
        tree.elastic += _law_energy(own[k, LIMIT_PARAMETERS], beyond)
        if holds[k].locked:
            tree.elastic += _law_energy(own[k, LOCK_PARAMETERS], position - holds[k].position)
        if dof.mimic_dof >= 0:
            error = position - dof.mimic_offset
            error -= dof.mimic_ratio * q[forest.dofs[dof.mimic_dof].q_index]
            tree.elastic += _law_energy(own[k, MIMIC_PARAMETERS], error)


@inlined_kernel
def _law_energy(law: JointParameters, error: float) -> float:
    """Return the energy that a joint constraint stores at a position error [J].

    law: JOINT_PARAMETERS record of the constraint.
    """
    if law.damping_time < 0.0:
        return 0.0
    return spring_energy(error, law.compliance, law.force_limit)


@inlined_kernel
def _add_connection(
    forest: Forest,
    kinematics: Records[Kinematics],
    connection: Connection,
    placed: PlacedConnection,
    trees: Records[Audited],
) -> None:
    """Add the energy of a connection's springs to the tree of body a, or of b if a is the world."""
    placed_yet = False
    body = connection.body_a if connection.body_a >= 0 else connection.body_b
    for axis in range(6):
        compliance = connection.compliance[axis]
        if connection.axes[axis] != LOCKED or compliance == 0.0:
            continue
        if not placed_yet:
            place_frames(forest, kinematics, connection, placed)
            placed_yet = True
        error, limit = find_direction(connection, axis, placed), connection.force_limit[axis]
        if axis < 3 or math.isfinite(limit):
            energy = spring_energy(error, compliance, limit)
        else:
            energy = _angular_energy(error) / compliance
        trees[forest.bodies[body].root].elastic += energy


@inlined_kernel
def spring_energy(error: float, compliance: float, force_limit: float) -> float:
    """Return the energy of a spring [J]. The energy of a rigid spring is 0.

    Args:
        error: deflection of the spring [m or rad].
        compliance: inverse stiffness of the spring [m/N or rad/Nm].
        force_limit: force at which the spring yields [N or Nm].
    """
    if compliance == 0.0:
        return 0.0
    size = abs(error)
    if size <= force_limit * compliance:
        return 0.5 * size * size / compliance
    return force_limit * (size - 0.5 * force_limit * compliance)


@inlined_kernel
def _angular_energy(error: float) -> float:
    """Return the energy of an angular spring of compliance 1 rad/Nm [J].

    `error` is the sine of the angle a. The moment is sin a cos a, and cos^2 a beyond 45 degrees.
    """
    size = min(abs(error), 1.0)
    if size * size <= 0.5:
        return 0.5 * size * size
    angle = math.asin(size)
    return 0.25 + 0.5 * (angle - 0.25 * math.pi) + 0.25 * (math.sin(2.0 * angle) - 1.0)
