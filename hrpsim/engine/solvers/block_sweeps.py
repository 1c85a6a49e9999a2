# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sweeps over the contacts of a problem u = W r + b whose matrix has blocks of 3 x 3.

A contact has a normal component and two tangential components. Each contact is updated in three
steps, as in engine.solvers.projected_gauss_seidel (Nakaoka eqs. 16-21). The normal impulse changes
first. Both friction impulses then change with one common step size, and are projected to the
friction cone. Nesterov's momentum is the same as in that file (O'Donoghue and Candes 2015, gradient
scheme). The residual is the natural map of the problem with the velocity u + mu |u_t| e_n (Acary
and Brogliato 2008).
"""

import math
from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Matrix, Vector

# Sweeps before momentum begins, and pairs of sweeps between two looks at the residual.
_PLAIN_SWEEPS = 20
_PAIRS_BETWEEN_LOOKS = 5


class BlockProblem(NamedTuple):
    """A contact problem of m contacts as rows of 3 x 3 blocks, with step sizes for sweeps."""

    starts: np.ndarray  # (m + 1,) first block of each row
    columns: np.ndarray  # (blocks,) contact of each block
    blocks: np.ndarray  # (blocks, 3, 3) of W [1/kg]
    b: np.ndarray  # (3 m,) velocity without impulses [m/s]
    friction: np.ndarray  # (m,)
    masses: np.ndarray  # (m, 2) step sizes: normal, tangential; 0 where W is 0 [kg]
    crosses: np.ndarray  # (m, 2) tangential velocities by a normal impulse [1/kg]


@inlined_kernel
def _velocity_of(c: int, problem: BlockProblem, r: Vector) -> tuple[float, float, float]:
    """Return the velocity of a contact (normal, x, y) with the impulses r [m/s]."""
    b = problem.b
    n, x, y = b[3 * c], b[3 * c + 1], b[3 * c + 2]
    for k in range(problem.starts[c], problem.starts[c + 1]):
        j, block = 3 * problem.columns[k], problem.blocks[k]
        n += block[0, 0] * r[j] + block[0, 1] * r[j + 1] + block[0, 2] * r[j + 2]
        x += block[1, 0] * r[j] + block[1, 1] * r[j + 1] + block[1, 2] * r[j + 2]
        y += block[2, 0] * r[j] + block[2, 1] * r[j + 1] + block[2, 2] * r[j + 2]
    return n, x, y


@kernel
def natural_residual(problem: BlockProblem, r: Vector) -> float:
    """Return the Euclidean norm of the natural map of a BlockProblem at impulses r (3 m,) [Ns]."""
    total = 0.0
    for c in range(problem.friction.shape[0]):
        n, x, y = _velocity_of(c, problem, r)
        mu = problem.friction[c]
        n += mu * math.sqrt(x * x + y * y)
        n, x, y = r[3 * c] - n, r[3 * c + 1] - x, r[3 * c + 2] - y
        across = math.sqrt(x * x + y * y)
        if across > mu * n:  # outside of the cone
            if mu * across <= -n:
                n = x = y = 0.0
            else:
                along = (n + mu * across) / (1.0 + mu * mu)
                n, x, y = along, mu * along * x / across, mu * along * y / across
        total += (r[3 * c] - n) ** 2 + (r[3 * c + 1] - x) ** 2 + (r[3 * c + 2] - y) ** 2
    return math.sqrt(total)


@inner_kernel
def _solve_contact(c: int, problem: BlockProblem, r: Vector) -> float:
    """Solve one contact for fixed impulses of all other contacts."""
    masses, crosses = problem.masses, problem.crosses
    n, x, y = _velocity_of(c, problem, r)
    normal = max(r[3 * c] - masses[c, 0] * n, 0.0)
    change = normal - r[3 * c]
    x, y = x + crosses[c, 0] * change, y + crosses[c, 1] * change
    x, y = r[3 * c + 1] - masses[c, 1] * x, r[3 * c + 2] - masses[c, 1] * y
    size, bound = math.sqrt(x * x + y * y), problem.friction[c] * normal
    if size > bound:
        x, y = bound / size * x, bound / size * y
    r[3 * c], r[3 * c + 1], r[3 * c + 2] = normal, x, y


@inlined_kernel
def _sweep_forth_and_back(problem: BlockProblem, r: Vector) -> None:
    """Solve each contact in turn, from the first to the last and back to the first."""
    contacts = problem.friction.shape[0]
    for c in range(contacts):
        _solve_contact(c, problem, r)
    for back in range(contacts):
        _solve_contact(contacts - 1 - back, problem, r)


@kernel
def sweep_blocks(
    problem: BlockProblem, accuracy: float, limit: int, momentum: int, work: Matrix, r: Vector
) -> int:
    """Sweep forward and backward until the residual is small, and return the number of sweeps.

    Args:
        problem: a BlockProblem of m contacts.
        accuracy: residual at which the sweeps end [Ns].
        limit: approximate largest number of sweeps.
        momentum: 1 for sweeps with Nesterov's momentum, 0 for sweeps without.
        work: work space (2, 3 m).
        r: impulses (3 m,), start and result [Ns].
    """
    count, size, age, pairs = 0, r.shape[0], 1.0, 0
    last, guess = work[0], work[1]
    for i in range(size):
        last[i] = guess[i] = r[i]
    while count < limit:
        _sweep_forth_and_back(problem, r)
        count, pairs = count + 2, pairs + 1
        few = count <= _PLAIN_SWEEPS
        if few or pairs % _PAIRS_BETWEEN_LOOKS == 0:
            if natural_residual(problem, r) <= accuracy:
                return count
        if few or momentum == 0:
            for i in range(size):
                last[i] = guess[i] = r[i]
            continue
        age = _add_momentum(problem.masses, age, last, guess, r)
    return count


@inner_kernel
def _add_momentum(masses: Matrix, age: float, last: Vector, guess: Vector, r: Vector) -> float:
    """Extrapolate the impulses after a pair of sweeps, and return the age of the momentum.

    last: impulses after the previous pair.
    guess: impulses at the start of this pair.
    """
    against = 0.0
    for i in range(r.shape[0]):
        mass = masses[i // 3, 0 if i % 3 == 0 else 1]
        if mass > 0.0:
            against -= (r[i] - guess[i]) * (r[i] - last[i]) / mass
    next_age, momentum = 1.0, 0.0
    if against <= 0.0:
        next_age = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * age * age))
        momentum = (age - 1.0) / next_age
    for i in range(r.shape[0]):
        by = momentum * (r[i] - last[i])
        last[i] = r[i]
        r[i] += by
        guess[i] = r[i]
    return next_age


def step_sizes(diagonal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return step sizes for the sweeps of a BlockProblem.

    diagonal: diagonal block of W for each contact (m, 3, 3) [1/kg].

    Returns:
        The fields of a BlockProblem: `masses` (m, 2), step sizes of normal and tangents [kg];
        `crosses` (m, 2), coupling of the tangents to the normal [1/kg].
    """
    tangential = diagonal[:, 1:, 1:]
    largest = np.linalg.eigvalsh(0.5 * (tangential + tangential.transpose(0, 2, 1)))[:, -1]
    inverse = np.stack([diagonal[:, 0, 0], largest], axis=1)
    masses = np.where(inverse > 0.0, 1.0 / np.where(inverse > 0.0, inverse, 1.0), 0.0)
    return masses, np.ascontiguousarray(diagonal[:, 1:, 0])
