# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write the tables of docs/simbenchmark.md between the page's marks, from the store."""

from __future__ import annotations

from pathlib import Path

from evidence.benchmarks.results import Claim
from evidence.benchmarks.simbenchmark import published
from evidence.benchmarks.simbenchmark.engines import KINDS, OURS
from evidence.benchmarks.simbenchmark.errors import cell, stood, whole
from evidence.benchmarks.simbenchmark.plan import (
    ERROR_STEPS,
    KAPLA_STEP,
    SCENES,
    TIMED_ENGINES,
    time_tasks,
)
from evidence.benchmarks.simbenchmark.scenes import LOOSE
from evidence.benchmarks.simbenchmark.store import Store
from evidence.benchmarks.simbenchmark.times import mean, ratio
from evidence.benchmarks.tables import number, table

PATH = Path(__file__).resolve().parents[3] / "docs" / "simbenchmark.md"
BEGIN = "<!-- measured: written by `python -m evidence.benchmarks simbenchmark` -->"
END = "<!-- end of what is measured -->"
TIED = 1.1  # ratio to the best error
REFERENCE = "mujoco 4"
_UNITS = {"anymal momentum": "kg2 m2/s2", "anymal energy": "J2"}


def write(store: Store, path: Path = PATH) -> None:
    """Replace the text between the marks of a page. Raises ValueError if a mark is missing."""
    page = path.read_text(encoding="utf-8")
    before, found_begin, following = page.partition(BEGIN)
    _, found_end, after = following.partition(END)
    if not (found_begin and found_end):
        raise ValueError(f"{path} has no lines {BEGIN!r} and {END!r}")
    lines = "\n".join(tables(store)).rstrip()
    path.write_text(f"{before}{BEGIN}\n\n{lines}\n\n{END}{after}", encoding="utf-8")


def tables(store: Store) -> list[str]:
    """Return all tables as lines of Markdown."""
    lines, claims = [], []
    for scene in ERROR_STEPS:
        if scene in store.errors:
            part = _kapla(store) if scene == "kapla" else _errors(store, scene)
            lines += [*part[0], ""]
            claims += part[1]
    for task in time_tasks(SCENES):
        claims += _time_claims(store, task)
    lines += [*_standing(store), "", *_whole_runs(store), ""]
    lines += ["### Aims", "", *_claim_table(claims), "", *_settings(store)]
    return lines


def _errors(store: Store, scene: str):
    """Return the table of a scene's errors, and whether hrpsim is first or tied."""
    steps = ERROR_STEPS[scene]
    unit = LOOSE[scene]().unit if scene in LOOSE else _UNITS[scene]
    rows = []
    for name in KINDS:
        errors = [store.error(scene, step, name) for step in steps]
        if any(errors):
            rows.append([name, *map(cell, errors)])
    for engine in published.ENGINES:
        cells = [_published_cell(scene, engine, step) for step in steps]
        if set(cells) != {"-"}:
            rows.append([f"{engine}, published", *cells])
    claims = [claim for step in steps for claim in _error_claim(store, scene, step)]
    head = [f"error [{unit}]", *(f"{1e3 * step:g} ms" for step in steps)]
    return [f"### {scene}: error", "", *table(head, rows)], claims


def _published_cell(scene: str, engine: str, step: float) -> str:
    value = published.error(scene, engine, step)
    return "-" if value is None else number(value)


def _error_claim(store: Store, scene: str, step: float) -> list[Claim]:
    """Return the claim that hrpsim's better variant is first or tied, among complete runs."""
    mine, others = [], []
    for name in KINDS:
        record = store.error(scene, step, name)
        if record is not None and whole(record):
            (mine if name.startswith(OURS) else others).append((record["error"], name))
    for engine in published.ENGINES:
        value = published.error(scene, engine, step)
        if value is not None:
            others.append((value, f"{engine}, published"))
    if not mine or not others:
        return []
    best, who = min(others)
    text = f"{scene}, {1e3 * step:g} ms: error of hrpsim / error of {who}"
    return [Claim(text, min(mine)[0] / max(best, 1e-300), TIED)]


def _kapla(store: Store):
    rows = []
    for name in KINDS:
        record = store.error("kapla", KAPLA_STEP, name)
        if record is not None:
            rows.append([name, stood(record)])
    for name, text in published.KAPLA.items():
        rows.append([f"{name}, published", f"falls after steps: {text}"])
    claims = []
    own = store.error("kapla", KAPLA_STEP, OURS)
    if own is not None and "unable" not in own:
        text = "kapla: time that the tower stands in hrpsim [s]"
        claims.append(Claim(text, own["reached"], own["seconds"], at_least=True))
    return ["### kapla: 102 blocks at 10 ms", "", *table(["", "stands"], rows)], claims


def _standing(store: Store) -> list[str]:
    """Return the table of times of standing robots."""
    rows = []
    for task in time_tasks(SCENES):
        if not task.whole and task.name in store.times:
            rows.append(_time_row(store.times[task.name], task.name))
            if task.count == 1:
                rows.append(_published_row(task.name, published.STEP_MICROSECONDS[task.scene]))
    return ["### Standing robots: time of a step", "", *_time_table(rows)]


def _whole_runs(store: Store) -> list[str]:
    """Return the table of mean times of a step over complete scenes."""
    rows = []
    for task in time_tasks(SCENES):
        if task.whole and task.name in store.times:
            rows.append(_time_row(store.times[task.name], task.name))
            steps = LOOSE[task.scene]().seconds / task.time_step
            seconds = {e: published.seconds(task.scene, e) for e in published.ENGINES}
            values = {e: 1e6 * s / steps for e, s in seconds.items() if s is not None}
            rows.append(_published_row(task.name, values))
    return ["### Whole scenes at 1 ms: mean time of a step", "", *_time_table(rows)]


_PUBLISHED = [f"{engine}, published" for engine in published.ENGINES]


def _time_table(rows) -> list[str]:
    measured = [row for row in rows if row[0] == "measured"]
    others = [row for row in rows if row[0] == "published"]
    head = ["[us] (ratio to hrpsim)", *TIMED_ENGINES, "date", "machine"]
    lines = table(head, [row[1] for row in measured])
    if others:
        lines += ["", *table([f"[us], {published.MACHINE}", *_PUBLISHED], [r[1] for r in others])]
    return lines


def _time_row(record: dict, name: str):
    cells = [name]
    for engine in TIMED_ENGINES:
        times = record["engines"].get(engine)
        if times is None:
            cells.append("-" if engine in record["unable"] else "")
            continue
        text = number(1e6 * mean(times))
        if engine != OURS and OURS in record["engines"]:
            text += f" ({number(ratio(record, engine, OURS))})"
        if times["part"] < 1.0:
            text += f", first {100 * times['part']:.0f} %"
        cells.append(text)
    loads = " to ".join(f"{load:.1f}" for load in record["load_average"])
    state = f"busy: {record['busy']}" if record["busy"] else "quiet"
    return "measured", [*cells, record["date"], f"{state}; load {loads}"]


def _published_row(name: str, values: dict):
    return "published", [name, *(number(values.get(e, "-")) for e in published.ENGINES)]


def _time_claims(store: Store, task) -> list[Claim]:
    record = store.times.get(task.name)
    value = ratio(record, OURS, REFERENCE) if record else None
    if value is None:
        return []
    bound = published.RATIOS.get(task.scene, 1.0) if task.count == 1 else 1.0
    busy = ", on a busy machine" if record["busy"] else ""
    return [Claim(f"{task.name}: step of hrpsim / step of {REFERENCE}{busy}", value, bound)]


def _claim_table(claims: list[Claim]) -> list[str]:
    rows = []
    for claim in claims:
        sign = ">=" if claim.at_least else "<="
        met = "met" if claim.met else "**missed**"
        rows.append([claim.text, number(float(claim.value)), f"{sign} {claim.bound:g}", met])
    return table(["aim", "measured", "bound", ""], rows)


def _settings(store: Store) -> list[str]:
    """Return the table of the settings of each engine, with the scenes that use each setting."""
    scenes_of: dict[str, dict[str, dict[str, None]]] = {}
    records = [(scene, errors) for scene, by in store.errors.items() for errors in by.values()]
    records += [(task, record["engines"]) for task, record in store.times.items()]
    for task, by_engine in records:
        for name, values in by_engine.items():
            if "settings" in values:
                scenes_of.setdefault(name, {}).setdefault(values["settings"], {})[task] = None
    rows = []
    for name in (kind for kind in KINDS if kind in scenes_of):
        for text, scenes in scenes_of[name].items():
            rows.append([name, text, "all" if len(scenes_of[name]) == 1 else ", ".join(scenes)])
    return ["### Settings", "", *table(["engine", "settings", "scenes"], rows)]
