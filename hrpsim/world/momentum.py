"""The linear momentum of a floating tree changes by the impulse of the outer forces, exactly.

It is no linear function of positions and joint rates, so no integrator in these coordinates keeps
it: a step leaks what it truncates, and a position correction, which moves joints without changing
their rates, at first order. At the end of a step the root's velocity is changed by what is missing,

    m dv = P(q, v) + dt (m g + sum F) - P(q', v'),

with the poses and velocities of all bodies at the end. What it changes is as small as the error of
the step, so the order of the integrator stays. A body that is alone needs none of it, nor what
rests: what leaks is quadratic in the rates.

A semi-implicit step spares it for trees that press on the fixed world, which takes up any momentum,
while no contact begins: what leaks then is of the method's own second order, and the poses at the
end, which nothing else needs, would cost such a step a tenth of its time and more.
"""

from __future__ import annotations

from hrpsim.compiled import inlined_kernel, inner_kernel, late_kernel
from hrpsim.kinematics.forward import move_body, place_body
from hrpsim.model.system import FIXED, FREE
from hrpsim.world.constrain import is_solved_at_stages
from hrpsim.world.scene import SEMI_IMPLICIT
from hrpsim.world.status import DONE

_AT_REST = 1e-9  # [rad/s or m/s]


@late_kernel
def keep_momentum(s, at_end):
    """Find at the start what momentum the trees are to have, or give it to them at the end."""
    if not at_end:
        s.tally[0].leaks = _find_fastest(s)
        if s.tally[0].leaks:
            _expect(s)
    elif s.tally[0].leaks:
        _correct_roots(s)
    else:
        _forget(s)
    return DONE


@inner_kernel
def _find_fastest(s):
    """Write how fast each floating tree moves or will; return whether any is not at rest."""
    bodies, velocity, work, dt = s.forest.bodies, s.velocity, s.work, s.settings[0].time_step
    leaks = 0
    for i in range(bodies.shape[0]):
        if not _floats(bodies, i):
            continue
        tree, k, joint = work.held[bodies[i].root], bodies[i].v_index, bodies[i].joint_type
        if bodies[i].root == i:
            tree.fastest = 0.0
        for at in range(k, k + (6 if joint == FREE else 0 if joint == FIXED else 1)):
            after = velocity[at] + dt * (work.dv[at] + work.change[at])
            tree.fastest = max(tree.fastest, abs(velocity[at]), abs(after))
        if tree.fastest > _AT_REST:
            leaks = 1
    return leaks


@inlined_kernel
def _floats(bodies, i):
    """Return whether a body belongs to a floating tree of more than one body."""
    root = bodies[i].root
    if bodies[root].joint_type != FREE:
        return False
    return root != i or (i + 1 < bodies.shape[0] and bodies[i + 1].root == i)


@inlined_kernel
def _leaks(s, i):
    """Return whether a body belongs to a floating tree that is not at rest."""
    return _floats(s.forest.bodies, i) and s.work.held[s.forest.bodies[i].root].fastest > _AT_REST


@inner_kernel
def _expect(s):
    """Write what momentum every floating tree is to have after this step, and its mass.

    Stages of rk4 add the impulses that are found there.
    """
    bodies, dt, g = s.forest.bodies, s.settings[0].time_step, s.settings[0].gravity
    semi_implicit = s.settings[0].integrator == SEMI_IMPLICIT
    if semi_implicit:
        _spare_supported(s)
    for i in range(bodies.shape[0]):
        if not _leaks(s, i):
            continue
        root = bodies[i].root
        tree, momentum, here = s.work.held[root], s.work.held[root].tree_momentum, s.articulated[i]
        known = semi_implicit and s.islands.trees[root].knows_momentum
        if root == i:
            tree.tree_mass = 0.0
            for r in range(3):
                momentum[r] = s.islands.trees[root].momentum[r] if known else 0.0
        tree.tree_mass += bodies[i].mass
        if not semi_implicit:
            _add_momentum(bodies[i], s.kinematics[i], s.kinematics[i].v, 1.0, momentum)
        elif not known:
            place_body(s.forest, s.work.q_start, i, s.work.ends)
            move_body(s.forest, s.work.velocity_start, i, s.work.ends)
            _add_momentum(bodies[i], s.work.ends[i], s.work.ends[i].v, 1.0, momentum)
        if semi_implicit and s.tally[0].struck:
            motion = s.work.held[i].struck_motion
            _add_momentum(bodies[i], s.kinematics[i], motion, 1.0, momentum)
        for r in range(3):
            momentum[r] += dt * (bodies[i].mass * g[r] + here.external[3 + r])
    for number in range(s.tally[0].row_count):
        row = s.rows.rows[number]
        if row.impulse != 0.0 and not is_solved_at_stages(s, row):
            _add_impulse(s, row.port_a, row.J_a, row.impulse)
            if row.port_b >= 0:
                _add_impulse(s, row.port_b, row.J_b, row.impulse)


@inner_kernel
def _forget(s):
    """Let no tree know its momentum any more."""
    for i in range(s.islands.trees.shape[0]):
        s.islands.trees[i].knows_momentum = 0


@inner_kernel
def _spare_supported(s):
    """Leave trees alone that press on the fixed world, unless contacts begin in this step."""
    if s.tally[0].new_count > 0:
        return
    for number in range(s.tally[0].row_count):
        row = s.rows.rows[number]
        if row.impulse != 0.0 and row.port_b < 0 and s.ports.ports[row.port_a].dof < 0:
            root = s.forest.bodies[s.ports.ports[row.port_a].body].root
            s.work.held[root].fastest = 0.0


@inlined_kernel
def _add_momentum(body, here, v, sign, momentum):
    """Add `sign` times the momentum of a body that is placed as `here` and moves with v (6,)."""
    R, p, com = here.R, here.p, body.com
    m = sign * body.mass
    x = p[0] + R[0, 0] * com[0] + R[0, 1] * com[1] + R[0, 2] * com[2]
    y = p[1] + R[1, 0] * com[0] + R[1, 1] * com[1] + R[1, 2] * com[2]
    z = p[2] + R[2, 0] * com[0] + R[2, 1] * com[1] + R[2, 2] * com[2]
    momentum[0] += m * (v[3] + v[1] * z - v[2] * y)
    momentum[1] += m * (v[4] + v[2] * x - v[0] * z)
    momentum[2] += m * (v[5] + v[0] * y - v[1] * x)


@inlined_kernel
def _add_impulse(s, number, J, impulse):
    """Add the impulse along J on a port to what the tree of its body is to have."""
    port = s.ports.ports[number]
    if port.dof < 0:
        momentum = s.work.held[s.forest.bodies[port.body].root].tree_momentum
        for r in range(3):
            momentum[r] += J[3 + r] * impulse


@inner_kernel
def expect_loads(s, duration):
    """Let every tree also have what the bodies' loads, forces, give it in a time."""
    for i in range(s.forest.bodies.shape[0]):
        momentum, load = (
            s.work.held[s.forest.bodies[i].root].tree_momentum,
            s.articulated[i].load,
        )
        for r in range(3):
            momentum[r] += duration * load[3 + r]


@inner_kernel
def _correct_roots(s):
    """Give every floating tree the momentum that it is to have."""
    bodies, ends, held = s.forest.bodies, s.work.ends, s.work.held
    for i in range(bodies.shape[0]):
        root = bodies[i].root
        if not _leaks(s, i):
            s.islands.trees[root].knows_momentum = 0
            continue
        tree, missing = s.islands.trees[root], held[root].tree_momentum
        if root == i:
            tree.knows_momentum = 1
            for r in range(3):
                tree.momentum[r] = missing[r]
        place_body(s.forest, s.q, i, ends)
        move_body(s.forest, s.velocity, i, ends)
        _add_momentum(bodies[i], ends[i], ends[i].v, -1.0, missing)
    for i in range(bodies.shape[0]):
        if bodies[i].root == i and _leaks(s, i):
            k = bodies[i].v_index + 3
            for r in range(3):
                s.velocity[k + r] += held[i].tree_momentum[r] / held[i].tree_mass
