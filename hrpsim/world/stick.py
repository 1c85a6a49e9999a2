"""Contact points that press and stick in an rk4 step stay where they were.

The contact force of an rk4 step is found once, for velocities at its end to first order; between,
a sticking point moves by a second-order trifle, always the same way while a robot swings. What it
moved is measured from the poses and taken back as a displacement, like penetration. The normal is
held too: a correction along the surface alone would tilt bodies off it.
"""

from __future__ import annotations

from hrpsim.compiled import inner_kernel
from hrpsim.constraints.contact_rows import friction_holds
from hrpsim.kinematics.forward import update_poses


@inner_kernel
def hold_points(s):
    """Keep where contact points are on their bodies, before an rk4 step moves them."""
    contacts = s.collision.contacts
    for c in range(s.tally[0].contact_count):
        contact = contacts[c]
        _to_body(s, contact.body_a, contact.point_a, contact.held_a)
        _to_body(s, contact.body_b, contact.point_b, contact.held_b)


@inner_kernel
def _to_body(s, body, point, held_out):
    """Write a point given from the tree's origin in the frame of its body."""
    for r in range(3):
        held_out[r] = point[r]
    if body >= 0:
        R, p = s.kinematics[body].R, s.kinematics[body].p
        x, y, z = point[0] - p[0], point[1] - p[1], point[2] - p[2]
        for r in range(3):
            held_out[r] = R[0, r] * x + R[1, r] * y + R[2, r] * z


@inner_kernel
def ask_back_slip(s):
    """Let the rows of sticking contacts ask back what their points moved in this step."""
    rows, contacts = s.rows.rows, s.collision.contacts
    update_poses(s.forest, s.q, s.kinematics)
    for c in range(s.tally[0].contact_count):
        contact, normal, x, y = contacts[c], rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        if not friction_holds(normal, x, y, 0.999):
            continue
        moved = s.work.directions[0]
        for r in range(3):
            moved[r] = 0.0
        _add_motion(s, contact.body_a, contact.held_a, contact.point_a, 1.0, moved)
        _add_motion(s, contact.body_b, contact.held_b, contact.point_b, -1.0, moved)
        rate = 1.0 / s.settings[0].time_step
        sign = 1.0 if contact.body_a >= 0 else -1.0
        for axis in range(3):
            row = rows[3 * c + axis]
            J = row.J_a
            row.held = 1
            row.push -= rate * sign * (J[3] * moved[0] + J[4] * moved[1] + J[5] * moved[2])


@inner_kernel
def _add_motion(s, body, held, before, sign, moved):
    """Add `sign` times what the body's point moved in the step [m]."""
    if body < 0:
        return
    here = s.kinematics[body]
    root = s.forest.bodies[body].root
    now, start = s.kinematics[root].origin, s.work.held[root].origin
    R, p = here.R, here.p
    for r in range(3):
        x = p[r] + R[r, 0] * held[0] + R[r, 1] * held[1] + R[r, 2] * held[2]
        moved[r] += sign * ((now[r] - start[r]) + (x - before[r]))
