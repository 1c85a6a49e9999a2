"""Microseconds of one step of hrp2_like standing on 8 contact points, beside MuJoCo's.

    python benchmarks/bench_step.py [--bush] [--rounds 15]

Both are timed in turn in one process, 1000 steps a turn, on one thread. Quote the ratios: the
machine's speed changes from minute to minute. The residual columns say how exact each is: ours is
the largest change of a contact's velocity in the last sweep, MuJoCo's the vertical acceleration
error of the total weight, and for both the wrench sum against the weight is printed.
"""

from __future__ import annotations

import argparse
import os
import time

import mujoco
import numpy as np

from hrpsim.experiments.standing import humanoid, mujoco_standing, our_standing

SOLVERS = {
    "mujoco Newton": mujoco.mjtSolver.mjSOL_NEWTON,
    "mujoco CG": mujoco.mjtSolver.mjSOL_CG,
    "mujoco PGS": mujoco.mjtSolver.mjSOL_PGS,
}


def standing_world(bush: bool, integrator: str = "semi_implicit"):
    """Return (world, robot) settled at half-sitting on the floor."""
    return our_standing(humanoid(bush=bush), integrator=integrator)


def timed(function) -> float:
    """Return the microseconds a step of 1000."""
    begin = time.perf_counter()
    function()
    return 1e3 * (time.perf_counter() - begin)


def main() -> None:
    """Time in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bush", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})

    cases = {}
    world, robot = standing_world(options.bush)
    cases["hrpsim semi_implicit"] = lambda: world.step(1000)
    rk4, _ = standing_world(options.bush, "rk4")
    cases["hrpsim rk4"] = lambda: rk4.step(1000)
    scenes = {}
    for name, solver in SOLVERS.items():
        mj_model, data = mujoco_standing(mujoco, robot.model, robot.q)
        mj_model.opt.solver = solver
        scenes[name] = (mj_model, data)
        cases[name] = lambda m=mj_model, d=data: mujoco.mj_step(m, d, nstep=1000)

    times = {name: [] for name in cases}
    for case in cases.values():
        case()
    for _ in range(options.rounds):
        for name, case in cases.items():
            times[name].append(timed(case))
    ours = np.array(times["hrpsim semi_implicit"])
    print(f"hrp2_like, bush={options.bush}, {world.stats.contact_count} contact points, 1 ms steps")
    print(f"{'':22s} median   min   [us/step]  ratio to ours (median of pairs)")
    for name, values in times.items():
        values = np.array(values)
        print(
            f"{name:22s} {np.median(values):6.1f} {values.min():6.1f}"
            f"{np.median(values / ours):18.2f}"
        )
    weight = robot.model.mass * 9.80665
    vertical = sum(contact.force[2] for contact in world.contacts)
    print(
        f"ours: residual {world.stats.residual:.1e} m/s, sweeps {world.stats.iterations}, "
        f"|floor force - weight| / weight {abs(abs(vertical) - weight) / weight:.1e}"
    )
    for name, (mj_model, data) in scenes.items():
        total = np.zeros(6)
        force = 0.0
        for k in range(data.ncon):
            mujoco.mj_contactForce(mj_model, data, k, total)
            force += total[0]
        print(
            f"{name}: {data.ncon} contacts, penetration {-data.contact.dist.min():.1e} m, "
            f"|floor force - weight| / weight {abs(force - weight) / weight:.1e}, "
            f"mass {mj_model.body_mass.sum():.2f}"
        )


if __name__ == "__main__":
    main()
