# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Correction of a floating tree's linear momentum by the impulse of external forces.

Momentum is a nonlinear function of positions and joint rates, so integrators in these coordinates
do not conserve momentum. A step changes the momentum by its truncation error. A position correction
moves joints but does not change rates, which is an error of first order. At the end of a step, the
velocity of the root is corrected by dv:

    m dv = P(q, v) + dt (m g + sum F) - P(q', v').

Here m is the mass of the tree, P the momentum, g the gravitational acceleration and F an external
force. q and v are configuration and velocity, and ' marks the end of the step of size dt. The
correction is as small as the error of the step, so the order of the integrator does not change.
Single bodies and trees at rest need no correction.
"""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Index,
    Mat3,
    Records,
    Scene,
    Seconds,
    Settings,
    Vec3,
    Vec6,
    Vector,
    Work,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.dynamics.tree_momentum import add_momentum, tree_momentum
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.step.motion.records import Momentum
from hrpsim.engine.step.rows.constrain import is_solved_at_stages
from hrpsim.engine.step.scene.records import Start
from hrpsim.engine.step.scene.status import DONE
from hrpsim.model.system import FIXED, FREE

_AT_REST = 1e-9  # [rad/s or m/s]


@lazy_kernel(np.int64, feature="floating_trees")
def keep_momentum(s: Scene, at_end: int) -> int:
    """Compute the expected momentum of floating trees [Ns], or correct the momentum at the end.

    Args:
        s: the scene.
        at_end: whether this is the end of the step.

    Returns:
        At the start, whether any tree needs the correction at the end.
    """
    if at_end:
        _correct_roots(s.settings[0], s.forest, s.q, s.velocity, s.momentum, s.work.directions)
        return DONE
    leaks = _find_moving(s.settings[0], s.forest.bodies, s.velocity, s.momentum, s.work)
    if leaks:
        _expect(s)
    else:
        _forget(s.momentum)
    return leaks


@inner_kernel
def _find_moving(
    settings: Settings, bodies: Records[Body], velocity: Vector, momentum: Momentum, work: Work
) -> int:
    """Write which floating trees are not at rest, and return whether any is."""
    dt = settings.time_step
    leaks = 0
    for at in range(velocity.shape[0]):
        after = velocity[at] + dt * (work.dv[at] + work.change[at])
        leaks |= int(abs(velocity[at]) > _AT_REST) | int(abs(after) > _AT_REST)
    if leaks == 0:
        return 0  # nothing reads which trees move
    leaks = 0
    for i in range(bodies.shape[0]):
        tree, k, joint = momentum.trees[bodies[i].root], bodies[i].v_index, bodies[i].joint_type
        if bodies[i].root == i:
            tree.moves = 0
        if tree.moves or not _floats(bodies, i):
            continue
        for at in range(k, k + (6 if joint == FREE else 0 if joint == FIXED else 1)):
            after = velocity[at] + dt * (work.dv[at] + work.change[at])
            tree.moves |= int(abs(velocity[at]) > _AT_REST) | int(abs(after) > _AT_REST)
        leaks |= tree.moves
    return leaks


@inlined_kernel
def _floats(bodies: Records[Body], i: Index) -> bool:
    """Return whether a body belongs to a floating tree of more than one body."""
    root = bodies[i].root
    if bodies[root].joint_type != FREE:
        return False
    return root != i or (i + 1 < bodies.shape[0] and bodies[i + 1].root == i)


@inlined_kernel
def _leaks(bodies: Records[Body], momentum: Momentum, i: Index) -> bool:
    """Return whether the momentum of a body's tree needs correction.

    The momentum needs correction if the tree floats and is not at rest.
    """
    return _floats(bodies, i) and momentum.trees[bodies[i].root].moves != 0


@inner_kernel
def _expect(s: Scene) -> None:
    """Write the expected momentum of every floating tree after this step, without gravity.

    Stages of rk4 add the impulses of their own forces.
    """
    bodies, dt = s.forest.bodies, s.settings[0].time_step
    for i in range(bodies.shape[0]):
        if bodies[i].root == i and _leaks(bodies, s.momentum, i):
            _recall(s.start, s.forest, s.momentum, i, s.momentum.trees[i].expected)
    if s.impacts.state[0].had_impacts or s.counts[0].wrench_count > 0:
        for i in range(bodies.shape[0]):
            momentum = s.momentum.trees[bodies[i].root].expected
            if s.impacts.state[0].had_impacts:
                add_momentum(bodies[i], s.kinematics[i], s.impacts.bodies[i].motion, momentum)
            for r in range(3):
                momentum[r] += dt * s.articulated[i].external[3 + r]
    for number in range(s.counts[0].row_count):
        row = s.rows.rows[number]
        if row.impulse != 0.0 and not is_solved_at_stages(s.settings[0], row):
            _add_impulse(s, row.constrained_a, row.J_a, row.impulse)
            if row.constrained_b >= 0:
                _add_impulse(s, row.constrained_b, row.J_b, row.impulse)


@inlined_kernel
def _recall(
    start: Start, forest: Forest, momentum: Momentum, root: Index, momentum_out: Vec3
) -> None:
    """Write the momentum of a tree at the start of the step, either stored or computed."""
    tree = momentum.trees[root]
    if tree.is_known:
        for r in range(3):
            momentum_out[r] = tree.momentum[r]
    else:
        subtrees = momentum.subtrees
        tree_momentum(forest, start.q, start.velocity, root, subtrees, momentum_out)


@inner_kernel
def _forget(momentum: Momentum) -> None:
    """Mark the stored momentum of every tree as unknown."""
    for i in range(momentum.trees.shape[0]):
        momentum.trees[i].is_known = 0


@inlined_kernel
def _add_impulse(s: Scene, number: Index, J: Vec6, impulse: float) -> None:
    """Add the impulse along J on a constraint body to the expected momentum of its tree."""
    constraint_body = s.constrained.bodies[number]
    if constraint_body.dof < 0:
        momentum = s.momentum.trees[s.forest.bodies[constraint_body.body].root].expected
        for r in range(3):
            momentum[r] += J[3 + r] * impulse


@inner_kernel
def expect_wrenches(s: Scene, duration: Seconds) -> None:
    """Add the impulses of the constraint wrenches over a duration to the expected momenta [Ns].

    Args:
        s: the scene. The wrenches are `constraint_wrench` [Nm, N] of s.articulated.
        duration: time for which the wrenches act [s].
    """
    for i in range(s.forest.bodies.shape[0]):
        momentum, load = (
            s.momentum.trees[s.forest.bodies[i].root].expected,
            s.articulated[i].constraint_wrench,
        )
        for r in range(3):
            momentum[r] += duration * load[3 + r]


@inner_kernel
def _correct_roots(
    settings: Settings,
    forest: Forest,
    q: Vector,
    velocity: Vector,
    momentum: Momentum,
    directions: Mat3,
) -> None:
    """Correct the root velocity of every floating tree so that it has the expected momentum."""
    bodies, subtrees, new_momentum = forest.bodies, momentum.subtrees, directions[0]
    dt, g = settings.time_step, settings.gravity
    for i in range(bodies.shape[0]):
        if bodies[i].root != i:
            continue
        tree, expected = momentum.trees[i], momentum.trees[i].expected
        if not _leaks(forest.bodies, momentum, i):
            tree.is_known = 0
            continue
        tree_momentum(forest, q, velocity, i, subtrees, new_momentum)
        mass = subtrees[i].mass
        tree.is_known = 1
        k = bodies[i].v_index + 3
        for r in range(3):
            tree.momentum[r] = expected[r] + dt * mass * g[r]
            velocity[k + r] += (tree.momentum[r] - new_momentum[r]) / mass
