# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E12: a beam of 39 locked boxes stays rigid with the direct solver, and the cost."""

import time

import numpy as np

from evidence.experiments.framework.engines import against_mujoco
from evidence.experiments.framework.experiment import Experiment, Options, Result, Value
from evidence.experiments.framework.targets import Target, at_most, below
from evidence.experiments.scenes import beam
from evidence.experiments.scenes.beam import DenseBeam
from hrpsim import World
from hrpsim.common.errors import WorldError

SECONDS = 2.0
BOUNDS = {"at rest": 1.3e-14, "spinning": 5.0e-4, "cantilever": 1.3e-14}  # AGX; mujoco; AGX [m]
LARGEST_SAG = 9e-6  # dart's [m]
LARGEST_RATIO = 2.5  # ratio of hrpsim's direct solver to mujoco's Newton in the same turns
LARGEST_SWEEPS_RATIO = 6.0  # ratio of at most 100 000 sweeps to mujoco's PGS
LARGEST_EXPONENT = 1.05
LARGEST_DIFFERENCE = 1e-8
COUNTS = (39, 100, 400, 1600)
MANY_SWEEPS = 100_000
_OFFSET = {"textcoords": "offset points"}
AGX = {"direct": (1.29e-14, 0.064), "many": (2.14e-5, 95.101)}  # error [m], time [s]


class Ride:
    """A beam after `steps` steps: `error`, `bend` [m], processor time `seconds`, `shape` (n, 3)."""

    def __init__(self, load: str, step, positions, steps: int = beam.STEPS) -> None:
        begin = time.process_time()
        step(steps)
        self.seconds = time.process_time() - begin
        self.shape = positions()
        self.error = beam.distance_error(self.shape)
        self.bend = beam.bend(load, self.shape)


class OurBeam:
    """hrpsim's beam under a load, after a warm-up. Every run restarts the beam."""

    def __init__(self, load: str, **options) -> None:
        self.load, self.world = load, beam.our_beam(load, **options)
        self.start = self.world.snapshot()
        self.world.step()

    def ride(self, steps: int = beam.STEPS) -> Ride:
        """Simulate `steps` steps from the initial state. Return the run."""
        self.world.restore(self.start)
        return Ride(self.load, self.world.step, lambda: beam.our_positions(self.world), steps)


def mujoco_ride(mujoco, load: str, solver: str = "Newton", iterations: int = 100) -> Ride | None:
    """Simulate MuJoCo's beam. Return the run, or None without MuJoCo."""
    if mujoco is None:
        return None
    model, data = beam.mujoco_beam(mujoco, load, solver, iterations)
    return Ride(
        load,
        lambda steps: mujoco.mj_step(model, data, nstep=steps),
        lambda: data.qpos.reshape(-1, 7)[:, :3].copy(),
    )


def bend_name(load: str) -> str:
    """Return the name of the quantity that `beam.bend` measures for a load."""
    return "tip sag" if load == "cantilever" else "largest distance from a straight line"


def add_direct(result: Result, load: str, rounds: int, mujoco) -> None:
    """Add rows for rigid joints with the direct solver: shape and time, next to MuJoCo's Newton."""
    own, times, others, rides = OurBeam(load), [], [], result.data["rides"]
    for _ in range(rounds):
        rides["direct", load] = ride = own.ride()
        times.append(ride.seconds)
        rides["mujoco Newton", load] = peer = mujoco_ride(mujoco, load)
        others.append(peer.seconds if peer else None)
    case = f"{load}, direct, rigid: "
    sag, source = below(LARGEST_SAG) if load == "cantilever" else None, AGX["direct"][0]
    add_shape(result, case, load, ride, at_most(BOUNDS[load]), sag, source=source, peer=peer)
    best, median = (peer and float(f(others)) for f in (np.min, np.median))
    add, label = result.of(case), f"time to simulate {SECONDS:g} s, shortest of {rounds}"
    add(label, "s", min(times), source=AGX["direct"][1], peer=best)
    what = f"time to simulate {SECONDS:g} s, median of {rounds}"
    add(what, "s", float(np.median(times)), peer=median)
    if peer:
        ratio = float(np.median(np.array(times) / np.array(others)))
        add(f"hrpsim's time / MuJoCo's, median of {rounds} rounds", "", ratio, below(LARGEST_RATIO))


def add_shape(
    result: Result,
    case: str,
    load: str,
    ride: Ride,
    target: Target | None = None,
    sag_target: Target | None = None,
    source: Value = None,
    peer: Ride | None = None,
) -> None:
    """Add the source document's distance error, and the bending, which this error does not show."""
    add, other = result.of(case), peer and peer.error
    add("sum of |d_i - 0.1|", "m", ride.error, target, source=source, analytic=0.0, peer=other)
    add(bend_name(load), "m", ride.bend, sag_target, analytic=0.0, peer=peer and peer.bend)


def add_projected(result: Result) -> None:
    """Add rows for the spinning beam with position correction after every step."""
    ride = OurBeam("spinning", position_projection=True).ride()
    result.data["rides"]["projected", "spinning"] = ride
    case = "spinning, direct, position_projection: "
    add_shape(result, case, "spinning", ride, below(1e-10))
    result.add(f"{case}time to simulate {SECONDS:g} s", "s", ride.seconds)


def dense_beam(load: str, count: int = beam.COUNT, spring: dict | None = None) -> DenseBeam:
    """Return the beam for the dense reference, by default with the source document's springs."""
    positions = beam.centres(count)
    gravity, velocities, spins = beam.motion(load, positions)
    return DenseBeam(
        positions,
        velocities,
        spins,
        edge=beam.EDGE,
        mass=beam.MASS,
        gravity=gravity,
        clamped=load == "cantilever",
        time_step=beam.TIME_STEP,
        **(spring or beam.SOURCE_SPRING),
    )


def relative_differences(world: World, dense: DenseBeam) -> dict[str, float]:
    """Return the relative differences between hrpsim's beam and the dense reference.

    The compared quantities are displacements of the centres since the start, velocities, and
    impulses of the joints.
    """
    start = beam.centres()
    values = {
        "displacements": beam.our_positions(world) - start,
        "velocities": np.array([body.velocity for body in world.bodies.values()]),
        "impulses": world.connection_records["impulse"].ravel(),
    }
    truth = {"displacements": dense.x - start, "velocities": dense.v, "impulses": dense.impulse}
    return {
        name: float(np.abs(values[name] - truth[name]).max() / np.abs(truth[name]).max())
        for name in values
    }


def add_compliant(result: Result, steps: int) -> None:
    """Compare the beam with the source document's springs with the dense reference."""
    for load in beam.LOADS[1:]:
        own, dense = OurBeam(load, solver="direct", spring=beam.SOURCE_SPRING), dense_beam(load)
        result.data["rides"]["direct, compliant", load] = ride = own.ride(steps)
        dense.step(steps)
        case = f"{load}, direct, 1e9 N/m, damping time 2 s: "
        for name, difference in relative_differences(own.world, dense).items():
            label = f"{case}relative error of {name} after {steps} steps"
            result.add(label, "", difference, at_most(LARGEST_DIFFERENCE), analytic=0.0)
        add_shape(result, case, load, ride)


def add_iterative(result: Result, load: str, sweeps: int, mujoco) -> None:
    """Add rows for the source's springs, with up to `sweeps` sweeps of the iterative solver."""
    many, rides = sweeps == MANY_SWEEPS, result.data["rides"]
    spring = beam.SOURCE_SPRING
    beam_of_ours = OurBeam(load, solver="iterative", spring=spring, sweep_limit=sweeps)
    rides[f"{sweeps} sweeps", load] = ride = beam_of_ours.ride()
    peer = None
    if many and load == "cantilever":
        rides["mujoco PGS", load] = peer = mujoco_ride(mujoco, load, "PGS", 10_000)
    error, seconds = AGX["many"] if many else ("1e-2 .. 1e-1", "within 2")
    case = f"{load}, iterative, {sweeps} sweeps at most: "
    target = at_most(AGX["many"][0]) if many else None
    add_shape(result, case, load, ride, target, source=error, peer=peer)
    add, other = result.of(case), peer and peer.seconds
    add(f"time to simulate {SECONDS:g} s", "s", ride.seconds, source=seconds, peer=other)
    if peer:
        ratio = ride.seconds / peer.seconds
        add("hrpsim's time / MuJoCo's, PGS", "", ratio, below(LARGEST_SWEEPS_RATIO))


def add_rigid_iterative(result: Result) -> None:
    """Add rows for rigid joints with the default sweeps, which are too few for a beam."""
    try:
        error = OurBeam("cantilever", solver="iterative").ride().error
    except WorldError:
        error = "diverges"
    result.add("cantilever, iterative, rigid, 120 sweeps: sum of |d_i - 0.1|", "m", error)


def add_growth(result: Result, counts: tuple[int, ...], rounds: int) -> None:
    """Add the time of a direct step for longer cantilevers, and the exponent of a power law.

    The exponent is the median over rounds, which is robust against changes of the processor's
    speed.
    """
    steps = 20
    beams = [OurBeam("cantilever", count=count) for count in counts]
    times = np.array([[b.ride(steps).seconds / steps for b in beams] for _ in range(rounds)])
    best = times.min(axis=0)
    end = beams[-1].ride(steps)
    exponent = float(np.median([np.polyfit(np.log(counts), np.log(t), 1)[0] for t in times]))
    result.data["growth"] = (counts, best)
    for count, took in zip(counts, best, strict=True):
        label = f"cantilever of {count} boxes: time of a direct step / number of boxes"
        result.add(label, "us", float(took / count * 1e6))
    label = "exponent of this time in the number of boxes"
    result.add(label, "", exponent, at_most(LARGEST_EXPONENT), analytic=1)
    label = f"cantilever of {counts[-1]} boxes: sum of |d_i - 0.1| after {steps} steps"
    result.add(label, "m", end.error, analytic=0.0)


def run(options: Options) -> Result:
    """Run all loads and solvers. `quick` leaves out 100 000 sweeps and the longest beam."""
    mujoco, result = against_mujoco("welds as stiff as stay finite, Newton or PGS, sparse")
    result.data["rides"] = {}
    for load in beam.LOADS:
        add_direct(result, load, 3 if options.quick else 50, mujoco)
    add_projected(result)
    add_compliant(result, 10 if options.quick else beam.STEPS)
    for load in beam.LOADS[1:]:
        for sweeps in (120,) if options.quick else (120, MANY_SWEEPS):
            add_iterative(result, load, sweeps, mujoco)
    add_rigid_iterative(result)
    counts = COUNTS[:3] if options.quick else COUNTS
    add_growth(result, counts, 3 if options.quick else 20)
    result.notes += [
        "The source gives neither the load nor the shape of a box. Here the boxes are cubes of "
        "0.1 m, with three loads.",
        "A direct step uses about 6.3 kB of memory for each box. The time for each box rises "
        "when a beam no longer fits into the second-level cache, with any algorithm.",
        "Distances between boxes do not show bending. The table therefore adds the sag, which "
        "the source does not give. Relative errors are differences from a dense solution.",
        f"Sweeps end before their limit if no velocity changes by more than {1e-6:g} g dt.",
        "MuJoCo's PGS has 10 000 iterations, a tenth of the sweeps of hrpsim.",
        "iterative with rigid joints: the impulses lag behind by many steps. A position "
        "correction within two steps then excites oscillations. The damping time of the source, "
        "2 s, corrects slowly.",
    ]
    return result


def draw(result: Result, figure) -> None:
    """Draw shapes of the cantilever on the left, and error over processor time on the right."""
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (3, 2)})
    rides = result.data["rides"]
    shapes = ("direct", "direct, compliant", "120 sweeps", f"{MANY_SWEEPS} sweeps")
    for k, name in enumerate((*shapes, "mujoco Newton", "mujoco PGS")):
        if (ride := rides.get((name, "cantilever"))) is None:
            continue
        style = ":" if name.startswith("mujoco") else "-"
        label = f"{name}: {ride.bend:.2g} m"
        left.plot(ride.shape[:, 0], ride.shape[:, 2], style, marker="s", ms=3, lw=1, label=label)
        right.loglog(ride.seconds, ride.error, "s", color=f"C{k}", ms=6)
        right.annotate(name, (ride.seconds, ride.error), fontsize=7, xytext=(5, 4), **_OFFSET)
    for name, (error, seconds) in {"AGX direct": AGX["direct"], "AGX 1e5": AGX["many"]}.items():
        right.loglog(seconds, error, "x", color="black")
        right.annotate(name, (seconds, error), fontsize=7, xytext=(5, -9), **_OFFSET)
    left.set(title="Cantilever after 2 s, tip sag", xlabel="x [m]", ylabel="z [m]")
    right.set(title="Error over time needed", xlabel="time for 2 s [s]", ylabel="sum |d - 0.1| [m]")
    right.margins(0.25, 0.1)


EXPERIMENT = Experiment(
    "E12", "A rigid beam of locked boxes", "AGX Dynamics notes, table 1", run, draw
)
