# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A markdown table of conservation laws, friction and standing: measured, target, met.

From the folder test/, or with it on the path:  python -m world.report
It exits with 1 if a figure is missed.
"""

import math
import sys
from collections.abc import Iterator

import numpy as np
from sensors.test_standing import ten_seconds
from world.scenes import GRAVITY, INTEGRATORS, one_joint, slope_world
from world.scripted import digest, everything, script
from world.test_free_motion import drift
from world.test_sliding import CASES, MU, G, block, stop_distance, table
from world.test_slope import LANDING, SCENES, creep, put, travel
from world.test_springs import START, TURN, errors

from hrpsim import Box, World

Row = tuple[str, float, float, bool]  # what, measured, bound, whether the bound is a least value


def free_motion() -> Iterator[Row]:
    energy, momentum = drift("rk4")
    yield "rk4, tumbling for 10 s: relative change of energy", energy, 1e-9, False
    yield "rk4, tumbling for 10 s: relative change of angular momentum", momentum, 1e-9, False
    world = World(1e-3, integrator="rk4")
    body = world.add_body(Box((0.1, 0.1, 0.1)), 2.0, velocity=(1.0, 2.0, 3.0))
    world.step(1000)
    fall = np.abs(body.position - (1.0, 2.0, 3.0 - GRAVITY / 2)).max()
    yield "rk4, free fall for 1 s: error of position [m]", fall, 1e-12, False


def bushes() -> Iterator[Row]:
    error = errors("rk4", (1e-3, 5e-4, 2.5e-4))
    yield (
        "rk4, undamped bush: error / error at half the step",
        (error[:-1] / error[1:]).min(),
        14,
        True,
    )
    spring = f'<spring stiffness="{TURN["k"]}"/><rotor inertia="{TURN["rotor"]}"/>'
    world = World(1e-3, gravity=(0, 0, 0), integrator="rk4")
    robot = world.add_robot(one_joint(moment=TURN["moment"], extension=spring), q=[START])
    world.step(10_000)
    moment = TURN["moment"] + TURN["rotor"]
    now = 0.5 * moment * robot.v[0] ** 2 + 0.5 * TURN["k"] * robot.q[0] ** 2
    change = abs(now / (0.5 * TURN["k"] * START**2) - 1)
    yield "rk4, undamped bush for 10 s: relative change of energy", change, 1e-6, False


def slopes() -> Iterator[Row]:
    for integrator in INTEGRATORS:
        worst = max(creep(shape, box, integrator, LANDING) for shape, box in SCENES)
        yield f"slope 26.5 deg, creep in 10 s, {integrator} [m]", worst, 1e-9, False
    worst = {(s, b): creep(s, b, "semi_implicit", 0.0) for s, b in SCENES}
    box = max(worst["box", False], worst["box", True])
    yield "slope 26.5 deg, box, creep from the first step on [m]", box, 1e-9, False
    rest = max(worst["cylinder", False], worst["feet", False])
    yield "slope 26.5 deg, cylinder and balls, creep from the first step on [m]", rest, 1e-9, False
    yield (
        "slope 26.5 deg, cylinder on a box, creep from the first step on [m]",
        worst["cylinder", True],
        1e-9,
        False,
    )
    a = math.radians(26.6)
    expected = GRAVITY * (math.sin(a) - 0.5 * math.cos(a))
    for integrator in INTEGRATORS:
        error = 0.0
        for shape, on_box in SCENES:
            world = slope_world(26.6, 0.5, 0.5, on_box, integrator=integrator)
            body = put(world, shape, 26.6)
            at = []
            for _ in range(3):
                world.step(1000)
                at.append(travel(body, 26.6)[0])
            error = max(error, abs((at[2] - 2 * at[1] + at[0]) / expected - 1))
        yield f"slope 26.6 deg, relative error of acceleration, {integrator}", error, 1e-3, False


def stopping() -> Iterator[Row]:
    worst = max(abs(stop_distance(v, dt, "rk4") * 2 * MU * G / v**2 - 1) for v, dt in CASES)
    yield "E7, relative error of the stopping distance, rk4", worst, 1e-3, False
    late = []
    for v, dt in CASES:
        v += 0.5 * MU * G * dt  # half a step's worth of speed left: the farthest off
        excess = stop_distance(v, dt, "semi_implicit") - v**2 / (2 * MU * G)
        late.append(abs(excess) / (MU * G * dt**2 / 8))
    yield (
        "E7, error of the stopping distance / (mu g dt^2 / 8), semi_implicit",
        max(late),
        1.001,
        False,
    )
    for integrator in INTEGRATORS:
        world = table(integrator, 1 / 100)
        angles = np.arange(36) * (2 * math.pi / 36) + 0.03
        starts = [(3.0 * (k % 6), 3.0 * (k // 6)) for k in range(36)]
        bodies = [
            block(world, (2 * math.cos(a), 2 * math.sin(a), 0), start)
            for a, start in zip(angles, starts, strict=True)
        ]
        world.step(85)
        moved = np.array([b.position[:2] for b in bodies]) - np.array(starts)
        distance = np.linalg.norm(moved, axis=1)
        yield (
            f"36 headings, longest / shortest sliding distance - 1, {integrator}",
            distance.max() / distance.min() - 1,
            1e-3,
            False,
        )
        off = np.abs(moved[:, 0] * np.sin(angles) - moved[:, 1] * np.cos(angles)) / distance
        yield (
            f"36 headings, largest deviation from the heading, {integrator}",
            off.max(),
            1e-3,
            False,
        )


def standing() -> Iterator[Row]:
    bounds = {
        "sum": ("wrench sum / m g - 1", 1e-6),
        "chatter": ("range of a foot's vertical force [N]", 1e-3),
        "drift": ("motion of the centre of mass [m]", 1e-4),
        "penetration": ("penetration [m]", 3e-4),
    }
    for bush in (False, True):
        for integrator in INTEGRATORS:
            found = ten_seconds(bush, integrator)
            for key, (what, bound) in bounds.items():
                name = f"standing for 10 s, {'bushes' if bush else 'rigid'}, {integrator}: {what}"
                yield name, found[key], bound, False


def same_bits() -> Iterator[Row]:
    for integrator in INTEGRATORS:
        world = everything(integrator)
        world.step(300)
        kept = world.snapshot()
        script(world)
        first = digest(world)
        world.restore(kept)
        script(world)
        changed = float(digest(world) != first)
        world, other = everything(integrator), everything(integrator)
        script(world)
        script(other)
        changed += float(digest(world) != digest(other))
        yield (
            f"number of differences in a repeated run or after a snapshot, {integrator}",
            changed,
            0,
            False,
        )


def rows() -> Iterator[Row]:
    """Every figure, measured now."""
    for topic in (free_motion, bushes, slopes, stopping, standing, same_bits):
        yield from topic()


def main() -> int:
    """Print the table; return 1 if a figure is missed."""
    print("| quantity | measured | target | met |\n| --- | --- | --- | --- |")
    missed = 0
    for what, measured, bound, at_least in rows():
        met = measured >= bound if at_least else measured <= bound
        missed += not met
        sign = ">=" if at_least else "<="
        print(
            f"| {what} | {measured:.3g} | {sign} {bound:g} | {'yes' if met else 'NO'} |", flush=True
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
