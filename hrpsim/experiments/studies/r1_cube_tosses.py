# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""R1: a real cube that is tossed onto a table, in hrpsim and in MuJoCo, each fitted to it.

Each toss is simulated from its first measured state and compared frame by frame. Parameters are
fitted to three quarters of the tosses; errors are those of the others, each held out once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hrpsim.experiments.framework import fitting
from hrpsim.experiments.framework.engines import against_mujoco
from hrpsim.experiments.framework.experiment import Experiment, Options, Result
from hrpsim.experiments.framework.fitting import Contestant, Parameter
from hrpsim.experiments.framework.measurements import measurements
from hrpsim.experiments.framework.targets import at_most
from hrpsim.experiments.scenes import cube_tosses as scene
from hrpsim.experiments.studies.fitted import TOSSES

SOURCE = "cube_tosses.npz, from github.com/DAIRLab/contact-nets"
FOLDS = 4
KINDS = (
    ("position, mean over the frames", "% of width"),
    ("rotation, mean over the frames", "deg"),
    ("share that comes to lie on the measured face", ""),
)
_COMMON = {
    "friction": Parameter(0.05, 0.4),
    "inertia": Parameter(6e-4, 1.2e-3),
    "height": Parameter(-4e-3, 1e-3),
}
_PARAMETERS = {
    "rigid": {**_COMMON, "restitution": Parameter(0.0, 0.4)},
    "compliant": {
        **_COMMON,
        "compliance": Parameter(1e-6, 1e-2, logarithmic=True),
        "damping_time": Parameter(3e-4, 5e-2, logarithmic=True),
    },
    "mujoco": {
        **_COMMON,
        "time_constant": Parameter(2e-3, 5e-2, logarithmic=True),
        "damping_ratio": Parameter(0.05, 2.0, logarithmic=True),
        "impedance_ratio": Parameter(1.0, 100.0, logarithmic=True),
    },
}
_KNOWN = scene.IDENTIFIED
_STARTS = {
    "rigid": _KNOWN,
    "compliant": {**_KNOWN, "compliance": 3e-5, "damping_time": 3e-3},
    "mujoco": {**_KNOWN, "time_constant": 4e-3, "damping_ratio": 1.0, "impedance_ratio": 1.0},
}


def cubes(mujoco=None) -> dict[str, Callable[..., Any]]:
    """Return what makes hrpsim's cube with rigid contact and with compliant contact, and MuJoCo's.

    Their parameters are keywords.
    """
    ours: dict[str, Callable[..., Any]] = {"rigid": scene.Cube, "compliant": scene.Cube}
    return ours if mujoco is None else {**ours, "mujoco": partial(scene.MujocoCube, mujoco)}


def contestants(tosses: Sequence[np.ndarray], mujoco=None) -> list[Contestant]:
    """Return the cubes with the parameters that are fitted, their bounds and starts."""

    def simulated(make, values, trials):
        chosen = [tosses[trial] for trial in trials]
        return scene.errors(make(**values).follow(chosen), chosen)

    return [
        Contestant(
            name, partial(simulated, make), lambda e: e[:, 0], _PARAMETERS[name], _STARTS[name]
        )
        for name, make in cubes(mujoco).items()
    ]


def run(options: Options) -> Result:
    """Evaluate each contestant on held-out tosses, and report what the data decide."""
    (path,) = measurements(options.data, ("cube_tosses.npz",), SOURCE)
    tosses = scene.read_tosses(path)[: 32 if options.quick else None]
    mujoco, result = against_mujoco("elliptic cone, solref and impratio fitted")
    entrants = contestants(tosses, mujoco)
    found = fitting.values_of(entrants, TOSSES, options, len(tosses), FOLDS, result)
    judged = {e.name: e.held_out_errors(found[e.name], len(tosses)) for e in entrants}
    _comparison_rows(result, judged)
    _start_rows(result, entrants[0], found["rigid"], tosses)
    if not options.quick:
        fitting.add_profiles(result, entrants[:2], found, len(tosses))
    growth = {name: _growth(make, found[name], tosses) for name, make in cubes(mujoco).items()}
    result.data["growth"] = growth
    result.notes += [
        f"{len(tosses)} tosses, {sum(map(len, tosses))} frames at {scene.FRAME_RATE:g} Hz, each "
        f"toss from its first measured state; {FOLDS} folds; the mean position error is what is "
        "fitted",
        "on all 513 tosses with known figures, position: bullet 13.3 %, MuJoCo fitted 12.8, "
        "Drake 12.7",
    ]
    return result


def _comparison_rows(result: Result, judged: dict[str, np.ndarray]) -> None:
    """Errors on tosses that the fit has not seen, and which differences are more than chance."""
    theirs = judged.get("mujoco")
    for name in ("rigid", "compliant"):
        for kind, (what, unit) in enumerate(KINDS):
            peer = None if theirs is None else float(theirs[:, kind].mean())
            ours = float(judged[name][:, kind].mean())
            result.add(f"{name} contact: {what}", unit, ours, peer=peer)
    for name, other in (("rigid", "mujoco"), ("compliant", "mujoco"), ("compliant", "rigid")):
        if other in judged:
            what = f"position, {name} less {other}, toss by toss"
            bound = at_most(0.0) if (name, other) == ("rigid", "mujoco") else None
            errors_of = judged[name][:, 0], judged[other][:, 0]
            fitting.add_difference(result, what, "% of width", *errors_of, bound)


def _start_rows(result: Result, rigid: Contestant, found, tosses) -> None:
    """What the authors' numbers give, and what of the error is that of the first state."""
    given = rigid.errors(scene.IDENTIFIED, range(len(tosses)))[:, 0].mean()
    what = "rigid contact, the numbers that the authors identified: position"
    result.add(what, "% of width", float(given))
    begun = [scene.started_by_flight(toss) for toss in tosses]
    better = np.empty(len(tosses))
    for values, out in zip(found, fitting.held_out(len(tosses), FOLDS)):
        path = scene.Cube(**values).follow([begun[k] for k in out])
        better[out] = scene.errors(path, [tosses[k] for k in out])[:, 0]
    what = "rigid contact, first state fitted to the whole flight: position"
    result.add(what, "% of width", float(better.mean()))


def _growth(make, found, tosses, longest: int = 75) -> np.ndarray:
    """Return the mean position error by frames since the first contact (longest,) [% of width]."""
    away = np.full((len(tosses), longest), np.nan)
    for values, out in zip(found, fitting.held_out(len(tosses), FOLDS)):
        for k, path in zip(out, make(**values).follow([tosses[k] for k in out])):
            begin = scene.flight(tosses[k])
            one = np.linalg.norm(path[begin:, :3] - tosses[k][begin:, :3], axis=1)[:longest]
            away[k, : len(one)] = 100.0 * one / scene.WIDTH
    return np.nanmean(away, axis=0)


def draw(result: Result, figure) -> None:
    """Errors by time since the first contact on the left, what the data decide on the right."""
    left, right = figure.subplots(1, 2)
    for name, growth in result.data["growth"].items():
        left.plot(np.arange(len(growth)) / scene.FRAME_RATE, growth, label=name)
    left.set(
        title="Tosses that the fit has not seen",
        xlabel="time since the first contact [s]",
        ylabel="position error [% of width]",
    )
    left.legend(fontsize=8, frameon=False)
    fitting.draw_profiles(right, result, "extra position error [% of width]", (-0.5, 8.0))


EXPERIMENT = Experiment(
    "R1", "A real cube, tossed", "Pfrommer, Halm and Posa, ContactNets (2020)", run, draw
)
