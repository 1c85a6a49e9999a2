# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Measured landings of the biped Cassie, and their simulations, for R2.

Source: Acosta, Yang and Posa, Validating Robotics Simulators on Real-World Impacts (2022),
github.com/DAIRLab/cassie_impact_dataset. A landing lasts 50 ms, sampled at 2 kHz, and begins about
5 ms before the impact. The robot is cassie_v2.urdf of github.com/DAIRLab/dairlib, folder
examples/Cassie/urdf.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree
from scipy.spatial.transform import Rotation

import hrpsim
from evidence.experiments.scenes.standing import mujoco_spec
from hrpsim import Model, World, load_model

SAMPLE = 0.5e-3  # [s]
AFTER = 40  # number of samples from the impact to the comparison of velocities: 20 ms
BEFORE = 8  # number of samples in which no foot has contact
APPROACH = 2e-3  # least descent of a foot in these samples, otherwise the foot does not land [m]
ACHILLES = 0.5012  # length of the rod between each thigh and heel spring [m]
ROD_ENDS = {  # on the heel spring, on the thigh [m]
    "left": ((0.11877, -0.01, 0.0), (0.0, 0.0, 0.045)),
    "right": ((0.11877, -0.01, 0.0), (0.0, 0.0, -0.045)),
}
FOOT = ((-0.0457, 0.112, 0.0), (0.088, 0.0, 0.0))  # contact points in the foot's frame [m]
SPRINGS = {"knee_joint": 1500.0, "ankle_spring_joint": 1250.0}  # [Nm/rad]
ROTORS = {  # inertia [kg m^2] and gear ratio of the motors
    "hip_roll": (61e-6, 25.0),
    "hip_yaw": (61e-6, 25.0),
    "hip_pitch": (365e-6, 16.0),
    "knee": (365e-6, 16.0),
    "toe": (4.9e-6, 50.0),
}
_SIDES = ("left", "right")
MOTORS = tuple(f"{name}_{side}" for name in ROTORS for side in _SIDES)
MEASURED = (*MOTORS[:8], *(f"{n}_{s}" for n in ("knee_joint", "ankle_joint") for s in _SIDES))
JOINTS = (*MEASURED, "ankle_spring_joint_left", "toe_left", "ankle_spring_joint_right", "toe_right")
ENCODERS = (*MEASURED, "toe_left", "toe_right")  # joints whose velocity is measured
RESULTS = ("joints", "base", "turning")


@dataclass(frozen=True)
class Landing:
    """The data of one landing, in hrpsim's order of coordinates."""

    q: np.ndarray
    v: np.ndarray
    torques: np.ndarray
    impact: int
    ground: float


def cassie_text(path: Path) -> str:
    """Return Cassie's description with springs, rotors and rods, and without visuals."""
    root = etree.parse(str(path)).getroot()
    for link in root.iterchildren("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        inertial = link.find("inertial")
        if inertial.find("inertia") is None:  # a point mass
            etree.SubElement(
                inertial, "inertia", {f"i{k}": "0" for k in "xx yy zz xy xz yz".split()}
            )
    for point in root.iter("sphere"):  # the contact points are spheres without a radius
        point.set("radius", "1e-6")
    for limit in root.iter("limit"):
        for bound in ("effort", "velocity"):
            limit.set(bound, limit.get(bound, "0"))

    def extend(reference: str, tag: str, **attributes: str) -> None:
        etree.SubElement(etree.SubElement(root, "hrpsim", reference=reference), tag, attributes)

    for side, (heel, thigh) in ROD_ENDS.items():
        for joint, stiffness in SPRINGS.items():
            extend(f"{joint}_{side}", "spring", stiffness=str(stiffness))
        for joint, (inertia, ratio) in ROTORS.items():
            extend(f"{joint}_{side}", "rotor", inertia=str(inertia), gear_ratio=str(ratio))
        rod = {"to": f"thigh_{side}", "kind": "distance", "name": f"rod_{side}"}
        ends = {"xyz": " ".join(map(str, heel)), "to_xyz": " ".join(map(str, thigh))}
        extend(f"heel_spring_{side}", "connection", length=str(ACHILLES), **rod, **ends)
    return etree.tostring(root, encoding="unicode")


def cassie_model(path: Path) -> Model:
    """Return the model of Cassie from cassie_v2.urdf, on a free base."""
    return load_model(cassie_text(path), base="free")


def read_landings(path: Path, model: Model) -> list[Landing]:
    """Return the landings of cassie_landings.npz with a foot on the ground within 20 ms."""
    order = [JOINTS.index(name) for name in model.joint_names]
    landings = []
    with np.load(path) as stored:
        for number in sorted(name[2:] for name in stored.files if name.startswith("x_")):
            x, torques = stored[f"x_{number}"], stored[f"u_{number}"]
            turned = Rotation.from_quat(x[:, [1, 2, 3, 0]])
            q = np.concatenate([x[:, 4:7], turned.as_quat(), x[:, 7:23][:, order]], axis=1)
            base = [turned.inv().apply(x[:, at]) for at in (slice(26, 29), slice(23, 26))]
            v = np.concatenate([*base, x[:, 29:45][:, order]], axis=1)
            close_loops(model, q[0], v[0])
            heights = np.array([lowest_point(model, sample) for sample in q[:AFTER]])
            if heights[0] - heights[BEFORE] > APPROACH:
                impact = _first_stop(heights)
                landings.append(Landing(q, v, torques, impact, float(heights[impact])))
    return landings


def _first_stop(heights: np.ndarray) -> int:
    """Return the sample at which a foot descends at half of its speed before the impact."""
    pace = (heights[0] - heights[BEFORE]) / BEFORE
    slow = heights[BEFORE:-4] - heights[BEFORE + 4 :] < 0.5 * 4 * pace
    return BEFORE + 2 + int(np.argmax(slow))


def lowest_point(model: Model, q: np.ndarray) -> float:
    """Return the height of the lowest of the feet's four contact points [m]."""
    poses = [hrpsim.link_pose(model, q, f"toe_{side}") for side in _SIDES]
    return float(min((p + R @ point)[2] for p, R in poses for point in np.array(FOOT)))


def close_loops(model: Model, q: np.ndarray, v: np.ndarray) -> None:
    """Set the unmeasured velocities of the heel springs so that the rods keep their length."""
    for side in _SIDES:
        k = model.joint(f"ankle_spring_joint_{side}").v_index
        v[k] = 0.0
        rate, unit_velocity = _rod_rate(model, q, v, side), np.eye(model.nv)[k]
        v[k] = -rate / _rod_rate(model, q, unit_velocity, side)


def _rod_rate(model: Model, q: np.ndarray, v: np.ndarray, side: str) -> float:
    """Return the rate of change of a rod's length [m/s]."""
    heel, thigh = ROD_ENDS[side]
    ends = [
        point_motion(model, q, v, link, point)
        for link, point in ((f"heel_spring_{side}", heel), (f"thigh_{side}", thigh))
    ]
    along = ends[0][0] - ends[1][0]
    return float(along @ (ends[0][1] - ends[1][1]) / np.linalg.norm(along))


def point_motion(model: Model, q, v, link: str, point) -> tuple[np.ndarray, np.ndarray]:
    """Return position [m] and velocity [m/s] of a point of a link, in the world."""
    small = 1e-6  # central differences, with an error of 1e-10 of a velocity
    ends = []
    for sign in (1.0, -1.0):
        p, R = hrpsim.link_pose(model, moved(q, v, sign * small), link)
        ends.append(p + R @ np.asarray(point))
    return 0.5 * (ends[0] + ends[1]), (ends[0] - ends[1]) / (2.0 * small)


def moved(q: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
    """Integrate the configuration q with the constant velocity v over `time` [s] (free base)."""
    turned = Rotation.from_quat(q[3:7])
    end = q.copy()
    end[:3] += turned.apply(v[:3]) * time
    end[3:7] = (turned * Rotation.from_rotvec(v[3:6] * time)).as_quat()
    end[7:] += v[6:] * time
    return end


class Cassie:
    """hrpsim's Cassie, which lands on level ground.

    Parameters: friction and restitution of the feet, compliance [m/N] (0: rigid) and damping_time
    [s] of each of the four contact points, and factors of leaf-spring stiffness and of joint
    damping. With `locked`, the springs do not move. Without `ground`, the robot falls freely.
    """

    def __init__(  # many parameters: keywords of the fitted quantities
        self,
        model: Model,
        friction: float = 0.8,
        restitution: float = 0.0,
        compliance: float = 0.0,
        damping_time: float | None = None,
        stiffness: float = 1.0,
        damping: float = 1.0,
        locked: bool = False,
        ground: bool = True,
    ) -> None:
        self.world = World(SAMPLE)
        self.world.set_friction("default", "default", static=friction, restitution=restitution)
        if compliance > 0.0:
            self.world.set_contact(
                "default", "default", compliance=compliance, damping_time=damping_time
            )
        if ground:
            self.world.add_ground()
        self.robot = self.world.add_robot(model)
        springs = self.robot.joint_properties()
        self.robot.set_joint_properties(
            stiffness=stiffness * springs["stiffness"], damping=damping * springs["damping"]
        )
        self.locked = [f"{name}_{side}" for name in SPRINGS for side in _SIDES] if locked else []

    def follow(self, landings: Sequence[Landing]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Simulate landings from the first samples. Return q and v 20 ms after each impact."""
        return [self._follow(landing) for landing in landings]

    def _follow(self, landing: Landing) -> tuple[np.ndarray, np.ndarray]:
        self.world.reset()
        q = landing.q[0].copy()
        q[2] -= landing.ground
        self.robot.q, self.robot.v = q, landing.v[0]
        if self.locked:
            self.robot.lock(self.locked)
        for torques in landing.torques[: landing.impact + AFTER]:
            self.robot.command(efforts=torques, names=MOTORS)
            self.world.step()
        return self.robot.q.copy(), self.robot.v.copy()


class MujocoCassie:
    """MuJoCo's Cassie, with the parameters of `Cassie`, and solref and impratio of the contacts.

    The rods are tendons of constant length, with a time constant of two time steps.
    """

    def __init__(  # many parameters: keywords of the fitted quantities
        self,
        mujoco,
        model: Model,
        friction: float = 0.8,
        time_constant: float = 0.02,
        damping_ratio: float = 1.0,
        impedance_ratio: float = 1.0,
        stiffness: float = 1.0,
        damping: float = 1.0,
        substeps: int = 2,
    ) -> None:
        self.mujoco, self.names, self.substeps = mujoco, model.joint_names, substeps
        point_masses = {"balanceinertia": "true", "boundinertia": "1e-9"}  # MuJoCo refuses these
        spec = mujoco_spec(mujoco, model, SAMPLE / substeps, **point_masses)
        spec.option.impratio = impedance_ratio
        for geom in spec.geoms:
            geom.friction[0], geom.solref[:2] = friction, (time_constant, damping_ratio)
        for joint in spec.joints:
            joint.stiffness[0] *= stiffness
            joint.damping[0] *= damping
        for side, points in ROD_ENDS.items():
            rod = spec.add_tendon(name=f"rod_{side}")
            for link, point in zip((f"heel_spring_{side}", f"thigh_{side}"), points):
                spec.body(link).add_site(name=f"rod_on_{link}", pos=point)
                rod.wrap_site(f"rod_on_{link}")
            equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_TENDON, name1=rod.name)
            equality.solref[:2] = (2.0 * SAMPLE / substeps, 1.0)
            equality.solimp[:3] = (0.99, 0.999, 1e-4)
        for name in MOTORS:
            motor = spec.add_actuator(name=name, target=name)
            motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
        self.mj = spec.compile()
        self.mj.tendon_length0[:] = ACHILLES
        self.data = mujoco.MjData(self.mj)
        joints = [self.mj.joint(name) for name in self.names]
        self.at_q = [*range(3), 4, 5, 6, 3, *(joint.qposadr[0] for joint in joints)]
        self.at_v = [*range(6), *(joint.dofadr[0] for joint in joints)]

    def follow(self, landings: Sequence[Landing]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Simulate landings from the first samples. Return q and v 20 ms after each impact."""
        return [self._follow(landing) for landing in landings]

    def _follow(self, landing: Landing) -> tuple[np.ndarray, np.ndarray]:
        mujoco, data, q, v = self.mujoco, self.data, landing.q[0], landing.v[0].copy()
        mujoco.mj_resetData(self.mj, data)
        v[:3] = Rotation.from_quat(q[3:7]).apply(v[:3])
        data.qpos[self.at_q], data.qvel[self.at_v] = q, v
        data.qpos[2] -= landing.ground
        for torques in landing.torques[: landing.impact + AFTER]:
            data.ctrl[:] = torques
            mujoco.mj_step(self.mj, data, self.substeps)
        q, v = data.qpos[self.at_q].copy(), data.qvel[self.at_v].copy()
        v[:3] = Rotation.from_quat(q[3:7]).inv().apply(v[:3])
        return q, v


def velocity_errors(predicted, landings: Sequence[Landing], model: Model) -> np.ndarray:
    """Return the errors of velocities 20 ms after each impact (landings, 3).

    The first column is the root mean square over the joints with encoders [rad/s]. The other
    columns are the magnitudes of the errors of the base's velocity [m/s] and angular velocity
    [rad/s] in the world.
    """
    joints = [model.joint(name).v_index for name in ENCODERS]
    errors = np.empty((len(landings), len(RESULTS)))
    for row, (q, v), landing in zip(errors, predicted, landings):
        at = landing.impact + AFTER
        real_q, real_v = landing.q[at], landing.v[at]
        turns = [Rotation.from_quat(state[3:7]) for state in (q, real_q)]
        row[0] = np.sqrt(np.mean((v[joints] - real_v[joints]) ** 2))
        for column, part in ((1, slice(0, 3)), (2, slice(3, 6))):
            row[column] = np.linalg.norm(turns[0].apply(v[part]) - turns[1].apply(real_v[part]))
    return errors
