"""Where the time of one step goes: each phase of hrp2_like's step repeated on its own.

    python benchmarks/bench_phases.py [--bush]

The phases are repeated in place, so the sum differs a little from a step in which each phase finds
its data in the cache where the last one left it.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np
from bench_step import standing_world

from hrpsim.collision.contacts import detect, recall_impulses, refresh_candidates
from hrpsim.compiled import kernel
from hrpsim.constraints.contact_rows import mark_contact_ports, write_contact_rows
from hrpsim.constraints.joint_rows import mark_joint_ports
from hrpsim.dynamics.articulated import (
    accelerations,
    bias_forces,
    factorise,
    place_inertias,
    respond,
)
from hrpsim.dynamics.joint_forces import joint_forces
from hrpsim.dynamics.response import number_ports, port_responses, port_velocities
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.sensors.sensing import sense
from hrpsim.solvers.projected_gauss_seidel import solve
from hrpsim.world.constrain import prepare_rows, remember_impulses, solve_motion
from hrpsim.world.motion import external_forces
from hrpsim.world.step import step


@kernel
def poses(s, n):
    for _ in range(n):
        update_poses(s.forest, s.q, s.kinematics)


@kernel
def velocities(s, n):
    for _ in range(n):
        update_velocities(s.forest, s.velocity, s.kinematics)


@kernel
def candidates(s, n):
    for _ in range(n):
        t = s.settings[0]
        refresh_candidates(
            s.forest, s.kinematics, t.contact_margin, t.time_step, t.skin,
            s.tally[0].candidate_count, s.collision,
        )  # fmt: skip


@kernel
def contacts(s, n):
    for _ in range(n):
        count = detect(
            s.forest, s.kinematics, s.tally[0].candidate_count, s.settings[0].contact_margin,
            s.collision,
        )  # fmt: skip
        recall_impulses(
            s.tally[0].previous_count, s.collision.previous, count, s.collision.contacts
        )


@kernel
def forces(s, n):
    w = s.work
    for _ in range(n):
        joint_forces(s.forest, s.control, s.q, s.velocity, 1e-3, w.effort, w.joint_inertia)
        external_forces(s.kinematics, s.wrenches, 0, s.articulated)


@kernel
def inertias(s, n):
    for _ in range(n):
        place_inertias(s.forest, s.kinematics, s.articulated)


@kernel
def factors(s, n):
    for _ in range(n):
        factorise(s.forest, s.kinematics, s.work.joint_inertia, s.articulated)


@kernel
def sweeps_of_aba(s, n):
    for _ in range(n):
        bias_forces(s.forest, s.kinematics, s.articulated)
        accelerations(
            s.forest, s.kinematics, s.work.effort, s.settings[0].gravity, s.articulated, s.work.dv
        )


@kernel
def marking(s, n):
    for _ in range(n):
        mark_contact_ports(s.collision.contacts, s.tally[0].contact_count, s.ports)
        mark_joint_ports(s.forest, s.q, s.velocity, 1e-3, s.joint_impulses, s.ports)
        number_ports(s.forest, s.ports)


@kernel
def responses(s, n):
    for _ in range(n):
        port_responses(s.forest, s.kinematics, s.articulated, s.tally[0].port_count, s.ports)


@kernel
def port_speeds(s, n):
    for _ in range(n):
        port_velocities(s.forest, s.kinematics, s.velocity, s.tally[0].port_count, s.ports)


@kernel
def rows(s, n):
    for _ in range(n):
        write_contact_rows(
            s.forest, s.collision.contacts, s.tally[0].contact_count, s.collision.shapes,
            s.materials, s.settings[0], 1e-3, s.work.directions, s.ports, s.rows,
        )  # fmt: skip


@kernel
def one_sweep(s, n):
    for _ in range(n):
        solve(
            s.rows.rows, s.tally[0].contact_count, s.tally[0].row_count, s.rows.response, 0.0, 1,
            s.ports.velocity,
        )  # fmt: skip


@kernel
def whole_preparation(s, n):
    for _ in range(n):
        prepare_rows(s)


@kernel
def whole_solution(s, n):
    for _ in range(n):
        solve_motion(s)


@kernel
def response_of_all(s, n):
    for _ in range(n):
        respond(s.forest, s.kinematics, s.articulated, s.work.joint_load, s.work.change)


@kernel
def sensors(s, n):
    for _ in range(n):
        sense(s.kinematics, s.articulated, s.settings[0].gravity, s.sensors)


@kernel
def remembering(s, n):
    for _ in range(n):
        remember_impulses(s)


@kernel
def whole_step(s, n):
    for _ in range(n):
        step(s)


PHASES = (
    ("poses", poses, 0),
    ("velocities", velocities, 0),
    ("candidate pairs", candidates, 0),
    ("contact points", contacts, 0),
    ("joint and user forces", forces, 0),
    ("place inertias", inertias, 0),
    ("factorise", factors, 0),
    ("bias + acceleration sweeps", sweeps_of_aba, 0),
    ("prepare rows, all of it", whole_preparation, 0),
    ("mark and number ports", marking, 1),
    ("port responses", responses, 1),
    ("port velocities", port_speeds, 1),
    ("contact rows", rows, 1),
    ("solve, all of it (1 sweep)", whole_solution, 0),
    ("one sweep", one_sweep, 1),
    ("response of all bodies", response_of_all, 1),
    ("sensors", sensors, 0),
    ("remember impulses", remembering, 0),
)


def main() -> None:
    """Print microseconds a phase."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bush", action="store_true")
    options = parser.parse_args()
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})
    world, _ = standing_world(options.bush)
    world.step(100)
    start = world.snapshot()
    total = 0.0

    def cost(function) -> float:
        function(world.scene, 10)
        times = []
        for _ in range(7):
            begin = time.perf_counter()
            function(world.scene, 3000)
            times.append((time.perf_counter() - begin) / 3000 * 1e6)
        world.restore(start)
        world.step(1)
        return float(np.median(times))

    for name, function, depth in PHASES:
        took = cost(function)
        total += took if depth == 0 else 0.0
        print(f"{'  ' * depth}{name:{30 - 2 * depth}s} {took:6.2f}")
    print(f"{'sum of phases':30s} {total:6.2f}")
    print(f"{'whole step':30s} {cost(whole_step):6.2f}")


if __name__ == "__main__":
    main()
