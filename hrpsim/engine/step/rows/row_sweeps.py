# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sweeps over the rows of an island of the scene, and the attempts that use sweeps."""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Counts,
    Index,
    Island,
    Records,
    Scene,
    Settings,
)
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.solvers.newton.multipliers import CAUTION
from hrpsim.engine.solvers.newton.solve import STILL
from hrpsim.engine.solvers.projected_gauss_seidel import FEW_SWEEPS, solve, solve_bounded
from hrpsim.engine.step.rows.attempts import SolverTask
from hrpsim.engine.step.rows.saved_impulses import restore_impulses
from hrpsim.engine.step.rows.solver_memory import BY_SWEEPS, forget_newton, remember
from hrpsim.engine.step.scene.islands import sweeps_in_time
from hrpsim.engine.step.scene.status import DONE, TOO_LARGE

# Fraction of a millisecond (sweeps_in_time) for sweeps over a lone robot before Newton's method.
# This is about the time of Newton's method: 20 sweeps over 8 contacts, 11 over 16.
_SHARE = 0.01

# Largest ratio of the changes of two successive sweeps that approach a solution.
_NEARER = 0.7


@inlined_kernel
def sweep(
    settings: Settings,
    counts: Counts,
    constrained: ConstraintBodies,
    rows: Rows,
    island: Island,
    limit: int,
) -> None:
    """Sweep over an island until convergence, up to `limit` sweeps including earlier ones.

    The kernel writes `sweeps`, `residual` [m/s] and `converged` of the island. A separate function
    avoids a second compilation of `solve`, because Numba treats literal arguments as different
    types.
    """
    island.sweeps, island.residual, island.converged = solve(
        rows.rows,
        counts.row_count,
        rows.island_rows,
        island,
        rows.response,
        settings.tolerance,
        settings.relative_tolerance,
        island.sweeps,
        limit,
        constrained.velocity,
        rows.descent,
    )


@inlined_kernel
def sweep_few_times(s: Scene, k: Index, task: SolverTask) -> int:
    """Sweep until the number of sweeps at which Nesterov's momentum would begin."""
    island, most = s.islands.ranges[k], min(task.sweep_limit, FEW_SWEEPS)
    return _sweep_up_to(s.settings[0], s.counts[0], s.constrained, s.rows, island, most)


@inlined_kernel
def sweep_to_limit(s: Scene, k: Index, task: SolverTask) -> int:
    """Sweep up to the limit of sweeps."""
    island, most = s.islands.ranges[k], task.sweep_limit
    return _sweep_up_to(s.settings[0], s.counts[0], s.constrained, s.rows, island, most)


@inner_kernel
def _sweep_up_to(
    settings: Settings,
    counts: Counts,
    constrained: ConstraintBodies,
    rows: Rows,
    island: Island,
    most: int,
) -> int:
    if island.sweeps < most:
        sweep(settings, counts, constrained, rows, island, most)
    return DONE


@inlined_kernel
def sweep_as_long_as_newton(s: Scene, k: Index, task: SolverTask) -> int:
    """Sweep for about as long as Newton's method would take.

    The result is TOO_LARGE if the same number of further sweeps would suffice. The estimate is the
    ratio of the errors after the second and the first half of the sweeps. This ratio is assumed for
    later sweeps too.
    """
    island, settings = s.islands.ranges[k], s.settings[0]
    most = min(task.sweep_limit, FEW_SWEEPS)
    most = min(most, int(_SHARE * sweeps_in_time(island)) + 1)
    sweep(settings, s.counts[0], s.constrained, s.rows, island, most // 2)
    before = island.residual
    if not island.converged:
        sweep(settings, s.counts[0], s.constrained, s.rows, island, most)
    if island.converged:
        forget_newton(s.collision.contacts, s.rows, island)
    elif island.residual**3 <= task.tolerance * before**2:
        return TOO_LARGE
    return DONE


@inlined_kernel
def sweep_at_rest(s: Scene, k: Index, task: SolverTask) -> int:
    """Sweep over a single robot at rest once or twice. Undo the sweeps if they do not converge."""
    island = s.islands.ranges[k]
    island.converged = _rests_after_sweeps(
        s.settings[0], s.counts[0], s.collision.contacts, s.constrained, s.rows, island
    )
    return DONE


@inner_kernel
def _rests_after_sweeps(
    settings: Settings,
    counts: Counts,
    contacts: Records[Contact],
    constrained: ConstraintBodies,
    rows: Rows,
    island: Island,
) -> bool:
    """Sweep over an island at rest once or twice, and return whether that suffices.

    If not, the impulses are restored. Two sweeps suffice if the first change is very small, and the
    second much smaller. The remaining error is then not many times as large.
    """
    tolerance = settings.tolerance
    island.sweeps = 0
    sweep(settings, counts, constrained, rows, island, island.sweeps + 1)
    change = island.residual
    if change <= STILL * tolerance:
        remember(contacts, rows, island, BY_SWEEPS)
        return True
    if change <= CAUTION * tolerance:
        sweep(settings, counts, constrained, rows, island, island.sweeps + 1)
        if island.residual <= _NEARER * change:
            return True
    restore_impulses(constrained, rows, island)
    return False


@inlined_kernel
def sweep_positions(s: Scene, k: Index, task: SolverTask) -> int:
    """Sweep over an island for the position correction, with bounds but without friction cones."""
    solve_bounded(
        s.rows.rows,
        s.rows.island_rows,
        s.islands.ranges[k],
        s.rows.response,
        task.tolerance,
        task.sweep_limit,
        s.constrained.velocity,
    )
    return DONE
