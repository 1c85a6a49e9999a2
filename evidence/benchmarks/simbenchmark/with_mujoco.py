# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The suite's scenes in MuJoCo, as its authors advise: Newton, elliptic cones, implicitfast.

Elastic contacts are springs without damping (solref -k 0) that act for ten steps. Other contacts
have MuJoCo's default compliance.
"""

from __future__ import annotations

import math

import numpy as np
from lxml import etree
from scipy.spatial.transform import Rotation

from evidence.benchmarks.engines.urdf import plain_urdf
from evidence.benchmarks.simbenchmark.engines import Unable
from evidence.benchmarks.simbenchmark.robots import FRICTION, RobotScene
from evidence.benchmarks.simbenchmark.scenes import FLOOR, GRAVITY, Scene, State

_ELASTIC_STEPS = 10
_MOST_DENSE = 700  # degrees of freedom, above which a dense step takes seconds
# MuJoCo takes the larger coefficient of both, so the box of "rolling" has the floor's coefficient.
_MU = {FLOOR: 0.4, "box": 0.4, "ball": 0.8}


class Mujoco:
    """Makes scenes. integrator: MuJoCo's name. sparse: None leaves the choice to MuJoCo."""

    def __init__(self, integrator: str = "IMPLICITFAST", sparse: bool | None = None) -> None:
        import mujoco

        self.mujoco, self.integrator, self.sparse = mujoco, integrator, sparse

    def loose(self, scene: Scene, time_step: float) -> MujocoBodies:
        """Return the bodies of the scene in the initial state."""
        return MujocoBodies(self, scene, time_step)

    def robots(self, scene: RobotScene, time_step: float) -> MujocoRobots:
        """Return the robots of the scene in the initial state."""
        return MujocoRobots(self, scene, time_step)

    def set_options(self, model, time_step: float, gravity: float) -> str:
        """Set the model's options, and return the settings for the table."""
        mujoco, option = self.mujoco, model.opt
        option.timestep = time_step
        option.gravity[:] = (0.0, 0.0, -gravity)
        option.solver = mujoco.mjtSolver.mjSOL_NEWTON
        option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{self.integrator}")
        if self.sparse is False and model.nv > _MOST_DENSE:
            raise Unable(f"{model.nv} degrees of freedom are too many for dense")
        if self.sparse is not None:
            kind = mujoco.mjtJacobian
            option.jacobian = kind.mjJAC_SPARSE if self.sparse else kind.mjJAC_DENSE
        path = "sparse" if mujoco.mj_isSparse(model) else "dense"
        return f"mujoco {mujoco.__version__}, Newton, elliptic, {self.integrator}, {path}"


class MujocoBodies:
    """The bodies of a Scene in this engine."""

    def __init__(self, maker: Mujoco, scene: Scene, time_step: float) -> None:
        self.mujoco = maker.mujoco
        self.model = maker.mujoco.MjModel.from_xml_string(_bodies_xml(scene, time_step))
        self.settings = maker.set_options(self.model, time_step, GRAVITY)
        self.data = maker.mujoco.MjData(self.model)
        if scene.force is not None:
            self.data.xfrc_applied[1, :3] = scene.force

    def step(self, count: int) -> None:
        """Make `count` steps."""
        self.mujoco.mj_step(self.model, self.data, nstep=count)

    def state(self) -> State:
        """Return the state of the bodies.

        MuJoCo's angular velocities are in the frames of the bodies, also for balls.
        """
        v = self.data.qvel.reshape(-1, 6)
        return State(self.data.qpos.reshape(-1, 7)[:, :3].copy(), v[:, :3].copy(), v[:, 3:].copy())


def _bodies_xml(scene: Scene, time_step: float) -> str:
    def numbers(values) -> str:
        return " ".join(f"{value:.17g}" for value in values)

    def mu(kind: str) -> float:
        return _MU[kind] if scene.name == "rolling" else scene.mu(FLOOR, kind)

    contact = ""
    if scene.restitution == 1.0:
        stiffness = (math.pi / (_ELASTIC_STEPS * time_step)) ** 2
        contact = f'solref="-{stiffness:.9g} 0" solimp="0.999 0.999 0.001"'
    lines = []
    for body in scene.bodies:
        shape = "sphere" if body.is_ball else "box"
        size = numbers(body.size if body.is_ball else 0.5 * np.array(body.size))
        lines.append(
            f'<body pos="{numbers(body.position)}"><freejoint/><geom type="{shape}" size="{size}" '
            f'mass="{body.mass}" condim="3" friction="{mu(body.kind)} 0 0" {contact}/></body>'
        )
    floor = mu(FLOOR) if scene.name == "rolling" else 0.0
    return (
        '<mujoco><size memory="2G"/><worldbody><geom type="plane" size="0 0 1" condim="3" '
        f'friction="{floor} 0 0" {contact}/>{"".join(lines)}</worldbody></mujoco>'
    )


class MujocoRobots:
    """The robots of a RobotScene.

    Position actuators act as PD control, implicit in implicitfast.
    """

    def __init__(self, maker: Mujoco, scene: RobotScene, time_step: float) -> None:
        self.mujoco, self.scene = maker.mujoco, scene
        spec = maker.mujoco.MjSpec()
        for k, (x, y) in enumerate(scene.places()):
            frame = spec.worldbody.add_frame(pos=[x, y, 0.0])
            spec.attach(self._robot(), prefix=f"{k}/", frame=frame)
        if scene.floor:
            floor = spec.worldbody.add_geom(
                type=maker.mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], name=FLOOR
            )
            self._may_touch(floor)
        if scene.ball is not None:
            self._add_ball(spec)
        spec.memory = 1 << 30
        self.model = spec.compile()
        self._take_exact_numbers()
        self.settings = maker.set_options(self.model, time_step, scene.gravity)
        self.data = maker.mujoco.MjData(self.model)
        self._places()
        self.mujoco.mj_forward(self.model, self.data)

    def _may_touch(self, geom) -> None:
        geom.contype, geom.conaffinity = 1, 0
        geom.condim, geom.friction[0] = 3, FRICTION

    def _robot(self):
        """Return the description of one robot, whose shapes collide only with floor and ball."""
        root = etree.fromstring(plain_urdf(self.scene.model.urdf).encode())
        etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", fusestatic="true")
        etree.SubElement(root, "link", name="mujoco_world")
        free = etree.SubElement(root, "joint", name="mujoco_root", type="floating")
        etree.SubElement(free, "parent", link="mujoco_world")
        etree.SubElement(free, "child", link=self.scene.model.base_link)
        described = self.mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))
        self._exact = described.compile()  # without fixed objects, so that the base is free
        spec = self.mujoco.MjSpec.from_string(described.to_xml())
        for geom in spec.geoms:
            geom.contype, geom.conaffinity = 0, 1
            geom.condim, geom.friction[0] = 3, FRICTION
        for joint in spec.joints:
            if joint.type == self.mujoco.mjtJoint.mjJNT_FREE:
                continue
            joint.limited = False
            if joint.name in self.scene.gains:
                kp, kd = self.scene.gains[joint.name]
                actuator = spec.add_actuator(name=joint.name, target=joint.name)
                actuator.trntype = self.mujoco.mjtTrn.mjTRN_JOINT
                actuator.set_to_position(kp=kp, kv=kd)
        return spec

    def _take_exact_numbers(self) -> None:
        """Replace numbers that were rounded to six digits by the numbers of the description."""
        exact, model = self._exact, self.model
        for k in range(model.nbody):
            name = model.body(k).name.partition("/")[2]
            if not name:
                continue
            body, there = model.body(k), exact.body(name)
            fields = ["mass", "ipos", "iquat", "inertia"]
            if name != self.scene.model.base_link:
                fields += ["pos", "quat"]
            for field in fields:
                getattr(body, field)[:] = getattr(there, field)
        self.mujoco.mj_setConst(model, self.mujoco.MjData(model))

    def _add_ball(self, whole) -> None:
        ball = self.scene.ball
        body = whole.worldbody.add_body(name="ball", pos=ball.position)
        body.add_freejoint(name="ball")
        geom = body.add_geom(
            type=self.mujoco.mjtGeom.mjGEOM_SPHERE, size=[ball.radius, 0, 0], mass=ball.mass
        )
        self._may_touch(geom)

    def _places(self) -> None:
        """Place all robots in the initial state, and find the first robot's joints."""
        scene, model, data = self.scene, self.model, self.data
        indices, addresses = [], []
        for k in range(model.njnt):
            joint = model.joint(k)
            prefix, _, name = joint.name.partition("/")
            if name == "mujoco_root":
                at = joint.qposadr[0]
                x, y = scene.places()[int(prefix)]
                data.qpos[at : at + 3] = scene.q[:3] + [x, y, 0.0]
                data.qpos[at + 3 : at + 7] = scene.q[[6, 3, 4, 5]]
                if prefix == "0":
                    self._root = at, joint.dofadr[0]
                    self._base = int(joint.bodyid[0])
            elif name:
                described = scene.model.joint(name)
                data.qpos[joint.qposadr[0]] = scene.q[described.q_index]
                if prefix == "0":
                    indices.append((described.q_index, described.v_index))
                    addresses.append((joint.qposadr[0], joint.dofadr[0]))
        self._model_index, self._data_index = np.array(indices), np.array(addresses)
        for k in range(model.nu):
            name = model.actuator(k).name.partition("/")[2]
            data.ctrl[k] = scene.q[scene.model.joint(name).q_index]
        if scene.ball is not None:
            at = model.joint("ball").dofadr[0]
            data.qvel[at : at + 3] = scene.ball.velocity

    def step(self, count: int, lift: float = 0.0) -> None:
        """Make `count` steps.

        The force at the base is applied with a moment about the centre of mass.
        """
        if lift or self.data.xfrc_applied.any():
            force = np.array([0.0, 0.0, lift])
            arm = self.data.xpos[self._base] - self.data.xipos[self._base]
            self.data.xfrc_applied[self._base] = [*force, *np.cross(arm, force)]
        self.mujoco.mj_step(self.model, self.data, nstep=count)

    def state(self):
        """Return q and v of the first robot. MuJoCo's base velocity is in world axes."""
        model, data = self.scene.model, self.data
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        at, dof = self._root
        q[:3], q[3:7] = data.qpos[at : at + 3], data.qpos[[at + 4, at + 5, at + 6, at + 3]]
        v[:3] = Rotation.from_quat(q[3:7]).inv().apply(data.qvel[dof : dof + 3])
        v[3:6] = data.qvel[dof + 3 : dof + 6]
        q[self._model_index[:, 0]] = data.qpos[self._data_index[:, 0]]
        v[self._model_index[:, 1]] = data.qvel[self._data_index[:, 1]]
        return q, v

    def ball_velocity(self) -> np.ndarray:
        """Return the velocity of the ball."""
        at = self.model.joint("ball").dofadr[0]
        return self.data.qvel[at : at + 3].copy()
