"""What a step leaves to look at: contact points with their forces, and how the solver did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hrpsim.constraints.contact_rows import tangents
from hrpsim.world.scene import Scene


@dataclass(frozen=True)
class Contact:
    """One contact point; the force [N] acts on `a`, its reaction on `b`, along the world's axes.

    `a` and `b` are (entity name, link name). `gap` [m] is negative inside; the normal points to a.
    """

    a: tuple[str, str]
    b: tuple[str, str]
    point: np.ndarray
    normal: np.ndarray
    gap: float
    force: np.ndarray


@dataclass(frozen=True)
class StepStats:
    """What the last step did.

    `residual` is the largest change of a constraint's velocity in the last sweep [m/s], and where
    solvers are mixed the largest that solving any constraint again by itself would make;
    `converged` says whether the stopping rule was met; `max_penetration` [m]. `direct_rows` and
    `split_rows` of the `row_count` rows were for these solvers; `factorisations` is how often the
    direct system was factorised, `direct_finished` whether it came to an end: if not, its rows
    were solved iteratively.
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


def contact_of(scene: Scene, owners: list[tuple[str, str]], record: np.void) -> Contact:
    """Return the contact that a CONTACT record of the scene holds."""
    n, impulse = record["normal"].copy(), record["impulse"]
    first, second = np.empty(3), np.empty(3)
    tangents(n, first, second)
    point, body = record["point_a"].copy(), record["body_a"]
    if body >= 0:
        point += scene.kinematics[scene.forest.bodies[body]["root"]]["origin"]
    force = n * impulse[0] + first * impulse[1] + second * impulse[2]
    return Contact(
        a=owners[record["shape_a"]],
        b=owners[record["shape_b"]],
        point=point,
        normal=n,
        gap=float(record["gap"]),
        force=force / float(scene.settings["time_step"][0]),
    )


def stats_of(scene: Scene) -> StepStats:
    """Return what the last step of the scene did."""
    tally = scene.tally[0]
    return StepStats(
        iterations=int(tally["sweeps"]),
        residual=float(tally["residual"]),
        converged=bool(tally["converged"]),
        contact_count=int(tally["contact_count"]),
        row_count=int(tally["row_count"]),
        max_penetration=float(tally["penetration"]),
        direct_rows=int(tally["direct_rows"]),
        split_rows=int(tally["split_rows"]),
        factorisations=int(tally["factorisations"]),
        direct_finished=not tally["unfinished"],
    )
