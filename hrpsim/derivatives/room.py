# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step, and the work arrays for its differentiation.

The rate of a constraint row depends on few coordinates z = Z v of the velocity v. The coordinates
are the twists (6,) of all bodies with contacts or connections, and the rates of joints with a
constraint row. A row has at most 12 nonzero entries in the coordinates, six for each of two bodies.

Symbols: M mass matrix, v' velocity after the step, l impulses of the rows. J is the Jacobian of the
rows' rates. F has the directions in which the rows' impulses push, and equals J except for sliding
contacts.
"""

from __future__ import annotations

from typing import NamedTuple, NewType

import numpy as np

from hrpsim.derivatives.motion_derivatives import PANEL
from hrpsim.derivatives.sides import NEAR
from hrpsim.engine.compile.fields import allocate, work
from hrpsim.engine.compile.kernel_types import Record
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.constraints.joint_rows import PARAMETERS_OF_ROW
from hrpsim.engine.constraints.rows import CONTACT_ROW
from hrpsim.engine.dynamics.articulated import Workspace, new_workspace
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import KINEMATICS
from hrpsim.engine.kinematics.own_inertia import OwnInertia
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.system import System

BY_Q, BY_VELOCITY, MASS = range(3)  # of `balance`
AT_START, AT_END, OTHER = range(3)  # of `twists`
FORCE, SLIP, GAP, SWITCH, LOSS, DEPTH = range(6)  # columns of `distances` and `sides`

HELD_ROW = np.dtype(
    [
        ("number", "i8"),  # index in the rows of the step
        ("at", "i8", (2,)),  # first coordinate of each body; -1: none
        ("J", "f8", (12,)),  # Jacobian of the row for both bodies
        ("F", "f8", (12,)),  # direction of the impulse: J, except for sliding contacts
        ("compliance", "f8"),
        ("inverse_mass", "f8"),
        ("slope", "f8"),  # derivative of target - compliance * impulse by the inverse mass
        ("softening", "f8"),  # derivative of the compliance by the inverse mass
    ]
)
HeldRow = NewType("HeldRow", Record)
FOUND = np.dtype(
    [
        ("met_within", "i8"),  # row of a joint stop that is reached within the step; -1: none
        ("slides", "i8"),  # whether any contact slides
        ("contact_rows", "i8"),  # number of rows of contacts, which come first
        ("open", "i8"),  # 1: released rows of open loops disagree
    ]
)


class DerivativeArrays(NamedTuple):
    """Work arrays for n bodies, nv velocities, m coordinates, k rows, c contacts, p inputs."""

    space: Workspace
    changed: Forest  # `space.forest` with changed inertias
    parameters: np.ndarray  # column of the parameters of each kind of joint row
    poses: np.ndarray = work("n", "bodies in mid-step, where the forces act", KINEMATICS)
    moved: np.ndarray = work("n", "the same, with one displaced body", KINEMATICS)
    q: np.ndarray = work("nq", "configuration in mid-step")
    start_velocity: np.ndarray = work("nv", "velocity of the motion to mid-step")
    velocity: np.ndarray = work("nv", "start_velocity, 0 for locked joints")
    end_velocity: np.ndarray = work("nv", "velocity v' after the step")
    middle_velocity: np.ndarray = work("nv", "velocity in the velocity products")
    smooth_velocity: np.ndarray = work("nv", "middle_velocity, 0 for bodies that turn freely")
    free_turns: np.ndarray = work("2, nv, 6, 6", "P of each half step, at the first dof of a body")
    turned_q: np.ndarray = work("3, nq", "work of free_turns")
    turned_velocity: np.ndarray = work("2, nv", "work of free_turns")
    half_state: np.ndarray = work("6", "turn and rate of one body")
    impulses: np.ndarray = work("k", "impulses of all rows")
    acceleration: np.ndarray = work("nv")
    correction: np.ndarray = work("nv", "displacement rate of the position correction")
    bodies: np.ndarray = work("n", "bodies with coordinates", "i8")
    body_at: np.ndarray = work(
        "n + 1", "first coordinate of each body, the world last; -1: none", "i8"
    )
    dof_at: np.ndarray = work("nv", "coordinate of each degree of freedom, -1 for none", "i8")
    Z: np.ndarray = work("m, nv")
    rates: np.ndarray = work("m, nv", "derivative of Z v' with respect to q")
    start_rates: np.ndarray = work("m, nv", "the same for `velocity`")
    twists: np.ndarray = work("3, m", "Z v for three velocities: AT_START, AT_END, OTHER")
    balance: np.ndarray = work("3, nv, nv", "M, and derivatives of M v' - F' l, as BY_Q and so on")
    limits: np.ndarray = work("2, nv", "distances of actuators to limits of effort and velocity")
    linear: np.ndarray = work(
        "nv, nv", "derivative of contact forces on trees, at rows of free bases"
    )
    local: np.ndarray = work("k", "coefficients of all rows", HELD_ROW)
    held: np.ndarray = work("k", "active rows", HELD_ROW)
    target: np.ndarray = work("k, 2 nv", "derivatives of the rates of active rows")
    responses: np.ndarray = work("k, nv", "M^-1 J' of rows that depend on their inverse mass")
    left: np.ndarray = work("k", "largest residual of each active row")
    row_distance: np.ndarray = work("k", "distance of joint rows to the other side")
    row_holds: np.ndarray = work("k", "whether joint rows are active", "i8")
    near: np.ndarray = work("5 c + 2 k + 2 nv", "constraints about to switch", NEAR)
    geometry: np.ndarray = work("c, 2, 7, 6", "point, normal and gap by body and displacement")
    found: np.ndarray = work("c, 2", "how often the search found the contact again", "i8")
    bends: np.ndarray = work("c, 6", "second differences of point and normal")
    directions: np.ndarray = work("c, 3, 3")
    turns: np.ndarray = work("3, 12", "derivatives of a contact's rates, work of finish")
    motion: np.ndarray = work("6", "motion or force of a contact, work")
    distances: np.ndarray = work("c, 6", "distances to the other sides, inf for none")
    sides: np.ndarray = work("c, 6", "present sides", "i8")
    softening: np.ndarray = work("c, nv", "derivative of the compliance of contacts by q")
    findings: np.ndarray = work("1", dtype=FOUND)
    law: np.ndarray = work("3, 2", "slopes of a stop by gap, rate and inverse mass")
    line: np.ndarray = work("nv, panel")
    response: np.ndarray = work("1, nv")
    gradient: np.ndarray = work("1, nv")
    pair: np.ndarray = work("2", "bodies of a contact", "i8")
    pair_rates: np.ndarray = work("12, nv")
    own_change: np.ndarray = work("nv")
    turning: np.ndarray = work("2, m, m", "contact forces by displacements, sums on trees")
    turned: np.ndarray = work("m, nv")
    sizes: np.ndarray = work("m", "largest responses of the coordinates")
    whitened: np.ndarray = work("m, nv", "Z L^-1 D^-1/2, see `_find_axes` of solve.py")
    axes: np.ndarray = work("m, nv", "orthonormal axes A of the coordinates")
    shares: np.ndarray = work("m, m", "coordinates by axes")
    moving: np.ndarray = work("m, nv", "velocities by axes")
    dofs_moving: np.ndarray = work("nv, m", "`moving`, transposed")
    along: np.ndarray = work("k, m", "J of rigid rows by axes")
    pushing: np.ndarray = work("k, m", "F of rigid rows by axes")
    released: np.ndarray = work("k", "whether the step's solver released the row", "i8")
    row_sizes: np.ndarray = work("k", "responses of rigid rows in which nothing cancels")
    remains: np.ndarray = work("k + m", "squared remainders in orthonormalise")
    basis: np.ndarray = work("m, m", "orthonormal basis of the rigid rows")
    chosen: np.ndarray = work("m", "active rows that span `basis`", "i8")
    required: np.ndarray = work("m, 2 nv + p", "motion along `basis` that the rows require")
    free: np.ndarray = work("m, 2 nv + p", "motion along the axes without rows")
    bound: np.ndarray = work("m, 2 nv + p", "motion along the axes with rows")
    change: np.ndarray = work("2 nv + p")
    gram: np.ndarray = work("m, m", "stiffness of soft rows by coordinates")
    half: np.ndarray = work("m, m", "`gram` by axes and coordinates")
    stiffness: np.ndarray = work("m, m", "`gram` by axes")
    coordinate_pushes: np.ndarray = work("m, 2 nv", "pushes of soft rows by coordinates")
    pushes: np.ndarray = work("m, 2 nv", "pushes of soft rows by axes")
    pushed: np.ndarray = work("m, m", "F of chosen rows")
    push_sizes: np.ndarray = work("m")
    unit: np.ndarray = work("m, m")
    unit_sizes: np.ndarray = work("m")
    across: np.ndarray = work("m, m", "orthonormal: first along the forces of chosen rows")
    system: np.ndarray = work("m, m", "equations of motion and rows by axes")
    inverse: np.ndarray = work("m, m")
    order: np.ndarray = work("2, m", "pivots", "i8")
    changes: np.ndarray = work("m, 2 nv", "derivatives of the coordinates")
    error: np.ndarray = work("2 nv", "residual of a row")
    momentum: np.ndarray = work("2, 2, 3, nv", "derivatives of trees' momenta at start and end")
    kept: np.ndarray = work("3, 2 nv + p", "changes of the momentum of a tree")
    products: np.ndarray = work("2, 6", "work of the momentum of one degree of freedom")


def new_room(
    system: System, forest: Forest, nq: int, m: int, k: int, c: int, p: int
) -> DerivativeArrays:
    """Allocate the work arrays of a world.

    Args:
        system: system of the world.
        forest: present constants of its bodies and joints.
        nq: length of the configuration.
        m: number of coordinates.
        k: number of constraint rows.
        c: number of contacts.
        p: number of inputs and parameters.
    """
    sizes = {"n": len(system.parent), "nv": len(system.dof_body), "nq": nq, "panel": PANEL}
    return allocate(
        DerivativeArrays,
        {**sizes, "m": m, "k": k, "c": c, "p": p},
        space=new_workspace(system)._replace(forest=forest),
        changed=forest._replace(bodies=forest.bodies.copy()),
        parameters=PARAMETERS_OF_ROW,
    )


class TakenStep(NamedTuple):
    """A completed step, its rows and contacts, and the work arrays for its differentiation."""

    scene: Scene
    reference: TupleReference[Scene]
    room: TupleReference[DerivativeArrays]
    coordinates: int
    connection_rows: int
    time_step: float
    rows: np.ndarray  # (k,) ROW
    contacts: np.ndarray  # (c,) CONTACT. Rows of contacts come first
    own: OwnInertia  # smallest inertia that each joint moves
    margin: float  # [m/s or rad/s]

    def jacobians(self, rows: np.ndarray, kind: str = "J") -> np.ndarray:
        """Return the matrix J or F (k, nv) of k HELD_ROW records with respect to the velocity.

        kind: "J" or "F".
        """
        return self.coefficients(rows, kind) @ self.room.whole.Z[: self.coordinates]

    def coefficients(self, rows: np.ndarray, kind: str = "J") -> np.ndarray:
        """Return the matrix J or F (k, m) of k HELD_ROW records with respect to the m coordinates.

        kind: "J" or "F".
        """
        k, m, entries = len(rows), self.coordinates, np.arange(12)
        where = rows["at"][:, entries // 6] + entries % 6
        where[rows[kind] == 0.0] = 0  # no coordinate need be there
        where += m * np.arange(k)[:, None]
        return np.bincount(where.ravel(), rows[kind].ravel(), k * m).reshape(k, m)

    def constraint_of(self, number: int) -> tuple[int, int, int]:
        """Return the constraint of a row.

        Returns:
            (kind, joint or connection, -1), or (CONTACT_ROW, shape a, shape b) for a contact.
        """
        row = self.rows[number]
        if row["kind"] != CONTACT_ROW:
            return int(row["kind"]), int(row["source"]), -1
        contact = self.contacts[row["source"]]
        return CONTACT_ROW, int(contact["shape_a"]), int(contact["shape_b"])
