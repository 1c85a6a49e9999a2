# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convergence and cost of the solvers: falling heaps, towers, and heavy bodies on light bodies."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from evidence.benchmarks.cases.piles import EDGE, FRICTION, MASS, let_go, mujoco_cubes
from evidence.benchmarks.engines.bullet_scenes import bullet_cubes, bullet_module
from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.timing import Effort
from evidence.experiments.framework.engines import mujoco_module
from hrpsim import Box, World
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.step.scene.islands import find_worst

SOLVERS = ("auto", "iterative", "newton", "direct")
SWEEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
TURN = 25  # steps between two time measurements
HEAP_STEPS, TOWER_STEPS = 800, 1000  # numbers of steps of 1 ms
SLOW = 0.02  # time of a step, above which a solver or engine is omitted in larger scenes [s]


@dataclass(frozen=True)
class Bodies:
    """Cubes of 0.1 m: initial positions and masses."""

    name: str
    positions: np.ndarray  # (n, 3) [m]
    quaternions: np.ndarray  # (n, 4) x y z w
    masses: np.ndarray  # (n,) [kg]
    steps: int  # number of steps of 1 ms


def falling(count: int) -> Bodies:
    """Return cubes of 1 kg that fall into a heap."""
    masses = np.full(count, MASS)
    return Bodies(f"heap of {count} falls", *let_go(count), masses, HEAP_STEPS)


def tower(name: str, masses) -> Bodies:
    """Return a stack of cubes on the floor."""
    heights = EDGE * (0.5 + np.arange(len(masses)))
    positions = np.column_stack([0.0 * heights, 0.0 * heights, heights])
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (len(masses), 1))
    return Bodies(name, positions, upright, np.array(masses, dtype=float), TOWER_STEPS)


SCENES = (
    falling(30),
    falling(100),
    falling(300),
    tower("tower of 20", [1.0] * 20),
    tower("tower of 40", [1.0] * 40),
    tower("the top of 5 is 1000 times heavier", [1, 1, 1, 1, 1e3]),
    tower("the top of 5 is 10 000 times heavier", [1, 1, 1, 1, 1e4]),
)


def world_of(bodies: Bodies, solver: str, motion=None, **options) -> World:
    """Return an hrpsim world with the bodies.

    motion: linear and angular velocities (n, 6) of the bodies, 0 by default.
    """
    world = World(1e-3, solver=solver, sleeping=False, **options)
    world.set_friction("default", "default", static=FRICTION)
    world.add_ground()
    still = np.zeros((len(bodies.masses), 6)) if motion is None else motion
    for p, o, m, v in zip(bodies.positions, bodies.quaternions, bodies.masses, still):
        world.add_body(
            Box((EDGE,) * 3),
            float(m),
            position=p,
            orientation=o,
            velocity=v[:3],
            angular_velocity=v[3:],
        )
    return world


def run(result: CaseResult, effort: Effort) -> None:
    """Run every scene with every solver and engine. Larger heaps omit slow solvers."""
    slow: set[str] = set()
    auto, rows = [], []
    for bodies in SCENES[:1] if effort.quick else SCENES:
        times, exact = _run_all(bodies, slow, effort)
        auto.append(exact["hrpsim auto"])
        late = {name for name, values in times.items() if np.median(values) > SLOW}
        slow |= late - {"hrpsim auto"}
        rows.append([bodies.name, *(_cell(exact.get(f"hrpsim {s}")) for s in SOLVERS)])
        _note(result, bodies.name, times, exact)
    worst_share = min(measures["share converged"] for measures in auto)
    worst_residual = max(measures["worst residual [m/s]"] for measures in auto)
    result.extra.append((["converged, worst residual [m/s]", *SOLVERS], rows))
    result.claims += [
        Claim("auto: least share of steps that converge", worst_share, 0.999, at_least=True),
        Claim("auto: worst residual [m/s]", worst_residual, 1e-6),
    ]
    result.extra.append((["one problem", "solver", "sweeps", "us", "error [m/s]"], _curves(effort)))
    result.notes += [
        "0.8 s of a heap, 1 s of a tower in steps of 1 ms, the tolerance 1e-8 m/s. Times are means "
        f"over turns of {TURN} steps, quartiles over the turns",
        "converged: the share of steps. Residual: what solving any row again would change",
        "what takes longer than 20 ms a step is left out of larger heaps",
        "one problem: a step of the falling heap, the tower, the heavy stack, from no impulses. "
        "Sweeps alone up to so many, beside the direct solver and Newton's method",
    ]


def _run_all(bodies: Bodies, slow: set[str], effort: Effort):
    """Return times and accuracy measures of a scene, by the name of the solver or engine."""
    times, exact = {}, {}
    for solver in SOLVERS:
        name = f"hrpsim {solver}"
        if name not in slow or bodies.steps != HEAP_STEPS:
            times[name], exact[name] = _hrpsim_times(bodies, solver, effort)
    for name, engine in _peers(bodies, slow) if (bodies.masses == MASS).all() else ():
        times[name] = _turns(engine[0], bodies.steps, effort)
        exact[name] = {"deepest at the end [m]": engine[1]()}
    return times, exact


def _hrpsim_times(bodies: Bodies, solver: str, effort: Effort):
    world = world_of(bodies, solver)
    world.copy().step(60)  # compiles
    times = _turns(world.step, bodies.steps, effort)
    made = world.stats.since_reset
    return times, {
        "share converged": made.converged_share,
        "worst residual [m/s]": made.worst_residual,
        "deepest at the end [m]": world.stats.max_penetration,
    }


def _peers(bodies: Bodies, slow: set[str]):
    """Yield (name, (step, deepest, places)) of the installed engines that are not in `slow`."""
    places = bodies.positions, bodies.quaternions
    if (mujoco := mujoco_module()) is not None:
        for solver in ("CG", "Newton"):
            if f"mujoco {solver}" not in slow:
                yield f"mujoco {solver}", mujoco_cubes(mujoco, *places, solver)
    if (pybullet := bullet_module()) is not None and "bullet" not in slow:
        yield "bullet", bullet_cubes(pybullet, EDGE, MASS, *places, FRICTION)


def _turns(step, count: int, effort: Effort) -> np.ndarray:
    """Return the time of a step in each turn of TURN steps [s]."""
    times = []
    for _ in range(count // TURN):
        begin = effort.clock()
        step(TURN)
        times.append((effort.clock() - begin) / TURN)
    return np.array(times)


def _cell(found) -> str:
    if found is None:
        return "-"
    return f"{100 * found['share converged']:.1f} %, {found['worst residual [m/s]']:.0e}"


def _note(result: CaseResult, quantity: str, times: dict, exact: dict) -> None:
    """Add times to the result. The reference is MuJoCo's CG, or hrpsim if MuJoCo is missing."""
    reference = "mujoco CG" if "mujoco CG" in times else "hrpsim auto"
    length = min(map(len, times.values()))
    same = {name: values[:length] for name, values in times.items()}
    result.note(quantity, same, reference, {name: name[:6] == "hrpsim" for name in times}, exact)


# -- one problem ----------------------------------------------------------------------------------


@kernel
def _error(s):
    return find_worst(s.counts[0], s.constrained, s.rows, s.islands.ranges)[0]


def _curves(effort: Effort) -> list[list[str]]:
    """Return table rows of error and time for one contact problem of each of three scenes."""
    rows = []
    chosen = ((SCENES[0], 300), (SCENES[3], 20), (SCENES[5], 20))
    for bodies, steps in chosen[:1] if effort.quick else chosen:
        state = world_of(bodies, "auto")
        state.step(steps)
        states = list(state.bodies.values())
        settled = replace(
            bodies,
            positions=np.array([b.position for b in states]),
            quaternions=np.array([b.orientation for b in states]),
        )
        motion = np.array([[*b.velocity, *b.angular_velocity] for b in states])
        for sweeps in SWEEPS:
            made = _solve(settled, motion, "iterative", sweeps)
            rows.append([bodies.name, "sweeps", str(sweeps), *made])
        for solver in ("direct", "newton"):
            rows.append([bodies.name, solver, "-", *_solve(settled, motion, solver, None)])
    return rows


def _solve(bodies: Bodies, motion, solver: str, sweeps: int | None) -> tuple[str, str]:
    """Return the time of one step from a state [us], and the error of its solution [m/s]."""
    world = world_of(bodies, solver, motion, correction_rate=0.0, sweep_limit=sweeps)
    start, best = world.snapshot(), np.inf
    for _ in range(5):
        world.restore(start)
        begin = time.perf_counter()
        world.step()
        best = min(best, time.perf_counter() - begin)
    return f"{1e6 * best:.0f}", f"{_error(TupleReference(world.scene)):.1e}"


def draw(result: CaseResult, figure) -> None:
    """Draw error against time for one contact problem of each scene."""
    rows = result.extra[1][1]
    scenes = list(dict.fromkeys(row[0] for row in rows))
    for axes, scene in zip(np.atleast_1d(figure.subplots(1, len(scenes))), scenes):
        for solver, marker in (("sweeps", "-o"), ("direct", "s"), ("newton", "^")):
            points = [row for row in rows if row[:2] == [scene, solver]]
            x, y = ([float(row[k]) for row in points] for k in (3, 4))
            axes.plot(x, np.maximum(y, 1e-16), marker, ms=4, lw=1.0, label=solver)
        axes.set(xscale="log", yscale="log", xlabel="step [us]", title=scene)
        axes.grid(alpha=0.3, lw=0.5)
        axes.legend(fontsize=7, frameon=False)
    figure.axes[0].set_ylabel("error of the laws [m/s]")


CASE = Case("Convergence: heaps, towers, heavy on light", run, draw)
