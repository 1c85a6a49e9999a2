# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check whether every step of a scene converges with the default choice of solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from evidence.benchmarks import bin_scene
from evidence.benchmarks.cases.convergence import falling, tower, world_of
from evidence.benchmarks.cases.standing_step import engines
from evidence.benchmarks.cases.swaying_step import CONTROL_PERIOD, Swaying
from evidence.benchmarks.engines.bins import HrpsimBin
from evidence.benchmarks.engines.bullet_scenes import BulletStanding
from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.simbenchmark.ours import Ours
from evidence.benchmarks.simbenchmark.scenes import kapla
from evidence.benchmarks.timing import Effort
from hrpsim import Box, Capsule, Mesh, World, load_world, share_path
from hrpsim.control import ControlLoop, Walk
from hrpsim.model.shapes.mesh_integrals import solid_moments

SHARE, RESIDUAL = 0.999, 1e-6
STONE = 2500.0  # [kg/m^3]


@dataclass
class Running:
    """A running scene. `turn()` makes `each` steps of `world`, including commands to the robot."""

    name: str
    world: World
    turns: int
    each: int
    turn: Callable[[], None] | None = None  # called for each turn instead of step
    rests: bool = False  # whether all bodies should stay at rest

    def __post_init__(self) -> None:
        if self.turn is None:
            self.turn = lambda: self.world.step(self.each)


def arch(count: int = 15, inner: float = 0.5, outer: float = 0.65) -> World:
    """Return an arch (half a ring) of wedges that friction alone holds."""
    world = World(sleeping=False)
    world.set_friction("default", "default", static=0.8)
    world.add_ground()
    angles = np.linspace(0.0, np.pi, count + 1)
    for low, high in pairwise(angles):
        corners = [(inner, low), (outer, low), (outer, high), (inner, high)]
        outline = [(r * np.cos(a), r * np.sin(a)) for r, a in corners]
        vertices, triangles = upright_prism(outline, 0.1)
        volume, center, inertia = solid_moments(vertices, triangles)
        stone = Mesh(vertices - center, triangles)
        world.add_body(stone, STONE * volume, center, inertia=STONE * inertia)
    return world


def upright_prism(outline, half: float) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and triangles of a prism with a convex outline in x and z.

    half: half of the prism's length along y [m].
    """
    n = len(outline)
    vertices = np.array([(x, y, z) for y in (half, -half) for x, z in outline])
    triangles = [(0, k + 1, k) for k in range(1, n - 1)]
    triangles += [(n, n + k, n + k + 1) for k in range(1, n - 1)]
    for b in range(n):
        a = b - 1 if b else n - 1
        triangles += [(a, b, n + b), (a, n + b, n + a)]
    return vertices, np.array(triangles)


def card_house(lean: float = 0.25) -> World:
    """Return a card house: two leaning pairs of cards, a card across, and a leaning pair on top."""
    world = World(sleeping=False)
    world.set_friction("default", "default", static=0.9)
    world.add_ground()
    long, wide, thin = 0.09, 0.06, 0.002
    rise = 0.5 * (long * np.cos(lean) + thin * np.sin(lean))
    out = 0.5 * (long * np.sin(lean) + thin * np.cos(lean))

    def pair(x: float, z: float) -> None:
        for sign in (-1.0, 1.0):
            turn = Rotation.from_euler("y", -sign * lean)
            place = (x + sign * out, 0.0, z + rise)
            world.add_body(Box((thin, wide, long)), 0.01, place, turn.as_quat())

    apart = 4.0 * out
    pair(-0.5 * apart, 0.0)
    pair(0.5 * apart, 0.0)
    world.add_body(Box((1.4 * apart, wide, thin)), 0.01, (0.0, 0.0, 2.0 * rise + 0.5 * thin))
    pair(0.0, 2.0 * rise + thin)
    return world


def loaded_chain(count: int = 100, load: float = 1000.0) -> World:
    """Return a hanging chain of light links whose lower end holds a heavy box on the ground."""
    world = World(sleeping=False)
    world.add_ground()
    length, top = 0.05, 0.6 + 0.05 * count
    above = None
    for k in range(count):
        place = (0.0, 0.0, top - (k + 0.5) * length)
        link = world.add_body(Capsule(0.008, length - 0.02), 0.05, place)
        world.connect(above, link, "ball", point=(0.0, 0.0, top - k * length))
        above = link
    box = world.add_body(Box((0.6, 0.6, 0.6)), load, (0.0, 0.0, 0.3))
    world.connect(above, box, "ball", point=(0.0, 0.0, 0.6))
    return world


def swaying(points: int) -> Running:
    """Return a scene of hrp2_like swaying on a number of contact points."""
    robots = engines(points)
    for engine in robots[1:]:
        if isinstance(engine, BulletStanding):
            engine.close()
    robot = Swaying(robots[0], robots[0].state()[0])

    def turn() -> None:
        robot.aim()
        robot.engine.step(CONTROL_PERIOD)

    return Running(f"swaying on {points} points", robots[0].world, 300, CONTROL_PERIOD, turn)


def walking(name: str, rubble: bool) -> Running:
    """Return the walking demo as a scene, over loose plates if `rubble`."""
    world = load_world(share_path("config/walking_demo.yaml"), xacro_arguments={"bush": "true"})
    (robot,) = world.robots.values()
    if rubble:
        random = np.random.default_rng(2)
        for _ in range(60):
            x, y = random.uniform((0.3, -0.4), (1.3, 0.4))
            world.add_body(
                Box((0.04, 0.03, 0.006)),
                0.02,
                (x, y, 0.003),
                Rotation.from_euler("z", random.uniform(0, np.pi)).as_quat(),
            )
    loop = ControlLoop(robot, Walk())
    loop.__enter__()
    each = loop.steps_per_period
    return Running(name, world, round(8.0 / (each * world.time_step)), each, loop.tick)


def scenes(quick: bool) -> list[Callable[[], Running]]:
    """Return functions that build the scenes, by name."""

    def cubes(bodies):
        return Running(bodies.name, world_of(bodies, None), bodies.steps // 25, 25)

    builders = [
        lambda: cubes(falling(30)),
        lambda: Running("an arch of 15 stones", arch(), 200, 25, rests=True),
        lambda: Running("a house of 7 cards", card_house(), 200, 25, rests=True),
    ]
    if quick:
        return builders
    return [
        *builders,
        lambda: cubes(falling(100)),
        lambda: cubes(falling(300)),
        lambda: Running(
            "tower of 40, 60 s", world_of(tower("", [1.0] * 40), None), 2400, 25, rests=True
        ),
        lambda: Running(
            "kapla, 102 blocks, 10 ms, 60 s", Ours().loose(kapla(), 1e-2).world, 240, 25, rests=True
        ),
        lambda: cubes(tower("the top of 5 is 1000 times heavier", [1, 1, 1, 1, 1e3])),
        lambda: cubes(tower("the top of 5 is 10 000 times heavier", [1, 1, 1, 1, 1e4])),
        lambda: Running("100 links and 1000 kg", loaded_chain(), 120, 25, rests=True),
        lambda: Running(
            "50 boxes fall into a bin", HrpsimBin(bin_scene.boxes(50), False).world, 60, 25
        ),
        lambda: Running(
            "50 meshes fall into a bin", HrpsimBin(bin_scene.meshes(50), False).world, 60, 25
        ),
        lambda: swaying(8),
        lambda: swaying(64),
        lambda: walking("walking", rubble=False),
        lambda: walking("walking over 60 loose plates", rubble=True),
    ]


def run(result: CaseResult, effort: Effort) -> None:
    """Run every scene, and count the steps that do not converge. Times are per step."""
    rows, worst_share, worst_residual = [], 1.0, 0.0
    for build in scenes(effort.quick):
        scene = build()
        world = scene.world
        world.copy().step(3)  # compiles
        start = np.array([body.position for body in world.bodies.values()])
        before = world.stats.since_reset
        times, newton = [], 0
        for _ in range(scene.turns):
            begin = effort.clock()
            scene.turn()
            times.append((effort.clock() - begin) / scene.each)
        made = world.stats.since_reset
        steps = made.steps - before.steps
        unconverged = made.unconverged - before.unconverged
        converged = 1.0 - unconverged / steps
        newton = made.newton_steps - before.newton_steps
        residual = made.worst_residual if unconverged else 0.0
        worst_share, worst_residual = min(worst_share, converged), max(worst_residual, residual)
        moved = "-"
        if scene.rests:
            places = np.array([body.position for body in world.bodies.values()])
            moved = f"{np.abs(places - start).max():.1e}"
        rows.append(
            [
                scene.name,
                str(steps),
                f"{100 * converged:.2f} %",
                f"{residual:.0e}",
                f"{100 * newton / steps:.0f} %",
                f"{1e6 * np.median(times):.0f}",
                moved,
            ]
        )
    head = [
        "scene",
        "steps",
        "converged",
        "worst residual [m/s]",
        "by Newton's method",
        "us a step",
    ]
    result.extra.append(([*head, "moved [m]"], rows))
    result.claims += [
        Claim("least share of steps that converge", worst_share, SHARE, at_least=True),
        Claim("worst residual [m/s]", worst_residual, RESIDUAL),
    ]
    result.notes.append(
        "steps of 1 ms but where said, the tolerance 1e-8 m/s. A residual of 0: all converged. "
        "Moved: how far what should rest has come"
    )


CASE = Case("Every step of every scene: auto", run)
