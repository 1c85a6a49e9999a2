# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E2: a tree of three links, closed by two rows to a four-bar linkage, swings for 10 s."""

import math
from functools import partial

import numpy as np

from evidence.experiments.framework.engines import against_mujoco, steps_through
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.targets import at_least, at_most, below
from evidence.experiments.scenes import four_bar

TIME_STEP = 1e-3
HALVINGS = (2 * TIME_STEP, TIME_STEP, TIME_STEP / 2)
LARGEST_GAP = 1e-10  # [m]
LARGEST_DRIFT = 1e-3  # relative to the largest kinetic energy
LARGEST_ANGLE = {"rk4": 1e-6, "semi_implicit": 1e-3}  # error of the crank at TIME_STEP [rad]
LEAST_ORDER = {"rk4": 3.5, "semi_implicit": 1.9}
ORDER_AFTER = 1.0  # time after which errors of several orders in dt partly cancel [s]
PEER_METHOD = {"rk4": "RK4", "semi_implicit": "Euler"}


class Motion:
    """The motion of a linkage, sampled after every step.

    Attributes:
        time: (n,) [s].
        gap: error of the loop (n,) [m].
        angles, rates: of the bars (3, n).
        diverged: whether the engine failed before the end.
    """

    def __init__(self, time_step: float, duration: float, step, look, gap) -> None:
        seen, gaps = [look()], [gap()]
        self.time_step, self.diverged = time_step, False
        for _ in range(round(duration / time_step)):
            if not step():
                self.diverged = True
                break
            seen.append(look())
            gaps.append(gap())
        self.gap = np.array(gaps)
        self.time = np.arange(len(seen)) * time_step
        self.angles, self.rates = np.moveaxis(np.array(seen), 0, -1)

    @property
    def largest_gap(self) -> float:
        """The largest error of the loop at any step [m], infinite if the motion diverged."""
        return math.inf if self.diverged else float(self.gap.max())

    def drift(self) -> np.ndarray:
        """Return the largest change of energy as a fraction of the largest kinetic energy."""
        kinetic, potential = four_bar.energies(self.angles, self.rates)
        energy = kinetic + potential
        return (energy - energy[0]) / kinetic.max()

    def angle_error(self, exact, until: float = math.inf) -> float:
        """Return the largest error of the crank's angle relative to exact(t) up to a time [rad].

        The error is infinite if the motion diverged.
        """
        if self.diverged:
            return math.inf
        early = self.time <= until
        return float(np.abs(self.angles[0, early] - exact(self.time[early])).max())


def our_motion(kind, duration: float, **options) -> Motion:
    """Simulate four_bar.Tree or four_bar.Bars with options of World. Return the motion."""
    linkage = kind(**options)

    step = partial(steps_through, linkage.world)
    return Motion(options["time_step"], duration, step, linkage.look, linkage.gap)


def mujoco_motion(mujoco, duration: float, integrator: str, stiff: bool) -> Motion | None:
    """Simulate MuJoCo's linkage in steps of TIME_STEP.

    Return the motion, or None without MuJoCo.
    """
    if mujoco is None:
        return None
    model, data = four_bar.mujoco_linkage(mujoco, TIME_STEP, integrator, stiff)

    def step() -> bool:
        mujoco.mj_step(model, data)
        return True

    def look() -> np.ndarray:
        state = np.array([data.qpos, data.qvel])
        state[:, 1] += state[:, 0]
        return state

    return Motion(TIME_STEP, duration, step, look, lambda: float(four_bar.loop_gap(look()[0])))


def our_motions(kind, duration: float, steps: tuple[float, ...]) -> dict:
    """Return motions by (integrator, projected, time step).

    Unprojected motions use only TIME_STEP.
    """
    return {
        (integrator, projected, h): our_motion(
            kind, duration, time_step=h, integrator=integrator, position_projection=projected
        )
        for integrator in PEER_METHOD
        for h in steps
        for projected in ((True, False) if h == TIME_STEP else (True,))
    }


def run(options: Options) -> Result:
    """Simulate the linkage as a tree, as three free bodies, and in MuJoCo."""
    duration = 1.0 if options.quick else 10.0
    exact = four_bar.exact_motion(duration)
    mujoco, result = against_mujoco("connect equality, default solref; RK4 or Euler")
    peers = {
        integrator: mujoco_motion(mujoco, duration, method, stiff=False)
        for integrator, method in PEER_METHOD.items()
    }
    tree = our_motions(four_bar.Tree, duration, HALVINGS)
    bars = our_motions(four_bar.Bars, duration, (TIME_STEP,))
    for integrator, peer in peers.items():
        _add_loop(result, "tree", integrator, tree, peer)
        _add_angles(result, integrator, tree, exact, peer)
    for integrator in peers:
        _add_loop(result, "bars and hinges", integrator, bars)
    if mujoco is not None:
        _add_stiff_peers(result, mujoco, duration, exact)
    result.data = {"exact": exact, "motions": _to_draw(tree, peers)}
    result.notes += _notes(duration, exact)
    return result


def _to_draw(tree: dict, peers: dict) -> dict:
    chosen = {
        f"{integrator}, {'projected' if projected else 'rows alone'}": motion
        for (integrator, projected, h), motion in tree.items()
        if h == TIME_STEP
    }
    return chosen | {f"mujoco {PEER_METHOD[k]}": m for k, m in peers.items() if m}


def _drift_of(motion: Motion | None) -> float | None:
    """Return the largest change of energy, with positions and velocities at the ends of steps."""
    return motion and float(np.abs(motion.drift()).max())


def _add_loop(result: Result, kind: str, integrator: str, motions: dict, peer=None) -> None:
    """Add rows for the loop's error with and without projection, and the energy with projection."""
    add, gap = result.of(f"{kind}, {integrator}, 1 ms: "), peer and peer.largest_gap
    projected, alone = (motions[integrator, how, TIME_STEP] for how in (True, False))
    label, bound = "largest loop error, with position_projection", below(LARGEST_GAP)
    add(label, "m", projected.largest_gap, bound, analytic=0.0, peer=gap)
    label = "largest loop error, without position_projection"
    add(label, "m", alone.largest_gap, analytic=0.0, peer=gap)
    drift, bound = _drift_of(projected), at_most(LARGEST_DRIFT)
    add("largest relative change of energy", "", drift, bound, analytic=0.0, peer=_drift_of(peer))


def _add_angles(result: Result, integrator: str, tree: dict, exact, peer: Motion | None) -> None:
    """Add rows for the error of the crank's angle, and its decrease with the time step."""
    add = result.of(f"tree, {integrator}: ")
    for h in HALVINGS:
        judged, error = h == TIME_STEP, tree[integrator, True, h].angle_error(exact)
        bound = at_most(LARGEST_ANGLE[integrator]) if judged else None
        other = peer.angle_error(exact) if peer and judged else None
        what = f"error of the crank's angle, dt {h:g} s"
        add(what, "rad", error, bound, analytic=0.0, peer=other)
    coarse, fine = (tree[integrator, True, h].angle_error(exact, ORDER_AFTER) for h in HALVINGS[1:])
    label = f"order of this error, last halving of dt, after {ORDER_AFTER:g} s"
    least = LEAST_ORDER[integrator]
    add(label, "", math.log2(coarse / fine), at_least(least))


def _add_stiff_peers(result: Result, mujoco, duration: float, exact) -> None:
    for method in PEER_METHOD.values():
        moved = mujoco_motion(mujoco, duration, method, stiff=True)
        add = result.of(f"mujoco {method}, solref of two steps: ")
        add("largest loop error", "m", None, peer=moved.largest_gap)
        add("largest relative change of energy", "", None, peer=_drift_of(moved))
        add("error of the crank's angle", "rad", None, peer=moved.angle_error(exact))


def _notes(duration: float, exact) -> list[str]:
    angles = np.degrees(exact(np.linspace(0.0, duration, 4001)))
    return [
        "The paper shows a picture of another linkage without measures. The linkage here: crank, "
        f"coupler, rocker and ground of {four_bar.CRANK:g}, {four_bar.COUPLER:g}, "
        f"{four_bar.ROCKER:g} and {four_bar.GROUND:g} m. The motion starts from rest and takes "
        f"{duration:g} s. The crank swings between {angles.min():.0f} and {angles.max():.0f} "
        "degrees.",
        "The change of energy is relative to the largest kinetic energy. Energies come from "
        "positions and velocities at the end of each step. MuJoCo's Euler integrator is of first "
        "order: its velocities lag by half a step.",
        "The exact angle of the crank is the integral of the closed form of the loop by DOP853, "
        "with a tolerance of 1e-12.",
        "The case 'bars and hinges' has three free bodies and four hinges of five rows each: 20 "
        "rows on 18 degrees of freedom. One degree of freedom remains.",
    ]


def draw(result: Result, figure) -> None:
    """Draw the linkage in the first swing, the loop's error, and the energy."""
    left, middle, right = figure.subplots(1, 3, gridspec_kw={"width_ratios": (1.3, 1.0, 1.0)})
    _draw_linkage(left, result.data["exact"])
    motions = result.data["motions"]
    for name, motion in motions.items():
        every = slice(None, None, max(1, len(motion.time) // 800))
        middle.semilogy(motion.time[every], motion.gap[every] + 1e-17, lw=0.9, label=name)
        drift = np.abs(motion.drift()) + 1e-17
        right.semilogy(motion.time[every], drift[every], lw=0.9, label=name)
    middle.axhline(LARGEST_GAP, color="black", lw=0.8, ls="--")
    right.axhline(LARGEST_DRIFT, color="black", lw=0.8, ls="--")
    middle.set(title="Error of the loop, 1 ms", xlabel="time [s]", ylabel="[m]")
    right.set(title="Change of energy", xlabel="time [s]", ylabel="of the largest kinetic energy")


def _draw_linkage(axes, exact) -> None:
    """Draw the linkage at regular times in the first swing, with later postures darker."""
    times = np.linspace(0.0, 0.6, 9)
    for k, angles in enumerate(four_bar.angles_of(exact(times)).T):
        shade = 0.25 + 0.75 * k / (len(times) - 1)
        tip = four_bar.CRANK * np.array([math.cos(angles[0]), math.sin(angles[0])])
        end = four_bar.ROCKER * np.array([math.cos(angles[2]), math.sin(angles[2])])
        end[0] += four_bar.GROUND
        line = np.array([(0.0, 0.0), tip, end, (four_bar.GROUND, 0.0)])
        for bar, colour in enumerate(("C3", "C7", "C0")):
            axes.plot(*line[bar : bar + 2].T, color=colour, alpha=shade, lw=1.6)
        axes.plot(*end, "o", color="black", ms=2.5, alpha=shade)
    axes.plot([0.0, four_bar.GROUND], [0.0, 0.0], "^", color="black", ms=7)
    axes.set(title="Every 75 ms; dots: the two rows", xlabel="x [m]", ylabel="z [m]")
    axes.set_aspect("equal")


EXPERIMENT = Experiment(
    "E2", "A four-bar linkage with a closed loop", "extended PGS paper, Fig. 3", run, draw
)
