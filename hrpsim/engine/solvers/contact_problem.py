# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contact problems as matrices: u = W r + b with Coulomb's law at every contact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.common.values import as_numbers
from hrpsim.engine.solvers.block_sweeps import (
    BlockProblem,
    natural_residual,
    step_sizes,
    sweep_blocks,
)

if TYPE_CHECKING:
    from scipy.sparse import spmatrix

# Sweeps of each attempt: with momentum, and without.
ATTEMPTS = {"momentum": 10_000, "plain": 100_000}
# Rounds of the solver "patient", and the sweeps of each.
PATIENT, _ROUNDS, _SWEEPS = "patient", 12, 250_000


class ContactProblem(NamedTuple):
    """A contact problem u = W r + b of m contacts. The fields are arguments of `solve_contacts`.

    Attributes:
        W: Delassus matrix (3 m, 3 m) [1/kg], an array or a scipy.sparse matrix.
        b: velocity without contact forces (3 m,) [m/s]: normal, first and second tangent.
        mu: friction coefficients (m,).
    """

    W: np.ndarray | spmatrix
    b: np.ndarray
    mu: np.ndarray


class ContactProblemError(HrpsimError, ValueError):
    """A contact problem is incomplete or contradictory. The message names the wrong entry."""


@dataclass(frozen=True)
class ContactSolution:
    """The solution of a contact problem of m contacts.

    Columns of forces and velocities are the normal and two tangents.

    Attributes:
        forces: r (m, 3), impulses [Ns], or forces if `b` is an acceleration.
        velocities: u = W r + b (m, 3) [m/s].
        residual: norm of the natural map, relative to the norm of `b`.
        attempt: the attempt that ended the search, a key of `sweeps`.
        sweeps: number of sweeps of each attempt, by the attempt's name.
        solved: whether the residual is at most the accuracy.
    """

    forces: np.ndarray
    velocities: np.ndarray
    residual: float
    attempt: str
    sweeps: dict[str, int]
    solved: bool


def solve_contacts(
    W: np.ndarray | spmatrix,
    b: np.ndarray,
    mu: np.ndarray | float,
    *,
    accuracy: float = 1e-8,
    solver: str = "auto",
    start: np.ndarray | None = None,
) -> ContactSolution:
    """Solve a frictional contact problem that is given by its matrix.

    The problem has m contacts with three components each: normal, first and second tangent. With u
    = W r + b, each contact either separates (r = 0, u_n >= 0), sticks (u = 0, |r_t| <= mu r_n), or
    slides (u_n = 0, r_t = -mu r_n u_t / |u_t|). Solutions need not be unique.

    The residual is the error measure of Siconos (fc3d_compute_error): the norm of r - P(r - u - mu
    |u_t| e_n), with the projection P to the friction cones, over the norm of b.

    Args:
        W: Delassus matrix J M^-1 J^T (3 m, 3 m) [1/kg], an array or a scipy.sparse matrix. The
            diagonal blocks should be positive.
        b: velocity of the contacts without forces (3 m,) [m/s].
        mu: friction coefficients (m,), or one coefficient for all contacts.
        accuracy: residual at which a solution is accepted. A smaller accuracy takes more sweeps.
        solver: "momentum" sweeps with Nesterov's momentum and needs the fewest sweeps for most
            problems. "plain" sweeps without momentum and solves some of the other problems. "auto"
            tries "momentum", then "plain", and returns the better result. "patient" makes up to 3
            million plain sweeps. A step of Newton's method follows each 250 000 sweeps, if the
            problem has at most 666 contacts that press.
        start: impulses to begin with (3 m,), for example the solution of a similar problem.
            Default: 0.

    Returns:
        The best result that was found. `solved` is False if no attempt reached the accuracy.

    Raises:
        ContactProblemError: Shapes do not fit, a value is not finite, a coefficient is negative, or
            the solver is unknown.
    """
    problem = _checked(W, b, mu)
    b = problem.b
    _check_options(accuracy, solver)
    size = float(np.linalg.norm(b)) or 1.0
    begin = np.zeros(len(b)) if start is None else _numbers("start", start, len(b))
    best, least, ended, sweeps = begin, np.inf, "", {}
    for attempt in ATTEMPTS if solver == "auto" else (solver,):
        r = begin.copy()
        if attempt == PATIENT:
            r, sweeps[attempt] = _solve_patiently(problem, W, float(accuracy) * size, r)
        else:
            limit, momentum = ATTEMPTS[attempt], int(attempt == "momentum")
            work, target = np.zeros((2, len(b))), float(accuracy) * size
            sweeps[attempt] = int(sweep_blocks(problem, target, limit, momentum, work, r))
        residual = float(natural_residual(problem, r)) / size
        if residual < least or not ended:
            best, least, ended = r, residual, attempt
        if least <= accuracy:
            break
    velocities = (W @ best + b).reshape(-1, 3)
    return ContactSolution(
        best.reshape(-1, 3), velocities, least, ended, sweeps, bool(least <= accuracy)
    )


def _check_options(accuracy: float, solver: str) -> None:
    """Raise an error for an unknown solver, or an accuracy that is not a positive number."""
    known = ("auto", *ATTEMPTS, PATIENT)
    if solver not in known:
        raise ContactProblemError(f"solver {solver!r} is unknown. Choose one of {', '.join(known)}")
    if not (np.ndim(accuracy) == 0 and 0.0 < float(accuracy) < np.inf):
        raise ContactProblemError(f"accuracy is {accuracy!r}. It should be a positive number")


def _solve_patiently(
    problem: BlockProblem, W: np.ndarray | spmatrix, target: float, r: np.ndarray
) -> tuple[np.ndarray, int]:
    """Alternate sweeps and Gauss-Newton steps (held_sets) from `r` until the residual is reached.

    Returns:
        (impulses, number of sweeps).
    """
    from scipy import sparse

    from hrpsim.engine.solvers.held_sets import held_sets_step

    matrix, count, work = sparse.csr_matrix(W), 0, np.zeros((2, len(r)))
    for _ in range(_ROUNDS):
        count += int(sweep_blocks(problem, target, _SWEEPS, 0, work, r))
        if natural_residual(problem, r) <= target:
            break
        after = held_sets_step(matrix, problem.b, problem.friction, r)
        if natural_residual(problem, after) <= target:
            return after, count
    return r, count


def _checked(W: Any, b: Any, mu: Any) -> BlockProblem:
    """Return the checked problem as rows of blocks. Raise ContactProblemError for invalid input."""
    from scipy import sparse

    length = int(np.size(b))
    if length == 0 or length % 3:
        raise ContactProblemError(
            f"b must have three entries for each contact (normal and two tangents), got {length}"
        )
    b = _numbers("b", b, length)
    if not sparse.issparse(W):
        W = as_numbers("W", W, ContactProblemError)
    if W.shape != (length, length):
        raise ContactProblemError(
            f"W must have shape ({length}, {length}), as b has {length} entries, got {W.shape}"
        )
    count = length // 3
    mu = _numbers("mu", np.full(count, mu) if np.ndim(mu) == 0 else mu, count)
    if (mu < 0.0).any():
        c = int(np.argmax(mu < 0.0))
        raise ContactProblemError(f"mu[{c}] is {mu[c]:g}. Friction coefficients are 0 or more")
    rows = sparse.csr_matrix(W, dtype=np.float64).tobsr((3, 3))
    rows.sort_indices()
    if not np.isfinite(rows.data).all():
        c = int(np.searchsorted(rows.indptr, np.argwhere(~np.isfinite(rows.data))[0, 0], "right"))
        raise ContactProblemError(
            f"W must be finite. A number in the rows of contact {c - 1} is not"
        )
    starts, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    blocks = np.ascontiguousarray(rows.data)
    masses, crosses = step_sizes(_diagonal(starts, columns, blocks))
    return BlockProblem(starts, columns, blocks, b, mu, masses, crosses)


def _numbers(name: str, values: Any, count: int) -> np.ndarray:
    """Return finite numbers (count,). Raise ContactProblemError for other input."""
    try:
        numbers = np.array(values, dtype=np.float64).ravel()
    except (TypeError, ValueError) as cause:
        raise ContactProblemError(f"{name} should be {count} numbers: {cause}") from cause
    if len(numbers) != count:
        raise ContactProblemError(f"{name} has {len(numbers)} entries. It should have {count}")
    if not np.isfinite(numbers).all():
        k = int(np.argmin(np.isfinite(numbers)))
        raise ContactProblemError(f"{name}[{k}] is {numbers[k]}. It should be finite")
    return numbers


def _diagonal(starts: np.ndarray, columns: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Return the diagonal blocks (m, 3, 3) of W. A block that W does not contain is 0."""
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    diagonal = np.zeros((len(starts) - 1, 3, 3))
    on_diagonal = row == columns
    diagonal[row[on_diagonal]] = blocks[on_diagonal]
    return diagonal
