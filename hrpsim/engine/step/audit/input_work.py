# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Work of inputs in a step: actuators, motors, driven tendons, connections, users' wrenches.

Work is mean force times mean velocity times the time step. The mean velocity is the mean of the
velocities at both ends of the step. Along a joint, the work is exact for a `semi_implicit` step,
and accurate to second order otherwise. An actuator's work is the work on its joint. An elastic gear
and the rotor behind it belong to the actuator.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Audited,
    Connection,
    Control,
    Counts,
    Index,
    Matrix,
    PlacedConnection,
    Records,
    Scene,
    Settings,
    Vector,
    Work,
    Wrench,
)
from hrpsim.engine.constraints.connection_rows import DRIVEN, find_direction
from hrpsim.engine.constraints.placed_connection import place_moving_frames
from hrpsim.engine.constraints.rows import LOWER_LIMIT, MOTOR
from hrpsim.engine.constraints.tendon_rows import Tendons
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import dot, placed_point, point_velocity, triple_product
from hrpsim.engine.step.audit.records import Audit


@inner_kernel
def add_input_work(s: Scene) -> None:
    """Write the work of inputs on each tree, and the sum of absolute values of the work [J].

    The kernel writes `work` and `throughput` of s.audit.trees.
    """
    settings, trees = s.settings[0], s.audit.trees
    for i in range(trees.shape[0]):
        trees[i].work = trees[i].throughput = 0.0
    _add_joint_efforts(settings, s.forest, s.control, s.joint_impulses, s.velocity, s.work, trees)
    _add_tendons(settings, s.forest, s.tendons, s.velocity, s.work, trees)
    _add_pushes(settings, s.counts[0], s.forest, s.wrenches, s.audit)
    for c in range(s.connections.shape[0]):
        connection = s.connections[c]
        if connection.enabled:
            _add_drives(s.forest, s.audit, s.work, connection, trees)


@inlined_kernel
def _add(tree: Audited, work: float) -> None:
    tree.work += work
    tree.throughput += abs(work)


@inlined_kernel
def _mean_rate(settings: Settings, velocity: Vector, work: Work, k: Index) -> float:
    """Return the mean velocity of a joint in the step, without the impacts at its start."""
    if settings.drift > 0.0:
        before = velocity[k] - settings.time_step * (work.dv[k] + work.change[k])
    else:
        before = work.velocity_after_impacts[k]
    return 0.5 * (before + velocity[k])


@inlined_kernel
def _add_joint_efforts(
    settings: Settings,
    forest: Forest,
    control: Records[Control],
    joint_impulses: Matrix,
    velocity: Vector,
    work: Work,
    trees: Records[Audited],
) -> None:
    """Add the work of actuators and motors of joints."""
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= forest.dofs.shape[0]:
            break
        impulse = settings.time_step * control[k].applied
        impulse += joint_impulses[k, MOTOR - LOWER_LIMIT]
        if impulse != 0.0:
            tree = trees[forest.bodies[forest.dofs[k].body].root]
            _add(tree, impulse * _mean_rate(settings, velocity, work, k))


@inlined_kernel
def _add_tendons(
    settings: Settings,
    forest: Forest,
    tendons: Tendons,
    velocity: Vector,
    work: Work,
    trees: Records[Audited],
) -> None:
    """Add the work of the actuators of tendons."""
    for number in range(tendons.drives.shape[0]):
        joints, impulse = tendons.joints[number], tendons.drives[number].impulse
        rate_a = _mean_rate(settings, velocity, work, joints.dof_a)
        rate_b = _mean_rate(settings, velocity, work, joints.dof_b)
        rate = joints.coefficient_a * rate_a + joints.coefficient_b * rate_b
        _add(trees[forest.bodies[forest.dofs[joints.dof_a].body].root], impulse * rate)


@inlined_kernel
def _add_pushes(
    settings: Settings, counts: Counts, forest: Forest, wrenches: Records[Wrench], audit: Audit
) -> None:
    """Add the work of the wrenches that users apply."""
    for k in range(counts.wrench_count):
        push, power = wrenches[k], 0.0
        f, t = push.force, push.torque
        for end in range(2):
            link = audit.end[push.body] if end else audit.start[push.body]
            px, py, pz = placed_point(link.R, link.p, push.point)
            x, y, z = point_velocity(link.v, px, py, pz)
            power += f[0] * x + f[1] * y + f[2] * z + dot(t, link.v)
        tree = audit.trees[forest.bodies[push.body].root]
        _add(tree, 0.5 * settings.time_step * power)


@inlined_kernel
def _add_drives(
    forest: Forest, audit: Audit, work: Work, connection: Connection, trees: Records[Audited]
) -> None:
    """Add the work of a connection's driven axes to the tree of body a, or b if a is the world."""
    body = connection.body_a if connection.body_a >= 0 else connection.body_b
    placed = work.placed_connection[0]
    for axis in range(6):
        if connection.axes[axis] != DRIVEN or connection.impulse[axis] == 0.0:
            continue
        speed = 0.0
        for end in range(2):
            place_moving_frames(forest, audit.end if end else audit.start, connection, placed)
            find_direction(connection, axis, placed)
            speed += _speed_along(placed, axis >= 3)
        root = forest.bodies[body].root
        _add(trees[root], 0.5 * connection.impulse[axis] * speed)


@inlined_kernel
def _speed_along(placed: PlacedConnection, turns: bool) -> float:
    """Return the velocity of body a relative to body b, along placed.direction or about it."""
    d = placed.direction
    if turns:
        return dot(d, placed.omega_a) - dot(d, placed.omega_b)
    return dot(d, placed.leaving) - triple_product(d, placed.omega_a, placed.apart)
