# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The table of solvers: the kinds of constraint rows that each solver accepts, and their treatment.

Error messages, world files, kernels and documentation read this table. `engine.step.rows.hand_over`
calls the first solver of an island, and further solvers if it fails.
"""

from typing import NamedTuple

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Row
from hrpsim.engine.constraints.friction_laws import CONE, DIFFERENTIABLE, LAWS

# Codes of solvers, as choices. Rows are ITERATIVE, DIRECT or SPLIT; those of a contact may be
# PENALTY until they have their impulses.
ITERATIVE, DIRECT, SPLIT, PENALTY, AUTO, NEWTON = range(6)

# Rows that a solver accepts: of contacts, of connections and joints' constraints.
CONTACTS, JOINTS = "contact", "joint"
# Kinds that hold two frames or a joint rigidly.
RIGID = ("connection", "lock", "motor")

_ALL_LAWS = tuple(LAWS.values())


class Solver(NamedTuple):
    """A solver: its code, and the kinds of constraint rows that it accepts."""

    code: int
    accepts: tuple[str, ...]  # of CONTACTS, JOINTS
    laws: tuple[int, ...] = _ALL_LAWS  # of friction
    rows: int = ITERATIVE  # what its rows are
    rigid_rows: int = ITERATIVE  # what rows of the kinds RIGID are
    takes_help: bool = True  # whether another solver may take over an island with a row of it
    explicit: bool = False  # whether it needs the integrator "semi_implicit"


SOLVERS = {
    # Sweeps; Newton's method where they stall. Rigid rows are direct at once: chains of
    # connections take sweeps thousands of rounds.
    "auto": Solver(AUTO, (CONTACTS, JOINTS), rigid_rows=DIRECT),
    # Sweeps alone: chosen to bound the cost of a step.
    "iterative": Solver(ITERATIVE, (CONTACTS, JOINTS), takes_help=False),
    # Its steps follow the derivative of the projection onto the friction law. Rigid rows are
    # direct first: without friction one factorisation solves it.
    "newton": Solver(NEWTON, (CONTACTS, JOINTS), DIFFERENTIABLE, rigid_rows=DIRECT),
    "direct": Solver(DIRECT, (CONTACTS, JOINTS), rows=DIRECT, rigid_rows=DIRECT),
    # Normals direct, friction iterative.
    "split": Solver(SPLIT, (CONTACTS,), rows=SPLIT),
    # Springs known at the start of the step, which gain energy with other integrators; little
    # is left to solve. They bound friction alike in all directions.
    "penalty": Solver(PENALTY, (CONTACTS,), (CONE,), rows=PENALTY, takes_help=False, explicit=True),
}
"""The solvers by the names that users choose them with."""

_BY_CODE = sorted(SOLVERS.values())
_ROWS = tuple(solver.rows for solver in _BY_CODE)
_TAKES_HELP = tuple(int(solver.takes_help) for solver in _BY_CODE)


def solvers_of(kind: str) -> tuple[str, ...]:
    """Return the names of the solvers that accept a kind of constraint."""
    group = CONTACTS if kind == CONTACTS else JOINTS
    return tuple(name for name, solver in SOLVERS.items() if group in solver.accepts)


@inlined_kernel
def choose_solver(row: Row, choice: int) -> None:
    """Write the chosen solver to a row.

    choice: code of the solver.
    """
    row.solver, row.choice = _ROWS[choice], choice


@inlined_kernel
def takes_help(row: Row) -> int:
    """Return whether another solver may take over the island if the row's chosen solver fails."""
    return _TAKES_HELP[row.choice]
