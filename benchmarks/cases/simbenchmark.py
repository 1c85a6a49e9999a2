"""The scenes of SimBenchmark beside other engines: errors at many step sizes, times of a step.

Everything that the suite measures, in one run: `python -m benchmarks simbenchmark [--quick]`.
"""

from __future__ import annotations

import numpy as np

from benchmarks.registry import Case
from benchmarks.results import CaseResult, Claim, median_ratio
from benchmarks.simbenchmark import published
from benchmarks.simbenchmark.engines import KINDS, OURS, installed
from benchmarks.simbenchmark.host import Child, ride
from benchmarks.simbenchmark.scenes import LOOSE, STEPS
from benchmarks.tables import number
from benchmarks.timing import Effort

ERROR_SCENES = ("rolling", "bouncing", "666", "elastic 666", "anymal momentum", "anymal energy")
ROBOT_STEPS = (4e-4, 1e-3, 4e-3, 1e-2)
TIMED = ("rolling", "bouncing", "666", "elastic 666")
STANDING = {"anymal pd": 5e-3, "atlas pd": 5e-4}
COUNTS = (1, 4, 9, 25, 100, 225)
REFERENCES = ("mujoco 4", "mujoco 3")
LIMIT, QUICK_LIMIT = 60.0, 1.5  # [s] of computing for one error
KAPLA_LIMIT = 420.0
_TIED = 1.1  # times the best error


def run(result: CaseResult, effort: Effort) -> None:
    """Measure errors, then Kapla, then times in turn."""
    children = {name: Child(name) for name in installed()}
    try:
        for scene in ERROR_SCENES:
            _errors(result, children, scene, effort)
        _kapla(result, children, effort)
        for scene in TIMED:
            _times(result, children, scene, 1e-3, 1, effort)
        for scene, time_step in STANDING.items():
            counts = (1,) if effort.quick or scene == "atlas pd" else COUNTS
            for count in counts:
                _times(result, children, scene, time_step, count, effort)
    finally:
        for child in children.values():
            child.end()
    missing = [name for name in KINDS if name not in children]
    result.notes += [
        "errors as the suite takes them (means over the samples at the start of every step): mean "
        "squared velocity error of box and ball [m2/s2], squared energy error [J2], sum of squared "
        "penetrations [m2], squared momentum error [kg2 m2/s2]",
        '"published" is what SimBenchmark\'s engines of 2018 to 2021 did on an i7-7700HQ: the best '
        "of each engine's settings without error reduction; MuJoCo's are those of RK4 for robots",
        "(to .. s): a run that its limit of computing time cut short; its error is that far",
        "ANYmal is that of example-robot-data; in Atlas's place stands its simple_humanoid, of 35 "
        "degrees of freedom, with Atlas's gains",
        "mujoco with Newton, elliptic cones, implicitfast, default contacts; elastic contacts are "
        "its springs without damping that push for ten steps; bullet and dart: a call a step, PD "
        "of bullet from Python",
    ]
    if missing:
        result.notes.append(f"not installed: {', '.join(missing)}")


def _errors(result: CaseResult, children, scene: str, effort: Effort) -> None:
    """Add the table of a scene's errors, and whether ours is first or tied."""
    steps = ROBOT_STEPS if scene.startswith("anymal") else STEPS
    if effort.quick:
        steps = (1e-3, 1e-2)
    columns = list(children) + [f"{e}, published" for e in published.ENGINES]
    rows = []
    for time_step in steps:
        cells, best, mine = [f"{1e3 * time_step:g} ms"], np.inf, np.inf
        for name, child in children.items():
            limit = QUICK_LIMIT if effort.quick else LIMIT
            found = child.ask(
                limit + 300.0, task="error", scene=scene, time_step=time_step, limit=limit
            )
            cells.append(_error_cell(found))
            whole = "unable" not in found and found["reached"] >= found["seconds"] - time_step
            if name.startswith(OURS):
                mine = min(mine, found["error"] if "unable" not in found else np.inf)
            elif whole:
                best = min(best, found["error"])
        for engine in published.ENGINES:
            value = published.error(scene, engine, time_step)
            cells.append("-" if value is None else number(value))
            best = min(best, np.inf if value is None else value)
        rows.append(cells)
        text = f"{scene}, {1e3 * time_step:g} ms: error of ours over the best of all others"
        result.claims.append(Claim(text, mine / max(best, 1e-26), _TIED))
        print(f"simbenchmark: {scene} {cells}", flush=True)
    result.extra.append(([f"{scene}: error", *columns], rows))


def _error_cell(found: dict) -> str:
    if "unable" in found:
        return f"- ({found['unable'][:40]})"
    if found["reached"] < 0.999 * found["seconds"]:
        return f"{number(found['error'])} (to {found['reached']:.2g} s)"
    return number(found["error"])


def _kapla(result: CaseResult, children, effort: Effort) -> None:
    """Add when the tower falls in each engine."""
    rows = []
    limit = 5.0 * QUICK_LIMIT if effort.quick else KAPLA_LIMIT
    for name, child in children.items():
        found = child.ask(limit + 300.0, task="error", scene="kapla", time_step=1e-2, limit=limit)
        rows.append([name, _stood(found, limit), found.get("settings", "-")])
        if name == OURS and not effort.quick:
            result.claims.append(
                Claim("kapla: seconds that ours stands", found["reached"], 600.0, at_least=True)
            )
        print(f"simbenchmark: kapla {rows[-1]}", flush=True)
    steps = published.KAPLA.items()
    rows += [[f"{name}, published", f"falls after steps: {text}", ""] for name, text in steps]
    result.extra.append((["kapla, 10 ms", "stands", "settings"], rows))


def _stood(found: dict, limit: float) -> str:
    if "unable" in found:
        return f"- ({found['unable'][:40]})"
    if found["reached"] >= found["seconds"]:
        return "600 s"
    if found["fell"]:
        return f"falls after {found['reached']:.4g} s"
    return f"at least {found['reached']:.3g} s, all that {limit:g} s of computing allow"


def _times(result: CaseResult, children, scene: str, time_step: float, count: int, effort) -> None:
    """Time a step in all engines in turn."""
    quantity = scene if count == 1 else f"{scene}, {count} robots"
    order = [name for name in (*REFERENCES, *children) if name in children]
    subjects, settings = [], {}
    for name in dict.fromkeys(order):
        subject, text = ride(children[name], scene, time_step, count, name.startswith(OURS))
        if subject is None:
            result.notes.append(f"{quantity}, {name}: {text}")
        else:
            subjects.append(subject)
            settings[name] = {"settings": text}
    if scene in LOOSE:
        times = _whole_runs(result, quantity, subjects, effort, settings)
    else:
        times = result.measure(quantity, subjects, effort, settings)
    reference = REFERENCES[0]
    if OURS in times and reference in times:
        ratio = median_ratio(times, OURS, reference)
        bound = published.RATIOS.get(scene, 1.0) if count == 1 else 1.0
        result.claims.append(Claim(f"{quantity}: step of ours / {reference}", ratio, bound))
    print(f"simbenchmark: {quantity}", {n: number(1e6 * np.median(t)) for n, t in times.items()})
    if count == 1:
        _published_times(result, scene, LOOSE[scene]().seconds if scene in LOOSE else None)


def _whole_runs(result: CaseResult, quantity: str, subjects, effort: Effort, settings) -> dict:
    """Time the scene from its start to its end, for what happens there changes; return the times.

    --quick looks at the first fiftieth only.
    """
    rounds, share = (2, 0.02) if effort.quick else (3, 1.0)
    limit = 2.0 * QUICK_LIMIT if effort.quick else LIMIT
    taking_part = []
    for subject in subjects:
        steps = int(share * subject.most)
        if subject.run(max(steps // 50, 1)) * steps > limit:
            result.notes.append(f"{quantity}, {subject.name}: a run takes over {limit:g} s")
        else:
            taking_part.append((subject, steps))
    times = {subject.name: np.zeros(rounds) for subject, _ in taking_part}
    for k in range(rounds):
        for subject, steps in taking_part:
            times[subject.name][k] = subject.run(steps)
    reference = next((s.name for s, _ in taking_part if not s.ours), OURS)
    ours = {subject.name: subject.ours for subject, _ in taking_part}
    result.note(quantity, times, reference, ours, settings)
    return times


def _published_times(result: CaseResult, scene: str, seconds: float | None) -> None:
    """Add the published times of a step beside MuJoCo's of the same machine."""
    if seconds is None:
        values = published.STEP_MICROSECONDS[scene]
    else:
        steps = seconds / 1e-3
        found = {e: published.seconds(scene, e) for e in published.ENGINES}
        values = {e: 1e6 * s / steps for e, s in found.items() if s is not None}
    cells = [number(values[e]) if e in values else "-" for e in published.ENGINES]
    head = [f"{scene}: us a step", *(f"{e}, published" for e in published.ENGINES)]
    result.extra.append((head, [[published.MACHINE, *cells]]))


CASE = Case("The scenes of SimBenchmark", run)
