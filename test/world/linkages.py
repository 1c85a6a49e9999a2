# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Linkages with more constraints than their motion needs, and the closed forms that they obey."""

from __future__ import annotations

from collections.abc import Callable
from math import asin, atan, cos, hypot, pi, sin, sqrt, tan

import numpy as np
from scipy.spatial.transform import Rotation

from hrpsim import Connection, Sphere, World

MASS, INERTIA = 0.2, 1e-3  # of each rod [kg, kg m^2]
EFFORT = 1e6  # of the motor [Nm]


class Linkage:
    """Rods between hinges in a weightless world, driven by one motor.

    `error` returns how far the linkage is from its closed form [m or rad].
    """

    def __init__(self, radius: float = 5e-3, **options):
        options = {"gravity": (0.0, 0.0, 0.0), "sleeping": False, **options}
        self.world = World(**options)
        self.radius = radius  # of the sphere in the middle of each rod [m]
        self.rods: dict[str, object] = {}
        self.error: Callable[[], float] = lambda: 0.0

    def rod(self, name: str, start, end) -> None:
        """Add a rod from one point to another."""
        middle = 0.5 * (np.asarray(start) + end)
        self.rods[name] = self.world.add_body(
            Sphere(self.radius), MASS, middle, inertia=np.eye(3) * INERTIA, name=name
        )

    def hinge(self, a: str | None, b: str, point, axis=(0, 0, 1)) -> Connection:
        """Join rod `b` to rod `a`, or to the world."""
        first = self.rods[a] if a else None
        return self.world.connect(first, self.rods[b], "hinge", point=point, axis=axis)

    def follow(self, name: str, point) -> Callable[[], np.ndarray]:
        """Return a function that returns where a point of a rod is now."""
        rod = self.rods[name]
        arm = Rotation.from_quat(rod.orientation).inv().apply(point - rod.position)
        return lambda: rod.position + Rotation.from_quat(rod.orientation).apply(arm)

    def open(self) -> float:
        """Return how far the widest hinge is open [m or rad]."""
        return max(np.abs(c.error).max() for c in self.world.connections.values())

    def kinetic_energy(self) -> float:
        """Return the kinetic energy of the rods [J]."""
        energy = 0.0
        for rod in self.rods.values():
            linear, angular = rod.velocity, rod.angular_velocity
            energy += 0.5 * float(MASS * linear @ linear + INERTIA * angular @ angular)
        return energy

    def largest_force(self) -> float:
        """Return the largest force in a hinge [N]."""
        return max(np.linalg.norm(c.force) for c in self.world.connections.values())


def peaucellier(speed: float = -0.4, **options) -> Linkage:
    """Seven rods and ten hinges: the far corner moves on a straight line (Peaucellier 1864)."""
    long, short, crank, angle = 0.5, 0.2, 0.22, 0.6
    power = long**2 - short**2  # of the inversion: |OB| |OD|
    here = Linkage(**options)
    o, c = np.zeros(3), np.array([crank, 0.0, 0.0])
    b = c + crank * np.array([cos(angle), sin(angle), 0.0])
    reach = hypot(*b[:2])
    along = b / reach
    across = np.array([-along[1], along[0], 0.0])
    d = along * power / reach
    half = 0.5 * np.linalg.norm(d - b)
    upper, lower = (0.5 * (b + d) + s * across * sqrt(short**2 - half**2) for s in (1, -1))
    for name, ends in {
        "crank": (c, b),
        "long up": (o, upper),
        "long low": (o, lower),
        "near up": (b, upper),
        "near low": (b, lower),
        "far up": (upper, d),
        "far low": (lower, d),
    }.items():
        here.rod(name, *ends)
    here.hinge(None, "crank", c).drive("rz", speed, EFFORT)
    for side, corner in (("up", upper), ("low", lower)):
        here.hinge(None, f"long {side}", o)
        here.hinge("crank", f"near {side}", b)
        here.hinge(f"long {side}", f"near {side}", corner)
        here.hinge(f"long {side}", f"far {side}", corner)
    here.hinge("far up", "far low", d)
    tip = here.follow("far up", d)
    here.error = lambda: abs(tip()[0] - power / (2.0 * crank))
    return here


def scissor_lift(stages: int = 5, speed: float = 0.3, **options) -> Linkage:
    """Pairs of crossed rods: the top is at `stages` times the height of a pair."""
    length, angle, axis = 0.4, 0.5, (1, 0, 0)
    here = Linkage(**options)

    def corner(stage: int, side: int) -> np.ndarray:
        return np.array([0.0, length * cos(angle) * side, length * sin(angle) * stage])

    for k in range(stages):
        here.rod(f"rising {k}", corner(k, 0), corner(k + 1, 1))
        here.rod(f"falling {k}", corner(k, 1), corner(k + 1, 0))
        middle = 0.5 * (corner(k, 0) + corner(k + 1, 1))
        here.hinge(f"rising {k}", f"falling {k}", middle, axis)
        if k > 0:
            here.hinge(f"falling {k - 1}", f"rising {k}", corner(k, 0), axis)
            here.hinge(f"rising {k - 1}", f"falling {k}", corner(k, 1), axis)
    here.hinge(None, "rising 0", corner(0, 0), axis).drive("rz", speed, EFFORT)
    slides = ["x", "z", "ry", "rz"]  # on the floor, along y
    here.world.connect(None, here.rods["falling 0"], axes=slides, point=corner(0, 1))
    foot, top = (
        here.follow("falling 0", corner(0, 1)),
        here.follow(f"falling {stages - 1}", corner(stages, 0)),
    )

    def error() -> float:
        height = stages * sqrt(length**2 - foot()[1] ** 2)
        return float(np.abs(top() - (0.0, 0.0, height)).max())

    here.error = error
    return here


def bennett_corners() -> tuple[np.ndarray, np.ndarray, float]:
    """Return hinges (4, 3), axes (4, 3) and the constant of Bennett's linkage.

    With the angles a and b at the ends of a link, tan(a/2) tan(b/2) is the constant.
    """
    lengths, twists, angle = (0.3, 0.3 * sin(1.1) / sin(0.6)), (0.6, 1.1), 1.0
    ratio = sin(0.5 * (twists[1] + twists[0])) / sin(0.5 * (twists[1] - twists[0]))
    angles = (angle, 2.0 * atan(ratio / tan(0.5 * angle)))
    turned, points, axes = Rotation.identity(), [np.zeros(3)], [np.array([0.0, 0.0, 1.0])]
    for k in range(4):
        turn = angles[k % 2] * (1 if k < 2 else -1)
        turned *= Rotation.from_euler("z", turn)
        points.append(points[-1] + turned.apply((lengths[k % 2], 0.0, 0.0)))
        turned *= Rotation.from_euler("x", twists[k % 2])
        axes.append(turned.apply((0.0, 0.0, 1.0)))
    assert np.allclose(points[4], points[0]), "the links do not close"
    return np.array(points[:4]), np.array([axes[0], *axes[1:4]]), ratio


def bennett(speed: float | None = 1.0, **options) -> Linkage:
    """Four skew hinges that move (Bennett 1903), since length / sin(twist) is the same for all."""
    points, axes, ratio = bennett_corners()
    here = Linkage(**options)
    for k in (1, 2, 3):
        here.rod(f"link {k}", points[k], points[(k + 1) % 4])
    foot = here.hinge(None, "link 1", points[1], axes[1])
    if speed is not None:
        foot.drive("rz", speed, EFFORT)
    here.hinge("link 1", "link 2", points[2], axes[2])
    here.hinge("link 2", "link 3", points[3], axes[3])
    here.hinge(None, "link 3", points[0], axes[0])
    ends = here.follow("link 1", points[2]), here.follow("link 3", points[3])

    def product() -> float:
        first = _angle(axes[1], points[1] - points[0], ends[0]() - points[1])
        return tan(0.5 * first) * tan(0.5 * _angle(axes[0], points[0] - ends[1](), points[1]))

    here.error = lambda: abs(product() / ratio - 1.0)
    return here


def _angle(axis, start, end) -> float:
    """Return the angle from one direction to another about an axis [rad]."""
    start, end = (v - axis * (axis @ v) for v in (start, end))
    return float(np.arctan2(axis @ np.cross(start, end), start @ end))


def sarrus(speed: float = 0.2, **options) -> Linkage:
    """Two folding pairs of plates, square to each other: the table rises straight (Sarrus 1853)."""
    length, width, angle = 0.3, 0.2, 0.8
    here = Linkage(**options)
    here.rod("table", (0, 0, 2 * length * sin(angle)), (0, 0, 2 * length * sin(angle)))
    for k in range(2):
        turn = Rotation.from_euler("z", 0.5 * pi * k)
        axis = turn.apply((0.0, 1.0, 0.0))
        low = turn.apply((width, 0.0, 0.0))
        elbow = turn.apply((width + length * cos(angle), 0.0, length * sin(angle)))
        high = low + (0.0, 0.0, 2 * length * sin(angle))
        here.rod(f"low {k}", low, elbow)
        here.rod(f"high {k}", elbow, high)
        foot = here.hinge(None, f"low {k}", low, axis)
        here.hinge(f"low {k}", f"high {k}", elbow, axis)
        here.hinge(f"high {k}", "table", high, axis)
        if k == 0:
            foot.drive("rz", speed, EFFORT)
            bend = here.follow("low 0", elbow)
    table = here.rods["table"]

    def error() -> float:
        apart = table.position - (0.0, 0.0, 2.0 * bend()[2])
        return float(max(np.abs(apart).max(), 2.0 * asin(np.abs(table.orientation[:3]).max())))

    here.error = error
    return here


def double_parallelogram(speed: float | None = 1.0, cranks: int = 3, **options) -> Linkage:
    """A bar on three equal cranks, on it a second one: the upper bar never turns."""
    length, apart, turns = 0.2, 0.25, (0.7, 1.9)
    here = Linkage(**options)
    base, below = np.zeros(3), None
    right = np.array([apart, 0.0, 0.0])
    for floor, turn in enumerate(turns):
        arm = length * np.array([cos(turn), sin(turn), 0.0])
        bar = f"bar {floor}"
        here.rod(bar, base + arm, base + arm + (cranks - 1) * right)
        for k in range(cranks):
            here.rod(f"crank {floor} {k}", base + k * right, base + k * right + arm)
            foot = here.hinge(below, f"crank {floor} {k}", base + k * right)
            here.hinge(f"crank {floor} {k}", bar, base + k * right + arm)
            if k == 0 and speed is not None:
                foot.drive("rz", speed if floor == 0 else -0.5 * speed, EFFORT)
        base, below = base + arm, bar
    upper = here.rods["bar 1"]
    here.error = lambda: float(2.0 * asin(np.abs(upper.orientation[:3]).max()))
    return here


LINKAGES = {
    "Peaucellier": peaucellier,
    "scissor lift": scissor_lift,
    "Bennett": bennett,
    "Sarrus": sarrus,
    "double parallelogram": double_parallelogram,
}
