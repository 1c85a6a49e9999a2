# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim's and Pinocchio's solvers on contact problems of moving scenes: errors, forces, time."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from evidence.benchmarks import bin_scene
from evidence.benchmarks.cases.convergence import falling, tower, world_of
from evidence.benchmarks.cases.every_step import arch, card_house
from evidence.benchmarks.contact_problems import ContactProblem, Prepared, problems
from evidence.benchmarks.engines.bins import HrpsimBin
from evidence.benchmarks.pinocchio_contacts import ADMM, PGS, PinocchioContacts, pinocchio_module
from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.timing import Effort
from hrpsim import Sphere, World

COUNT, QUICK = 200, 12  # numbers of problems
MOST = 60  # largest number of contacts of a problem, because the oracles use dense matrices
TOLERANCE, LAWS = 1e-10, 1e-9  # hrpsim's tolerance, and the required accuracy of the laws [m/s]
EXACT = 1e-12  # required accuracy of the oracles [m/s]
ITERATIONS = {ADMM: 2000, PGS: 5000}
UNIQUE = 1e-6  # relative tolerance of forces, for independent rows

SWEEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10)
SHORT = 0.02  # [s]
MOST_EFFORTS = 8  # factors on the sweeps, for iterations of the oracles
NAMES = {"iterative": "sweeps"}
DEFAULT = 1e-8  # of World [m/s], drawn as a line
_LABEL = {"fontsize": 7, "ha": "right", "va": "bottom", "color": "0.4"}
CURVES = {"sweeps": "-o", "auto": "-s", "newton": "-^", "direct": "D", ADMM: "--+", PGS: "--x"}


def scattered_tower(count: int) -> World:
    """Return a tower of cubes with small random displacements."""
    random = np.random.default_rng(count)
    return world_of(tower("", [1.0] * count), "auto", random.normal(scale=0.2, size=(count, 6)))


def balls(count: int = 20) -> World:
    """Return balls that fall onto each other. Their contacts are often linearly independent."""
    world, random = World(1e-3, sleeping=False), np.random.default_rng(3)
    world.set_friction("default", "default", static=0.5)
    world.add_ground()
    for k in range(count):
        place = (*random.uniform(-0.12, 0.12, 2), 0.1 + 0.06 * k)
        world.add_body(Sphere(0.05), float(10.0 ** random.uniform(-1.0, 1.0)), place)
    return world


def collapsing(world: World) -> World:
    """Return a tower of cubes with too little friction to stand."""
    world.set_friction("default", "default", static=0.15)
    return world


def scenes() -> dict[str, tuple[Callable[[], World], int, int]]:
    """Return the scenes: functions that build a world, the first compared step, and the stride."""
    heavy = tower("", [1.0, 1.0, 1.0, 1.0, 1000.0])
    return {
        "heap of 10": (lambda: world_of(falling(10), "auto"), 120, 2),
        "heap of 30": (lambda: world_of(falling(30), "auto"), 150, 1),
        "20 balls fall": (balls, 150, 1),
        "tower of 10 moves": (lambda: scattered_tower(10), 0, 1),
        "1000 times heavier on top": (
            lambda: world_of(replace(heavy, steps=1), "auto", np.full((5, 6), 0.1)),
            0,
            1,
        ),
        "arch slides apart": (lambda: collapsing(arch(9)), 0, 1),
        "house of cards slides": (lambda: collapsing(card_house()), 0, 1),
        "12 boxes fall into a bin": (lambda: HrpsimBin(bin_scene.boxes(12), False).world, 200, 2),
    }


def run(result: CaseResult, effort: Effort) -> None:
    """Compare the solvers. The number of problems depends on the effort."""
    compare(result, QUICK if effort.quick else COUNT)
    result.extra.append((["one problem", "solver", "us", "error [m/s]"], curves(effort.quick)))


def compare(result: CaseResult, count: int) -> None:
    """Solve `count` problems by hrpsim's and Pinocchio's solvers, and compare the errors.

    Notes name solutions that violate the contact laws.
    """
    pin = pinocchio_module()
    each = -(-count // len(scenes()))
    rows, worst, different, unique, total = [], 0.0, 0.0, 0, 0
    for name, (build, first, stride) in scenes().items():
        checks = [one(pin, world, p) for world, p in problems(build, first, stride, each, MOST)]
        total += len(checks)
        errors = {s: np.array([f["error"][s] for f in checks]) for s in checks[0]["error"]}
        forces = [f["forces"] for f in checks if f["forces"] is not None]
        worst = max(worst, errors["auto"].max(), errors["newton"].max())
        different, unique = max([different, *forces]), unique + len(forces)
        cells = [f"{np.mean(e <= LAWS):.1%}, {e.max():.0e}" for e in errors.values()]
        rows.append(
            [name, str(len(checks)), *cells, str(len(forces)), f"{max(forces, default=0):.0e}"]
        )
    head = ["problems of", "", *errors, "unique", "forces differ by"]
    result.extra.append((head, rows))
    result.claims += [
        Claim(f"{total} problems, auto and newton: largest error [m/s]", worst, LAWS),
        Claim(f"{unique} with unique forces: they differ by, of the largest", different, UNIQUE),
    ]
    result.notes += [
        f"share of problems solved to {LAWS:g} m/s, and the largest error, which is computed alike "
        "for all: what solving any row again would change",
        f"up to {MOST} contacts, from no impulses. Ours with a tolerance of {TOLERANCE:g} m/s; "
        + ", ".join(f"{n} with {i} iterations" for n, i in ITERATIONS.items()),
        "unique: no row depends on others, and an oracle has solved the problem. With friction a "
        "problem may even then have several solutions",
    ]


def one(pin, world: World, problem: ContactProblem) -> dict:
    """Return the error of each solver [m/s], and the relative error of hrpsim's forces."""
    impulses, error = {}, {}
    for solver in ("auto", "newton", "direct"):
        prepared = Prepared(world, solver)
        impulses[solver], _ = prepared.solve(TOLERANCE)
        error[solver] = prepared.problem().error(impulses[solver])
    forces = None
    if pin is not None:
        for solver, iterations in ITERATIONS.items():
            l, _ = PinocchioContacts(pin, problem, solver).solve(EXACT, iterations)
            error[solver] = problem.error(l)
            if error[solver] <= LAWS and forces is None and problem.is_independent():
                size = max(np.abs(l).max(), 1e-12)
                forces = float(np.abs(l - impulses["newton"]).max() / size)
    return {"error": error, "forces": forces}


# -- error against time ---------------------------------------------------------------------------


def curve_scenes() -> dict[str, tuple[Callable[[], World], int]]:
    """Return six scenes, each with the index of the step whose contact problem is solved.

    Pinocchio's PGS crashes on more than about 300 contacts.
    """
    heavy = tower("", [1.0, 1.0, 1.0, 1.0, 1000.0])
    return {
        "30 cubes fall": (lambda: world_of(falling(30), "auto"), 300),
        "100 cubes fall": (lambda: world_of(falling(100), "auto"), 250),
        "tower of 20": (lambda: world_of(tower("", [1.0] * 20), "auto"), 5),
        "1000 times heavier on top": (lambda: world_of(heavy, "auto"), 5),
        "arch of 15 stones": (arch, 5),
        "30 boxes in a bin": (lambda: HrpsimBin(bin_scene.boxes(30), False).world, 400),
    }


def curves(quick: bool) -> list[list[str]]:
    """Return (scene, solver, time [us], error [m/s]) for every solver at every effort."""
    pin, rows = pinocchio_module(), []
    for name, (build, step) in list(curve_scenes().items())[: 1 if quick else None]:
        world = build()
        world.step(step)
        problem = Prepared(world, "auto").problem()
        for solver, error, seconds in efforts(pin, world, problem):
            rows.append([name, solver, f"{1e6 * seconds:.1f}", f"{error:.1e}"])
    return rows


def efforts(pin, world: World, problem: ContactProblem):
    """Yield (solver, error [m/s], time [s]) for each solver, from few iterations to many."""
    every = {
        "iterative": [(1e-14, count) for count in SWEEPS],
        "auto": [(tolerance,) for tolerance in TOLERANCES],
        "newton": [(tolerance,) for tolerance in TOLERANCES],
        "direct": [(TOLERANCE,)],
    }
    for solver, tries in every.items():
        prepared = Prepared(world, solver)
        own = prepared.problem()  # with a direct solution, contacts may have more of their points
        for effort in tries:
            yield NAMES.get(solver, solver), *best(own, prepared.solve, *effort)
    if pin is None:
        return
    for solver in (ADMM, PGS):
        peer = PinocchioContacts(pin, problem, solver)
        for count in SWEEPS[:MOST_EFFORTS]:
            yield solver, *best(problem, peer.solve, 1e-14, count)


def best(problem: ContactProblem, solve, *effort) -> tuple[float, float]:
    """Return error and time of a solution. A short time is the minimum of three measurements."""
    impulses, seconds = solve(*effort)
    if seconds < SHORT:
        seconds = min(seconds, *(solve(*effort)[1] for _ in range(2)))
    return problem.error(impulses), seconds


def draw(result: CaseResult, figure) -> None:
    """Draw error against time, one plot for each scene."""
    rows = result.extra[-1][1]
    names = list(dict.fromkeys(row[0] for row in rows))
    places = figure.subplots(2 if len(names) > 3 else 1, min(len(names), 3), sharey=True)
    for axes, name in zip(np.ravel(places), names):
        for solver, style in CURVES.items():
            points = [row for row in rows if row[:2] == [name, solver]]
            x, y = ([float(row[k]) for row in points] for k in (2, 3))
            axes.plot(x, np.maximum(y, 1e-16), style, ms=4, lw=1.0, label=solver)
        axes.axhline(DEFAULT, color="0.5", lw=0.8, ls=":")
        axes.set(xscale="log", yscale="log", xlabel="time [us]", title=name)
        axes.grid(alpha=0.3, lw=0.5)
    first = np.ravel(places)[0]
    first.set_ylabel("error of the laws [m/s]")
    first.text(0.99, DEFAULT, "tolerance", transform=first.get_yaxis_transform(), **_LABEL)
    first.figure.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=6)


CASE = Case("Contact problems beside Pinocchio's solvers", run, draw)


def main() -> None:
    """Compare the problems of all scenes, and draw the curves if requested."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=COUNT, help="problems to compare")
    parser.add_argument("--figure", type=Path, help="draw error against time to this file")
    options = parser.parse_args()
    result = CaseResult("oracles", CASE.title)
    if options.count:
        compare(result, options.count)
    if options.figure:
        from matplotlib.figure import Figure

        result.extra.append((["one problem", "solver", "us", "error [m/s]"], curves(False)))
        figure = Figure(figsize=(11.0, 6.5), layout="constrained")
        draw(result, figure)
        figure.savefig(options.figure, dpi=110)
    for head, rows in result.extra:
        print("\t".join(head), *("\t".join(row) for row in rows), sep="\n")
    for claim in result.claims:
        print(f"{claim.text}: {claim.value:.1e}, at most {claim.bound:g}")


if __name__ == "__main__":
    main()
