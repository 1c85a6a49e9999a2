"""E2: an open tree of three links, closed by two rows to a four-bar linkage, swings for 10 s."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.errors import WorldError
from hrpsim.experiments import four_bar
from hrpsim.experiments.experiment import (
    Experiment,
    Options,
    Result,
    Row,
    at_least,
    at_most,
    below,
)
from hrpsim.experiments.peers import mujoco_module, peer_name

TIME_STEP = 1e-3
HALVINGS = (2 * TIME_STEP, TIME_STEP, TIME_STEP / 2)
LARGEST_GAP = 1e-10  # [m]
LARGEST_DRIFT = 1e-3  # of the largest kinetic energy
LARGEST_ANGLE, LEAST_ORDER = 1e-6, 3.5  # of rk4, the paper's method [rad]
SYMPLECTIC = "semi_implicit"


class Motion:
    """A linkage's motion, looked at after every step.

    `time` (n,) [s], `gap` (n,) [m], `angles` and `rates` (3, n) of the bars. It ends early, and
    `diverged` says so, where the engine could not go on.
    """

    def __init__(self, time_step: float, duration: float, step, look, gap):
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
        """The largest error of the loop at any step [m]; inf if it diverged."""
        return math.inf if self.diverged else float(self.gap.max())

    def drift(self, at_one_time: bool) -> np.ndarray:
        """Return how far the energy is from its start, as a share of the largest kinetic energy.

        `at_one_time` takes the kinetic energy at the mean of the velocities before and after each
        position, which is where a semi-implicit step has them: half a step away, on both sides.
        """
        kinetic, potential = four_bar.energies(self.angles, self.rates)
        scale = kinetic.max()
        if at_one_time:
            between = 0.5 * (self.rates[:, :-1] + self.rates[:, 1:])
            kinetic, _ = four_bar.energies(self.angles[:, :-1], between)
            kinetic[0] = 0.0  # let go at rest
            potential = potential[:-1]
        energy = kinetic + potential
        return (energy - energy[0]) / scale

    def angle_error(self, exact, delay: float) -> float:
        """Return how far the crank is from exact(t + delay) at most [rad]; inf if it diverged."""
        if self.diverged:
            return math.inf
        return float(np.abs(self.angles[0] - exact(self.time + delay)).max())


def our_motion(kind, duration: float, **options) -> Motion:
    """Return the motion of four_bar.Tree or four_bar.Bars with options of World."""
    linkage = kind(**options)

    def step() -> bool:
        try:
            linkage.world.step()
        except WorldError:
            return False
        return True

    return Motion(options["time_step"], duration, step, linkage.look, linkage.gap)


def mujoco_motion(mujoco, duration: float, integrator: str, stiff: bool) -> Motion | None:
    """Return the motion of MuJoCo's linkage at TIME_STEP; None without MuJoCo."""
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
    """Return motions by (integrator, projected, time step): at TIME_STEP without projection too."""
    return {
        (integrator, projected, h): our_motion(
            kind, duration, time_step=h, integrator=integrator, position_projection=projected
        )
        for integrator in ("rk4", SYMPLECTIC)
        for h in steps
        for projected in ((True, False) if h == TIME_STEP else (True,))
    }


def run(options: Options) -> Result:
    """Let the linkage swing: as a tree, as three free bodies, and MuJoCo's."""
    mujoco = mujoco_module()
    duration = 1.0 if options.quick else 10.0
    exact = four_bar.exact_motion(duration + HALVINGS[0])
    result = Result(peer=peer_name(mujoco, "connect equality, default solref; RK4 or Euler"))
    peers = {
        "rk4": mujoco_motion(mujoco, duration, "RK4", stiff=False),
        SYMPLECTIC: mujoco_motion(mujoco, duration, "Euler", stiff=False),
    }
    tree = our_motions(four_bar.Tree, duration, HALVINGS)
    bars = our_motions(four_bar.Bars, duration, (TIME_STEP,))
    for integrator, peer in peers.items():
        result.rows += _loop_rows("tree", integrator, tree, peer)
        result.rows += _energy_rows("tree", integrator, tree, peer)
        result.rows += _angle_rows(integrator, tree, exact, peer)
    for integrator in peers:
        result.rows += _loop_rows("bars and hinges", integrator, bars, None)
        result.rows += _energy_rows("bars and hinges", integrator, bars, None)
    if mujoco is not None:
        result.rows += _stiff_peer_rows(mujoco, duration, exact)
    result.data = {"exact": exact, "motions": _to_draw(tree, peers)}
    result.notes += _notes(duration, exact)
    return result


def _to_draw(tree: dict, peers: dict) -> dict:
    chosen = {
        f"{integrator}, {'projected' if projected else 'rows alone'}": motion
        for (integrator, projected, h), motion in tree.items()
        if h == TIME_STEP
    }
    return chosen | {f"mujoco {'RK4' if k == 'rk4' else 'Euler'}": m for k, m in peers.items() if m}


def _gap_of(motion: Motion | None) -> float | None:
    return motion and motion.largest_gap


def _drift_of(motion: Motion | None, at_one_time: bool) -> float | None:
    return motion and float(np.abs(motion.drift(at_one_time)).max())


def _loop_rows(kind: str, integrator: str, motions: dict, peer: Motion | None) -> list[Row]:
    name = f"{kind}, {integrator}, 1 ms: largest error of a loop"
    return [
        Row(
            f"{name}, {says}",
            "m",
            motions[integrator, projected, TIME_STEP].largest_gap,
            below(LARGEST_GAP) if projected else None,
            analytic=0.0,
            peer=_gap_of(peer),
        )
        for projected, says in ((True, "position_projection"), (False, "velocity rows alone"))
    ]


def _energy_rows(kind: str, integrator: str, motions: dict, peer: Motion | None) -> list[Row]:
    """Energy at one time is judged; rk4 has it so."""
    name = f"{kind}, {integrator}, 1 ms: largest change of energy"
    ours = motions[integrator, True, TIME_STEP]
    at_one_time = {"rk4": {"": False}, SYMPLECTIC: {", half steps averaged": True, "": False}}
    return [
        Row(
            name + says,
            "",
            _drift_of(ours, averaged),
            at_most(LARGEST_DRIFT) if integrator == "rk4" else None,
            analytic=0.0,
            peer=_drift_of(peer, averaged),
        )
        for says, averaged in at_one_time[integrator].items()
    ]


def _angle_rows(integrator: str, tree: dict, exact, peer: Motion | None) -> list[Row]:
    """The crank's angle beside the exact one, and how its error falls with the step."""
    rows = []
    judged = integrator == "rk4"
    half = 0.0 if judged else 0.5
    name = f"tree, {integrator}: crank's angle from theta({'t' if judged else 't + dt / 2'})"
    errors = []
    for h in HALVINGS:
        errors.append(tree[integrator, True, h].angle_error(exact, half * h))
        here = h == TIME_STEP
        rows.append(
            Row(
                f"{name}, dt {h:g} s",
                "rad",
                errors[-1],
                at_most(LARGEST_ANGLE) if judged and here else None,
                analytic=0.0,
                peer=peer.angle_error(exact, half * h) if peer and here else None,
            )
        )
    order = math.log2(errors[-2] / errors[-1])
    target = at_least(LEAST_ORDER) if judged else None
    return [*rows, Row(f"{name}, order at the last halving", "", order, target)]


def _stiff_peer_rows(mujoco, duration: float, exact) -> list[Row]:
    rows = []
    for integrator in ("RK4", "Euler"):
        moved = mujoco_motion(mujoco, duration, integrator, stiff=True)
        name = f"mujoco {integrator}, solref of two steps"
        error = moved.angle_error(exact, 0.0)
        rows += [
            Row(f"{name}: largest error of the loop", "m", None, peer=_gap_of(moved)),
            Row(f"{name}: largest change of energy", "", None, peer=_drift_of(moved, False)),
            Row(f"{name}: crank's angle from theta(t)", "rad", None, peer=error),
        ]
    return rows


def _notes(duration: float, exact) -> list[str]:
    angles = np.degrees(exact(np.linspace(0.0, duration, 4001)))
    return [
        "the paper prints a picture of another linkage, no measures; here: crank, coupler, rocker "
        f"and ground of {four_bar.CRANK:g}, {four_bar.COUPLER:g}, {four_bar.ROCKER:g} and "
        f"{four_bar.GROUND:g} m, {duration:g} s from rest, the crank swinging between "
        f"{angles.min():.0f} and {angles.max():.0f} degrees",
        "energy is a share of the largest kinetic energy; a semi-implicit step has its velocities "
        "half a step before and after the positions between them: averaged, the kinetic energy is "
        "that of the mean of two steps' velocities",
        "semi_implicit, like mujoco's Euler, takes the velocity products of a tree half a step "
        "late, which brakes fast links; free bars have none along the world's axes",
        "theta(t) is integrated by DOP853 to 1e-12 from the loop's closed form; let go at rest, a "
        "semi-implicit step is half a step ahead from the first step on, hence t + dt / 2",
        "bars and hinges: three free bodies, four hinges of five rows each, 20 rows on 18 degrees "
        "of freedom of which one stays free",
    ]


def draw(result: Result, figure) -> None:
    """The linkage on its first swing, the loop's error, and the energy at one time."""
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.3, 1.0, 1.0))
    _draw_linkage(left, result.data["exact"])
    motions = result.data["motions"]
    for name, motion in motions.items():
        every = slice(None, None, max(1, len(motion.time) // 800))
        middle.semilogy(motion.time[every], motion.gap[every] + 1e-17, lw=0.9, label=name)
        drift = np.abs(motion.drift("rk4" not in name.lower())) + 1e-17
        right.semilogy(motion.time[: len(drift)][every], drift[every], lw=0.9, label=name)
    middle.axhline(LARGEST_GAP, color="black", lw=0.8, ls="--")
    right.axhline(LARGEST_DRIFT, color="black", lw=0.8, ls="--")
    middle.set(title="Error of the loop, 1 ms", xlabel="time [s]", ylabel="[m]")
    right.set(title="Change of energy", xlabel="time [s]", ylabel="of the largest kinetic energy")
    right.legend(fontsize=7, frameon=False)


def _draw_linkage(axes, exact) -> None:
    """Draw the linkage at equal times over the first swing, later ones darker."""
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
    "E2", "A four-bar linkage, closed by two rows", "extended PGS paper, Fig. 3", run, draw
)
