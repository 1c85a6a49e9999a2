# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Results of a step: contact points with forces, and convergence of the solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hrpsim.engine.constraints.joint_rows import ROW_NAMES
from hrpsim.engine.constraints.rows import (
    AT_REST,
    CONNECTION,
    CONTACT_ROW,
    DRIVE,
    ROLLING,
    SPIN,
    TENDON,
)
from hrpsim.engine.step.arrays import Scene
from hrpsim.world.parts.energy import EnergyBalance

_AS_RECORDED = (
    *("residual", "direct_rows", "split_rows", "factorisations", "newton_islands"),
    *("newton_factorisations", "handed_over", "asleep", "impact_rounds", "impacts_lowered"),
    *("impacts_left", "ccd_queries", "impacts_cut"),
)


@dataclass(frozen=True)
class Contact:
    """One contact point. The force [N] acts on `a`, along the world's axes. `b` gets the reaction.

    `a` and `b` are (entity name, link name). `gap` [m] is negative in penetration. The normal
    points to a. `point` (3,) [m] is the position at the time at which the step evaluates forces.
    `World.contact_arrays` has the same data as arrays.
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

    `unconverged` counts the `steps` that did not meet the stopping rule in every island.
    `worst_residual` [m/s] is the largest residual of the unconverged steps, or 0. `worst` names the
    constraint with the largest error in that step, as in `StepStats`, or is "". `newton_steps`
    counts the steps in which Newton's method solved an island. Newton's method is used if sweeps do
    not converge soon, or if it was chosen.
    """

    steps: int
    unconverged: int
    worst_residual: float
    worst: str
    newton_steps: int = 0

    @property
    def converged_share(self) -> float:
        """Fraction of the steps that converged, or 1 without any step."""
        return 1.0 - self.unconverged / self.steps if self.steps else 1.0


@dataclass(frozen=True)
class StepStats:
    """Results of the last step, and convergence of the solver over earlier steps.

    Islands are groups of moving bodies that share contacts or connections. Islands are solved
    independently. Newton's method solves the islands for which it is chosen, and the islands on
    which sweeps did not suffice.

    Attributes:
        iterations: largest number of sweeps of any island.
        residual: largest residual of any island. The residual is the largest change of a
            constraint's velocity in the last sweep [m/s]. With mixed solvers, the residual is the
            largest change that solving a single constraint again would cause.
        converged: whether every island met the stopping rule.
        contact_count: number of contacts. Contacts of sleeping bodies count but have no rows.
        row_count: number of constraint rows.
        max_penetration: largest penetration [m].
        direct_rows: number of rows assigned to the direct solver.
        split_rows: number of rows assigned to the split solver.
        factorisations: number of factorisations of the direct system.
        direct_finished: whether the direct solver finished. Otherwise its rows were solved
            iteratively.
        newton_islands: number of islands solved by Newton's method.
        newton_factorisations: number of factorisations by Newton's method.
        handed_over: number of islands for which the chosen solver failed and another solver
            succeeded. Newton's method takes over from `direct` and `split`, the direct solver from
            `auto` and `newton`. Sweeps take over from `newton` if the island has rows that only
            sweeps can solve.
        worst: name of the constraint with the largest error in a step that did not converge, such
            as "connection 'hinge'", "lock of robot/knee" or "contact of box/box and world/ground".
            "" in a converged step.
        asleep: number of sleeping bodies.
        impact_rounds: number of rounds in which impacts with restitution were solved.
        impacts_lowered: number of these rounds in which the restitution was lowered, because with
            friction Newton's law would have added energy.
        impacts_left: number of gaps that closed without restitution, because there were too many
            impacts.
        ccd_queries: number of queries for the time of impact of fast shapes.
        impact_passes: number of repetitions of the step with contacts in the path of fast shapes.
        impacts_cut: number of searches for a time of impact that reached their limit of queries,
            since the world was made or last reset. In such a search, the two shapes stopped at the
            last pose without contact.
        last_call: convergence over all steps of the last call of `World.step`.
        since_reset: convergence over all steps since the world was made or last reset. Steps of
            `settle` do not count.
        energy: balance of energy in a world with `World(audit=True)`, otherwise None.
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


_OF_CONTACTS = {CONTACT_ROW: "contact", SPIN: "spin", ROLLING: "rolling", AT_REST: "rolling"}


class Naming:
    """Names of the constraints of a scene."""

    def __init__(self, owners: list[tuple[str, str]], connections, robots) -> None:
        self._owners, self._connections, self._robots = owners, connections, robots

    def name(self, kind: int, source: int, other: int) -> str:
        """Return the name of a constraint, given the kind of its row.

        `source` is the source of the row. For a contact, `source` and `other` are the two shapes.
        """
        if kind in _OF_CONTACTS:
            a, b = ("/".join(self._owners[shape]) for shape in (source, other))
            return f"{_OF_CONTACTS[kind]} of {a} and {b}"
        if kind in (CONNECTION, DRIVE):
            name = next(c.name for c in self._connections if c.index == source)
            return f"{'drive of ' if kind == DRIVE else ''}connection {name!r}"
        if kind == TENDON:
            names = [(r.name, tendon) for r in self._robots for tendon in r.model.tendons]
            return "tendon {}/{}".format(*names[source])
        return f"{ROW_NAMES[kind]} of {self._joint_at(source)}"

    def _joint_at(self, dof: int) -> str:
        """Return "robot/joint" of a degree of freedom of the world."""
        robot = next(r for r in self._robots if r.first_v <= dof < r.first_v + r.nv)
        joint = next(j.name for j in robot.model.joints if j.v_index == dof - robot.first_v)
        return f"{robot.name}/{joint}"

    def worst_of_step(self, scene: Scene) -> str:
        """Return the name of the constraint with the largest error in a step, "" if unknown."""
        number = int(scene.step_stats["worst_row"][0])
        if not 0 <= number < int(scene.counts["row_count"][0]):
            return ""
        return self.name_of(scene.worst[0])

    def name_of(self, record) -> str:
        """Return the constraint named by a FAILURE or WORST_ROW, "" if unknown."""
        kind, source, other = (int(record[field]) for field in ("kind", "source", "other"))
        return self.name(kind, source, other) if kind >= 0 else ""


def stats_of(
    scene: Scene,
    sleeping: np.ndarray,
    worst: str,
    last_call: Convergence,
    since_reset: Convergence,
    energy: EnergyBalance | None,
) -> StepStats:
    """Return the results of the last step. `sleeping` are the contacts of sleeping bodies."""
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
    """Counts and largest residual of the steps that did not converge.

    count: number of these steps. residual: largest residual [m/s]. worst: name of the constraint
    with this residual. newton_steps: steps in which Newton's method solved an island.
    """

    count: int = 0
    residual: float = 0.0
    worst: str = ""
    newton_steps: int = 0

    def add(self, count: int, residual: float, worst: Callable[[], str]) -> None:
        """Count steps that did not converge.

        Args:
            count: number of these steps.
            residual: largest residual of these steps [m/s].
            worst: function that returns the constraint's name. The function is called only if the
                residual is the largest so far.
        """
        if not self.count or residual > self.residual:
            self.residual, self.worst = residual, worst()
        self.count += count

    def among(self, steps: int) -> Convergence:
        """Return the Convergence of `steps` steps, which include these steps."""
        return Convergence(steps, self.count, self.residual, self.worst, self.newton_steps)


class ConvergenceRecord:
    """The steps that did not converge: in the last call of `step`, and since the last reset."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear the record."""
        self._steps_before = 0  # steps in the last call
        self._in_call, self._since_reset = Unmet(), Unmet()

    def begin_call(self, steps_done: int) -> tuple[int, Unmet]:
        """Begin a call of `step`.

        Returns:
            The record of the previous call, for `give_up_call` if no step is done.
        """
        before = self._steps_before, self._in_call
        self._steps_before = steps_done
        if self._in_call.count or self._in_call.newton_steps:
            self._in_call = Unmet()
        return before

    def give_up_call(self, steps_done: int, before: tuple[int, Unmet]) -> None:
        """Restore the record of the previous call if the present call completed no step."""
        if steps_done == self._steps_before:
            self._steps_before, self._in_call = before

    def add(self, count: int, residual: float, worst: Callable[[], str]) -> None:
        """Record steps that did not converge.

        Args:
            count: number of these steps.
            residual: largest residual of these steps [m/s].
            worst: function that returns the name of the constraint with the largest error.
        """
        for unmet in (self._in_call, self._since_reset):
            unmet.add(count, residual, worst)

    def add_newton(self, count: int) -> None:
        """Count steps in which Newton's method solved an island."""
        for unmet in (self._in_call, self._since_reset):
            unmet.newton_steps += count

    def of_last_call(self, steps_done: int) -> Convergence:
        """Return the convergence of the last call, given the number of steps since the reset."""
        return self._in_call.among(steps_done - self._steps_before)

    def since_reset(self, steps_done: int) -> Convergence:
        """Return the convergence of all steps since the reset."""
        return self._since_reset.among(steps_done)

    def copy(self) -> tuple[int, Unmet, Unmet]:
        """Return the counts, in a form that `restore` accepts."""
        return self._steps_before, replace(self._in_call), replace(self._since_reset)

    def restore(self, saved: tuple[int, Unmet, Unmet]) -> None:
        """Set the counts to the result of `copy`."""
        self._steps_before, in_call, since_reset = saved
        self._in_call, self._since_reset = replace(in_call), replace(since_reset)
