# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots of the suite: ANYmal falling, struck and standing, and a humanoid instead of Atlas.

The suite's own robot files are not used. ANYmal is `anymal_b_simple_description` of the package
example-robot-data, with 30.5 instead of 33.7 kg. The package has no Atlas. `simple_humanoid` has
the same 35 degrees of freedom (torso 3, arms 7, legs 6), Atlas's gains for the corresponding
joints, 137 instead of 150 kg, and one box for each foot as the only collision shapes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from lxml import etree
from scipy.spatial.transform import Rotation

from evidence.benchmarks.robots import shipped_robot
from evidence.benchmarks.simbenchmark.scenes import GRAVITY
from hrpsim import Model, center_of_mass, energy, load_model, mass_matrix

FRICTION = 0.8
_LEGS = {"LF": (0.03, 0.4, -0.8), "RF": (-0.03, 0.4, -0.8)}
_LEGS |= {"LH": (0.03, -0.4, 0.8), "RH": (-0.03, -0.4, 0.8)}
_ARM = {"SHOULDER_P": (2e4, 30.0), "SHOULDER_R": (1e4, 10.0), "SHOULDER_Y": (1e3, 10.0)}
_ARM |= {
    "ELBOW": (1e3, 5.0),
    "WRIST_Y": (1e3, 3.0),
    "WRIST_P": (100.0, 0.5),
    "WRIST_R": (0.2, 0.01),
}
_LEG = {"HIP_R": (5e4, 40.0), "HIP_P": (5e4, 40.0), "HIP_Y": (2e4, 40.0), "KNEE": (3e4, 5.0)}
_LEG |= {"ANKLE_P": (1e4, 2.0), "ANKLE_R": (2e4, 10.0)}
_FOOT, _SOLE = (0.26, 0.15, 0.05), -0.754  # edges of the box, height of the sole below the base [m]


@dataclass(frozen=True)
class Ball:
    """A flying ball: radius [m], mass [kg], position [m] and velocity [m/s] (3,)."""

    radius: float
    mass: float
    position: tuple[float, float, float]
    velocity: tuple[float, float, float]


@dataclass(frozen=True)
class RobotScene:
    """A scene with `count` robots, a square number, in rows with spacing `apart` [m].

    With a floor, the robots stand. Servos with `gains` (kp, kd) of each joint hold the angles of q.
    Without gains, the joints move freely.
    """

    name: str
    model: Model
    q: np.ndarray
    time_step: float
    gains: dict[str, tuple[float, float]]
    gravity: float = GRAVITY
    floor: bool = False
    ball: Ball | None = None
    count: int = 1
    apart: float = 2.0

    def many(self, count: int) -> RobotScene:
        """Return the same scene with another number of robots."""
        return replace(self, count=count)

    def places(self) -> list[tuple[float, float]]:
        """Return x and y of the robots' bases [m]."""
        rows = round(self.count**0.5)
        return [(self.apart * (k // rows), self.apart * (k % rows)) for k in range(self.count)]


def _shipped(name: str) -> str:
    text = shipped_robot(name)
    if text is None:
        raise FileNotFoundError(f"{name}: install the package example-robot-data")
    return text


def _tree_without(urdf: str, *elements: str):
    root = etree.fromstring(urdf.encode())
    for element in [*root.iter(*elements)]:
        element.getparent().remove(element)
    for limit in root.iter("limit"):  # the suite has no limits of angles and efforts
        limit.attrib.update({"lower": "-1000", "upper": "1000", "effort": "0", "velocity": "0"})
    return root


@cache
def anymal() -> Model:
    """Return ANYmal with collision shapes, without meshes, and with its two base links merged."""
    root = _tree_without(_shipped("anymal_b_simple_description/robots/anymal.urdf"), "visual")
    base, matter = (root.find(f"link[@name='{name}']") for name in ("base", "base_inertia"))
    base.replace(base.find("inertial"), matter.find("inertial"))
    root.remove(matter)
    root.remove(root.find("joint[@name='base_to_base_inertia']"))
    return load_model(etree.tostring(root, encoding="unicode"))


def _anymal_posture(height: float) -> np.ndarray:
    model = anymal()
    q = model.neutral()
    q[2] = height
    for leg, angles in _LEGS.items():
        for joint, angle in zip(("HAA", "HFE", "KFE"), angles):
            q[model.joint(f"{leg}_{joint}").q_index] = angle
    return q


def anymal_pd() -> RobotScene:
    """Return the scene of ANYmal standing under PD control, with steps of 5 ms."""
    model = anymal()
    gains = {name: (40.0, 1.0) for name in model.joint_names}
    return RobotScene("anymal pd", model, _anymal_posture(0.54), 5e-3, gains, floor=True)


def anymal_momentum() -> RobotScene:
    """Return the scene of ANYmal without gravity and gains, struck by a ball.

    The ball has 10 kg and 5 m/s. The scene lasts 10 s.
    """
    ball = Ball(0.2, 10.0, (0.0, -5.0, 2.0), (0.0, 5.0, 0.0))
    return RobotScene(
        "anymal momentum", anymal(), _anymal_posture(2.0), 1e-3, {}, gravity=0.0, ball=ball
    )


def anymal_energy() -> RobotScene:
    """Return the scene of ANYmal without gains, pulled up for 1 s, then in free flight for 2 s.

    The pulling force is twice the weight.
    """
    return RobotScene("anymal energy", anymal(), _anymal_posture(2.0), 1e-3, {})


@cache
def humanoid() -> Model:
    """Return simple_humanoid with one box for each foot, centred below the centre of mass."""
    urdf = _shipped("simple_humanoid_description/urdf/simple_humanoid.urdf")
    root = _tree_without(urdf, "visual", "collision", "collision_checking")
    bare = load_model(etree.tostring(root, encoding="unicode"))
    middle = float(center_of_mass(bare, bare.neutral())[0])
    for side in "lr":
        link = root.find(f"link[@name='{side}_ankle']")
        collision = etree.SubElement(link, "collision")
        height = _SOLE + 0.6535 + 0.5 * _FOOT[2]  # the ankle is 0.6535 m below the base
        etree.SubElement(collision, "origin", xyz=f"{middle:.9g} 0 {height:.9g}", rpy="0 0 0")
        geometry = etree.SubElement(collision, "geometry")
        etree.SubElement(geometry, "box", size=" ".join(map(str, _FOOT)))
    return load_model(etree.tostring(root, encoding="unicode"))


def humanoid_pd() -> RobotScene:
    """Return the scene of a humanoid standing under PD control, with steps of 0.5 ms."""
    model = humanoid()
    gains = {name: (1e4, 50.0) for name in ("WAIST_P", "WAIST_R", "CHEST")}
    for side in "LR":
        gains |= {f"{side}ARM_{joint}": pair for joint, pair in _ARM.items()}
        gains |= {f"{side}LEG_{joint}": pair for joint, pair in _LEG.items()}
    q = model.neutral()
    q[2] = -_SOLE
    return RobotScene("atlas pd", model, q, 5e-4, gains, floor=True, apart=2.5)


ROBOTS = {
    "anymal momentum": anymal_momentum,
    "anymal energy": anymal_energy,
    "anymal pd": anymal_pd,
    "atlas pd": humanoid_pd,
}


def robot_energy(scene: RobotScene, q: np.ndarray, v: np.ndarray) -> float:
    """Return the kinetic plus potential energy of a robot [J], for the state of any engine."""
    kinetic, potential = energy(scene.model, q, v, gravity=(0.0, 0.0, -scene.gravity))
    return float(kinetic + potential)


def robot_momentum(scene: RobotScene, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return a robot's linear momentum (3,) in world axes [kg m/s].

    The first rows of M v are the momentum in the frame of the base.
    """
    along_base = mass_matrix(scene.model, q)[:3] @ v
    return Rotation.from_quat(q[3:7]).apply(along_base)
