# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Map MuJoCo's state, commands and readings to an hrpsim world loaded from the same MJCF.

hrpsim/model/readers/mjcf/sensors.py defines MuJoCo's coordinates of free bodies. In hrpsim,
quaternions are x y z w, and linear and angular velocity are both expressed in the body's axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

import hrpsim.bridges.mujoco.exchange as exchange
from hrpsim.bridges.mujoco.actuators import depend_on_state, joint_actuators
from hrpsim.bridges.mujoco.forces import late_time
from hrpsim.bridges.mujoco.native import package
from hrpsim.bridges.mujoco.other_forces import OtherForces
from hrpsim.bridges.mujoco.sensing import (
    acceleration_sensors,
    delivered_forces,
    force_readings,
    readings_of,
)
from hrpsim.bridges.mujoco.smooth_steps import Laws, Servos, StageForces, Starts, is_staged
from hrpsim.common.errors import StateError
from hrpsim.engine.compile.compiled import entry_point
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.model import Joint
from hrpsim.model.readers.mjcf.robot import MjcfRobot
from hrpsim.model.readers.mjcf.sensors import FreeMotion
from hrpsim.model.readers.mjcf.tree import BodyTree, rotation_of, rotation_vector
from hrpsim.model.shapes.placement import Placement
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

_XYZW = [1, 2, 3, 0]  # indices of x y z w in MuJoCo's quaternion
_WXYZ = [3, 0, 1, 2]
_OF_DATA = ("qpos", "qvel", "qacc", "ctrl", "xfrc_applied", "qfrc_actuator", "actuator_force")
_OF_DATA += ("sensordata",)
_Kernels = tuple[Callable[[], int], Callable[[], int]]


class FreeBase(NamedTuple):
    """A free-floating body: its link, and the first index of its joint in q and in v."""

    motion: FreeMotion
    link: str
    q: int
    v: int

    def record(self) -> tuple:
        """Return the values of a BASE record."""
        motion = self.motion
        first = motion.qpos, self.q, motion.qvel, self.v
        return (*first, motion.axes, motion.anchor, motion.origin, motion.turn)


class RobotMapping:
    """The maps between the arrays of one robot and a mujoco.MjData."""

    def __init__(
        self, m, data, robot: Robot, source: MjcfRobot, taken: list[int], applied: np.ndarray
    ) -> None:
        self._m, self._data, self.robot, self._applied = m, data, robot, applied
        tree, names = source.tree, robot.joint_names
        by_name = {joint.name: joint for joint in robot.model.joints}
        self._bases: list[FreeBase] = []
        self._joints: dict[int, tuple[int, int]] = {}  # joint and body, by index in qvel
        for body, name in tree.free.items():
            free = by_name[name] if name else robot.model.free_joints[0]
            motion = FreeMotion(m, body)
            self._bases.append(FreeBase(motion, tree.links[body], free.q_index, free.v_index))
        joint_qvel = np.full(len(names), -1)
        for number, parts in tree.joints.items():
            for qvel, name in enumerate(parts, int(m.jnt_dofadr[number])):
                joint_qvel[names.index(name)] = qvel
                self._joints[qvel] = (number, by_name[name].body)
        self._bodies = [
            (body, link, np.array(m.body_ipos[body])) for body, link in tree.links.items() if body
        ]
        actuator_forces, force_sensors = delivered_forces(m, set(joint_qvel), taken)
        self.actuators_read = [actuator_force[0] for actuator_force in actuator_forces]
        readings = force_readings(m, robot, tree.force_sensors)
        self.sensors_read = [r[0] for r in (*readings, *force_sensors)]  # indices in sensordata
        actuators = joint_actuators(m, tree, robot, taken)
        self._served = sorted({number for _, number, field, *_ in actuators if field < 2})
        has_dof = joint_qvel >= 0
        self._damped = joint_qvel[has_dof], np.asarray(robot.joint_index.v)[has_dof]  # both in v
        self._limits = robot.system.effort_limit[[by_name[name].v_index for name in names]]
        self._maps = {
            "joint_qvel": joint_qvel,
            "bounded": np.isfinite(self._limits).astype(np.int64),
            "coordinates": _coordinates(m, tree, by_name, 1),
            "balls": _coordinates(m, tree, by_name, 3),
            "bases": np.array([base.record() for base in self._bases], dtype=exchange.BASE),
            "actuators": np.array(actuators, dtype=exchange.ACTUATOR),
            "bodies": np.array([number for number, *_ in self._bodies], dtype=int),
            "readings": np.array(readings, dtype=exchange.READING),
            "actuator_forces": np.array(actuator_forces, dtype=exchange.DELIVERED),
            "force_sensors": np.array(force_sensors, dtype=exchange.DELIVERED),
            "commands": np.empty((3, len(names))),
        }

    def kernels_for(self, scene: Scene, **shared: np.ndarray) -> _Kernels:
        """Return `read_controls` and `write_results` with the arrays of a scene bound.

        shared: fields of Exchange that all robots have in common.
        """
        robot, actuators = self.robot, self.robot.access.actuators.whole
        first, v = robot.world.first_sensor(robot), slice(robot.first_v, robot.first_v + robot.nv)
        arrays = TupleReference(
            exchange.Exchange(
                settings=scene.settings,
                velocity=scene.velocity[v],
                sensors=scene.sensors[first : first + len(robot.model.sensors)],
                q=actuators.q,
                control=actuators.control,
                joint_v=actuators.joint_v,
                applied=self._applied,
                kp=actuators.kp,
                kd=actuators.kd,
                **{name: getattr(self._data, name) for name in _OF_DATA},
                **self._maps,
                **shared,
            )
        )
        read = entry_point(exchange.read_controls, arrays)
        write = entry_point(exchange.write_results, arrays)
        return partial(read, arrays), partial(write, arrays)

    def write_servos(self, servos: Servos) -> None:
        """Write the damping of joints, and gains and effort limits of servo joints, to `servos`."""
        dofs, joint_v = self._damped
        servos.dampers[dofs] = self.robot.system.damping[joint_v]
        if self._served:
            at, gains = self._maps["joint_qvel"][self._served], self.robot.access.actuators.whole.kd
            servos.gains[at] = gains[self._served]
            servos.limits[at] = self._limits[self._served]

    def put_state(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Set the robot to MuJoCo's qpos (nq,) and qvel (nv,)."""
        robot, coordinates = self.robot, self._maps["coordinates"]
        q, v = robot.q.copy(), robot.v.copy()
        q[coordinates["q"]] = qpos[coordinates["qpos"]]
        v[coordinates["v"]] = qvel[coordinates["qvel"]]
        for at, first, dof, v_index in self._maps["balls"].tolist():
            q[first : first + 3] = rotation_vector(qpos[at : at + 4])
            v[v_index : v_index + 3] = qvel[dof : dof + 3]
        for base in self._bases:
            position, turn = base.motion.pose(qpos)
            linear, spin = base.motion.velocity(turn, qvel)
            q[base.q : base.q + 3], q[base.q + 3 : base.q + 7] = position, turn[_XYZW]
            v[base.v : base.v + 3] = rotation_of(turn).T @ linear
            v[base.v + 3 : base.v + 6] = spin
        robot.q, robot.v = q, v

    def push(self) -> None:
        """Apply xfrc_applied, and applied forces of bases and of joints with an effort limit."""
        robot, data = self.robot, self._data
        for base in self._bases:
            motion = base.motion
            force = self._applied[motion.qvel : motion.qvel + 6]
            if force.any():
                torque = rotation_of(robot.q[base.q + 3 : base.q + 7][_WXYZ]) @ force[3:]
                robot.apply_wrench(base.link, motion.axes @ force[:3], torque, motion.anchor)
        for body, link, centre in self._bodies:
            wrench = data.xfrc_applied[body]
            if wrench.any():
                robot.apply_wrench(link, wrench[:3], wrench[3:], centre)
        bounded = self._maps["joint_qvel"][self._maps["bounded"] != 0]
        if any(at >= 0 and self._applied[at] for at in bounded):
            self._push_joints(int(at) for at in bounded if at >= 0 and self._applied[at])

    def _push_joints(self, dofs: Iterable[int]) -> None:
        """Apply joint forces as opposite wrenches on the two bodies that each joint connects.

        dofs: indices of the joints in qvel.
        """
        mujoco, robot = package(), self.robot
        posed = mujoco.MjData(self._m)
        posed.qpos[:] = self._data.qpos
        mujoco.mj_kinematics(self._m, posed)
        for at in dofs:
            number, child = self._joints[at]
            along = self._applied[at] * posed.xaxis[number]
            is_turn = self._m.jnt_type[number] == mujoco.mjtJoint.mjJNT_HINGE
            force, torque = (np.zeros(3), along) if is_turn else (along, np.zeros(3))
            for body, sign in ((child, 1.0), (int(robot.system.parent[child]), -1.0)):
                if body >= 0:
                    origin, turn = robot.frame_pose(body, np.eye(3), np.zeros(3))
                    point = rotation_of(turn[_WXYZ]).T @ (posed.xanchor[number] - origin)
                    robot.world.add_wrench(
                        robot.first_body + body, point, sign * force, sign * torque
                    )


class Mapping:
    """Maps state, commands and readings between MuJoCo and all robots of a world."""

    def __init__(
        self, robots: list[RobotMapping], m, data, world: World, others: OtherForces
    ) -> None:
        self._robots, self._data, self._world, self._others = robots, data, world, others
        self._scene: Scene | None = None
        self._kernels: list[_Kernels] = []
        self.known = np.full(m.nq, np.nan), np.full(m.nv, np.nan)  # the state of the world
        self.before = np.array(data.qpos), np.array(data.qvel)  # the state before the last step
        self.gain_inertia = np.zeros(m.nv)  # of actuators in the last step [kg m^2 or kg]
        self._frames = {
            int(m.body_mocapid[body]): world.frames[m.body(body).name or f"body{body}"]
            for body in np.flatnonzero(m.body_mocapid >= 0)
        }
        self._placed = np.full((m.nmocap, 7), np.nan)  # last poses of the mocap bodies
        with_reading = [k for robot in robots for k in robot.actuators_read]
        read = [*others.sensors_read, *(k for robot in robots for k in robot.sensors_read)]
        staged = is_staged(m)
        self._readings = readings = readings_of(
            m, staged, others.numbers, others.taken, with_reading, read
        )
        self._laws = Laws(m) if readings.hidden or (staged and readings.measured) else None
        self._starts = Starts(m) if staged else None
        self._has_accelerometers = acceleration_sensors(m).size > 0
        self._stage = StageForces(m) if staged and depend_on_state(m) else None
        self._late_time = late_time(m)
        self.start_change = np.zeros(m.nv)  # of the acceleration, see Starts
        without = np.flatnonzero(np.isin(m.sensor_adr, readings.unread)).tolist()
        self.unread = [m.sensor(k).name or f"sensor {k}" for k in without]  # without a reading

    def late_forces(self, acceleration: np.ndarray) -> np.ndarray:
        """Return the late forces of the last step (nv,) [N or Nm].

        Late forces are the implicit part of the integration: they depend on the state at the end of
        the step. MuJoCo's qacc is the acceleration without late forces.

        Args:
            acceleration: mean acceleration in the step (nv,) [rad/s^2 or m/s^2].
        """
        servos, late = self._others.servos, self._others.late
        for robot in self._robots:
            robot.write_servos(servos)
        added = self.gain_inertia + self._late_time * servos.dampers
        return added * acceleration - late.force if late else added * acceleration

    def needs_copy(self, m) -> bool:
        """Return whether MuJoCo computes some of the forces, from its own copy of the model."""
        others = self._others
        return others.act or OtherForces(m, others.taken, others.dofs).act

    def is_changed(self) -> bool:
        """Return whether qpos or qvel differ from the world's state."""
        data, (qpos, qvel) = self._data, self.known
        return not (np.array_equal(data.qpos, qpos) and np.array_equal(data.qvel, qvel))

    def put_state(self) -> None:
        """Set the state of the world to qpos and qvel."""
        data, (qpos, qvel) = self._data, self.known
        for robot in self._robots:
            robot.put_state(data.qpos, data.qvel)
        qpos[:], qvel[:] = data.qpos, data.qvel

    def step(self) -> None:
        """Step the world.

        Read the controls before the step, and write the results after the step.
        """
        if self._frames:
            self._move_frames()
        if self._others.act:
            self._others.compute(self._data)
        if self._stage:
            self._stage.begin(self._data)
        if self._starts and self._has_accelerometers:
            self.start_change[:] = self._starts.compute(self._data)
        if self._laws:
            self._laws.compute(self._data)
        self._refer()
        for k, (read, _) in enumerate(self._kernels):
            if code := read():
                self._meet(code, k)
        self._world.step()
        self._refer()
        for _, write in self._kernels:
            write()
        if self._others.act:
            self._others.finish(self._data)
            self._end_as_mujoco()
        if self._laws:
            self._laws.write(self._data, self._readings.hidden, self._readings.measured)
        if self._stage:
            self._stage.finish(self._data, self._world.scene.counts[0]["row_count"] == 0)

    def put_start(self) -> None:
        """Convert qacc and actuator forces to the start of an RK4 step that was undone."""
        if self._starts:
            self._data.qacc[:] += self._starts.compute(self._data)
            self.start_change[:] = 0.0
        if self._stage:
            self._stage.write(self._data)

    def _end_as_mujoco(self) -> None:
        """Replace the end state of an RK4 step by MuJoCo's if no constraint acted in the step."""
        data, end = self._data, self._others.end(self._data)
        if end and self._world.scene.counts[0]["row_count"] == 0:
            data.qpos[:], data.qvel[:] = end
            data.qacc[:] = (data.qvel - self.before[1]) / self._world.time_step
            self.put_state()

    def _move_frames(self) -> None:
        """Move the world frames of mocap bodies to mocap_pos and mocap_quat."""
        for k, frame in self._frames.items():
            pose = np.concatenate([self._data.mocap_pos[k], self._data.mocap_quat[k]])
            if np.array_equal(pose, self._placed[k]):
                continue
            if not np.isfinite(pose).all() or not pose[3:].any():
                raise StateError(
                    f"mocap_pos[{k}], mocap_quat[{k}] must be a finite pose, got {pose}"
                )
            frame.put(Placement(rotation_of(pose[3:]), pose[:3]))
            self._placed[k] = pose

    def forget_frames(self) -> None:
        """Make the next step move the frames of all mocap bodies."""
        self._placed[:] = np.nan

    def _refer(self) -> None:
        if self._scene is None or self._scene is not self._world.present_scene:
            self._scene = self._world.scene
            names = ("known_qpos", "known_qvel", "before_qpos", "before_qvel", "gain_inertia")
            shared = dict(zip(names, (*self.known, *self.before, self.gain_inertia), strict=True))
            self._kernels = [robot.kernels_for(self._scene, **shared) for robot in self._robots]

    def _meet(self, found: int, k: int) -> None:
        """Handle a nonzero result of `read_controls`: a changed state, invalid numbers, or a push.

        Args:
            found: the result.
            k: index of the robot.
        """
        if found == exchange.CHANGED:
            self.put_state()
            self._refer()
            found = self._kernels[k][0]()
        if found == exchange.INVALID:
            self._refuse()
        elif found == exchange.PUSHED:
            self._robots[k].push()

    def _refuse(self) -> None:
        for name in ("ctrl", "qfrc_applied"):
            values = getattr(self._data, name)
            if not np.isfinite(values).all():
                k = int(np.flatnonzero(~np.isfinite(values))[0])
                raise StateError(f"{name}[{k}] must be finite, got {values[k]}")

    def mark_unread(self) -> None:
        """Write NaN to force sensors that hrpsim lacks, and 0 to readings of disabled actuators."""
        data, readings = self._data, self._readings
        data.sensordata[readings.unread] = np.nan
        data.sensordata[readings.sensors_off] = data.actuator_force[readings.off] = 0.0


def map_world(m, data, world: World, sources: dict[str, MjcfRobot], taken: list[int]) -> Mapping:
    """Return the mapping between a mujoco.MjModel with its MjData and the world of the same model.

    Args:
        m: the mujoco.MjModel.
        data: the mujoco.MjData.
        world: the world.
        sources: bodies and joints of the world's robots, by name.
        taken: the actuators that hrpsim's joints represent.
    """
    dofs = [
        int(m.jnt_dofadr[number]) + k
        for source in sources.values()
        for number, parts in source.tree.joints.items()
        for k in range(len(parts))
    ]
    others = OtherForces(m, taken, dofs)
    applied = others.total if others.act else data.qfrc_applied
    robots = [
        RobotMapping(m, data, world.robots[name], source, taken, applied)
        for name, source in sources.items()
    ]
    for robot in robots:
        robot.write_servos(others.servos)
    return Mapping(robots, m, data, world, others)


def _coordinates(m, tree: BodyTree, joints: dict[str, Joint], parts: int) -> np.ndarray:
    """Return the first coordinates of joints as COORDINATE records.

    parts: 1 for the joints with one coordinate, 3 for ball joints.
    """
    firsts = [
        (m.jnt_qposadr[k], joints[names[0]].q_index, m.jnt_dofadr[k], joints[names[0]].v_index)
        for k, names in tree.joints.items()
        if len(names) == parts
    ]
    return np.array(firsts, dtype=exchange.COORDINATE)
