# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E6: the time of a step against the number of contact points, standing 36-joint humanoid."""

import time

import numpy as np

from evidence.experiments.framework.engines import against_mujoco
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.targets import below
from evidence.experiments.scenes.standing import GRIDS, humanoid, mujoco_standing, our_standing
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.dynamics.response import constrained_responses
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.rows.constrain import remember_impulses, solve_motion
from hrpsim.engine.step.rows.prepare_rows import prepare_rows
from hrpsim.engine.step.scene.records import WHOLE
from hrpsim.engine.step.step import (
    begin_step,
    find_contacts,
    forward_kinematics,
    integrate,
    read_sensors,
    unconstrained_dynamics,
)
from hrpsim.world.world import World

PHASES = ("kinematics", "collision", "ABA", "blocks", "rows", "solve", "sensors", "integrate")
_KINEMATICS, _COLLISION, _ABA, _BLOCKS, _ROWS, _SOLVE, _SENSORS, _INTEGRATE = range(len(PHASES))
SWEEPS = 120  # the paper's limit
TOLERANCE = 1e-3
# Measured on the development machine, at another time than hrpsim: microseconds at 8, 16, 32, 64
# points
CHOREONOID_CONVERGED = {8: 23, 16: 43, 32: 107, 64: 334}
OPENHRP3_FORCED = {8: 118, 16: 340, 32: 1055, 64: 4138}
AIM_8, AIM_GROWTH, AIM_FORCED_64 = 0.5, 3.5, 1.0  # the first and last are relative to MuJoCo's step
MUJOCO_SOLVERS = ("Newton", "CG", "PGS")


def force_sweeps(world, sweeps: int) -> None:
    """Make every step of `world` do exactly `sweeps` sweeps, converged or not.

    World stops early. Therefore the settings of the compiled step are changed directly.
    """
    world.scene.settings["sweep_limit"] = sweeps
    world.scene.settings["tolerance"] = -1.0
    world.scene.settings["relative_tolerance"] = 0.0


def our_cases(points: int) -> dict:
    """Return hrpsim's worlds by name, each at rest on `points` contact points."""
    model = humanoid(points)
    converged, _ = our_standing(model, stop="relative_change", tolerance=TOLERANCE)
    forced, _ = our_standing(model, solver="iterative")
    force_sweeps(forced, SWEEPS)
    for world in (converged, forced):
        world.step(10)
    return {"converged": converged, "forced": forced}


def mujoco_cases(mujoco, points: int, q) -> dict:
    """Return (MjModel, MjData) for MuJoCo's solvers, each after 2000 steps of standing."""
    cases = {}
    for name in MUJOCO_SOLVERS:
        model, data = mujoco_standing(mujoco, humanoid(points), q)
        model.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{name.upper()}")
        mujoco.mj_step(model, data, nstep=2000)
        cases[name] = model, data
    return cases


def timed(step, steps: int) -> float:
    """Return the processor time per step [us] over `steps` steps, on one thread."""
    begin = time.process_time()
    step(steps)
    return (time.process_time() - begin) / steps * 1e6


def measure(cases: dict, rounds: int) -> dict:
    """Return the times of each case (rounds,) [us]. The cases are timed in turn for fair ratios."""
    turn = {name: max(int(2e4 / timed(step, 20)), 20) for name, step in cases.items()}  # 20 ms
    times = {name: np.zeros(rounds) for name in cases}
    for k in range(rounds):
        for name, step in cases.items():
            times[name][k] = timed(step, turn[name])
    return times


def run(options: Options) -> Result:
    """Time hrpsim's and MuJoCo's steps in turn, at every number of contact points."""
    counts = (8, 64) if options.quick else tuple(GRIDS)
    mujoco, result = against_mujoco("Newton, elliptic cone, default contacts")
    steps, worlds = {}, {}
    for points in counts:
        for name, world in our_cases(points).items():
            worlds[points, name] = world
            steps[points, name] = world.step
        if mujoco is not None:
            q = worlds[points, "converged"].robots["hrp2_like"].q
            for name, (model, data) in mujoco_cases(mujoco, points, q).items():
                steps[points, name] = lambda n, m=model, d=data: mujoco.mj_step(m, d, nstep=n)
    times = measure(steps, rounds=5 if options.quick else 21)
    phases = {points: phase_costs(worlds[points, "converged"]) for points in counts}
    result.data = {"times": times, "phases": phases}
    _add_times(result, counts, times)
    _add_aims(result, times)
    for points in (8, 64):  # the figure also shows the phases at the other numbers of points
        for name, cost in phases[points].items():
            result.add(f"{points} points, converged: time of {name}", "us", cost)
    result.notes += _notes(worlds)
    return result


def _middle(times: dict, points: int, name: str) -> float | None:
    return float(np.median(times[points, name])) if (points, name) in times else None


def _add_times(result: Result, counts, times: dict) -> None:
    sources = {"converged": CHOREONOID_CONVERGED, "forced": OPENHRP3_FORCED}
    says = {"converged": f"relative change below {TOLERANCE:g}", "forced": f"{SWEEPS} sweeps"}
    for name, source in sources.items():
        for points in counts:
            label = f"{points} points, time of a step, {says[name]}"
            ours = _middle(times, points, name)
            peer = _middle(times, points, "Newton")
            result.add(label, "us", ours, source=source.get(points), peer=peer)
    for solver in MUJOCO_SOLVERS[1:]:
        for points in counts:
            if (points, solver) in times:
                label = f"{points} points, time of a step, mujoco {solver}"
                result.add(label, "us", None, peer=_middle(times, points, solver))


def _add_aims(result: Result, times: dict) -> None:
    """Add rows with targets. Only ratios have targets.

    Ratios are medians over successive pairs of turns. Times are of the fastest turn, which is least
    disturbed by other programs, and have no targets.
    """
    best = {case: float(values.min()) for case, values in times.items()}
    growth = {
        name: float(np.median(times[64, name] / times[8, name]))
        for name in ("converged", "Newton")
        if (64, name) in times
    }
    source, peer = CHOREONOID_CONVERGED[8], best.get((8, "Newton"))
    what = "8 points, time of a step, fastest block"
    result.add(what, "us", best[8, "converged"], source=source, peer=peer)
    label = "time at 64 points / at 8 points, converged"
    ours, peer = growth["converged"], growth.get("Newton")
    source = CHOREONOID_CONVERGED[64] / CHOREONOID_CONVERGED[8]
    result.add(label, "", ours, below(AIM_GROWTH), source=source, peer=peer)
    label, source = (
        f"64 points, time of a step, {SWEEPS} sweeps, fastest block",
        OPENHRP3_FORCED[64],
    )
    result.add(label, "us", best[64, "forced"], source=source, peer=best.get((64, "PGS")))
    for points, ours, peer, aim in (
        (8, "converged", "Newton", AIM_8),
        (64, "forced", "PGS", AIM_FORCED_64),
    ):
        if (points, peer) in times:
            ratio = float(np.median(times[points, ours] / times[points, peer]))
            how = "converged" if ours == "converged" else f"{SWEEPS} sweeps"
            label = f"{points} points, {how}: hrpsim's time / MuJoCo's, {peer}"
            result.add(label, "", ratio, below(aim))


def _notes(worlds: dict) -> list[str]:
    sweeps = {p: w.stats.iterations for (p, name), w in worlds.items() if name == "converged"}
    return [
        "The robot is hrp2_like with bushes (36 joints) at rest under PD control, with steps of "
        "1 ms. A step includes collision detection and sensors. Times are processor times: "
        "medians of blocks of 20 ms, all cases in alternation.",
        "The time of each part of a step is the shortest of five repetitions on the same state.",
        f"The MuJoCo value next to {SWEEPS} sweeps in the fastest block is MuJoCo's PGS solver, "
        "which stops at convergence.",
        "Sweeps until convergence: " + ", ".join(f"{n} at {p} points" for p, n in sweeps.items()),
        "The source values are Choreonoid's semi-implicit step at convergence, and OpenHRP3 with "
        "120 sweeps, both measured on the development machine in other runs. Fig. 7 of the paper "
        "(Pentium D 940) shows about 1 ms at some tens of points.",
    ]


def draw(result: Result, figure) -> None:
    """Draw times over contact points on the left, and the phases of a step on the right."""
    left, right = figure.subplots(1, 2)
    times, phases = result.data["times"], result.data["phases"]
    styles = {"converged": ("hrpsim, converged", "C0o-"), "forced": ("hrpsim, 120 sweeps", "C0o--")}
    styles |= {name: (f"mujoco {name}", f"C{k}^:") for k, name in enumerate(MUJOCO_SOLVERS, 1)}
    for name, (label, style) in styles.items():
        points = [p for p, case in times if case == name]
        if points:
            values = [np.median(times[p, name]) for p in points]
            left.loglog(points, values, style, ms=4, lw=1.1, label=label)
    for label, values, style in (
        ("Choreonoid, converged", CHOREONOID_CONVERGED, "s-"),
        ("OpenHRP3, 120 sweeps", OPENHRP3_FORCED, "s--"),
    ):
        left.loglog(values.keys(), values.values(), style, color="grey", ms=3, lw=0.8, label=label)
    left.set(title="A step of 1 ms", xlabel="contact points", ylabel="time of a step [us]")
    left.set_xticks(list(GRIDS), [str(p) for p in GRIDS])
    left.minorticks_off()
    labels, bottom = [str(p) for p in phases], np.zeros(len(phases))
    for k, name in enumerate(next(iter(phases.values()))):
        values = np.array([costs[name] for costs in phases.values()])
        right.bar(labels, values, bottom=bottom, color=f"C{k}", label=name, width=0.7)
        bottom += values
    right.set(title="Where it goes, converged", xlabel="contact points", ylabel="time [us]")


EXPERIMENT = Experiment(
    "E6", "Time of a step", "extended PGS paper, Fig. 7; LCP paper, Fig. 8", run, draw
)


@kernel
def _repeat(s: Scene, phase: int, n: int) -> None:
    """Execute one of the PHASES n times."""
    for _ in range(n):
        if phase == _KINEMATICS:
            begin_step(s)
            forward_kinematics(s)
        elif phase == _COLLISION:
            find_contacts(s)
        elif phase == _ABA:
            unconstrained_dynamics(s)
        elif phase == _BLOCKS:
            count = s.counts[0].constrained_count
            constrained_responses(s.forest, s.kinematics, s.articulated, count, s.constrained)
        elif phase == _ROWS:
            prepare_rows(s)
        elif phase == _SOLVE:
            solve_motion(s, WHOLE)
        elif phase == _SENSORS:
            read_sensors(s)
            remember_impulses(
                s.counts[0],
                s.forest,
                s.work.friction,
                s.joint_impulses,
                s.collision,
                s.connections,
                s.rows,
            )
        elif phase == _INTEGRATE:
            integrate(s)


def phase_costs(world: World, repeats: int = 2000, rounds: int = 5) -> dict[str, float]:
    """Return the processor time of each phase of a step [us]. `world` stays unchanged.

    The time is the minimum over `rounds`. "rows" excludes the blocks, the responses of loaded links
    that this phase computes first. Phases are repeated on the same data, so the sum of the phases
    differs from the time of a step, whose data move through the cache.
    """
    start = world.snapshot()
    costs = {}
    for phase, name in enumerate(PHASES):
        scene = TupleReference(world.scene)
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
