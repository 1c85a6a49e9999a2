# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A walk in MuJoCo with hrpsim's walking controller, with results as from `walk_trial`."""

from __future__ import annotations

import time
from types import ModuleType

import numpy as np
from lxml import etree
from scipy.spatial.transform import Rotation

from hrpsim import Model, link_pose
from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.control import ImuReading, PreparedBiped, State, Trial, Walk, controlled_joints
from hrpsim.control.balance.foot import foot_of
from hrpsim.control.framework.controller_host import ControllerHost, steps_in_period
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.control.walk_trial import planned_contact, step_ends
from hrpsim.model.readers.urdf_writer import exact_text
from hrpsim.model.system import FREE
from hrpsim.world.fall import FallWatch, tilt

FRICTION = 0.8
THICKNESS = 0.02  # thickness of a sole [m]
_REPLACED = ("hrpsim", "ros2_control", "mujoco", "visual", "collision", "inertial")
_MOMENTS = {
    "ixx": (0, 0),
    "ixy": (0, 1),
    "ixz": (0, 2),
    "iyy": (1, 1),
    "iyz": (1, 2),
    "izz": (2, 2),
}
_LITTLE = 1e-6  # [kg m^2], because MuJoCo does not accept point masses
REST = 1.0  # time in the first posture before the walk [s]


def urdf_for_mujoco(prepared: PreparedBiped) -> str:
    """Return the robot on a free joint, with the mass of each body in one link.

    The only shapes are boxes with the size of the soles. MuJoCo balances inertias that violate the
    triangle inequality.
    """
    root = etree.fromstring(prepared.urdf.encode())
    for element in list(root.iter(*_REPLACED)):
        element.getparent().remove(element)
    _add_inertias(root, prepared.model)
    for sole in prepared.soles:
        outline = sole_outline(prepared.model, sole)
        low, high = outline.min(axis=0), outline.max(axis=0)
        link = next(link for link in root.iterchildren("link") if link.get("name") == sole)
        collision = etree.SubElement(link, "collision")
        middle = (*(0.5 * (low + high)), 0.5 * THICKNESS)
        etree.SubElement(collision, "origin", xyz=exact_text(middle), rpy="0 0 0")
        box = etree.SubElement(etree.SubElement(collision, "geometry"), "box")
        box.set("size", exact_text((*(high - low), THICKNESS)))
    options = {"fusestatic": "true", "discardvisual": "true", "balanceinertia": "true"}
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", **options)
    etree.SubElement(root, "link", name="mujoco_world")
    free = etree.SubElement(root, "joint", name="mujoco_root", type="floating")
    etree.SubElement(free, "parent", link="mujoco_world")
    etree.SubElement(free, "child", link=prepared.model.base_link)
    return etree.tostring(root, encoding="unicode")


def _add_inertias(root, model: Model) -> None:
    """Assign each body's inertia to the link that the joint moves.

    Point masses get a small inertia.
    """
    links = {link.get("name"): link for link in root.iterchildren("link")}
    moved = {j.get("name"): j.find("child").get("link") for j in root.iterchildren("joint")}
    for joint in model.joints:
        name = model.base_link if joint.joint_type == FREE else moved[joint.name]
        frame, system, body = model.frames[name], model.system, joint.body
        inertial = etree.SubElement(links[name], "inertial")
        middle = frame.R.T @ (system.com[body] - frame.p)
        etree.SubElement(inertial, "origin", xyz=exact_text(middle), rpy="0 0 0")
        etree.SubElement(inertial, "mass", value=repr(float(system.mass[body])))
        moments = frame.R.T @ system.inertia[body] @ frame.R
        if 0.0 <= np.linalg.eigvalsh(moments)[0] + _LITTLE < 2.0 * _LITTLE:
            moments = moments + _LITTLE * np.eye(3)
        inertia = etree.SubElement(inertial, "inertia")
        for name, (row, column) in _MOMENTS.items():
            inertia.set(name, repr(float(moments[row, column])))


def put_on_floor(mujoco: ModuleType, spec, solref: float) -> None:
    """Add a level floor, and let the robot's geoms collide only with the floor."""
    for geom in spec.geoms:
        geom.conaffinity = 1 if geom.contype or geom.conaffinity else 0
        geom.contype, geom.condim, geom.density = 0, 3, 0.0
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    floor.contype, floor.conaffinity = 1, 0
    for geom in spec.geoms:
        geom.friction[0], geom.solref[0] = FRICTION, solref


def add_servo(mujoco: ModuleType, spec, joint: str, gains, most: float = np.inf) -> None:
    """Add a position servo with gains (kp, kd) and an effort limit `most` [Nm]."""
    actuator = spec.add_actuator(name=joint, target=joint)
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    actuator.set_to_position(kp=gains[0], kv=gains[1])
    if np.isfinite(most):
        actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
        actuator.forcerange[:] = -most, most


def compiled(mujoco: ModuleType, spec, step: float):
    """Compile a model with elliptic cones and the integrator implicitfast."""
    mj = spec.compile()
    mj.opt.timestep = step
    mj.opt.gravity[:] = (0.0, 0.0, -STANDARD_GRAVITY)
    mj.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return mj


class MujocoRobot:
    """The robot on a level floor, with the servos of hrpsim's model and sensors without noise.

    Elliptic cones and implicitfast. Raises ValueError if MuJoCo refuses the robot.

    step: time step [s]. solref: time constant of contacts [s].
    """

    def __init__(
        self, mujoco: ModuleType, prepared: PreparedBiped, step: float, solref: float
    ) -> None:
        self.mujoco, self.prepared = mujoco, prepared
        self.model = model = prepared.model
        self.names = controlled_joints(model)
        spec = mujoco.MjSpec.from_string(urdf_for_mujoco(prepared))
        put_on_floor(mujoco, spec, solref)
        self._set_joints(spec, model)
        self.mj = compiled(mujoco, spec, step)
        self._joints = [self.mj.joint(name) for name in self.names]
        indices = [(joint.qposadr[0], joint.dofadr[0]) for joint in self._joints]
        self._q_index, self._v_index = np.array(indices).T
        self._model_q_index = np.array([model.joint(name).q_index for name in self.names])
        kp, kd = np.array([model.gains[name][:2] for name in self.names]).T
        self._lead = kd / kp  # shift of the target for a velocity [s]
        self._feet = [foot_of(model, sole) for sole in prepared.soles]
        on_base = model.frame(model.base_link).body
        self._imus = [s for s in model.sensors if s.kind == "imu" and s.body == on_base]
        self.data = mujoco.MjData(self.mj)
        self._start()
        soles = [link_pose(model, self.q(), sole)[0] for sole in prepared.soles]
        ways = self.data.geom_xpos[:, None] - np.array(soles)
        self._foot_of = np.argmin(np.linalg.norm(ways, axis=2), axis=1)  # foot of each geom

    def _set_joints(self, spec, model: Model) -> None:
        """Set the properties of the joints, and add a servo to each controlled joint."""
        system = model.system
        for joint in spec.joints:
            if joint.type != self.mujoco.mjtJoint.mjJNT_FREE:
                k = model.joint(joint.name).v_index
                joint.armature, joint.frictionloss = system.rotor_inertia[k], system.friction[k]
                joint.damping[0], joint.stiffness[0] = system.damping[k], system.stiffness[k]
        for name in self.names:
            most = system.effort_limit[model.joint(name).v_index]
            add_servo(self.mujoco, spec, name, model.gains[name], most)

    def _start(self) -> None:
        """Let the robot settle in the initial posture of the walk."""
        q = self.prepared.start
        self.data.qpos[:3], self.data.qpos[3:7] = q[:3], q[[6, 3, 4, 5]]
        self.data.qpos[self._q_index] = self.data.ctrl[:] = q[self._model_q_index]
        self._target = q[self._model_q_index].copy()
        self.mujoco.mj_step(self.mj, self.data, nstep=round(REST / self.mj.opt.timestep))
        self.data.time = 0.0

    def q(self) -> np.ndarray:
        """Return the configuration (nq,) in the layout of hrpsim's model."""
        q = self.model.neutral()
        q[:3], q[3:7] = self.data.qpos[:3], self.data.qpos[[4, 5, 6, 3]]
        q[self._model_q_index] = self.data.qpos[self._q_index]
        return q

    def state(self) -> State:
        """Return the measurements for the controller."""
        self.mujoco.mj_forward(self.mj, self.data)
        data, q = self.data, self.q()
        positions, velocities = data.qpos[self._q_index], data.qvel[self._v_index]
        efforts = data.actuator_force.copy()
        wrenches = {s.name: np.zeros(6) for s in self.model.sensors if s.kind == "force_torque"}
        wrenches |= self._foot_wrenches(q)
        imus = {imu.name: self._imu(q, imu) for imu in self._imus}
        return State(data.time, positions, velocities, efforts, wrenches, imus)

    def _foot_wrenches(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """Return the wrench of the floor on each foot, in and about the sensor's frame."""
        frames = []
        for foot in self._feet:
            p, R = link_pose(self.model, q, foot.sole)
            frames.append((p + R @ foot.sensor_p, R @ foot.sensor_R))
        sums, wrench = np.zeros((2, 6)), np.zeros(6)
        for k in range(self.data.ncon):
            self.mujoco.mj_contactForce(self.mj, self.data, k, wrench)
            contact = self.data.contact[k]
            force = contact.frame.reshape(3, 3).T @ wrench[:3]  # the floor is the first geom
            foot = self._foot_of[contact.geom[1]]
            p, R = frames[foot]
            sums[foot, :3] += R.T @ force
            sums[foot, 3:] += R.T @ np.cross(contact.pos - p, force)
        return {foot.sensor.name: row for foot, row in zip(self._feet, sums)}

    def _imu(self, q: np.ndarray, imu) -> ImuReading:
        base, omega = Rotation.from_quat(q[3:7]).as_matrix(), self.data.qvel[3:6].copy()
        alpha = self.data.qacc[3:6]
        force = base.T @ (self.data.qacc[:3] + (0.0, 0.0, STANDARD_GRAVITY))
        force = force + np.cross(alpha, imu.p) + np.cross(omega, np.cross(omega, imu.p))
        turned = Rotation.from_matrix(base @ imu.R).as_quat()
        return ImuReading(turned, imu.R.T @ omega, imu.R.T @ force)

    def follow(self, positions, velocities, steps: int) -> None:
        """Make `steps` steps. The targets move linearly to `positions`, as in hrpsim.

        MuJoCo computes forces at the beginning of a step, with the targets of that time.
        """
        begin, lead = self._target, self._lead * (0.0 if velocities is None else velocities)
        for k in range(steps):
            self.data.ctrl[:] = begin + k / steps * (positions - begin) + lead
            self.mujoco.mj_step(self.mj, self.data)
        self._target = positions


class MujocoLoop:
    """A `hrpsim.control.ControlLoop` for MuJoCo, which runs the walking controller."""

    def __init__(self, robot: MujocoRobot, pattern: str) -> None:
        self.robot, self.controller, self.watch = robot, Walk(), FallWatch()
        prepared = robot.prepared
        left, right = prepared.soles
        parameters = {"left_sole": left, "right_sole": right, "pattern": pattern}
        self.host = ControllerHost(self.controller, prepared.model, parameters)
        period = self.controller.period
        self.steps = steps_in_period("the walk's period", period, robot.mj.opt.timestep)

    def tick(self) -> np.ndarray:
        """Simulate one control period. Return the configuration (nq,)."""
        command = self.host.command(self.robot.state())
        self.robot.follow(command.positions, command.velocities, self.steps)
        q = self.robot.q()
        self.watch.add(q[2], tuple(q[3:7]))
        return q


def mujoco_walk(robot: MujocoRobot, pattern: str) -> Trial:
    """Simulate a pattern of `hrpsim walk` in MuJoCo, with the same controller and gains.

    The `wall_time` of the trial is processor time.
    """
    loop = MujocoLoop(robot, pattern)
    controller, q = loop.controller, []
    begin = time.process_time()
    while not loop.host.finished and not loop.watch.fallen:
        q.append(loop.tick())
    took = time.process_time() - begin
    loop.host.stop()
    times = controller.period * np.arange(1, len(q) + 1)
    touch_downs = step_ends(controller.sequence) + controller.begin
    return Trial(
        planned_steps=len(touch_downs),
        steps=int(np.sum(touch_downs <= times[-1])),
        fell_at=times[-1] if loop.watch.fallen else None,
        times=times,
        q=np.array(q),
        tilt=np.array([tilt(row[3:7]) for row in q]),
        wrenches={},
        wall_time=took,
        soles=robot.prepared.soles,
        contact=planned_contact(controller.sequence, times - controller.begin),
        begin=controller.begin,
    )
