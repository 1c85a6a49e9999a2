# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step that was taken, and the arrays in which it is differentiated.

Constraint rows read the velocity through few coordinates z = Z v: the twists of the bodies that
constraints push, six each, and the rates of joints with constraints of their own. A row has at most
12 entries in them, six of each of two bodies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.joint_rows import PARAMETERS_OF_ROW
from hrpsim.constraints.rows import CONTACT_ROW
from hrpsim.dynamics.motion_derivatives import PANEL
from hrpsim.dynamics.workspace import Workspace, new_workspace
from hrpsim.jit.reference import Reference
from hrpsim.kinematics.forest import Forest
from hrpsim.kinematics.forward import new_kinematics
from hrpsim.model.system import System
from hrpsim.step.arrays import Scene
from hrpsim.world.linearization.sides import NEAR

BY_Q, BY_VELOCITY, MASS = range(3)  # of `balance`
RIGID, SOFT = range(2)  # groups of rows
AT_START, AT_END, OTHER = range(3)  # of `twists`
FORCE, SLIP, GAP, SWITCH, LOSS = range(5)  # columns of `distances` and `sides`

HELD_ROW = np.dtype(
    [
        ("number", "i8"),  # among the rows of the step
        ("at", "i8", (2,)),  # first coordinate of each body, -1 for none
        ("J", "f8", (12,)),
        ("F", "f8", (12,)),  # along which its impulse pushes: J, but for sliding contacts
        ("compliance", "f8"),
        ("inverse_mass", "f8"),
        ("slope", "f8"),  # of its target by the inverse mass, less that of its give
        ("softening", "f8"),  # of its compliance by the inverse mass
    ]
)
FOUND = np.dtype(
    [
        ("met_within", "i8"),  # row of a stop that is met within the step, -1 for none
        ("slides", "i8"),  # whether any contact slides
    ]
)


class Room(NamedTuple):
    """Arrays for n bodies, nv degrees of freedom, m coordinates, k rows, c contacts, p columns."""

    space: Workspace
    changed: Forest  # as `space.forest`, but with changes of inertias
    poses: np.ndarray  # (n,) KINEMATICS where the forces act, as the next
    moved: np.ndarray  # (n,)
    q: np.ndarray  # (nq,) where the forces act
    velocity: np.ndarray  # (nv,) at the start
    end_velocity: np.ndarray  # (nv,) that the rows found
    middle_velocity: np.ndarray  # (nv,) of the velocity products
    smooth_velocity: np.ndarray  # (nv,) the same, zero where `spin` has them
    impulses: np.ndarray  # (k,) of the rows
    acceleration: np.ndarray  # (nv,)
    correction: np.ndarray  # (nv,) displacement rate of the position correction
    bodies: np.ndarray  # (n,) bodies with coordinates
    body_at: np.ndarray  # (n + 1,) first coordinate of each body, -1 for none; the last: the world
    dof_at: np.ndarray  # (nv,) coordinate of each degree of freedom, -1 for none
    parameters: np.ndarray  # column of the parameters of each kind of joint row
    Z: np.ndarray  # (m, nv)
    rates: np.ndarray  # (m, nv) derivative of Z v' by q
    start_rates: np.ndarray  # (m, nv) the same of the velocity at the start
    twists: np.ndarray  # (3, m) of the velocities at the start, at the end, and of some other
    balance: np.ndarray  # (3, nv, nv) M, and derivatives of M v' - F' l (BY_Q, BY_VELOCITY, MASS)
    limits: np.ndarray  # (2, nv) distances of actuators to their limits of effort and velocity
    linear: np.ndarray  # (nv, nv) of the force of contacts on trees by q, at rows of free bases
    local: np.ndarray  # (k,) HELD_ROW of all rows
    held: np.ndarray  # (k,) HELD_ROW of those that hold
    target: np.ndarray  # (k, 2 nv) derivatives of the velocities of these, by q and velocity
    responses: np.ndarray  # (k, nv) M^-1 J' of rows that depend on their inverse mass
    left: np.ndarray  # (k,) by how much they contradict each other
    row_distance: np.ndarray  # (k,) of rows of joints, to the other side
    row_holds: np.ndarray  # (k,)
    near: np.ndarray  # (5 c + 2 k + 2 nv,) NEAR
    geometry: np.ndarray  # (c, 2, 7, 6) of contact_derivatives
    found: np.ndarray  # (c, 2)
    directions: np.ndarray  # (c, 3, 3)
    turns: np.ndarray  # (3, 12) of one contact: rates by the twists, geometry alone
    motion: np.ndarray  # (6,) of a point
    distances: np.ndarray  # (c, 5) to other sides, inf for none
    sides: np.ndarray  # (c, 5) which side
    softening: np.ndarray  # (c, nv) derivative of the compliance of contacts by q
    findings: np.ndarray  # (1,) FOUND
    law: np.ndarray  # (3, 2) of stop_derivatives
    line: np.ndarray  # (nv, PANEL)
    response: np.ndarray  # (1, nv)
    gradient: np.ndarray  # (1, nv)
    pair: np.ndarray  # (2,) bodies of a contact
    pair_rates: np.ndarray  # (12, nv)
    own_change: np.ndarray  # (nv,)
    turning: np.ndarray  # (2, m, m) derivative of contact forces by twists; as sums on trees
    turned: np.ndarray  # (m, nv)
    delassus: np.ndarray  # (m, m) Z M^-1 Z'
    stiffness: np.ndarray  # (2, m, m) of the rows' groups
    gram: np.ndarray  # (m, m) of rigid rows
    free: np.ndarray  # (m, m) Z M^-1 Z' with other rows
    order: np.ndarray  # (2, m) of pivots
    pushes: np.ndarray  # (2, m, 2 nv) of the rows' targets
    by_push: np.ndarray  # (2, m, m) forces by these
    by_change: np.ndarray  # (m, m) the same, less, by changes without rows
    changes: np.ndarray  # (m, 2 nv + p) of coordinates, without rows, then with them
    forces: np.ndarray  # (m, 2 nv + p) found
    error: np.ndarray  # (2 nv,) of a row
    momentum: np.ndarray  # (2, 2, 3, nv) of trees: start and end, by q and velocity
    kept: np.ndarray  # (3, 2 nv + p) changes of the momentum of a tree
    products: np.ndarray  # (2, 6) of one degree of freedom


def new_room(system: System, forest: Forest, nq: int, m: int, k: int, c: int, p: int) -> Room:
    """Return room for a world and numbers of coordinates, rows, contacts and given impulses.

    `forest` has the constants of `system` as they are at present.
    """
    n, nv = len(system.parent), len(system.dof_body)
    shapes: dict[str, tuple[int, ...]] = {
        "q": (nq,),
        "bodies": (n,),
        "body_at": (n + 1,),
        "dof_at": (nv,),
        "balance": (3, nv, nv),
        "limits": (2, nv),
        "linear": (nv, nv),
        "target": (k, 2 * nv),
        "responses": (k, nv),
        "impulses": (k,),
        "left": (k,),
        "row_distance": (k,),
        "row_holds": (k,),
        "geometry": (c, 2, 7, 6),
        "found": (c, 2),
        "directions": (c, 3, 3),
        "turns": (3, 12),
        "motion": (6,),
        "distances": (c, 5),
        "sides": (c, 5),
        "softening": (c, nv),
        "law": (3, 2),
        "line": (nv, PANEL),
        "response": (1, nv),
        "gradient": (1, nv),
        "pair": (2,),
        "pair_rates": (12, nv),
        "own_change": (nv,),
        "momentum": (2, 2, 3, nv),
        "kept": (3, 2 * nv + p),
        "products": (2, 6),
    }
    shapes |= dict.fromkeys(("Z", "rates", "start_rates", "turned"), (m, nv))
    shapes |= dict.fromkeys(("delassus", "gram", "free", "by_change"), (m, m))
    shapes |= dict.fromkeys(("stiffness", "turning", "by_push"), (2, m, m))
    shapes |= {"pushes": (2, m, 2 * nv), "error": (2 * nv,), "order": (2, m), "twists": (3, m)}
    shapes |= dict.fromkeys(("changes", "forces"), (m, 2 * nv + p))
    whole = ("bodies", "body_at", "dof_at", "found", "order", "pair", "row_holds", "sides")
    made = {
        "space": new_workspace(system)._replace(forest=forest),
        "changed": forest._replace(bodies=forest.bodies.copy()),
        "poses": new_kinematics(n),
        "moved": new_kinematics(n),
        "parameters": PARAMETERS_OF_ROW,
        "local": np.zeros(k, dtype=HELD_ROW),
        "held": np.zeros(k, dtype=HELD_ROW),
        "findings": np.zeros(1, dtype=FOUND),
        "near": np.zeros(5 * c + 2 * k + 2 * nv, dtype=NEAR),
    }
    for name in Room._fields:
        if name not in made:
            kind = np.int64 if name in whole else np.float64
            made[name] = np.zeros(shapes.get(name, (nv,)), dtype=kind)
    return Room(**made)


class TakenStep(NamedTuple):
    """The step, its rows and contacts, and the room in which it is differentiated."""

    scene: Scene
    reference: Reference[Scene]
    room: Reference[Room]
    coordinates: int
    connection_rows: int
    turns: bool  # whether any body turns by the midpoint rule
    time_step: float
    rows: np.ndarray  # (k,) ROW
    contacts: np.ndarray  # (c,) CONTACT; their rows come first
    margin: float  # [m/s or rad/s]

    def jacobians(self, rows: np.ndarray, kind: str = "J") -> np.ndarray:
        """Return J or F (k, nv) of rows (k,) HELD_ROW."""
        return self.coefficients(rows, kind) @ self.room.whole.Z[: self.coordinates]

    def coefficients(self, rows: np.ndarray, kind: str = "J") -> np.ndarray:
        """Return J or F by coordinates (k, m) of rows (k,) HELD_ROW."""
        k, m, entries = len(rows), self.coordinates, np.arange(12)
        where = rows["at"][:, entries // 6] + entries % 6
        where[rows[kind] == 0.0] = 0  # no coordinate need be there
        where += m * np.arange(k)[:, None]
        return np.bincount(where.ravel(), rows[kind].ravel(), k * m).reshape(k, m)

    def constraint_of(self, number: int) -> tuple[int, int, int]:
        """Return the kind of a row, and its source, or both shapes of a contact."""
        row = self.rows[number]
        if row["kind"] != CONTACT_ROW:
            return int(row["kind"]), int(row["source"]), -1
        contact = self.contacts[row["source"]]
        return CONTACT_ROW, int(contact["shape_a"]), int(contact["shape_b"])
