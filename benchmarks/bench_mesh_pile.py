"""Fifty mesh objects, three in five concave, fall into a bin: when they rest, how deep, how fast.

    python benchmarks/bench_mesh_pile.py [--count 50] [--time-step 1e-3] [--seconds 3]

Every quarter of a second: kinetic energy, contacts, deepest penetration in that time, and processor
time a step (not wall time: it holds on a busy machine).
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from hrpsim import World
from hrpsim.model.geometry import Mesh

HALF_WIDTH = 0.35
L = [(-2, -2), (2, -2), (2, 0), (0, 0), (0, 2), (-2, 2)]
L_CAP = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
U = [(-3, -2), (3, -2), (3, 2), (1, 2), (1, 0), (-1, 0), (-1, 2), (-3, 2)]
U_CAP = [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)]
SQUARE = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
SQUARE_CAP = [(0, 1, 2), (0, 2, 3)]


def prism(outline, cap, scale, half) -> Mesh:
    """Return the mesh of an outline (n, 2), counter-clockwise, and its triangles [m]."""
    n = len(outline)
    k = np.arange(n)
    following = (k + 1) % n
    flat = np.array(outline, float) * scale
    cap = np.array(cap)
    return Mesh(
        np.concatenate([np.column_stack([flat, np.full(n, z)]) for z in (-half, half)]),
        np.concatenate(
            [
                np.column_stack([k, following, n + following]),
                np.column_stack([k, n + following, n + k]),
                cap[:, ::-1],
                n + cap,
            ]
        ),
    )


def heart() -> Mesh:
    """Return a heart 0.12 m tall, as a fan about a point inside."""
    t = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)[::-1]
    x = 16.0 * np.sin(t) ** 3
    y = 13.0 * np.cos(t) - 5.0 * np.cos(2 * t) - 2.0 * np.cos(3 * t) - np.cos(4 * t)
    n, half = len(t), 0.03
    k = np.arange(n)
    following = (k + 1) % n
    rim = 0.0045 * np.column_stack([x, y])
    levels = [np.column_stack([rim, np.full(n, z)]) for z in (-half, half)]
    return Mesh(
        np.concatenate([*levels, [[0, 0, -half], [0, 0, half]]]),
        np.concatenate(
            [
                np.column_stack([k, following, n + following]),
                np.column_stack([k, n + following, n + k]),
                np.column_stack([following, k, np.full(n, 2 * n)]),
                np.column_stack([n + k, n + following, np.full(n, 2 * n + 1)]),
            ]
        ),
    )


def centred(mesh: Mesh, density: float = 1000.0) -> tuple[Mesh, float, np.ndarray]:
    """Return the mesh about its centre of mass, its mass [kg] and inertia [kg m^2]."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    volume = np.einsum("ti,ti->t", a, np.cross(b, c)) / 6.0
    center = ((a + b + c) / 4.0 * volume[:, None]).sum(axis=0) / volume.sum()
    a, b, c = a - center, b - center, c - center
    volume = np.einsum("ti,ti->t", a, np.cross(b, c)) / 6.0
    second = sum(np.einsum("t,ti,tj->ij", volume, p, p) for p in (a, b, c, a + b + c)) / 20.0
    inertia = density * (np.trace(second) * np.eye(3) - second)
    return Mesh(mesh.vertices - center, mesh.triangles), density * volume.sum(), inertia


def bin_world(count: int, time_step: float):
    """Return (world, bodies): a bin of five mesh boxes and `count` bodies over it."""
    world = World(time_step, sleeping=False)
    world.add_static(prism(SQUARE, SQUARE_CAP, 0.5, 0.05), (0.0, 0.0, -0.05))
    for sign in (-1.0, 1.0):
        away = sign * (HALF_WIDTH + 0.05)
        wall = prism(SQUARE, SQUARE_CAP, (0.05, 0.5), 1.0)
        world.add_static(wall, (away, 0.0, 1.0))
        world.add_static(prism(SQUARE, SQUARE_CAP, (0.5, 0.05), 1.0), (0.0, away, 1.0))
    kinds = [
        centred(prism(L, L_CAP, 0.035, 0.04)),
        centred(prism(U, U_CAP, 0.033, 0.03)),
        centred(prism(SQUARE, SQUARE_CAP, (0.06, 0.04), 0.05)),
        centred(prism([(np.cos(a), np.sin(a)) for a in np.arange(6) * np.pi / 3],
                      [(0, k, k + 1) for k in range(1, 5)], 0.06, 0.05)),
        centred(heart()),
    ]  # fmt: skip
    rng = np.random.default_rng(5)
    bodies = []
    for i in range(count):
        mesh, mass, inertia = kinds[i % len(kinds)]
        layer, k = divmod(i, 6)
        turn = rng.normal(size=4)
        position = (
            (k % 3 - 1) * 0.2 + rng.uniform(-0.01, 0.01), (k // 3 - 0.5) * 0.3, 0.15 + 0.22 * layer,
        )  # fmt: skip
        bodies.append(
            world.add_body(
                mesh, mass, position, tuple(turn / np.linalg.norm(turn)), inertia=inertia
            )
        )
    return world, bodies


def main() -> None:
    """Let them fall and print what happens."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--time-step", type=float, default=1e-3)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    world, bodies = bin_world(options.count, options.time_step)
    world.step(1)
    steps = round(0.25 / options.time_step)
    print("time [s]  kinetic energy [J]  contacts  deepest [m]  processor time [us/step]")
    for _ in range(round(options.seconds / 0.25)):
        deepest, spent = 0.0, time.process_time()
        for _ in range(steps):
            world.step(1)
            deepest = max(deepest, world.stats.max_penetration)
        spent = (time.process_time() - spent) / steps
        energy = sum(0.5 * body.mass * body.velocity @ body.velocity for body in bodies)
        count = len(world.contacts)
        print(f"{world.time:8.2f} {energy:19.2e} {count:9d} {deepest:12.2e} {1e6 * spent:25.0f}")
    outside = [
        b.name for b in bodies if abs(b.position[:2]).max() > HALF_WIDTH or b.position[2] < 0
    ]
    print(f"outside the bin: {outside or 'none'}")


if __name__ == "__main__":
    main()
