# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Collisions in closed form, for tests of impacts: pairs one after the other, or all at once."""

import itertools

import numpy as np

from hrpsim import Box, Sphere, World

RADIUS = 0.05


def collide_in_pairs(masses, gaps, velocities, restitution, duration):
    """Balls on a line that collide pair by pair: their velocities, how far they came, collisions.

    An infinite mass is a wall. Pairs that meet at the same time meet one after the other, the
    fastest first; between collisions balls move evenly, so every time is exact.
    """
    w, v = 1.0 / np.asarray(masses, dtype=float), np.array(velocities, dtype=float)
    g, moved, time = np.array(gaps, dtype=float), np.zeros(len(v)), 0.0
    for count in itertools.count():
        rate = v[1:] - v[:-1]
        wait = np.full(len(g), np.inf)
        closing = rate < -1e-12
        wait[closing] = np.maximum(-g[closing] / rate[closing], 0.0)
        earliest = wait.min()
        if not time + earliest <= duration:
            return v, moved + (duration - time) * v, count
        moved, g, time = moved + earliest * v, g + earliest * rate, time + earliest
        i = min(np.flatnonzero(wait <= earliest + 1e-13), key=lambda k: rate[k])
        impulse = -(1.0 + restitution) * rate[i] / (w[i] + w[i + 1])
        v[i] -= w[i] * impulse
        v[i + 1] += w[i + 1] * impulse
        g[i] = 0.0
    raise AssertionError


def collide_at_once(masses, velocities, restitution):
    """Touching balls on a line after one impact by Newton's law, solved for all contacts together.

    Of all sets of contacts that push, the one that pulls nowhere and lets nothing pass.
    """
    w, v = 1.0 / np.asarray(masses, dtype=float), np.array(velocities, dtype=float)
    n = len(v) - 1
    J = np.zeros((n, n + 1))
    for k in range(n):
        J[k, k], J[k, k + 1] = -1.0, 1.0
    target = np.maximum(-restitution * (J @ v), 0.0)
    for size in range(n + 1):
        for pushing in itertools.combinations(range(n), size):
            A = J[list(pushing)]
            impulse = np.linalg.solve(A * w @ A.T, target[list(pushing)] - A @ v) if size else []
            after = v + w * (A.T @ impulse) if size else v
            if np.all(np.asarray(impulse) >= -1e-12) and np.all(J @ after >= target - 1e-12):
                return after
    raise AssertionError


def line_of_balls(masses, gaps, velocities, restitution, time_step=1e-3, **options):
    """A world without gravity, and its balls on the x axis; walls are fixed boxes."""
    options.setdefault("restitution_threshold", 1e-9)
    world = World(time_step, gravity=(0.0, 0.0, 0.0), **options)
    world.set_friction("ball", "ball", 0.0, restitution=restitution)
    balls, x = [], 0.0
    for k, mass in enumerate(masses):
        x += (gaps[k - 1] if k else 0.0) + 2.0 * RADIUS * (k > 0)
        if np.isinf(mass):
            world.add_static(Box((2.0 * RADIUS,) * 3), position=(x, 0.0, 0.0), material="ball")
        else:
            balls.append(
                world.add_body(
                    Sphere(RADIUS),
                    mass,
                    position=(x, 0.0, 0.0),
                    velocity=(velocities[k], 0.0, 0.0),
                    material="ball",
                )
            )
    return world, balls


def speeds(balls) -> np.ndarray:
    """Velocities along x [m/s]."""
    return np.array([ball.velocity[0] for ball in balls])
