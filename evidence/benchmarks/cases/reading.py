# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Reading and commanding a standing robot from Python: contacts, efforts, links, commands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.scenes.standing import humanoid, our_standing
from hrpsim import Sphere, World

READ_BOUND, COMMAND_BOUND = 3.0, 4.0  # [us]
POINTS, BALLS = 8, 216


def standing() -> tuple[World, object]:
    """Return a world with hrp2_like at rest on 8 contact points, and the robot."""
    world, robot = our_standing(humanoid(POINTS))
    world.step(20)
    return world, robot


def feet_of(robot) -> list[str]:
    """Return the links on which a robot stands."""
    return sorted({robot.world.link_names[k][1] for k in robot.contact_arrays().links})


def loose_bodies() -> World:
    """Return a world with as many loose balls as the bodies of a typical scene."""
    world = World(gravity=(0.0, 0.0, 0.0))
    for k in range(BALLS):
        world.add_body(Sphere(0.1), 1.0, (k % 6, k // 6 % 6, k // 36), velocity=(0.0, 0.0, 1.0))
    world.step()
    return world


def repeated(call: Callable[[], object]) -> Callable[[int], None]:
    """Return a function that calls `call` n times."""

    def run(n: int) -> None:
        for _ in range(n):
            call()

    return run


def run(result: CaseResult, effort: Effort) -> None:
    """Time each way to read or command, in turn."""
    world, robot = standing()
    connection = world.connect(None, (robot, feet_of(robot)[0]), "fixed")
    world.step(20)
    balls = loose_bodies()
    targets = robot.joint_positions
    driven = np.flatnonzero(robot.gains[0])
    names, goals = [robot.joint_names[k] for k in driven], targets[driven]
    few = goals[:6].tolist()
    foot = feet_of(robot)[1]
    reads = {
        "contact_arrays of the robot": robot.contact_arrays,
        "contact_arrays of a foot": lambda: robot.contact_arrays(foot),
        "contact_arrays of the world": world.contact_arrays,
        "constraint_efforts, limits": lambda: robot.constraint_efforts("limit"),
        "constraint_efforts, all kinds": robot.constraint_efforts,
        "wrench of a connection": lambda: connection.wrench,
        "link_poses": robot.link_poses,
        "link_velocities": robot.link_velocities,
    }
    commands = {
        "command, all joints": lambda: robot.command(positions=targets),
        "command by names": lambda: robot.command(positions=goals, names=names),
        "command by names, from lists": lambda: robot.command(positions=few, names=names[:6]),
    }
    others = {
        "contacts as objects": lambda: world.contacts,
        "stats": lambda: world.stats,
        f"link_poses, {BALLS} balls": balls.link_poses,
        f"link_velocities, {BALLS} balls": balls.link_velocities,
    }
    subjects = [
        Subject(name, repeated(call), ours=True)
        for name, call in (reads | commands | others).items()
    ]
    times = result.measure(f"{POINTS} points", subjects, effort)
    best = {name: 1e6 * float(np.min(values)) for name, values in times.items()}
    for name in reads:
        result.claims.append(Claim(f"{name}, fastest round [us]", best[name], READ_BOUND))
    for name in commands:
        result.claims.append(Claim(f"{name}, fastest round [us]", best[name], COMMAND_BOUND))
    result.notes += [
        f"hrp2_like, {len(targets)} joints of which {len(names)} have gains, "
        f"{len(robot.model.link_names)} links, at rest. Every call from Python, new arrays at each"
    ]


CASE = Case("Reading and commanding", run)
