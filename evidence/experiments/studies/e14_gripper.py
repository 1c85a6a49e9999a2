# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E14: a gripper holds a box by directly solved contacts, over a floor with iterative contacts."""

import time

import numpy as np

from evidence.experiments.framework.engines import against_mujoco
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.film_strip import draw_solids, outline_points
from evidence.experiments.framework.targets import at_most, equal_to, near
from evidence.experiments.scenes import gripper
from hrpsim import Box
from hrpsim.world.objects.body import rotation_matrix

LARGEST_SLIP = 1e-5  # [m]
SHAKING = 10.0  # [s]
TURN = 50  # number of steps of each scene in turn
KINDS = ("hybrid", "direct", "iterative")
TURNED = 0.02  # angle of a box that is put down, out of the pads' plane [rad]
_RIGHT = np.array([0.0, 1.0, 0.0])  # right direction of the picture, seen along x
TUMBLING = (0.2, gripper.CLOSED)  # [s]


class Run:
    """The run of one scene: `cost` of each step [us], and `slip` after the step [m].

    The slip is measured relative to the state at `held_from` [s], and is NaN before.
    """

    def __init__(self, scene, steps: int, held_from: float = gripper.CLOSED) -> None:
        self.scene, self.done, self.held_from = scene, 0, held_from
        self.time = np.zeros(steps)
        self.cost, self.slip = np.zeros(steps), np.full(steps, np.nan)
        self.held = None

    def advance(self) -> None:
        """Make one turn of steps. Only the steps are timed."""
        scene = self.scene
        for k in range(self.done, min(self.done + TURN, len(self.cost))):
            scene.steer()
            begin = time.thread_time_ns()
            scene.step()
            self.cost[k] = (time.thread_time_ns() - begin) * 1e-3
            self.time[k] = scene.time
            self.look(k)
            self.done = k + 1

    def look(self, k: int) -> None:
        """Store the largest displacement of a corner of the box since the grip, after step k."""
        if self.time[k] < self.held_from:
            return
        corners = self.scene.corners()
        if self.held is None:
            self.held = corners
        self.slip[k] = np.linalg.norm(corners - self.held, axis=-1).max()

    @property
    def largest_slip(self) -> float:
        """The largest slip at any step [m]."""
        return float(np.nanmax(self.slip))

    @property
    def slowest(self) -> float:
        """The time that one step in a thousand exceeds [us].

        The first step may include compilation.
        """
        return float(np.percentile(self.cost[1:], 99.9))

    def median_cost(self, begin: float, end: float = np.inf) -> float:
        """Return the median time of the steps between two times [s] [us]."""
        return float(np.median(self.cost[(self.time > begin) & (self.time <= end)]))


class OurRun(Run):
    """A run in hrpsim that also stores the coupled system's `residual` [m/s].

    `unfinished` counts the steps in which the direct solver did not finish.
    """

    def __init__(self, scene: gripper.Scene, steps: int, held_from: float = gripper.CLOSED) -> None:
        super().__init__(scene, steps, held_from)
        self.residual = np.zeros(steps)
        self.met, self.standing = np.zeros(steps, dtype=bool), np.zeros(steps, dtype=bool)
        self.unfinished = 0

    def look(self, k: int) -> None:
        """Store slip and residual, and count the step if a solver did not finish."""
        super().look(k)
        stats = self.scene.world.stats
        self.residual[k], self.met[k] = stats.residual, stats.converged
        self.unfinished += not stats.direct_finished
        self.standing[k] = self.held is not None and self.scene.stands()


def run(options: Options) -> Result:
    """Run all scenes in turn in one process, in hrpsim and in MuJoCo."""
    end = gripper.SHAKEN + (0.5 if options.quick else SHAKING)
    steps = round(end / gripper.TIME_STEP)
    mujoco, result = against_mujoco("Newton, elliptic cone, implicitfast, impratio 1")
    runs = {kind: OurRun(gripper.Scene(kind), steps) for kind in KINDS}
    if mujoco is not None:
        for name, impratio in (("mujoco", 1.0), ("mujoco, impratio 100", 100.0)):
            runs[name] = Run(gripper.MujocoScene(mujoco, impratio=impratio), steps)
    alone = OurRun(gripper.Scene(count=0), steps)
    others = {}
    for turn, compliance in ((0.0, 0.0), (TURNED, gripper.PAD_COMPLIANCE), (TURNED, 0.0)):
        scene = gripper.Scene(count=0, turn=turn, compliance=compliance)
        others[turn, compliance] = OurRun(scene, steps, gripper.DRAGGED[1])
    gripper.Scene(count=0).step()  # compiles if necessary
    for _ in range(0, steps, TURN):
        for each in (*runs.values(), *others.values(), alone):
            each.advance()
    _add_slips(result, runs)
    _add_other_slips(result, others)
    _add_grip(result, runs["hybrid"])
    _add_coupling(result, runs["hybrid"], alone)
    _add_times(result, runs)
    result.data = {"runs": runs}
    result.notes += _notes(runs)
    return result


def _add_slips(result: Result, runs: dict) -> None:
    label = "largest motion of a corner of the box in the grip"
    peer = runs["mujoco"].largest_slip if "mujoco" in runs else None
    slips = {kind: runs[kind].largest_slip for kind in KINDS}
    result.add(
        f"hybrid: {label}", "m", slips["hybrid"], at_most(LARGEST_SLIP), analytic=0.0, peer=peer
    )
    for kind in KINDS[1:]:
        result.add(f"{kind}: {label}", "m", slips[kind], analytic=0.0)
    stiffer = runs.get("mujoco, impratio 100")
    if stiffer is not None:
        label = f"mujoco, impratio 100: {label}"
        result.add(label, "m", None, analytic=0.0, peer=stiffer.largest_slip)


def _add_other_slips(result: Result, others: dict) -> None:
    """Add rows for rigid pads, and for a box that the pads must align."""
    for (turn, compliance), each in others.items():
        pads = "rubber pads" if compliance else "rigid pads"
        placed = f"box put down turned by {turn:g} rad" if turn else "box put down straight"
        label = f"hybrid, {pads}, {placed}: largest motion of a corner"
        result.add(label, "m", each.largest_slip, at_most(LARGEST_SLIP), analytic=0.0)


def _add_grip(result: Result, ours: OurRun) -> None:
    """Add rows of the grip: half of the motor's force on each pad, and the safety factor."""
    target = near(gripper.GRIP, relative=1e-6)
    for link, force in zip(gripper.FINGERS, ours.scene.pad_forces(), strict=True):
        result.add(f"hybrid: force of {link} at the end", "N", force, target, analytic=gripper.GRIP)
    label = "largest friction force of the pads / largest needed force"
    result.add(label, "", None, analytic=gripper.margin())


def _add_coupling(result: Result, ours: OurRun, alone: OurRun) -> None:
    """Add the residual of direct and iterative rows while the held box is on the floor."""
    tolerance = float(ours.scene.world.scene.settings["tolerance"][0])
    for name, each in (("no other objects", alone), (f"{gripper.OBJECTS} objects", ours)):
        standing, add = each.standing, result.of(f"hybrid, held box on the floor, {name}: ")
        residual, at_limit = each.residual[standing], int((~each.met[standing]).sum())
        add("median residual", "m/s", float(np.median(residual)), at_most(tolerance))
        add("largest residual", "m/s", float(residual.max()))
        add(f"number of steps, of {standing.sum()}, that reach the limit of rounds", "", at_limit)
    label = "hybrid: number of steps in which the direct solver did not finish"
    result.add(label, "", ours.unfinished, equal_to(0))


def _add_times(result: Result, runs: dict) -> None:
    peer = runs.get("mujoco")
    moments = ("objects tumbling", *TUMBLING), ("shaking", gripper.SHAKEN, np.inf)
    for kind in KINDS:
        for says, begin, end in moments:
            ours, other = runs[kind].median_cost(begin, end), peer and peer.median_cost(begin, end)
            result.add(f"{kind}: time of a step, {says}", "us", ours, peer=other)
        ours, other = runs[kind].slowest, peer and peer.slowest
        result.add(f"{kind}: longest time of a step, of 1000", "us", ours, peer=other)


def _notes(runs: dict) -> list[str]:
    world = runs["hybrid"].scene.world
    shaken = runs["hybrid"].time[-1] - gripper.SHAKEN
    return [
        "The source describes the scene without numbers. The scene here: a box of "
        f"{gripper.MASS:g} kg between pads with friction {gripper.PAD_FRICTION:g} and "
        f"{gripper.GRIP:g} N each. The hand drags the box {gripper.DRAG:g} m along the floor, "
        f"lifts the box {gripper.LIFT:g} m, and shakes the box along the pads for {shaken:g} s "
        f"with 0.5 g at {gripper.FREQUENCY:g} Hz. {gripper.OBJECTS} boxes, cylinders and balls "
        "lie on the floor.",
        "The motion in the grip is the motion of the box relative to either finger after the "
        f"fingers closed at {gripper.CLOSED:g} s. Each contact point of a pad has a compliance of "
        f"{gripper.PAD_COMPLIANCE:g} m/N, like rubber, except with rigid pads.",
        f"hybrid: {world.stats.direct_rows} of {world.stats.row_count} constraints are solved "
        "directly at the end. The time is the processor time of the steps, all scenes in one "
        "process, 50 steps of each in alternation.",
        "MuJoCo has no motor constraints, so its hand follows the path by position actuators. "
        "impratio 100 makes friction stiffer than the normal forces.",
    ]


def draw(result: Result, figure) -> None:
    """Draw the final scene seen along x, and the motion of the box in the grip."""
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1.3, 1.0)})
    runs = result.data["runs"]
    _draw_scene(left, runs["hybrid"].scene)
    left.set(title="The end, seen along x", xlabel="y [m]", ylabel="z [m]", aspect="equal")
    for name, each in runs.items():
        every = slice(None, None, 10)
        right.semilogy(each.time[every], each.slip[every] + 1e-17, lw=0.9, label=name)
    right.axhline(LARGEST_SLIP, color="black", lw=0.8, ls="--", label="target")
    right.axvspan(*gripper.LIFTED, color="#e9ecef", lw=0)
    right.set(title="Slip in the grip (grey: lifting)", xlabel="time [s]", ylabel="[m]")


def _draw_scene(axes, scene: gripper.Scene) -> None:
    """Draw outlines seen along x, the farthest first."""
    placed = [(scene.box, Box((gripper.EDGE,) * 3), "C1")]
    for k, thing in enumerate(scene.things):
        placed.append((scene.world.bodies[f"thing_{k}"], thing.shape, "C7"))
    solids = [
        (body.position + outline_points(shape) @ rotation_matrix(body.orientation).T, colour)
        for body, shape, colour in placed
    ]
    draw_solids(axes, solids, _RIGHT, 0.0)
    pad = outline_points(Box(gripper.PAD))
    positions = [scene.robot.link_pose(link)[0] for link in gripper.FINGERS]
    draw_solids(axes, [(position + pad, "C0") for position in positions], _RIGHT, 0.0)
    for _, y, z in positions:
        top = z + gripper.PAD[2] / 2
        axes.plot([y, y], [top, top + 0.08], color="C0", lw=3)
    axes.plot([-0.06, 0.06], [top + 0.08] * 2, color="C0", lw=5)
    _, half, height = gripper.RIM
    axes.plot([-half, -half, half, half], [height, 0.0, 0.0, height], color="black", lw=1.5)


EXPERIMENT = Experiment(
    "E14",
    "Direct solver for a gripper, iterative for the floor",
    "AGX notes, hybrid solver",
    run,
    draw,
)
