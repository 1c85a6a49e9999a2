# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step of hrp2_like at rest on 8 to 128 contact points, in hrpsim, MuJoCo, dart and Bullet."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.engines.bullet_scenes import LARGEST, BulletStanding, bullet_module
from evidence.benchmarks.engines.dart_scenes import DartStanding, dart_module
from evidence.benchmarks.engines.hrpsim_standing import CONVERGED, FORCED, SWEEPS, HrpsimStanding
from evidence.benchmarks.engines.mujoco_standing import SOLVERS, MujocoStanding
from evidence.benchmarks.figures import draw_against_size
from evidence.benchmarks.results import Case, CaseResult, Claim, fit, median_ratio
from evidence.benchmarks.standing_engine import StandingEngine, exactness
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.framework.engines import mujoco_module
from evidence.experiments.scenes.standing import GRIDS, humanoid

OURS = (CONVERGED, FORCED)
AIM = 10.0  # [us]
CHOREONOID = 23.0  # measured on the development machine, at another time than hrpsim [us]
LEAD = 2.5
GROWTH = 3.5
SETTLE_STEPS = {"mujoco": 2000, "dart": 600, "bullet": 500}


def engines(points: int) -> list[StandingEngine]:
    """Return every installed engine with the robot at rest."""
    model = humanoid(points)
    robots: list = [
        HrpsimStanding(model),
        HrpsimStanding(model, FORCED, SWEEPS, solver="iterative"),
    ]
    q, _ = robots[0].state()
    if (mujoco := mujoco_module()) is not None:
        robots += [MujocoStanding(mujoco, model, q, solver) for solver in SOLVERS]
    rigid = humanoid(points, bush=False)
    q, _ = HrpsimStanding(rigid).state()
    if (dart := dart_module()) is not None:
        robots.append(DartStanding(dart, rigid, q))
    if points <= LARGEST and (pybullet := bullet_module()) is not None:
        robots.append(BulletStanding(pybullet, rigid, q))
    for engine in robots:
        engine.step(SETTLE_STEPS.get(engine.name.split()[0], 20))
    return robots


def run(result: CaseResult, effort: Effort) -> None:
    """Time every engine in turn, at every number of contact points."""
    counts = (8, 64) if effort.quick else tuple(GRIDS)
    times = {}
    for points in counts:
        robots = engines(points)
        subjects = [Subject(e.name, e.step, ours=e.name in OURS) for e in robots]
        times[points] = result.measure(
            f"{points} points",
            subjects,
            effort,
            lambda robots=robots: {engine.name: exactness(engine) for engine in robots},
        )
        for engine in robots:
            if isinstance(engine, BulletStanding):
                engine.close()
    for name in times[8]:
        measured = [p for p in counts if name in times[p]]
        values = [times[p][name] for p in measured]
        result.fits.append(fit(name, "contact points", measured, values, ours=name in OURS))
    _claims(result, times)
    result.notes += [
        "hrp2_like: 36 joints and a free base, rubber bushes, servos, 1 ms, semi_implicit. One "
        "call makes many steps, in dart and Bullet one step",
        "converged: residual below 1e-6 g dt = 1e-8 m/s. 120 sweeps: always all sweeps",
        "contact speed: speed of a point after a step, if the point bears load, has less than "
        "99 % of its friction, and should therefore stick",
        "dart and Bullet have rigid feet and 30 joints. Bullet has no joint springs, and dart's "
        "robot falls on these bushes within two seconds. Servos are joint springs in dart and "
        f"constraint motors in Bullet, which cannot load more than {LARGEST} points",
        "mujoco's contacts are soft. Bullet ends after 50 iterations",
        "dart and Bullet have a box as floor, and 1e-6 kg for links without mass",
    ]


def _claims(result: CaseResult, times: dict) -> None:
    best = {p: float(t[CONVERGED].min()) for p, t in times.items()}
    result.claims += [
        Claim("8 points, converged, fastest round [us]", 1e6 * best[8], AIM),
        Claim(
            "8 points: Choreonoid's 23 us (another run) / hrpsim, fastest round",
            CHOREONOID / (1e6 * best[8]),
            LEAD,
            at_least=True,
        ),
        Claim(
            "64 points / 8 points, converged",
            float(np.median(times[64][CONVERGED]) / np.median(times[8][CONVERGED])),
            GROWTH,
        ),
    ]
    for points in (8, 64):
        solvers = [name for name in times[points] if name.startswith("mujoco")]
        if solvers:
            fastest = min(solvers, key=lambda name: np.median(times[points][name]))
            text = f"{points} points: mujoco's fastest ({fastest.split()[1]}) / hrpsim, converged"
            ratio = median_ratio(times[points], fastest, CONVERGED)
            result.claims.append(Claim(text, ratio, LEAD, at_least=True))
    exponent = next(f.exponent for f in result.fits if f.subject == CONVERGED)
    result.claims.append(Claim("exponent of the cost over contact points", exponent, 1.0))


def draw(result: CaseResult, figure) -> None:
    """Draw times against the number of contact points."""
    sizes = {f"{p} points": float(p) for p in GRIDS}
    draw_against_size(result, figure.subplots(), sizes, "contact points")


CASE = Case("A step of hrp2_like, standing", run, draw)
