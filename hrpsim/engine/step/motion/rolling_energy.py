# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts that stick to the ground do no positive work on free bodies (rk4).

The contact point of a coin that is nearly flat runs round the rim by many degrees in a step. The
force within the step then has an error that creates energy. The velocity of a body that rolls is
therefore scaled down, if the body has more energy at the end of a step than at the start. All
velocities become smaller by one factor, so that the contact points stay at rest. This is the
projection on an invariant (Hairer, Lubich and Wanner 2006, section IV.4), which keeps the order.

The rule applies to a free body that is alone in its tree, if all its loaded contacts are rigid, are
with the world and stick. Gravity must be the only other force.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Contact, HeldForce, Index, Records, Row, Scene
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.friction_laws import friction_holds
from hrpsim.engine.constraints.solver_table import PENALTY
from hrpsim.engine.spatial.rotation import rotation_from_quaternion
from hrpsim.engine.spatial.vector import transposed_times
from hrpsim.engine.step.motion.half_turns import turns_freely
from hrpsim.engine.step.scene.status import DONE


@inlined_kernel
def find_rolling(s: Scene) -> None:
    """Write the kinetic energy of bodies that roll on the world, infinite for others [J].

    The velocity must be that after the impacts of the step. The kernel writes `energy` of
    s.rk4.held.
    """
    held_forces, contacts, rows = s.rk4.held, s.collision.contacts, s.rows.rows
    for i in range(s.forest.bodies.shape[0]):
        held_forces[i].energy = math.inf
    for c in range(s.counts[0].contact_count):
        i = max(contacts[c].body_a, contacts[c].body_b)
        if _rolls(contacts[c], rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]):
            if turns_freely(s.forest, i):
                held_forces[i].energy = _kinetic_energy(s, i)
    for c in range(s.counts[0].contact_count):
        normal = rows[3 * c]
        presses = normal.impulse > 0.0 or normal.compliance > 0.0 or normal.solver == PENALTY
        if presses and not _rolls(contacts[c], normal, rows[3 * c + 1], rows[3 * c + 2]):
            _release(held_forces, contacts[c].body_a)
            _release(held_forces, contacts[c].body_b)
    for k in range(s.connections.shape[0]):
        _release(held_forces, s.connections[k].body_a)
        _release(held_forces, s.connections[k].body_b)
    for k in range(s.counts[0].wrench_count):
        _release(held_forces, s.wrenches[k].body)


@lazy_kernel(feature="stage_turns")
def bound_rolling_energy(s: Scene) -> int:
    """Scale down the velocity of bodies that rolled and gained energy in the step.

    Reads: forest, q, rk4, settings. Writes: kinematics (`R`), velocity.
    """
    bodies, g = s.forest.bodies, s.settings[0].gravity
    for i in range(bodies.shape[0]):
        start = s.rk4.held[i].energy
        if start == math.inf:
            continue
        body, q, R = bodies[i], s.q, s.kinematics[i].R
        j, k, fall = body.q_index, body.v_index, 0.0
        for r in range(3):
            fall += g[r] * (q[j + r] - s.rk4.q_start[j + r])
        rotation_from_quaternion(q[j + 3], q[j + 4], q[j + 5], q[j + 6], R)
        allowed, energy = start + body.mass * fall, _kinetic_energy(s, i)
        if 0.0 < allowed < energy:
            scale = math.sqrt(allowed / energy)
            for r in range(6):
                s.velocity[k + r] *= scale
    return DONE


@inlined_kernel
def _rolls(contact: Contact, normal: Row, x: Row, y: Row) -> bool:
    """Return whether a rigid contact with the world presses and sticks."""
    if normal.compliance > 0.0 or normal.solver == PENALTY or not normal.impulse > 0.0:
        return False
    return min(contact.body_a, contact.body_b) < 0 and friction_holds(normal, x, y, 0.999)


@inlined_kernel
def _release(held: Records[HeldForce], body: Index) -> None:
    """Exclude a body from the rule. `body` is -1 for the world."""
    if body >= 0:
        held[body].energy = math.inf


@inlined_kernel
def _kinetic_energy(s: Scene, i: Index) -> float:
    """Return the kinetic energy of a free body with the orientation `R` of its kinematics [J]."""
    body, v = s.forest.bodies[i], s.velocity
    inertia, k = body.inertia, body.v_index
    x, y, z = transposed_times(s.kinematics[i].R, v[k], v[k + 1], v[k + 2])
    turning = x * (inertia[0, 0] * x + inertia[0, 1] * y + inertia[0, 2] * z)
    turning += y * (inertia[1, 0] * x + inertia[1, 1] * y + inertia[1, 2] * z)
    turning += z * (inertia[2, 0] * x + inertia[2, 1] * y + inertia[2, 2] * z)
    square = v[k + 3] ** 2 + v[k + 4] ** 2 + v[k + 5] ** 2
    return 0.5 * (turning + body.mass * square)
