# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The phases of a step as kernels that repeat one of them in place, for timing."""

from __future__ import annotations

import time

from hrpsim.dynamics.response import site_responses
from hrpsim.jit.compiled import kernel
from hrpsim.jit.reference import Reference
from hrpsim.step.rows.constrain import remember_impulses, solve_motion
from hrpsim.step.rows.prepare import prepare_rows
from hrpsim.step.step import (
    begin_step,
    find_contacts,
    forward_kinematics,
    integrate,
    read_sensors,
    unconstrained_dynamics,
)
from hrpsim.world.world import World


@kernel
def _place(s, n):
    for _ in range(n):
        begin_step(s)
        forward_kinematics(s)


@kernel
def _collide(s, n):
    for _ in range(n):
        find_contacts(s)


@kernel
def _move(s, n):
    for _ in range(n):
        unconstrained_dynamics(s)


@kernel
def _blocks(s, n):
    for _ in range(n):
        site_responses(s.forest, s.kinematics, s.articulated, s.step_stats[0].site_count, s.sites)


@kernel
def _rows(s, n):
    for _ in range(n):
        prepare_rows(s)


@kernel
def _solve(s, n):
    for _ in range(n):
        solve_motion(s)


@kernel
def _sense(s, n):
    for _ in range(n):
        read_sensors(s)
        remember_impulses(s)


@kernel
def _integrate(s, n):
    for _ in range(n):
        integrate(s)


_PHASES = {
    "kinematics": _place,
    "collision": _collide,
    "ABA": _move,
    "blocks": _blocks,
    "rows": _rows,
    "solve": _solve,
    "sensors": _sense,
    "integrate": _integrate,
}


def phase_costs(world: World, repeats: int = 2000, rounds: int = 5) -> dict[str, float]:
    """Return the processor time [us] of each phase of a step; `world` is left as it was.

    It is the least of `rounds`. "rows" is without the blocks, the responses of the loaded links
    that it begins with. Phases are repeated in place, so their sum differs from a step, whose
    data move through the cache.
    """
    start = world.snapshot()
    costs = {}
    for name, phase in _PHASES.items():
        scene = Reference(world.scene)
        phase(scene, 1)
        times = []
        for _ in range(rounds):
            begin = time.process_time()
            phase(scene, repeats)
            times.append((time.process_time() - begin) / repeats * 1e6)
            world.restore(start)
            world.step()
        costs[name] = min(times)
    world.restore(start)
    costs["rows"] = max(costs["rows"] - costs["blocks"], 0.0)
    return costs
