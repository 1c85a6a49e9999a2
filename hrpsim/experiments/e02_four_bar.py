"""E2: an open tree of three links, closed by two rows to a four-bar linkage, swings for 10 s."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.errors import WorldError
from hrpsim.experiments import four_bar
from hrpsim.experiments.experiment import Experiment, Options, Result, Row, at_most, below
from hrpsim.experiments.peers import mujoco_module, peer_name

TIME_STEP = 1e-3
HALVINGS = (TIME_STEP, TIME_STEP / 2, TIME_STEP / 4)
LARGEST_GAP = 1e-10  # [m]
LARGEST_DRIFT = 1e-3  # of the largest kinetic energy
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


def run(options: Options) -> Result:
    """Let the linkage swing: as a tree, as three free bodies, and MuJoCo's."""
    mujoco = mujoco_module()
    duration = 1.0 if options.quick else 10.0
    exact = four_bar.exact_motion(duration + TIME_STEP)
    result = Result(peer=peer_name(mujoco, "Euler, connect equality, default solref"))
    peer = mujoco_motion(mujoco, duration, "Euler", stiff=False)
    tree = {
        (integrator, projected, h): our_motion(
            four_bar.Tree,
            duration,
            time_step=h,
            integrator=integrator,
            position_projection=projected,
        )
        for integrator, projected, steps in (
            (SYMPLECTIC, True, HALVINGS),
            (SYMPLECTIC, False, HALVINGS[:1]),
            ("rk4", True, HALVINGS),
        )
        for h in steps
    }
    closed, open_ended = tree[SYMPLECTIC, True, TIME_STEP], tree[SYMPLECTIC, False, TIME_STEP]
    result.rows += _loop_rows(closed, open_ended, peer)
    result.rows += _energy_rows("", closed, peer, judged=True)
    result.rows += _angle_rows(tree, exact, peer)
    result.rows += _free_body_rows(duration, exact)
    if mujoco is not None:
        result.rows += _other_peer_rows(mujoco, duration, exact)
    result.data = {"motions": {"position_projection": closed, "velocity rows alone": open_ended}}
    if peer is not None:
        result.data["motions"]["mujoco"] = peer
    result.data["exact"] = exact
    result.notes += _notes(duration, exact)
    return result


def _gap_of(motion: Motion | None) -> float | None:
    return motion and motion.largest_gap


def _drift_of(motion: Motion | None, at_one_time: bool) -> float | None:
    return motion and float(np.abs(motion.drift(at_one_time)).max())


def _loop_rows(closed: Motion, open_ended: Motion, peer: Motion | None) -> list[Row]:
    name = "tree, 1 ms: loop error at any step"
    return [
        Row(
            f"{name}, position_projection",
            "m",
            closed.largest_gap,
            below(LARGEST_GAP),
            analytic=0.0,
            peer=_gap_of(peer),
        ),
        Row(
            f"{name}, velocity rows alone",
            "m",
            open_ended.largest_gap,
            analytic=0.0,
            peer=_gap_of(peer),
        ),
    ]


def _energy_rows(kind: str, ours: Motion, peer: Motion | None, judged: bool) -> list[Row]:
    name = f"{kind or 'tree'}, 1 ms: largest change of energy"
    return [
        Row(
            f"{name}, both parts at one time",
            "",
            _drift_of(ours, True),
            at_most(LARGEST_DRIFT) if judged else None,
            analytic=0.0,
            peer=_drift_of(peer, True),
        ),
        Row(
            f"{name}, as the state has it",
            "",
            _drift_of(ours, False),
            analytic=0.0,
            peer=_drift_of(peer, False),
        ),
    ]


def _angle_rows(tree: dict, exact, peer: Motion | None) -> list[Row]:
    """The crank's angle beside the exact one, and how its error falls with the step."""
    rows = []
    for integrator in (SYMPLECTIC, "rk4"):
        halves = (0.5, 0.0) if integrator == SYMPLECTIC else (0.0,)
        for half in halves:
            errors = []
            name = f"tree, {integrator}: crank's angle from theta(t{' + dt / 2' if half else ''})"
            for h in HALVINGS:
                errors.append(tree[integrator, True, h].angle_error(exact, half * h))
                beside = peer and h == TIME_STEP and integrator == SYMPLECTIC
                other = peer.angle_error(exact, half * h) if beside else None
                rows.append(Row(f"{name}, dt {h:g} s", "rad", errors[-1], analytic=0.0, peer=other))
            order = math.log2(errors[-2] / errors[-1])
            rows.append(Row(f"{name}, order at the last halving", "", order))
    for h in HALVINGS[:1]:
        moved = tree["rk4", True, h]
        rows.append(Row("tree, rk4, 1 ms: loop error, position_projection", "m", _gap_of(moved)))
        rows.append(
            Row(
                "tree, rk4, 1 ms: largest change of energy, as the state has it",
                "",
                _drift_of(moved, False),
                analytic=0.0,
            )
        )
    return rows


def _free_body_rows(duration: float, exact) -> list[Row]:
    """Three bodies and four hinges: 20 rows on 18 degrees of freedom, of which one is free."""
    rows = []
    for projected in (True, False):
        moved = our_motion(
            four_bar.Bars, duration, time_step=TIME_STEP, position_projection=projected
        )
        says = "position_projection" if projected else "velocity rows alone"
        rows.append(
            Row(
                f"free bodies, four hinges, 1 ms: hinge error, {says}",
                "m",
                _gap_of(moved),
                below(LARGEST_GAP) if projected else None,
                analytic=0.0,
            )
        )
        if projected:
            rows += _energy_rows("free bodies, four hinges", moved, None, judged=True)
            error = moved.angle_error(exact, 0.5 * TIME_STEP)
            name = "free bodies, four hinges, 1 ms: crank's angle from theta(t + dt / 2)"
            rows.append(Row(name, "rad", error, analytic=0.0))
    return rows


def _other_peer_rows(mujoco, duration: float, exact) -> list[Row]:
    rows = []
    for integrator, stiff in (("Euler", True), ("RK4", False), ("RK4", True)):
        moved = mujoco_motion(mujoco, duration, integrator, stiff)
        name = f"mujoco {integrator}, " + ("solref of two steps" if stiff else "default solref")
        error = moved.angle_error(exact, 0.0)
        rows += [
            Row(f"{name}: loop error", "m", None, analytic=0.0, peer=_gap_of(moved)),
            Row(f"{name}: largest change of energy", "", None, peer=_drift_of(moved, False)),
            Row(f"{name}: crank's angle", "rad", None, analytic=0.0, peer=error),
        ]
    return rows


def _notes(duration: float, exact) -> list[str]:
    angles = np.degrees(exact(np.linspace(0.0, duration, 4001)))
    return [
        "the paper prints a picture of another linkage, no measures; here: crank, coupler, rocker "
        f"and ground of {four_bar.CRANK:g}, {four_bar.COUPLER:g}, {four_bar.ROCKER:g} and "
        f"{four_bar.GROUND:g} m, {duration:g} s from rest, the crank swinging between "
        f"{angles.min():.0f} and {angles.max():.0f} degrees",
        "energy is a share of the largest kinetic energy; at one time: the kinetic energy of the "
        "mean of the velocities of two steps, which in a semi-implicit step lie half a step before "
        "and after the positions between them; as the state has it: velocity and position of a "
        "step, half a step apart",
        "theta(t) is integrated by DOP853 to 1e-12 from the loop's closed form; let go at rest, a "
        "semi-implicit step is half a step ahead from the first step on, hence t + dt / 2",
    ]


def draw(result: Result, figure) -> None:
    """The linkage on its first swing, the loop's error, and the energy at one time."""
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.3, 1.0, 1.0))
    _draw_linkage(left, result.data["exact"])
    motions = result.data["motions"]
    for name, motion in motions.items():
        every = slice(None, None, max(1, len(motion.time) // 800))
        middle.semilogy(motion.time[every], motion.gap[every] + 1e-17, lw=0.9, label=name)
        drift = np.abs(motion.drift(True)) + 1e-9
        right.semilogy(motion.time[:-1][every], drift[every], lw=0.9, label=name)
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
