# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E14: a gripper holds a box by direct contacts over a floor whose contacts are iterative."""

from __future__ import annotations

import time

import numpy as np
from scipy.spatial import ConvexHull

from hrpsim import Box, Sphere
from hrpsim.experiments.framework.experiment import (
    Experiment,
    Options,
    Result,
    Row,
    at_most,
    equal_to,
    mujoco_module,
    near,
    peer_name,
)
from hrpsim.experiments.scenes import gripper
from hrpsim.world.objects.body import rotation_matrix

LARGEST_SLIP = 1e-5  # [m]
SHAKING = 10.0  # [s]
TURN = 50  # steps of each scene in turn
KINDS = ("hybrid", "direct", "iterative")
TURNED = 0.02  # how far off the pads' plane the box is put down, when it is [rad]
TUMBLING = (0.2, gripper.CLOSED)  # [s]


class Run:
    """The run of one scene: `cost` [us] of each step, `slip` [m] after it.

    Slip counts from `held_from` [s] on, and is NaN before.
    """

    def __init__(self, scene, steps: int, held_from: float = gripper.CLOSED):
        self.scene, self.done, self.held_from = scene, 0, held_from
        self.time = np.zeros(steps)
        self.cost, self.slip = np.zeros(steps), np.full(steps, np.nan)
        self.held = None

    def advance(self) -> None:
        """Do one turn of steps; measure the processor time of the steps only."""
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
        """Note how far the corner of the box that moved most is from where the grip had it."""
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

    def median_cost(self, begin: float, end: float = np.inf) -> float:
        """Return the median [us] of the steps between two times [s]."""
        return float(np.median(self.cost[(self.time > begin) & (self.time <= end)]))


class OurRun(Run):
    """A run of ours that also notes the coupled system's `residual` [m/s] and what did not end.

    `standing` marks steps in which the gripped box is on the floor.
    """

    def __init__(self, scene: gripper.Scene, steps: int, held_from: float = gripper.CLOSED):
        super().__init__(scene, steps, held_from)
        self.residual = np.zeros(steps)
        self.met, self.standing = np.zeros(steps, dtype=bool), np.zeros(steps, dtype=bool)
        self.unfinished = 0

    def look(self, k: int) -> None:
        """Note slip, residual and whether the solvers came to an end."""
        super().look(k)
        stats = self.scene.world.stats
        self.residual[k], self.met[k] = stats.residual, stats.converged
        self.unfinished += not stats.direct_finished
        self.standing[k] = self.held is not None and self.scene.stands()


def run(options: Options) -> Result:
    """Run all scenes in turn in one process, ours and MuJoCo's."""
    mujoco = mujoco_module()
    end = gripper.SHAKEN + (0.5 if options.quick else SHAKING)
    steps = round(end / gripper.TIME_STEP)
    result = Result(peer=peer_name(mujoco, "Newton, elliptic cone, implicitfast, impratio 1"))
    runs = {kind: OurRun(gripper.Scene(kind), steps) for kind in KINDS}
    if mujoco is not None:
        for name, impratio in (("mujoco", 1.0), ("mujoco, impratio 100", 100.0)):
            runs[name] = Run(gripper.MujocoScene(mujoco, impratio=impratio), steps)
    alone = OurRun(gripper.Scene(count=0), steps)
    others = {
        (turn, compliance): OurRun(
            gripper.Scene(count=0, turn=turn, compliance=compliance), steps, gripper.DRAGGED[1]
        )
        for turn, compliance in ((0.0, 0.0), (TURNED, gripper.PAD_COMPLIANCE), (TURNED, 0.0))
    }
    gripper.Scene(count=0).step()  # compiles, if it must
    for _ in range(0, steps, TURN):
        for each in (*runs.values(), *others.values(), alone):
            each.advance()
    _slip_rows(result, runs)
    _other_slip_rows(result, others)
    _grip_rows(result, runs["hybrid"])
    _coupling_rows(result, runs["hybrid"], alone)
    _time_rows(result, runs)
    result.data = {"runs": runs}
    result.notes += _notes(runs)
    return result


def _slip_rows(result: Result, runs: dict) -> None:
    peer = runs.get("mujoco")
    for kind in KINDS:
        judged = kind == "hybrid"
        result.add(
            f"{kind}: farthest that a corner of the box moved in the grip",
            "m",
            runs[kind].largest_slip,
            at_most(LARGEST_SLIP) if judged else None,
            analytic=0.0,
            peer=peer.largest_slip if peer and judged else None,
        )
    stiffer = runs.get("mujoco, impratio 100")
    if stiffer is not None:
        what = "mujoco, impratio 100: farthest that a corner of the box moved in the grip"
        result.add(what, "m", None, analytic=0.0, peer=stiffer.largest_slip)


def _other_slip_rows(result: Result, others: dict) -> None:
    """Rigid pads, and a box that the pads must turn: wedged at first, flat when it was dragged."""
    for (turn, compliance), each in others.items():
        pads = "rubber pads" if compliance else "rigid pads"
        placed = f"box put down turned by {turn:g} rad" if turn else "box put down straight"
        result.add(
            f"hybrid, {pads}, {placed}: farthest that a corner moved, lifted and shaken",
            "m",
            each.largest_slip,
            at_most(LARGEST_SLIP),
            analytic=0.0,
        )


def _grip_rows(result: Result, ours: OurRun) -> None:
    """What holds the box: half of the motor's force on each pad, and how safe that is."""
    for link, force in zip(gripper.FINGERS, ours.scene.pad_forces(), strict=True):
        result.add(
            f"hybrid: {link} presses, at the end",
            "N",
            force,
            near(gripper.GRIP, relative=1e-6),
            analytic=gripper.GRIP,
        )
    what = "friction that the pads can give / the most that is needed"
    result.add(what, "", None, analytic=gripper.margin())


def _coupling_rows(result: Result, ours: OurRun, alone: OurRun) -> None:
    """The residual of direct and iterative rows together, while the held box is on the floor."""
    tolerance = float(ours.scene.world.scene.settings["tolerance"][0])
    for name, each in (("no other objects", alone), (f"{gripper.OBJECTS} objects", ours)):
        here = each.standing
        begin = f"hybrid, held box on the floor, {name}"
        result.rows += [
            Row(
                f"{begin}: residual, median",
                "m/s",
                float(np.median(each.residual[here])),
                at_most(tolerance),
            ),
            Row(f"{begin}: residual, largest", "m/s", float(each.residual[here].max())),
            Row(
                f"{begin}: steps of {here.sum()} that end at the limit of rounds",
                "",
                int((~each.met[here]).sum()),
            ),
        ]
    what = "hybrid: steps in which the direct solver did not finish"
    result.add(what, "", ours.unfinished, equal_to(0))


def _time_rows(result: Result, runs: dict) -> None:
    peer = runs.get("mujoco")
    for kind in KINDS:
        for says, begin, end in (
            ("objects tumbling", *TUMBLING),
            ("shaking", gripper.SHAKEN, np.inf),
        ):
            other = peer.median_cost(begin, end) if peer else None
            ours = runs[kind].median_cost(begin, end)
            result.add(f"{kind}: a step, {says}", "us", ours, peer=other)
        slowest = float(np.percentile(runs[kind].cost[1:], 99.9))
        other = float(np.percentile(peer.cost[1:], 99.9)) if peer else None
        result.add(f"{kind}: the slowest of 1000 steps", "us", slowest, peer=other)


def _notes(runs: dict) -> list[str]:
    world = runs["hybrid"].scene.world
    shaken = runs["hybrid"].time[-1] - gripper.SHAKEN
    return [
        "the source names the scene and prints no numbers; here: a box of "
        f"{gripper.MASS:g} kg, pads of friction {gripper.PAD_FRICTION:g}, {gripper.GRIP:g} N each, "
        f"dragged {gripper.DRAG:g} m along the floor, lifted {gripper.LIFT:g} m, shaken along the "
        f"pads {shaken:g} s with 0.5 g at {gripper.FREQUENCY:g} Hz; {gripper.OBJECTS} boxes, "
        "cylinders and balls on the floor",
        "in the grip: seen from either finger, against where it was when the fingers had closed, "
        f"at {gripper.CLOSED:g} s, the box still on the floor; pads yield by "
        f"{gripper.PAD_COMPLIANCE:g} m/N a point, like rubber, but where they are called rigid",
        f"hybrid: {world.stats.direct_rows} of {world.stats.row_count} rows are direct at the end; "
        "all scenes in one process, 50 steps each in turn, processor time of the steps alone",
        "mujoco's hand follows its path on position actuators, for it has no motors that are "
        "constraints; impratio 100 makes friction stiffer than normal forces",
    ]


def draw(result: Result, figure) -> None:
    """The scene at the end seen along x, and how the box moved in the grip."""
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
    right.legend(fontsize=7, frameon=False)


def _draw_scene(axes, scene: gripper.Scene) -> None:
    """Draw outlines seen along x, the far ones first."""
    bodies = scene.world.bodies
    seen = [(bodies[f"thing_{k}"], thing.shape, "C7") for k, thing in enumerate(scene.things)]
    seen.append((scene.box, Box((gripper.EDGE,) * 3), "C1"))
    for body, shape, colour in sorted(seen, key=lambda entry: entry[0].position[0]):
        points = body.position + _surface(shape) @ rotation_matrix(body.orientation).T
        outline = points[ConvexHull(points[:, 1:]).vertices, 1:]
        axes.fill(*outline.T, fc=colour, ec="black", lw=0.5, alpha=0.9)
    for link in gripper.FINGERS:
        position, _ = scene.robot.link_pose(link)
        points = position + _surface(Box(gripper.PAD))
        outline = points[ConvexHull(points[:, 1:]).vertices, 1:]
        axes.fill(*outline.T, fc="C0", ec="black", lw=0.5)
        top = position[2] + gripper.PAD[2] / 2
        axes.plot([position[1]] * 2, [top, top + 0.08], color="C0", lw=3)
    axes.plot([-0.06, 0.06], [top + 0.08] * 2, color="C0", lw=5)
    _, half, height = gripper.RIM
    axes.plot([-half, -half, half, half], [height, 0.0, 0.0, height], color="black", lw=1.5)


def _surface(shape) -> np.ndarray:
    """Return points (n, 3) of which the shape is the convex hull, nearly [m]."""
    turn = np.linspace(0.0, 2.0 * np.pi, 25)
    if isinstance(shape, Box):
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return signs * np.array(shape.lengths) / 2
    if isinstance(shape, Sphere):
        up = np.linspace(-1.0, 1.0, 13)[:, None]
        out = np.sqrt(1.0 - up**2)
        points = np.stack(
            [out * np.cos(turn), out * np.sin(turn), np.broadcast_to(up, (13, 25))], axis=-1
        )
        return shape.radius * points.reshape(-1, 3)
    ring = shape.radius * np.array([np.cos(turn), np.sin(turn)])
    ends = [np.vstack([ring, np.full(25, z)]).T for z in (-shape.length / 2, shape.length / 2)]
    return np.vstack(ends)


EXPERIMENT = Experiment(
    "E14", "A gripper on direct, the floor on iterative", "AGX notes, hybrid solver", run, draw
)
