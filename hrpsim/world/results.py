"""What a step leaves to look at: contact points with their forces, and how the solver did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hrpsim.constraints.contact_rows import tangents
from hrpsim.constraints.rows import (
    CONNECTION,
    CONTACT_ROW,
    DRIVE,
    JOINT_FRICTION,
    LOCK,
    LOWER_LIMIT,
    MIMIC,
    MOTOR,
    SPRING,
    UPPER_LIMIT,
)
from hrpsim.world.scene import Scene

_JOINT_ROWS = {
    LOWER_LIMIT: "lower limit",
    UPPER_LIMIT: "upper limit",
    JOINT_FRICTION: "friction",
    MIMIC: "mimic",
    LOCK: "lock",
    MOTOR: "motor",
}


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

    Islands, whose moving bodies share no contact or connection, are solved by themselves:
    `iterations` are the most sweeps that any took, `residual` is the largest of all and `converged`
    says whether the stopping rule was met by each. The residual is the largest change of a
    constraint's velocity in the last sweep [m/s], and where solvers are mixed the largest that
    solving any constraint again by itself would make; `max_penetration` [m]. `direct_rows` and
    `split_rows` of the `row_count` rows were for these solvers; `factorisations` is how often the
    direct system was factorised, `direct_finished` whether it came to an end: if not, its rows
    were solved iteratively. Where it did not converge, `worst` names the constraint that is
    furthest from what it asks for, as "connection 'hinge'", "lock of robot/knee" or "contact of
    box/box and world/ground"; otherwise it is empty. Where spring hinges use the steepest descent,
    `descent_steps` is how many steps it took and `descent_short` the furthest that it left a spring
    beyond its maximum extension, as a velocity [m/s]. Of the `asleep` bodies that sleep, contacts
    count but have no rows. Impacts with restitution were solved in `impact_rounds`; `impacts_left`
    gaps still closed when there were too many, and met no restitution.
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
    worst: str
    descent_steps: int
    descent_short: float
    asleep: int
    impact_rounds: int
    impacts_left: int


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


def name_of_row(scene: Scene, owners, connections, robots, number: int) -> str:
    """Return the name of the constraint that a row of the last step belongs to."""
    row = scene.rows.rows[number]
    kind, source = int(row["kind"]), int(row["source"])
    if kind == CONTACT_ROW:
        contact = scene.collision.contacts[source]
        a, b = ("/".join(owners[contact[shape]]) for shape in ("shape_a", "shape_b"))
        return f"contact of {a} and {b}"
    if kind == SPRING:
        return f"spring hinge {source}"
    if kind in (CONNECTION, DRIVE):
        name = next(c.name for c in connections if c.index == source)
        return f"{'drive of ' if kind == DRIVE else ''}connection {name!r}"
    robot = max((r for r in robots if r.first_v <= source), key=lambda r: r.first_v)
    joint = next(j.name for j in robot.model.joints if j.v_index == source - robot.first_v)
    return f"{_JOINT_ROWS[kind]} of {robot.name}/{joint}"


def stats_of(scene: Scene, owners, connections, robots) -> StepStats:
    """Return what the last step of the scene did; the rest is needed for names alone."""
    tally = scene.tally[0]
    worst = ""
    if not tally["converged"] and 0 <= tally["worst_row"] < tally["row_count"]:
        worst = name_of_row(scene, owners, connections, robots, int(tally["worst_row"]))
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
        worst=worst,
        descent_steps=int(tally["descents"]),
        descent_short=float(tally["short"]),
        asleep=int(tally["asleep"]),
        impact_rounds=int(tally["impact_rounds"]),
        impacts_left=int(tally["impacts_left"]),
    )
