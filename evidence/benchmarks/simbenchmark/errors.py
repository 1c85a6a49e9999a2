# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The part `errors` of the suite, with one engine in one process at a time.

Each result is stored immediately.
"""

from __future__ import annotations

import datetime
import math

from evidence.benchmarks.simbenchmark.host import Child
from evidence.benchmarks.simbenchmark.plan import ErrorTask
from evidence.benchmarks.simbenchmark.store import Store
from evidence.benchmarks.tables import number

# ratio of a request's wall time to its processor time on a busy machine, and time for imports,
# compilation and building a scene [s]
_PATIENCE, _START = 6.0, 300.0


def run_errors(tasks: list[ErrorTask], store: Store, anew: bool = False) -> None:
    """Measure the errors that are missing in the store, or all errors if `anew`."""
    child = None
    for task in tasks:
        if not anew and store.error(task.scene, task.time_step, task.engine) is not None:
            continue
        if child is None or child.name != task.engine:
            if child is not None:
                child.end()
            child = Child(task.engine)
        measurement = child.ask(
            _PATIENCE * task.limit + _START,
            task="error",
            scene=task.scene,
            time_step=task.time_step,
            limit=task.limit,
        )
        store.add_error(task.scene, task.time_step, task.engine, record(measurement, task))
        step = f"{1e3 * task.time_step:g} ms"
        print(f"{task.scene}, {step}, {task.engine}: {cell(measurement)}", flush=True)
    if child is not None:
        child.end()


def record(found: dict, task: ErrorTask) -> dict:
    """Return a measurement for the store, with limit and date.

    The error is None if the state diverged.
    """
    today = datetime.date.today().isoformat()
    stored = {**found, "limit": task.limit, "date": today}
    if not math.isfinite(stored.get("error", 0.0)):
        stored["error"] = None
    return stored


def whole(found: dict) -> bool:
    """Return whether a run reached the end of the scene with a finite error."""
    if "unable" in found or found["error"] is None:
        return False
    return found["reached"] >= 0.999 * found["seconds"]


def cell(found: dict | None) -> str:
    """Format an error for a table. If the run stopped early, the text has the reached time."""
    if found is None:
        return ""
    if "unable" in found:
        return f"- ({found['unable'][:40]})"
    if found["error"] is None or not math.isfinite(found["error"]):
        return f"lost at {found['reached']:.3g} s"
    if not whole(found):
        return f"{number(found['error'])} (to {found['reached']:.2g} s)"
    return number(found["error"])


def stood(found: dict | None) -> str:
    """Format the time for which the Kapla tower stood."""
    if found is None:
        return ""
    if "unable" in found:
        return f"- ({found['unable'][:40]})"
    if found["reached"] >= found["seconds"]:
        return f"{found['seconds']:g} s, all"
    if found["fell"]:
        return f"falls after {found['reached']:.4g} s"
    if found["error"] is None:
        return f"lost after {found['reached']:.4g} s"
    return f"at least {found['reached']:.3g} s, all that {found['limit']:g} s of computing allow"
