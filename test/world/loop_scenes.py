# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random worlds with closed loops: planar, spatial, redundant, driven, sprung and on floors."""

import numpy as np
from scipy.spatial.transform import Rotation
from world.linkages import LINKAGES, bennett_corners

from hrpsim import Cylinder, Sphere, World, load_model
from hrpsim.model.readers.urdf_writer import exact_text, rpy_of

EXACT = {"sleeping": False, "tolerance": 1e-14}
GRAVITY = 9.80665
SLOP = 1e-4
FEET = ('<box size=".5 .4 .1"/>', '<sphere radius=".05"/>', '<cylinder radius=".2" length=".1"/>')


def frame_about(axis):
    """Return a rotation that turns z to an axis."""
    z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def loop_of(corners, axes, fixed, random, close='kind="hinge"', joint="", base=""):
    """Return a chain of links from corner to corner, closed by a connection with its base.

    Axes of the links' frames are those of the world. `close`, `joint` and `base` are what else the
    connection, each joint and the link of a free base have.
    """
    count, masses = len(corners), random.uniform(0.3, 2.0, len(corners))
    weight = 8.0 if base else masses[-1]
    parts = ['<link name="base"/>'] if fixed else [_link("base", corners[0], weight, base)]
    parent, start = "base", np.zeros(3)
    for k in range(count - 1):
        middle = (corners[k + 1] - corners[k]) / 2
        parts.append(_link(f"l{k}", middle, masses[k]))
        parts.append(
            f'<joint name="j{k}" type="continuous"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{exact_text(corners[k] - start)}"/>'
            f'<axis xyz="{exact_text(axes[k])}"/>{joint}</joint>'
        )
        parent, start = f"l{k}", corners[k]
    turn = exact_text(rpy_of(frame_about(axes[-1])))
    parts.append(
        f'<hrpsim reference="{parent}"><connection name="close" to="base" {close} '
        f'xyz="{exact_text(corners[-1] - start)}" to_xyz="{exact_text(corners[-1])}" '
        f'rpy="{turn}" to_rpy="{turn}"/></hrpsim>'
    )
    text = f'<robot name="loop">{"".join(parts)}</robot>'
    return load_model(text, base="fixed" if fixed else "free")


def _link(name, center, mass, shape=""):
    return (
        f'<link name="{name}"><inertial><origin xyz="{exact_text(center)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{0.004 * mass}" iyy="{0.005 * mass}" izz="{0.006 * mass}" ixy="0" ixz="0" '
        f'iyz="0"/></inertial>{shape}</link>'
    )


def polygon(random, count):
    """Return corners (count, 3) of a polygon about the origin, in the plane z = 0."""
    angles = (np.arange(count) + random.uniform(-0.3, 0.3, count)) * 2 * np.pi / count
    flat = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    return random.uniform(0.15, 0.4, (count, 1)) * flat


def _turned(random):
    """Return a rotation that turns z to x, y, z or any direction."""
    axis = np.eye(3)[random.integers(3)] if random.random() < 0.6 else random.normal(size=3)
    return frame_about(axis)


def _moving(random, model, speed=0.5, steps=None):
    """Return a world with a robot that moves, after some steps."""
    down = random.normal(size=3) * (random.random() < 0.7)
    gravity = GRAVITY * down / max(np.linalg.norm(down), 1.0)
    world = World(gravity=gravity, time_step=random.choice([5e-4, 1e-3, 2e-3]), **EXACT)
    robot = world.add_robot(model)
    robot.v = speed * random.normal(size=model.nv)
    world.step(steps or int(random.integers(1, 12)))
    return world


def planar_loop(random, **more):
    """Four to seven links about one axis, closed by a hinge or a ball."""
    count, R = int(random.integers(4, 8)), _turned(random)
    close = more.pop("close", f'kind="{random.choice(["hinge", "hinge", "ball"])}"')
    axes, corners = np.tile(R[:, 2], (count, 1)), polygon(random, count) @ R.T
    return loop_of(corners, axes, random.random() < 0.5, random, close, **more)


def planar(random):
    """Return the world of a planar loop."""
    return _moving(random, planar_loop(random))


def parallelogram(random):
    """Return the world of a parallelogram, whose joints may be damped."""
    R, (width, crank), angle = (
        _turned(random),
        random.uniform(0.1, 0.4, 2),
        random.uniform(0.3, 2.8),
    )
    arm, right = crank * np.array([np.cos(angle), np.sin(angle), 0]), np.array([width, 0, 0])
    corners = np.array([0 * arm, arm, arm + right, right]) @ R.T
    joint = '<dynamics damping="0.1" friction="0"/>' if random.random() < 0.5 else ""
    axes, fixed = np.tile(R[:, 2], (4, 1)), random.random() < 0.5
    return _moving(random, loop_of(corners, axes, fixed, random, joint=joint))


def spatial(random):
    """Return the world of a loop of links with skew axes."""
    count = int(random.integers(6, 9))
    close = f'kind="{random.choice(["ball", "universal"] if count < 8 else ["ball", "hinge"])}"'
    corners, axes = random.uniform(-0.4, 0.4, (count, 3)), random.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return _moving(random, loop_of(corners, axes, random.random() < 0.5, random, close), 0.3)


def bennett(random):
    """Return the world of Bennett's linkage as a robot."""
    (corners, axes, _), R, order = bennett_corners(), _turned(random), [1, 2, 3, 0]
    model = loop_of(corners[order] @ R.T, axes[order] @ R.T, random.random() < 0.5, random)
    return _moving(random, model, random.choice([0.02, 0.1]), steps=int(random.integers(20, 60)))


def linkage(random):
    """Return the world of a linkage of bodies with a motor."""
    world = LINKAGES[random.choice(list(LINKAGES))](**EXACT).world
    world.step(int(random.integers(20, 60)))
    return world


def on_floor(random):
    """Return the world of a loop whose base rests or slides on a floor, rigid or compliant."""
    world = World(time_step=random.choice([5e-4, 1e-3]), slop=SLOP, **EXACT)
    world.add_ground()
    if random.random() < 0.5:
        compliance = random.choice([1e-6, 1e-5, 1e-4])
        world.set_contact("default", "default", compliance=compliance, damping_time=0.003)
    R, shape = _turned(random), random.choice(FEET)
    base = f"<collision><geometry>{shape}</geometry></collision>"
    corners = 0.4 * polygon(random, 4) @ R.T + (0, 0, 0.35)
    model = loop_of(corners, np.tile(R[:, 2], (4, 1)), False, random, base=base)
    robot = world.add_robot(model, q=[0, 0, 0.05 - SLOP / 2, 0, 0, 0, 1, 0, 0, 0])
    v = 0.3 * random.normal(size=model.nv)
    v[:6] *= np.array([1, 1, 0, 0, 0, 1]) * random.choice([0.0, 0.7])
    robot.v = v
    world.step(int(random.integers(3, 30)))
    return world


def sprung(random):
    """Return the world of a planar loop that a spring closes."""
    soft = f'compliance="{random.choice(["1e-3", "1e-4", "1e-6"])}" damping_time="0.004"'
    return _moving(random, planar_loop(random, close=f'kind="hinge" {soft}'))


def driven(random):
    """Return the world of a planar loop with dry friction and one servo."""
    friction = random.choice([0.0, 0.05])
    joint = f'<dynamics damping="0.2" friction="{friction}"/>'
    world = _moving(random, planar_loop(random, joint=joint))
    (robot,) = world.robots.values()
    robot.set_gains(50.0, 1.0, ["j0"])
    robot.command(positions=[0.3], names=["j0"])
    world.step(int(random.integers(1, 20)))
    return world


def upright(random):
    """Return the world of an upright cylinder on a compliant floor."""
    world, length = World(**EXACT), random.uniform(0.1, 0.3)
    world.add_ground()
    compliance = random.choice([1e-6, 1e-5, 1e-4])
    world.set_contact("default", "default", compliance=compliance, damping_time=0.003)
    world.set_friction("default", "default", static=random.choice([0.1, 0.8]))
    shape = Cylinder(random.uniform(0.05, 0.15), length)
    turn = Rotation.from_rotvec([0, 0, random.uniform(0, 6)]).as_quat()
    body = world.add_body(shape, random.uniform(1, 4), (0, 0, length / 2), orientation=turn)
    body.v = random.choice([0.0, 0.2]) * random.normal(size=6) * (1, 1, 0.1, 0.1, 0.1, 1)
    world.step(int(random.integers(5, 100)))
    return world


def ring(random):
    """Return the world of a ring of bodies, which may hang on the world."""
    count, R = int(random.integers(3, 7)), _turned(random)
    corners, world = polygon(random, count) @ R.T, World(gravity=(0, 0, -GRAVITY), **EXACT)
    middles, inertia = (corners + np.roll(corners, -1, axis=0)) / 2, 2e-3 * np.eye(3)
    rods = [world.add_body(Sphere(0.02), 0.5, middle, inertia=inertia) for middle in middles]
    hinge = {"kind": "hinge", "axis": R[:, 2]}
    how = hinge if random.random() < 0.6 else {"kind": "universal"}
    for k in range(count):
        world.connect(rods[k - 1], rods[k], point=corners[k], **how)
    if random.random() < 0.5:
        world.connect(None, rods[0], random.choice(["ball", "fixed"]), point=corners[0])
    for rod in rods:
        rod.v = 0.2 * random.normal(size=6)
    world.step(int(random.integers(2, 30)))
    return world


FAMILIES = (
    *(planar, parallelogram, spatial, bennett, linkage, on_floor),
    *(sprung, driven, upright, ring),
)


def scene(number: int) -> World:
    """Return the world of a number. The families take turns."""
    return FAMILIES[number % len(FAMILIES)](np.random.default_rng([54, number]))
