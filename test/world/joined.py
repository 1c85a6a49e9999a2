# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the tests of connections share: a small robot, generalised motion, numeric derivatives."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from hrpsim import Box, World, load_model
from hrpsim.model.system import FIXED, FREE

KINDS = {
    "fixed": {"kind": "fixed"},
    "ball": {"kind": "ball"},
    "hinge": {"kind": "hinge"},
    "slider": {"kind": "slider"},
    "cylindrical": {"kind": "cylindrical"},
    "universal": {"kind": "universal"},
    "distance": {"kind": "distance"},
    "x, rz": {"axes": ("x", "rz")},
    "planar": {"axes": ("z", "rx", "ry")},
    "about x": {"axes": ("x", "y", "z", "ry", "rz")},
}
ENDS = {
    "two bodies": ("one", "two"),
    "world and body": (None, "one"),
    "body and world": ("one", None),
    "link and body": ("tree/tip", "two"),
    "links of one tree": ("tree/tip", "tree/wing"),
    "world and link": (None, "tree/tip"),
}


def _link(name: str, mass: float) -> str:
    return f"""<link name="{name}"><inertial><origin xyz="0.05 -0.02 0.1"/><mass value="{mass}"/>
      <inertia ixx="0.03" iyy="0.04" izz="0.02" ixy="0.001" ixz="0" iyz="0.002"/></inertial>
      </link>"""


def _joint(name: str, kind: str, parent: str, child: str, xyz: str, axis: str) -> str:
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
      <origin xyz="{xyz}" rpy="0.3 -0.2 0.5"/><axis xyz="{axis}"/>
      <limit lower="-50" upper="50" effort="1e9" velocity="1e9"/></joint>"""


TREE = f"""<robot name="tree">
  {_link("trunk", 3)} {_link("arm", 1)} {_link("tip", 0.7)} {_link("wing", 2)}
  {_joint("a", "continuous", "trunk", "arm", "0.2 0 0.1", "0 1 0")}
  {_joint("b", "prismatic", "arm", "tip", "0.1 0.1 0", "1 0 0")}
  {_joint("c", "continuous", "trunk", "wing", "-0.2 0.1 0", "1 0 1")}
</robot>"""


def random_turn(rng) -> np.ndarray:
    """Return a random quaternion x y z w."""
    return Rotation.random(random_state=rng).as_quat()


def scattered_world(rng, **options) -> World:
    """Return a weightless world: a robot on a free base and two bodies, at random poses."""
    world = World(gravity=(0.0, 0.0, 0.0), **options)
    model = load_model(TREE)
    q = np.concatenate([rng.uniform(-1, 1, 3), random_turn(rng), rng.uniform(-1, 1, 3)])
    world.add_robot(model, q=q, name="tree", v=rng.normal(size=model.nv))
    for name, x in (("one", 3.0), ("two", -3.0)):
        world.add_body(
            Box((0.2, 0.3, 0.4)),
            mass=2.0 + 0.1 * x,
            position=rng.uniform(-1, 1, 3) + (x, 0, 0),
            orientation=random_turn(rng),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            name=name,
        )
    return world


def random_frame(rng):
    """Return (position, quaternion) of a frame in a link."""
    return rng.uniform(-0.3, 0.3, 3), random_turn(rng)


def moved(world: World, q: np.ndarray, velocity: np.ndarray, duration: float) -> np.ndarray:
    """Return q carried along a constant velocity of the scene (kernels' layout)."""
    out = q.copy()
    for body in world.scene.forest.bodies:
        j, k = body["q_index"], body["v_index"]
        if body["joint_type"] == FREE:
            out[j : j + 3] += duration * velocity[k + 3 : k + 6]
            turn = Rotation.from_rotvec(duration * velocity[k : k + 3])
            out[j + 3 : j + 7] = (turn * Rotation.from_quat(q[j + 3 : j + 7])).as_quat()
        elif body["joint_type"] != FIXED:
            out[j] += duration * velocity[k]
    return out


def error_at(world: World, connection, q: np.ndarray) -> np.ndarray:
    """Return the errors (6,) of a connection at the scene's configuration q."""
    before = world.scene.q.copy()
    world.scene.q[:] = q
    error = connection.error
    world.scene.q[:] = before
    return error


def error_rate(world: World, connection, q, velocity, step: float = 1e-5) -> np.ndarray:
    """Return dg/dt (6,) along a constant velocity, by central differences of fourth order."""
    g = [error_at(world, connection, moved(world, q, velocity, k * step)) for k in (-2, -1, 1, 2)]
    return (g[0] - 8.0 * g[1] + 8.0 * g[2] - g[3]) / (12.0 * step)


def jacobian(world: World, connection, q) -> np.ndarray:
    """Return dg/dt by velocity (6, nv), numerically."""
    unit = np.eye(len(world.scene.velocity))
    return np.array([error_rate(world, connection, q, e) for e in unit]).T
