# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Results of a step: contact points with their forces, and convergence of the solver."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hrpsim.constraints.joint_rows import ROW_NAMES
from hrpsim.constraints.rows import CONNECTION, CONTACT_ROW, DRIVE, TENDON
from hrpsim.step.arrays import Scene
from hrpsim.world.parts.energy import EnergyBalance

_AS_RECORDED = (
    *("residual", "direct_rows", "split_rows", "factorisations", "newton_islands"),
    *("newton_factorisations", "handed_over", "asleep", "impact_rounds", "impacts_lowered"),
    *("impacts_left", "ccd_queries", "impacts_cut"),
)


@dataclass(frozen=True)
class Contact:
    """One contact point; the force [N] acts on `a`, its reaction on `b`, along the world's axes.

    `a` and `b` are (entity name, link name). `gap` [m] is negative inside; the normal points to a.
    `point` (3,) [m] is where the step found its forces. `World.contact_arrays` has the same
    as arrays.
    """

    a: tuple[str, str]
    b: tuple[str, str]
    point: np.ndarray
    normal: np.ndarray
    gap: float
    force: np.ndarray


@dataclass(frozen=True)
class Convergence:
    """Convergence of the solver over some steps.

    `unconverged` of the `steps` did not meet the stopping rule in every island. `worst_residual`
    [m/s] is the largest residual of those, `worst` the constraint that was then furthest from what
    its law, named as in `StepStats`; 0 and "" where every step converged. In `newton_steps` of
    them Newton's method solved an island, because sweeps did not soon, or because it was chosen.
    """

    steps: int
    unconverged: int
    worst_residual: float
    worst: str
    newton_steps: int = 0

    @property
    def converged_share(self) -> float:
        """Share of the steps that converged, 1 where there were none."""
        return 1.0 - self.unconverged / self.steps if self.steps else 1.0


@dataclass(frozen=True)
class StepStats:
    """Results of the last step, and convergence of the solver over the steps before.

    Islands, whose moving bodies share no contact or connection, are solved by themselves:
    `iterations` are the most sweeps that any took, `residual` is the largest of all and `converged`
    says whether the stopping rule was met by each. The residual is the largest change of a
    constraint's velocity in the last sweep [m/s], and where solvers are mixed the largest that
    solving any constraint again by itself would make; `max_penetration` [m]. `direct_rows` and
    `split_rows` of the `row_count` rows were for these solvers; `factorisations` is how often the
    direct system was factorised, `direct_finished` whether it came to an end: if not, its rows
    were solved iteratively. Newton's method solved `newton_islands` in `newton_factorisations`:
    those whose solver it is, and those on which sweeps did not suffice. `handed_over` islands were
    solved by another solver than the chosen one, which did not solve them: those of `direct` and
    `split` by Newton's method, those of `auto` and `newton` by the direct solver, and by sweeps
    those of `newton` that have rows for sweeps alone. Where the step did not converge, `worst`
    names the constraint that is furthest from its law, as
    "connection 'hinge'", "lock of robot/knee" or "contact of box/box and world/ground"; otherwise
    it is empty. Of the `asleep` bodies that sleep, contacts
    count but have no rows. Impacts with restitution were solved in `impact_rounds`, with less of it
    in `impacts_lowered` of them, where with friction Newton's law would have given energy;
    `impacts_left` gaps still closed when there were too many, and met no restitution. Pairs of fast
    shapes were queried `ccd_queries` times for their time of impact, and the step was begun again
    `impact_passes` times for contacts with what they would pass through; `impacts_cut` searches
    since the world was made or last reset were cut off for their number: these shapes stopped
    against each other where they were last seen apart.

    `last_call` is about all steps of the last call of `World.step`, `since_reset` about all since
    the world was made or last reset; `settle` does not count.

    `energy` is the balance of energy in a world with `World(audit=True)`, otherwise None.
    """

    iterations: int
    residual: float
    converged: bool
    contact_count: int
    row_count: int
    max_penetration: float
    direct_rows: int
    split_rows: int
    factorisations: int
    direct_finished: bool
    newton_islands: int
    newton_factorisations: int
    handed_over: int
    worst: str
    asleep: int
    impact_rounds: int
    impacts_lowered: int
    impacts_left: int
    ccd_queries: int
    impact_passes: int
    impacts_cut: int
    last_call: Convergence
    since_reset: Convergence
    energy: EnergyBalance | None = None

    @property
    def impact_looks(self) -> int:
        """The old name of `ccd_queries`, which goes with hrpsim 2.0."""
        warnings.warn(
            "StepStats.impact_looks is ccd_queries now; the old name goes with hrpsim 2.0",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.ccd_queries


class Naming:
    """Names of the constraints of a scene."""

    def __init__(self, owners: list[tuple[str, str]], connections, robots):
        self._owners, self._connections, self._robots = owners, connections, robots

    def name(self, kind: int, source: int, other: int) -> str:
        """Return the name of the constraint of a kind of row.

        `source` is the row's; for a contact, `source` and `other` are its shapes.
        """
        if kind == CONTACT_ROW:
            a, b = ("/".join(self._owners[shape]) for shape in (source, other))
            return f"contact of {a} and {b}"
        if kind in (CONNECTION, DRIVE):
            name = next(c.name for c in self._connections if c.index == source)
            return f"{'drive of ' if kind == DRIVE else ''}connection {name!r}"
        if kind == TENDON:
            names = [(r.name, tendon) for r in self._robots for tendon in r.model.tendons]
            return "tendon {}/{}".format(*names[source])
        robot = next(r for r in self._robots if r.first_v <= source < r.first_v + r.nv)
        joint = next(j.name for j in robot.model.joints if j.v_index == source - robot.first_v)
        return f"{ROW_NAMES[kind]} of {robot.name}/{joint}"

    def worst_of_step(self, scene: Scene) -> str:
        """Return the constraint furthest from its law in the last step, "" if it is not known."""
        number = int(scene.step_stats["worst_row"][0])
        if not 0 <= number < int(scene.counts["row_count"][0]):
            return ""
        return self.name_of(scene.worst[0])

    def name_of(self, record) -> str:
        """Return the constraint that a FAILURE or WORST_ROW names, "" if it is not known."""
        kind, source, other = (int(record[what]) for what in ("kind", "source", "other"))
        return self.name(kind, source, other) if kind >= 0 else ""


def stats_of(
    scene: Scene,
    sleeping: np.ndarray,
    worst: str,
    last_call: Convergence,
    since_reset: Convergence,
    energy: EnergyBalance | None,
) -> StepStats:
    """Return the results of the last step; `sleeping` are the contacts of bodies asleep."""
    record = scene.step_stats[0]
    contact_count = int(scene.counts["contact_count"][0])
    gaps = [scene.collision.contacts["gap"][:contact_count], sleeping["gap"]]
    return StepStats(
        iterations=record["sweeps"].item(),
        converged=bool(record["converged"]),
        contact_count=contact_count + len(sleeping),
        row_count=int(scene.counts["row_count"][0]),
        max_penetration=max(0.0, -float(min(gap.min(initial=0.0) for gap in gaps))),
        direct_finished=not record["fell_back"],
        worst=worst,
        impact_passes=int(scene.continuous.state["passes"][0]),
        last_call=last_call,
        since_reset=since_reset,
        energy=energy,
        **{name: record[name].item() for name in _AS_RECORDED},
    )


@dataclass
class Unmet:
    """Steps that did not converge: how many, their largest residual [m/s], the worst constraint.

    Also in how many steps Newton's method solved an island.
    """

    count: int = 0
    residual: float = 0.0
    worst: str = ""
    newton_steps: int = 0

    def add(self, count: int, residual: float, worst: Callable[[], str]) -> None:
        """Add steps with their largest residual; `worst` finds the constraint when it is needed."""
        if not self.count or residual > self.residual:
            self.residual, self.worst = residual, worst()
        self.count += count

    def among(self, steps: int) -> Convergence:
        """Return the statistics over so many steps."""
        return Convergence(steps, self.count, self.residual, self.worst, self.newton_steps)


class ConvergenceRecord:
    """The steps that did not converge: of the last call of `step`, and since the last reset."""

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        """Clear the record."""
        self._steps_before = 0  # the last call
        self._in_call, self._since_reset = Unmet(), Unmet()

    def begin_call(self, steps_done: int) -> tuple[int, Unmet]:
        """Begin a call of `step`; return what `give_up_call` takes, should no step be done."""
        before = self._steps_before, self._in_call
        self._steps_before = steps_done
        if self._in_call.count or self._in_call.newton_steps:
            self._in_call = Unmet()
        return before

    def give_up_call(self, steps_done: int, before: tuple[int, Unmet]) -> None:
        """Restore the record of the previous call if this one did no step."""
        if steps_done == self._steps_before:
            self._steps_before, self._in_call = before

    def add(self, count: int, residual: float, worst: Callable[[], str]) -> None:
        """Record steps that did not converge, and the worst constraint while its name is valid."""
        for unmet in (self._in_call, self._since_reset):
            unmet.add(count, residual, worst)

    def add_newton(self, count: int) -> None:
        """Record that Newton's method took part in steps."""
        for unmet in (self._in_call, self._since_reset):
            unmet.newton_steps += count

    def of_last_call(self, steps_done: int) -> Convergence:
        """Return the convergence of the last call, at so many steps since the reset."""
        return self._in_call.among(steps_done - self._steps_before)

    def since_reset(self, steps_done: int) -> Convergence:
        """Return the convergence of all these steps."""
        return self._since_reset.among(steps_done)

    def copy(self) -> tuple[int, Unmet, Unmet]:
        """Return what `restore` takes."""
        return self._steps_before, replace(self._in_call), replace(self._since_reset)

    def restore(self, saved: tuple[int, Unmet, Unmet]) -> None:
        """Set the counts to those of a copy."""
        self._steps_before, in_call, since_reset = saved
        self._in_call, self._since_reset = replace(in_call), replace(since_reset)
