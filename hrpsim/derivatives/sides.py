# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find features that cannot be differentiated, and constraints that are about to switch.

A constraint is on one of two sides, such as open or closed, sticking or sliding (SIDES).
Derivatives are valid as long as no constraint switches to its other side.
"""

from typing import NewType

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Actuator,
    Arrays,
    Collision,
    Contact,
    Control,
    Index,
    Record,
    Records,
    Row,
)
from hrpsim.engine.constraints.friction_laws import has_derivative
from hrpsim.engine.constraints.rows import CONTACT_ROW, VELOCITY_LIMIT, Rows
from hrpsim.engine.constraints.solver_table import PENALTY
from hrpsim.engine.dynamics.first_order_forces import SYMMETRIC
from hrpsim.engine.step.arrays import Scene

# Both sides of a kind of near constraint; the first are the columns of Room.distances.
SIDES = (
    ("open", "closed"),
    ("sticking", "sliding"),
    ("gap closed", "gap open"),
    ("static", "kinetic"),
    ("found", "lost"),
    ("within the slop", "beyond the slop"),
    ("at its bound", "holds"),
    ("agrees with others", "contradicts others"),
    ("released", "pressed"),
    ("shares a load", "shares it in another way"),
    ("solved", "cut short"),
    ("within its effort limit", "at its effort limit"),
    ("within its velocity limit", "at its velocity limit"),
)
BOUND, AGREEMENT, RELEASE, SHARE, CUT, EFFORT, SPEED = range(6, len(SIDES))

NEAR = np.dtype(
    [
        ("row_kind", "i8"),
        ("source", "i8"),
        ("other", "i8"),  # the second shape of a contact, -1 for other rows
        ("kind", "i8"),  # index in SIDES
        ("side", "i8"),
        ("distance", "f8"),
    ]
)
NearRow = NewType("NearRow", Record)

OF_WORLDS = (
    "pushes (linearise before apply_wrench) are not",
    "driven tendons are not",
    "actuators with a gear, losses, Stribeck friction, encoders, sampling, a filter or an integral"
    " are not",
    "position_projection is not",
    "steps with stop='relative_change', which end before the solution, are not",
    "the integrators 'rk4' and 'euler' are not: only 'semi_implicit' is",
    "torsional and rolling friction are not",
    "ball joints are not",
)
OF_STEPS = (
    "the step has impacts with restitution",
    "the step has bodies so fast that contacts are found along their way",
    "the step has an actuator at a limit of its model",
)
OF_CONTACTS = (
    "is moved by impacts within the step, which are not differentiated",
    "has a friction law without derivative",
    "is a penalty contact, which is not differentiated",
)
_CONVERGED = 1e-9  # residual with which a step may end [m/s]
UNCONVERGED = len(OF_STEPS)

# Change of a row's rate by a change of the state that is not rounding [1/s, or 1].
NOTICED = 1e-5


@kernel
def find_refused_world(s: Scene) -> int:
    """Return the index in OF_WORLDS of the first feature that cannot be differentiated, or -1."""
    settings = s.settings[0]
    if settings.horizon == 0.0 or settings.damping != SYMMETRIC:
        return 5
    if settings.relative_tolerance > 0.0:
        return 4
    if s.counts[0].wrench_count > 0:
        return 0
    if settings.turning_friction:
        return 6
    if s.tendons.joints.shape[0] > 0:
        return 1
    for i in range(s.forest.bodies.shape[0]):
        if s.forest.bodies[i].ball != 0:
            return 7
    for number in range(s.actuators.units.shape[0]):
        if not _is_linear(s.actuators.units[number]):
            return 2
    return 3 if settings.projection and s.connections.shape[0] > 0 else -1


@inner_kernel
def _is_linear(unit: Actuator) -> bool:
    """Return whether an actuator within its limits is linear.

    A PD servo with delay and friction is linear.
    """
    stored = unit.period > 0.0 or unit.slew_step > 0.0 or unit.lag > 0.0
    stored = stored or unit.integral_gain > 0.0 or unit.velocity_integral_gain > 0.0
    rounded = unit.joint_resolution > 0.0 or unit.motor_resolution > 0.0
    rough = unit.static != unit.coulomb or unit.has_losses != 0
    return not (stored or rounded or rough or unit.two_mass)


@kernel
def find_refused_step(s: Scene) -> tuple[int, int, int]:
    """Find a feature of the step that cannot be differentiated.

    Returns:
        (index in OF_STEPS or UNCONVERGED or -1, index in OF_CONTACTS or -1, number of the contact).
    """
    stats, rows = s.step_stats[0], s.rows.rows
    if not (stats.converged or stats.residual <= _CONVERGED):
        return UNCONVERGED, -1, -1
    if s.impacts.state[0].had_impacts:
        return 0, -1, -1
    if s.continuous.state[0].start_force or s.continuous.state[0].passes:
        return 1, -1, -1
    for number in range(s.actuators.units.shape[0]):
        step_state = s.actuators.steps[number]
        if step_state.slope != -step_state.of_motor - step_state.of_joint:
            return 2, -1, -1
    for c in range(s.counts[0].contact_count):
        refused = _refused_property(s.collision.contacts[c], rows[3 * c])
        if refused >= 0:
            return -1, refused, c
    return -1, -1, -1


@inlined_kernel
def _refused_property(contact: Contact, normal: Row) -> int:
    """Return the index in OF_CONTACTS of a contact property without derivative, or -1."""
    if contact.gap_offset != 0.0 or contact.push_out > 0.0:
        return 0
    if normal.friction > 0.0 and not has_derivative(normal.friction_model):
        return 1
    return 2 if normal.choice == PENALTY else -1


@kernel
def list_near(s: Scene, w: Arrays, held_count: int, first: Index, margin: float) -> int:
    """List the constraints and actuators that are about to switch in w.near. Return the number.

    Contacts, joint rows and actuators are listed if their distance from switching is below the
    margin. Rows that contradict other rows are always listed.

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `differentiate`.
        held_count: number of active rows.
        first: first row of joints.
        margin: distance below which an entry is listed [m/s or rad/s].
    """
    count = 0
    for kind in range(BOUND):
        for c in range(s.counts[0].contact_count):
            if w.distances[c, kind] < margin:
                count = _add_row(s.collision, s.rows, w, 3 * c, count)
                _set(w.near[count - 1], kind, w.sides[c, kind], w.distances[c, kind])
    for number in range(first, s.counts[0].row_count):
        if w.row_distance[number] < margin:
            count = _add_row(s.collision, s.rows, w, number, count)
            _set(w.near[count - 1], BOUND, w.row_holds[number], w.row_distance[number])
    for r in range(held_count):
        if w.left[r] > NOTICED:
            count = _add_row(s.collision, s.rows, w, w.held[r].number, count)
            _set(w.near[count - 1], AGREEMENT, 0, 0.0)
    return _list_limits(s.control, w, count, margin)


@inlined_kernel
def _list_limits(controls: Records[Control], w: Arrays, count: int, margin: float) -> int:
    """Append the actuators near a limit of effort or velocity, and return the number of entries."""
    for kind in range(2):
        for k in range(w.limits.shape[1]):
            if w.limits[kind, k] < margin:
                near, control = w.near[count], controls[k]
                near.row_kind, near.source, near.other = VELOCITY_LIMIT, k, -1
                at_limit = (control.saturated if kind == 0 else control.limiting) != 0
                _set(near, EFFORT + kind, 1 if at_limit else 0, w.limits[kind, k])
                count += 1
    return count


@inner_kernel
def _add_row(collision: Collision, rows: Rows, w: Arrays, number: Index, count: int) -> int:
    """Write the constraint of a row to entry `count` of w.near. Return `count` + 1."""
    near, row = w.near[count], rows.rows[number]
    near.row_kind, near.source, near.other = row.kind, row.source, -1
    if row.kind == CONTACT_ROW:
        contact = collision.contacts[row.source]
        near.source, near.other = contact.shape_a, contact.shape_b
    return count + 1


@inlined_kernel
def _set(near: NearRow, kind: int, side: int, distance: float) -> None:
    near.kind, near.side, near.distance = kind, side, distance
