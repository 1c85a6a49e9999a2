# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E1: a hundred boxes dropped on a slope come to rest, touching each other and not sinking in.

The paper shows a picture and gives no measures. Here: a slope of 15 degrees, friction 0.5
everywhere (which holds up to 26.6 degrees), edges of 0.1 to 0.2 m, 500 kg/m^3, dropped in layers
of 16 from 0.4 m upwards, fences 0.3 m high on three sides. The random numbers are seeded.
"""

import math
import sys
import time
from typing import NamedTuple

import numpy as np

from evidence.experiments.framework.engines import against_mujoco
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.targets import at_most, below
from hrpsim import Box, World
from hrpsim.common.constants import STANDARD_GRAVITY as GRAVITY
from hrpsim.world.objects.body import rotation_matrix

ANGLE = math.radians(15.0)
FRICTION = 0.5
DENSITY = 500.0
TIME_STEP = 1e-3
NORMAL = np.array([math.sin(ANGLE), 0.0, math.cos(ANGLE)])
R_SLOPE = np.array(
    [
        [math.cos(ANGLE), 0.0, math.sin(ANGLE)],
        [0.0, 1.0, 0.0],
        [-math.sin(ANGLE), 0.0, math.cos(ANGLE)],
    ]
)
Q_SLOPE = np.array([0.0, math.sin(ANGLE / 2), 0.0, math.cos(ANGLE / 2)])  # x y z w
FENCES = (  # centre and edge lengths, x downhill, z off the slope [m]
    ((0.8, 0.0, 0.15), (0.1, 1.7, 0.3)),
    ((0.0, 0.8, 0.15), (1.7, 0.1, 0.3)),
    ((0.0, -0.8, 0.15), (1.7, 0.1, 0.3)),
)
REST = 1e-6  # [J]
DEEPEST = 1e-3  # [m]
_DEEPEST = "largest depth of a corner below the slope"
EVERY = 10  # number of steps between samples
SIDES = [[-1, -1], [1, -1], [1, 1], [-1, 1]]


class Boxes(NamedTuple):
    """The state of boxes at one time, in world axes and SI units."""

    lengths: np.ndarray  # (n, 3)
    positions: np.ndarray  # (n, 3)
    orientations: np.ndarray  # (n, 4) quaternions x y z w
    velocities: np.ndarray  # (n, 3)
    angular_velocities: np.ndarray  # (n, 3)

    @property
    def masses(self) -> np.ndarray:
        """Masses (n,) [kg]."""
        return DENSITY * self.lengths.prod(axis=1)


def dropped(count: int) -> Boxes:
    """Return `count` boxes at rest above the slope, without overlaps."""
    random = np.random.default_rng(1)
    lengths = random.uniform(0.1, 0.2, (count, 3))
    orientations = random.normal(size=(count, 4))
    orientations /= np.linalg.norm(orientations, axis=1, keepdims=True)
    k = np.arange(count)
    layered = np.column_stack([k % 4 - 1.5, k // 4 % 4 - 1.5, 1 + k // 16]) * 0.39
    local = layered + random.uniform(-0.02, 0.02, (count, 3))
    zero = np.zeros((count, 3))
    return Boxes(lengths, local @ R_SLOPE.T, orientations, zero, zero)


def our_world(boxes: Boxes, integrator: str, solver: str | None = None) -> World:
    """Return a world with slope, fences and boxes."""
    world = World(TIME_STEP, gravity=(0.0, 0.0, -GRAVITY), integrator=integrator, solver=solver)
    world.set_friction("slope", "box", static=FRICTION)
    world.set_friction("box", "box", static=FRICTION)
    world.add_ground(normal=NORMAL, material="slope")
    for centre, lengths in FENCES:
        world.add_static(Box(lengths), R_SLOPE @ centre, Q_SLOPE, material="slope")
    for lengths, mass, p, q in zip(
        boxes.lengths, boxes.masses, boxes.positions, boxes.orientations, strict=True
    ):
        world.add_body(Box(lengths), mass, position=p, orientation=q, material="box")
    return world


def our_boxes(world: World, start: Boxes) -> Boxes:
    """Return the present state of the boxes in the world of `our_world(start, ...)`."""
    bodies = list(world.bodies.values())
    return Boxes(
        start.lengths,
        np.array([body.position for body in bodies]),
        np.array([body.orientation for body in bodies]),
        np.array([body.velocity for body in bodies]),
        np.array([body.angular_velocity for body in bodies]),
    )


def mujoco_pile(mujoco, boxes: Boxes):
    """Return (MjModel, MjData) of the same slope, fences and boxes: Newton, elliptic cones."""

    def numbers(values) -> str:
        return " ".join(f"{value:.17g}" for value in values)

    slope = f'quat="{numbers(Q_SLOPE[[3, 0, 1, 2]])}"'
    parts = [f'<geom type="plane" size="0 0 1" {slope}/>']
    for centre, lengths in FENCES:
        half = numbers(np.array(lengths) / 2)
        parts.append(f'<geom type="box" size="{half}" pos="{numbers(R_SLOPE @ centre)}" {slope}/>')
    for lengths, mass, p, q in zip(
        boxes.lengths, boxes.masses, boxes.positions, boxes.orientations, strict=True
    ):
        parts.append(
            f'<body pos="{numbers(p)}" quat="{numbers(q[[3, 0, 1, 2]])}"><freejoint/>'
            f'<geom type="box" size="{numbers(lengths / 2)}" mass="{mass:.17g}"/></body>'
        )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{TIME_STEP}" gravity="0 0 -{GRAVITY}" cone="elliptic"/>'
        f'<default><geom friction="{FRICTION} 0 0" condim="3"/></default>'
        f"<worldbody>{''.join(parts)}</worldbody></mujoco>"
    )
    return model, mujoco.MjData(model)


def mujoco_boxes(data, start: Boxes) -> Boxes:
    """Return the present state of MuJoCo's boxes."""
    q, v = data.qpos.reshape(-1, 7), data.qvel.reshape(-1, 6)
    orientations = q[:, [4, 5, 6, 3]]
    spin = [rotation_matrix(o) @ w for o, w in zip(orientations, v[:, 3:], strict=True)]
    return Boxes(start.lengths, q[:, :3].copy(), orientations, v[:, :3].copy(), np.array(spin))


def kinetic_energy(boxes: Boxes) -> float:
    """Return the total kinetic energy of the boxes [J]."""
    masses, squares = boxes.masses, boxes.lengths**2
    total = 0.5 * masses @ (boxes.velocities**2).sum(axis=1)
    for k, q in enumerate(boxes.orientations):
        moments = masses[k] / 12.0 * (squares[k].sum() - squares[k])
        spin = rotation_matrix(q).T @ boxes.angular_velocities[k]
        total += 0.5 * moments @ spin**2
    return float(total)


def depth_below_slope(boxes: Boxes) -> float:
    """Return the depth of the lowest corner below the slope [m], negative above the slope."""
    lowest = [
        p @ NORMAL - np.abs(rotation_matrix(q).T @ NORMAL) @ lengths / 2
        for p, q, lengths in zip(boxes.positions, boxes.orientations, boxes.lengths, strict=True)
    ]
    return float(-min(lowest))


def deepest_overlap(mujoco, boxes: Boxes) -> float:
    """Return the deepest overlap of any two shapes [m], by MuJoCo's collision detector."""
    model, data = mujoco_pile(mujoco, boxes)
    mujoco.mj_forward(model, data)
    return float(max(-data.contact.dist.min(), 0.0)) if data.ncon else 0.0


class Drop:
    """The fall of the boxes in one engine.

    `energy`, `depth` and `cost` have the values of each sample.
    """

    def __init__(self, duration: float, step, boxes) -> None:
        """Call `step(n)` until `duration` [s]. `boxes()` returns the state of the boxes."""
        samples = round(duration / TIME_STEP / EVERY)
        self.time = np.arange(1, samples + 1) * EVERY * TIME_STEP
        self.energy, self.depth, self.cost = np.zeros((3, samples))
        for k in range(samples):
            begin = time.process_time()
            step(EVERY)
            self.cost[k] = (time.process_time() - begin) / EVERY * 1e6
            self.end = boxes()
            self.energy[k] = kinetic_energy(self.end)
            self.depth[k] = depth_below_slope(self.end)

    @property
    def rest(self) -> float | None:
        """Time after which the kinetic energy stays below the bound [s], or None."""
        moving = np.flatnonzero(self.energy >= REST)
        if len(moving) == 0:
            return 0.0
        return float(self.time[moving[-1] + 1]) if moving[-1] + 1 < len(self.time) else None

    def median_cost(self, begin: float, end: float) -> float:
        """Return the median time of a step between two times [s] [us]."""
        return float(np.median(self.cost[(self.time > begin) & (self.time <= end)]))


def our_drop(start: Boxes, model: str, duration: float):
    """Drop the boxes in hrpsim. Return (drop, world).

    model: integrator, and iterative or penalty contacts.
    """
    options = ("semi_implicit", "penalty") if model == "penalty" else (model,)
    world = our_world(start, *options)
    snapshot = world.snapshot()
    world.step()
    world.restore(snapshot)
    return Drop(duration, world.step, lambda: our_boxes(world, start)), world


def mujoco_drop(mujoco, start: Boxes, duration: float):
    """Drop the boxes in MuJoCo. Return (drop, MjData)."""
    model, data = mujoco_pile(mujoco, start)
    return Drop(
        duration, lambda n: mujoco.mj_step(model, data, nstep=n), lambda: mujoco_boxes(data, start)
    ), data


def run(options: Options) -> Result:
    """Drop the boxes in hrpsim with each integrator, and in MuJoCo."""
    count, duration = (25, 2.0) if options.quick else (100, 4.0)
    mujoco, result = against_mujoco("Newton, elliptic cone, default contacts")
    start = dropped(count)
    other, data = mujoco_drop(mujoco, start, duration) if mujoco else (None, None)
    drops = {}
    models = ("semi_implicit", "penalty")
    for integrator in models if options.quick else (*models, "rk4"):
        print(f"E1: {count} boxes, {duration:g} s, {integrator}", flush=True, file=sys.stderr)
        own, world = our_drop(start, integrator, duration)
        drops["hrpsim " + integrator] = own
        _add_rows(result, integrator, duration, own, other)
        add = result.of(f"{integrator}: ")
        touching = world.stats.contact_count
        add("number of contact points at the end", "", touching, peer=data and int(data.ncon))
        if mujoco:
            overlap, peer = (deepest_overlap(mujoco, drop.end) for drop in (own, other))
            label = "largest overlap of two shapes at the end, computed by mujoco"
            add(label, "m", overlap, analytic=0.0, peer=peer)
    if other:
        drops["mujoco"] = other
    result.data = {"drops": drops}
    result.notes += [
        "The paper shows a picture without measures. The scene here: "
        + " ".join(__doc__.split("Here: ")[1].split()),
        "The heap with penalty contacts never comes to rest, so its energy has no target. A "
        "point at the maximum extension of its spring alternates between the spring and a "
        "constraint, and loses its anchor.",
        "A box with only two contact points can turn about the line through both points without "
        "end: point contacts have no torsional friction, and the step dissipates nothing.",
        "Some boxes jump over the fence and come to rest on the open slope below.",
        f"{count} boxes. The depth is the depth of the lowest corner of all boxes, sampled every "
        "10 ms. The time of a step is processor time.",
    ]
    return result


def _add_rows(result: Result, name: str, duration: float, ours: Drop, other: Drop | None) -> None:
    add, still = result.of(f"{name}: "), below(REST) if name != "penalty" else None
    for label, unit, target, of in (
        (f"{_DEEPEST}, whole run", "m", at_most(DEEPEST), lambda d: float(d.depth.max())),
        (f"{_DEEPEST}, at the end", "m", at_most(DEEPEST), lambda d: float(d.depth[-1])),
        (f"kinetic energy after {duration:g} s", "J", still, lambda d: float(d.energy[-1])),
    ):
        add(label, unit, of(ours), target, analytic=0.0, peer=other and of(other))
    peer = other and (other.rest if other.rest is not None else "never")
    add("time after which the kinetic energy stays below 1e-6 J", "s", ours.rest, peer=peer)
    for label, begin, end in (
        ("boxes falling and colliding (0.4 to 1.2 s)", 0.4, 1.2),
        ("last half second", duration - 0.5, duration),
    ):
        peer = other and other.median_cost(begin, end)
        add(f"time of a step, {label}", "us", ours.median_cost(begin, end), peer=peer)


def draw(result: Result, figure) -> None:
    """Draw the final heap from the side on the left, and kinetic energy over time on the right."""
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (3, 2)})
    drops = result.data["drops"]
    name, first = next(iter(drops.items()))
    _draw_heap(left, first.end)
    left.set(title=f"The heap at the end, {name}", xlabel="x [m]", ylabel="z [m]", aspect="equal")
    left.set(xlim=(-0.9, 1.6), ylim=(-0.6, 0.7))
    for name, drop in drops.items():
        right.semilogy(drop.time, drop.energy + 1e-30, lw=1.2, label=name)
    right.axhline(REST, color="black", lw=0.8, ls="--", label="target")
    right.set(title="Kinetic energy of all boxes", xlabel="time [s]", ylabel="energy [J]")


def _draw_heap(axes, boxes: Boxes) -> None:
    """Draw outlines of the boxes seen along y, the farthest first."""
    for k in np.argsort(-boxes.positions[:, 1]):
        R = rotation_matrix(boxes.orientations[k])
        shade = 0.35 + 0.5 * (boxes.positions[k, 1] + 0.8) / 1.6
        for axis in range(3):
            others = [i for i in range(3) if i != axis]
            sign = -1.0 if R[1, axis] > 0.0 else 1.0  # the visible face
            corners = np.zeros((4, 3))
            corners[:, axis] = sign
            corners[:, others] = SIDES
            face = boxes.positions[k] + corners * boxes.lengths[k] / 2 @ R.T
            tint = (0.55 + 0.4 * shade * (axis + 1) / 3, 0.7, 0.9 - 0.25 * shade)
            axes.fill(face[:, 0], face[:, 2], fc=tint, ec="black", lw=0.3)
    centre, lengths = (np.array(values) for values in FENCES[0])
    fence = centre[[0, 2]] + np.array(SIDES) * lengths[[0, 2]] / 2
    fence = np.insert(fence, 1, 0.0, axis=1) @ R_SLOPE.T
    axes.fill(fence[:, 0], fence[:, 2], fc="none", ec="black", lw=1.2)
    x = np.array([-3.0, 20.0])
    axes.plot(x, -np.tan(ANGLE) * x, color="black", lw=1.5)


EXPERIMENT = Experiment(
    "E1", "Boxes dropped on a slope", "extended PGS paper, Fig. 2 and its text", run, draw
)
