# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The concave solids of E10: a girder that hangs on the pads, and a heart gripped at notch and tip.

The girder is a closed triangle mesh, an upright H that is concave on both sides. The heart is a
closed triangle mesh, a slab with the outline of a heart.

The outline is x = 16 sin^3 t, y = 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t in units. The heart is 32
units wide. The tip is 17 units below the origin, the notch 5 units and the lobes 11.97 units above.
"""

from dataclasses import dataclass

import numpy as np

from evidence.crane import scene as scene
from evidence.crane.scene import CraneScene, Load, Watched, slip_between
from evidence.crane.script import Go, Grip, Wait
from evidence.experiments.framework.experiment import Result
from evidence.experiments.framework.targets import at_most, equal_to, near
from hrpsim import Box
from hrpsim.model.shapes.geometry import Mesh

WEB = 0.040  # width of the girder between the slots [m]
FLANGE = 0.056  # width above and below the slots [m]
SLOT, HEIGHT = 0.056, 0.076  # height of a slot, height of the girder [m]
_CAPS = [
    *[(0, 1, 2), (0, 2, 3), (0, 3, 10), (0, 10, 11)],
    *[(10, 3, 4), (10, 4, 9)],
    *[(7, 8, 9), (7, 9, 4), (7, 4, 5), (7, 5, 6)],
]
MASS = 0.3  # mass of each object [kg]
SLIPPERY = 0.05  # friction at which the pads cannot carry the girder
GIRDER_GRIP = 6.0  # [N]
GIRDER_LENGTH = 0.040  # [m]
PAD_HEIGHT = 0.050  # [m]
PLAY = 0.5 * (SLOT - PAD_HEIGHT)  # [m], descent of the girder until the flange rests on the pads
FRICTION_SHARE = 2.0 * SLIPPERY * GIRDER_GRIP / (MASS * scene.GRAVITY)  # largest, over the weight
UNIT, THICKNESS = 3.5e-3, 0.050  # unit and thickness of the heart [m]
HEART_GRIP = scene.SAFETY * MASS * scene.GRAVITY / (2.0 * scene.FRICTION)  # [N]
_LOWEST, _LIFTED = 0.03, 0.12  # heights of the pads [m]
_LEFT_ALONE = 1.0  # waiting time for objects on the table [s]
_LEVEL = 0.9  # least vertical component of the unit normal of a supporting contact
_SLANTED = 0.1  # least x component of the unit normal of a contact with a wall of the notch


@dataclass
class Hooked:
    """The result of gripping, lifting and holding a solid."""

    lifted: float
    below: float
    lift_slip: float
    held: Watched
    carried: float
    walls: int
    posture: tuple[np.ndarray, np.ndarray]


def play(time_step: float, load: Load, grip: float, friction: float, duration: float) -> Hooked:
    """Grip a solid at the middle, lift the solid, and hold it for `duration` [s]."""
    low, start = max(load.position[2], _LOWEST), load.position[2]
    moves = [
        Grip(False, 1.5),
        Go((0.0, 0.0, low)),
        Grip(True, 3.0),
        Wait(0.5),
        Go((0.0, 0.0, _LIFTED)),
        Wait(duration),
    ]
    run = CraneScene(time_step, moves, load, grip, friction)
    run.play_until(4)
    gripped = run.corners()
    run.play_until(5)
    lift_slip = slip_between(gripped, run.corners())
    watched = run.watch_until(len(moves))
    height = float(run.box.position[2])
    pads = float(run.robot.link_pose(scene.CLAWS[0])[0][2])
    pressing = [c for c in run.world.contacts if c.a[1] in scene.CLAWS and c.force.any()]
    slants = [c.normal[0] for c in pressing if c.a[1] == scene.CLAWS[0]]
    return Hooked(
        lifted=height - start,
        below=pads - height,
        lift_slip=lift_slip,
        held=watched,
        carried=-sum(float(c.force[2]) for c in pressing if c.normal[2] < -_LEVEL),
        walls=len({np.sign(x) for x in slants if abs(x) > _SLANTED}),
        posture=run.posture(),
    )


def heart_load() -> Load:
    """Return the heart, flat on the table, with the middle between notch and tip under the hand."""
    shape = heart(UNIT, THICKNESS)
    notch, tip = shape.vertices[0], shape.vertices[24]
    return Load("heart", shape, MASS, (0.0, -0.5 * (notch[1] + tip[1]), 0.5 * THICKNESS))


def girder_load() -> Load:
    """Return the girder in upright position."""
    return Load("girder", girder(GIRDER_LENGTH), MASS, (0.0, 0.0, 0.5 * HEIGHT))


def block_load() -> Load:
    """Return a box with the outer dimensions of the girder."""
    lengths = (GIRDER_LENGTH, FLANGE, HEIGHT)
    return Load("box", Box(lengths), MASS, (0.0, 0.0, 0.5 * HEIGHT))


def add(result: Result, rate: int, duration: float) -> None:
    """Add rows for one time step: slips and postures of both solids, held for `duration` [s]."""
    step, case = 1.0 / rate, f"dt 1/{rate} s: "
    hung = play(step, girder_load(), GIRDER_GRIP, SLIPPERY, duration)
    left = play(step, block_load(), GIRDER_GRIP, SLIPPERY, _LEFT_ALONE)
    heart = play(step, heart_load(), HEART_GRIP, scene.FRICTION, duration)
    result.data["held"]["girder", rate] = hung.held
    result.data["held"]["heart", rate] = heart.held
    result.data["hooked"] = {"girder": hung.posture, "heart": heart.posture}
    row = result.of(case)
    add_slip(result, case, "girder hung by its flange", hung.held)
    label = f"girder, friction {SLIPPERY:g}: depth of its centre below the pads' centre"
    row(label, "m", hung.below, near(PLAY, absolute=1e-4), analytic=PLAY)
    carried = hung.carried / (MASS * scene.GRAVITY)
    target = near(1.0, absolute=round(FRICTION_SHARE, 3))
    row("girder: force on the flange / weight", "", carried, target)
    label = "box with the girder's outer dimensions, same grip: height of the lift"
    row(label, "m", left.lifted, near(0.0, absolute=1e-4), analytic=0.0)
    add_slip(result, case, "heart held by notch and tip", heart.held)
    row("heart: slip during the lift", "m", heart.lift_slip, at_most(scene.LARGEST_SLIP))
    row("heart: height of the lift", "m", heart.lifted, near(_LIFTED - _LOWEST, absolute=2e-4))
    row("heart: number of notch walls that press on the pad", "", heart.walls, equal_to(2))


def add_slip(result: Result, case: str, how: str, held: Watched) -> None:
    """Add a row with the largest slip of the held solid."""
    label = f"{case}{how}: largest slip in {held.times[-1]:.0f} s of holding"
    result.add(label, "m", float(held.slips.max()), at_most(scene.LARGEST_SLIP), analytic=0.0)


def girder(length: float) -> Mesh:
    """Return a girder of `length` [m] along x, with slots that open to both sides of y.

    The frame's origin is the centre of mass. Triangles are oriented outwards.
    """
    w, f, s, t = 0.5 * WEB, 0.5 * FLANGE, 0.5 * SLOT, 0.5 * HEIGHT
    right = [(f, -t), (f, -s), (w, -s), (w, s), (f, s), (f, t)]
    ring = np.array([(-f, -t), *right, *[(-y, z) for y, z in right[:0:-1]]])
    n = len(ring)
    ends = [np.column_stack([np.full(n, x), ring]) for x in (0.5 * length, -0.5 * length)]
    sides = [(i, i + n, (i + 1) % n + n) for i in range(n)]
    sides += [(i, (i + 1) % n + n, (i + 1) % n) for i in range(n)]
    back = [(a + n, c + n, b + n) for a, b, c in _CAPS]
    return Mesh(np.concatenate(ends), np.array([*_CAPS, *back, *sides]))


def outline(count: int) -> np.ndarray:
    """Return points (count, 2) [units] of the curve, counter-clockwise, starting at the notch."""
    t = -np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    x = 16.0 * np.sin(t) ** 3
    y = 13.0 * np.cos(t) - 5.0 * np.cos(2 * t) - 2.0 * np.cos(3 * t) - np.cos(4 * t)
    return np.column_stack([x, y])


def heart(unit: float, thickness: float, count: int = 48) -> Mesh:
    """Return a heart: a slab in the plane of x and y, of `thickness` [m] along z about z = 0.

    The frame's origin is the centre of mass. Triangles are oriented outwards.

    Args:
        unit: length of a unit of the curve [m].
        thickness: thickness [m].
        count: number of points of the outline. The number is even, so that notch and tip are
            points.
    """
    ring = unit * outline(count)
    area, centre = _area_and_centroid(ring)
    assert area > 0.0
    ring = ring - centre
    top = np.column_stack([ring, np.full(count, 0.5 * thickness)])
    bottom = top - (0.0, 0.0, thickness)
    # The middle has a view of the whole outline, so both faces are fans about the middle.
    middles = np.array([[0.0, 0.0, 0.5 * thickness], [0.0, 0.0, -0.5 * thickness]])
    a = np.arange(count)
    b = (a + 1) % count
    up, down = np.full(count, 2 * count), np.full(count, 2 * count + 1)
    triangles = [
        np.column_stack([up, a, b]),
        np.column_stack([down, count + b, count + a]),
        np.column_stack([a, count + a, count + b]),
        np.column_stack([a, count + b, b]),
    ]
    return Mesh(np.concatenate([top, bottom, middles]), np.concatenate(triangles))


def _area_and_centroid(ring: np.ndarray) -> tuple[float, np.ndarray]:
    """Return area and centroid (2,) of a counter-clockwise polygon."""
    following = np.roll(ring, -1, axis=0)
    cross = ring[:, 0] * following[:, 1] - ring[:, 1] * following[:, 0]
    area = 0.5 * cross.sum()
    return float(area), ((ring + following) * cross[:, None]).sum(axis=0) / (6.0 * area)
