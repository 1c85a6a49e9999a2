# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The phases of a step one by one: repeated in place for timing, or ended before the solution."""

from __future__ import annotations

import time

from hrpsim.dynamics.response import site_responses, site_velocities
from hrpsim.jit.compiled import kernel
from hrpsim.jit.reference import Reference
from hrpsim.spatial.vector import copy_vector
from hrpsim.step.arrays import Scene
from hrpsim.step.rows.constrain import remember_impulses, solve_motion
from hrpsim.step.rows.prepare import prepare_rows
from hrpsim.step.scene.status import DONE
from hrpsim.step.step import (
    begin_step,
    find_contacts,
    forward_kinematics,
    integrate,
    read_sensors,
    unconstrained_dynamics,
)
from hrpsim.world.arrays.capacity import grow
from hrpsim.world.world import World

PHASES = ("kinematics", "collision", "ABA", "blocks", "rows", "solve", "sensors", "integrate")
_KINEMATICS, _COLLISION, _ABA, _BLOCKS, _ROWS, _SOLVE, _SENSORS, _INTEGRATE = range(len(PHASES))


@kernel
def _repeat(s, phase, n):
    """Do one of the PHASES n times."""
    for _ in range(n):
        if phase == _KINEMATICS:
            begin_step(s)
            forward_kinematics(s)
        elif phase == _COLLISION:
            find_contacts(s)
        elif phase == _ABA:
            unconstrained_dynamics(s)
        elif phase == _BLOCKS:
            count = s.counts[0].site_count
            site_responses(s.forest, s.kinematics, s.articulated, count, s.sites)
        elif phase == _ROWS:
            prepare_rows(s)
        elif phase == _SOLVE:
            solve_motion(s)
        elif phase == _SENSORS:
            read_sensors(s)
            remember_impulses(
                s.counts[0],
                s.forest,
                s.joint_impulses,
                s.collision,
                s.connections,
                s.spring_hinges,
                s.rows,
            )
        elif phase == _INTEGRATE:
            integrate(s)


def phase_costs(world: World, repeats: int = 2000, rounds: int = 5) -> dict[str, float]:
    """Return the processor time [us] of each phase of a step; `world` is left as it was.

    It is the least of `rounds`. "rows" is without the blocks, the responses of the loaded links
    that it begins with. Phases are repeated in place, so their sum differs from a step, whose
    data move through the cache.
    """
    start = world.snapshot()
    costs = {}
    for phase, name in enumerate(PHASES):
        scene = Reference(world.scene)
        _repeat(scene, phase, 1)
        times = []
        for _ in range(rounds):
            begin = time.process_time()
            _repeat(scene, phase, repeats)
            times.append((time.process_time() - begin) / repeats * 1e6)
            world.restore(start)
            world.step()
        costs[name] = min(times)
    world.restore(start)
    costs["rows"] = max(costs["rows"] - costs["blocks"], 0.0)
    return costs


@kernel
def _prepare(s):
    """Do a step up to the solution of its rows; leave the sites' free velocity."""
    begin_step(s)
    forward_kinematics(s)
    status = find_contacts(s)
    if status == DONE:
        status = unconstrained_dynamics(s)
    if status == DONE:
        status = prepare_rows(s)
    if status == DONE:
        change, dt = s.work.change, s.settings[0].time_step
        for k in range(change.shape[0]):
            change[k] = s.velocity[k] + dt * s.work.dv[k]
        site_velocities(s.forest, s.kinematics, change, s.counts[0].site_count, s.sites)
    copy_vector(s.start.q, s.q)
    copy_vector(s.start.velocity, s.velocity)
    return status


def prepared(world: World) -> Scene:
    """Return the scene of a semi-implicit world just before the solution of its next step."""
    while (status := _prepare(Reference(world.scene))) != DONE:
        world._scenes.present = grow(world.scene, status)
    return world.scene
