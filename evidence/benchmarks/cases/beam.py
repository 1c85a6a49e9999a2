# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The beam of 39 locked boxes of E12, as a cantilever for 2 s in steps of 1/60 s."""

from __future__ import annotations

from evidence.benchmarks.engines.dart_scenes import dart_beam, dart_module
from evidence.benchmarks.figures import draw_bars
from evidence.benchmarks.results import Case, CaseResult, Claim, median_ratio
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.framework.engines import mujoco_module
from evidence.experiments.scenes import beam

LOAD = "cantilever"
OURS, SPRINGS = "hrpsim direct", "hrpsim iterative, 120 sweeps, soft"


class Ride:
    """A beam in one engine. make() returns new functions (step(n), positions())."""

    def __init__(self, name: str, make) -> None:
        self.name, self.make = name, make
        self.begin()

    def begin(self) -> None:
        """Make a new beam in the initial state."""
        self.step, self.positions = self.make()

    def subject(self) -> Subject:
        """Return the steps of the beam as a subject."""
        is_ours = self.name.startswith("hrpsim")
        return Subject(self.name, self._ride, is_ours, reset=self.begin, most=1)

    def _ride(self, count: int) -> None:
        self.step(count * beam.STEPS)

    def exact(self) -> dict:
        """Run the beam. Return the source document's distance error, and the sag of the tip."""
        self.begin()
        self.step(beam.STEPS)
        places = self.positions()
        return {
            "sum of |d_i - 0.1| [m]": beam.distance_error(places),
            "tip sag [m]": abs(beam.bend(LOAD, places)),
        }


def _hrpsim_ride(**options):
    world = beam.our_beam(LOAD, **options)
    start = world.snapshot()
    world.step()

    def make():
        world.restore(start)
        return world.step, lambda: beam.our_positions(world)

    return make


def _mujoco(mujoco, solver: str, iterations: int):
    def make():
        model, data = beam.mujoco_beam(mujoco, LOAD, solver, iterations)
        return (
            lambda n: mujoco.mj_step(model, data, nstep=n),
            lambda: data.qpos.reshape(-1, 7)[:, :3].copy(),
        )

    return make


def _dart(dart):
    def make():
        gravity = (0.0, 0.0, -beam.GRAVITY)
        world, positions = dart_beam(
            dart, beam.EDGE, beam.MASS, beam.TIME_STEP, beam.centres(), gravity
        )

        def step(count) -> None:
            for _ in range(count):
                world.step()

        return step, positions

    return make


def run(result: CaseResult, effort: Effort) -> None:
    """Time the runs of all engines in turn."""
    rides = [
        Ride(OURS, _hrpsim_ride()),
        Ride(SPRINGS, _hrpsim_ride(solver="iterative", spring=beam.SOURCE_SPRING, sweep_limit=120)),
    ]
    if (mujoco := mujoco_module()) is not None:
        rides.append(Ride("mujoco Newton, stiffest", _mujoco(mujoco, "Newton", 100)))
        if not effort.quick:
            rides.append(Ride("mujoco PGS, 500", _mujoco(mujoco, "PGS", 500)))
    if (dart := dart_module()) is not None:
        rides.append(Ride("dart welds", _dart(dart)))
    exact = {ride.name: ride.exact() for ride in rides}
    times = result.measure("2 s", [ride.subject() for ride in rides], effort, exact)
    for name in ("mujoco Newton, stiffest", "dart welds"):
        if name in times:
            ratio = median_ratio(times, name, OURS)
            result.claims.append(Claim(f"{name} / hrpsim", ratio, 1.0, at_least=True))
    result.notes += [
        "39 cubes of 0.1 m and 1.25 kg. Each is locked to the next, the first to the world. In "
        "a rigid beam both errors are 0",
        "mujoco's welds are as stiff as stays finite. dart's welds have the default error "
        "reduction",
    ]


def draw(result: CaseResult, figure) -> None:
    """Draw the times as bars on a logarithmic axis."""
    axes = figure.subplots()
    draw_bars(result, axes, ["2 s"])
    axes.set(yscale="log", ylim=(1.0, None))


CASE = Case("A beam of 39 locked boxes", run, draw, unit="ms", scale=1e3)
