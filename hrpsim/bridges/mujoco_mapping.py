# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Map MuJoCo's state, commands and readings to an hrpsim world loaded from the same MJCF.

MuJoCo's coordinates of free bodies: hrpsim/model/readers/mjcf/sensors.py. hrpsim: quaternions are
x y z w, and both velocities are along the body's axes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from hrpsim.bridges import mujoco_exchange
from hrpsim.bridges.mujoco_actuators import (
    COMMANDS,
    alone_on_joint,
    joint_actuators,
    tendon_actuators,
)
from hrpsim.common.errors import HrpsimError, StateError
from hrpsim.engine.compile.compiled import entry_point
from hrpsim.engine.compile.reference import Reference
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.readers.mjcf.sensors import FreeMotion
from hrpsim.model.readers.mjcf.tree import rotation_of
from hrpsim.model.shapes.placement import Placement
from hrpsim.model.system import FREE
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

_XYZW = [1, 2, 3, 0]  # indices of x y z w in MuJoCo's quaternion
_WXYZ = [3, 0, 1, 2]
_OF_DATA = ("qpos", "qvel", "qacc", "ctrl", "qfrc_applied", "xfrc_applied", "qfrc_actuator")
_OF_DATA += ("actuator_force", "sensordata")
_Kernels = tuple[Callable[[], int], Callable[[], int]]


class FreeBase(NamedTuple):
    """A body that moves freely: its link, and the first index of the body's joint in q and v."""

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
    """One robot of the world, and the maps between the robot's arrays and a mujoco.MjData."""

    def __init__(self, m, data, robot: Robot, joints: dict[str, int], mapped: set[int]):
        self._data, self.robot = data, robot
        self._bases: list[FreeBase] = []
        names, coordinates = robot.joint_names, []
        joint_qvel = np.full(len(names), -1)
        for joint in robot.model.joints:
            if joint.joint_type == FREE:
                body = _free_body(m, robot, joint.name)
                link = m.body(body).name or robot.model.base_link
                base = FreeBase(FreeMotion(m, body), link, joint.q_index, joint.v_index)
                self._bases.append(base)
                mapped.update(_joints_of(m, body))
            elif (number := joints.get(joint.name)) is not None:
                qvel = int(m.jnt_dofadr[number])
                mapped.add(number)
                coordinates.append((m.jnt_qposadr[number], joint.q_index, qvel, joint.v_index))
                joint_qvel[names.index(joint.name)] = qvel
        self._bodies = [
            (body, m.body(body).name, np.array(m.body_ipos[body]))
            for body in range(1, m.nbody)
            if m.body(body).name in robot.model.frames
        ]
        actuator_forces, force_sensors = _delivered(m, set(joint_qvel))
        self._tendons = tendon_actuators(m, robot)
        readings = _readings(m, robot)
        self.sensors_read = [one[0] for one in (*readings, *force_sensors)]  # indices in sensordata
        self._maps = {
            "joint_qvel": joint_qvel,
            "coordinates": np.array(coordinates, dtype=mujoco_exchange.COORDINATE),
            "bases": np.array([base.record() for base in self._bases], dtype=mujoco_exchange.BASE),
            "actuators": np.array(joint_actuators(m, robot), dtype=mujoco_exchange.ACTUATOR),
            "bodies": np.array([number for number, *_ in self._bodies], dtype=int),
            "readings": np.array(readings, dtype=mujoco_exchange.READING),
            "actuator_forces": np.array(actuator_forces, dtype=mujoco_exchange.DELIVERED),
            "force_sensors": np.array(force_sensors, dtype=mujoco_exchange.DELIVERED),
            "commands": np.empty((3, len(names))),
        }

    def kernels_for(self, scene: Scene, **shared: np.ndarray) -> _Kernels:
        """Return `read_controls` and `write_results` for a scene. shared: fields of Exchange."""
        robot, actuators = self.robot, self.robot.access.actuators.whole
        first, v = robot.world.first_sensor(robot), slice(robot.first_v, robot.first_v + robot.nv)
        exchange = Reference(
            mujoco_exchange.Exchange(
                settings=scene.settings,
                velocity=scene.velocity[v],
                sensors=scene.sensors[first : first + len(robot.model.sensors)],
                q=actuators.q,
                control=actuators.control,
                joint_v=actuators.joint_v,
                kp=actuators.kp,
                kd=actuators.kd,
                **{name: getattr(self._data, name) for name in _OF_DATA},
                **self._maps,
                **shared,
            )
        )
        kernels = (
            entry_point(kernel, exchange)
            for kernel in (mujoco_exchange.read_controls, mujoco_exchange.write_results)
        )
        read, write = (partial(kernel, exchange) for kernel in kernels)
        return read, write

    def put_state(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Set the robot to MuJoCo's qpos (nq,) and qvel (nv,)."""
        robot, coordinates = self.robot, self._maps["coordinates"]
        q, v = robot.q.copy(), robot.v.copy()
        q[coordinates["q"]] = qpos[coordinates["qpos"]]
        v[coordinates["v"]] = qvel[coordinates["qvel"]]
        for base in self._bases:
            position, turn = base.motion.pose(qpos)
            linear, spin = base.motion.velocity(turn, qvel)
            q[base.q : base.q + 3], q[base.q + 3 : base.q + 7] = position, turn[_XYZW]
            v[base.v : base.v + 3] = rotation_of(turn).T @ linear
            v[base.v + 3 : base.v + 6] = spin
        robot.q, robot.v = q, v

    def command_tendons(self) -> None:
        """Command the actuators of tendons by ctrl."""
        ctrl = self._data.ctrl
        for _, tendon, _, inputs in self._tendons:
            values = {
                COMMANDS[field]: scale * min(max(float(ctrl[k]), low), high) + offset
                for k, field, scale, offset, low, high in inputs
            }
            tendon.command(**values)

    def read_tendons(self) -> None:
        """Write the forces of the actuators of tendons."""
        for k, tendon, gear, _ in self._tendons:
            self._data.actuator_force[k] = tendon.effort / gear

    def push(self) -> None:
        """Push by qfrc_applied of the base and xfrc_applied."""
        robot, data = self.robot, self._data
        for base in self._bases:
            motion = base.motion
            force = data.qfrc_applied[motion.qvel : motion.qvel + 6]
            if force.any():
                torque = rotation_of(robot.q[base.q + 3 : base.q + 7][_WXYZ]) @ force[3:]
                robot.apply_wrench(base.link, motion.axes @ force[:3], torque, motion.anchor)
        for body, link, centre in self._bodies:
            wrench = data.xfrc_applied[body]
            if wrench.any():
                robot.apply_wrench(link, wrench[:3], wrench[3:], centre)


class Mapping:
    """State, commands and readings of all robots of a world."""

    def __init__(self, robots: list[RobotMapping], m, data, world: World):
        self._robots, self._data, self._world = robots, data, world
        self._scene: Scene | None = None
        self._kernels: list[_Kernels] = []
        self._gravity = m.opt.gravity
        self.known = np.full(m.nq, np.nan), np.full(m.nv, np.nan)  # the world's state
        self._frames = {
            int(m.body_mocapid[body]): world.frames[m.body(body).name or f"body{body}"]
            for body in np.flatnonzero(m.body_mocapid >= 0)
        }
        self._placed = np.full((m.nmocap, 7), np.nan)  # where they were put last
        self._unread = _unread(m, robots)
        self.unread = [  # sensors of which hrpsim has no reading
            m.sensor(k).name or f"sensor {k}"
            for k in range(m.nsensor)
            if int(m.sensor_adr[k]) in self._unread
        ]

    def is_changed(self) -> bool:
        """Return whether qpos or qvel differ from the world's state."""
        data, (qpos, qvel) = self._data, self.known
        return not (np.array_equal(data.qpos, qpos) and np.array_equal(data.qvel, qvel))

    def put_state(self) -> None:
        """Set the world to qpos and qvel."""
        data, (qpos, qvel) = self._data, self.known
        for one in self._robots:
            one.put_state(data.qpos, data.qvel)
        qpos[:], qvel[:] = data.qpos, data.qvel

    def step(self) -> None:
        """Step the world: read the controls before the step, write the results after it."""
        self._move_frames()
        self._refer()
        for k, (read, _) in enumerate(self._kernels):
            if found := read():
                self._meet(found, k)
        for one in self._robots:
            one.command_tendons()
        self._world.step()
        self._refer()
        for _, write in self._kernels:
            write()
        for one in self._robots:
            one.read_tendons()

    def _move_frames(self) -> None:
        """Move the frames of mocap bodies to mocap_pos and mocap_quat."""
        for k, frame in self._frames.items():
            pose = np.concatenate([self._data.mocap_pos[k], self._data.mocap_quat[k]])
            if np.array_equal(pose, self._placed[k]):
                continue
            if not np.isfinite(pose).all() or not pose[3:].any():
                raise StateError(f"mocap_pos[{k}], mocap_quat[{k}] are {pose}: no pose")
            frame.put(Placement(rotation_of(pose[3:]), pose[:3]))
            self._placed[k] = pose

    def _refer(self) -> None:
        if self._scene is None or self._scene is not self._world.present_scene:
            self._scene = self._world.scene
            shared = dict(zip(("known_qpos", "known_qvel"), self.known), gravity=self._gravity)
            self._kernels = [one.kernels_for(self._scene, **shared) for one in self._robots]

    def _meet(self, found: int, k: int) -> None:
        """Handle the result of `read_controls`: a changed state, invalid numbers, or a push."""
        if found == mujoco_exchange.CHANGED:
            self._world.gravity = self._gravity
            if self.is_changed():
                self.put_state()
            self._refer()
            found = self._kernels[k][0]()
        if found == mujoco_exchange.INVALID:
            self._refuse()
        elif found == mujoco_exchange.PUSHED:
            self._robots[k].push()

    def _refuse(self) -> None:
        for name in ("ctrl", "qfrc_applied"):
            values = getattr(self._data, name)
            if not np.isfinite(values).all():
                k = int(np.flatnonzero(~np.isfinite(values))[0])
                raise StateError(f"{name}[{k}] is {values[k]}, it must be finite")

    def mark_unread(self) -> None:
        """Write NaN to forces of actuators, and to sensors of forces that hrpsim does not read.

        Each step then writes the forces of actuators, except of actuators that share a joint with
        others.
        """
        self._data.sensordata[self._unread] = np.nan
        self._data.actuator_force[:] = np.nan


def map_world(m, data, world: World) -> Mapping:
    """Return the mapping of a mujoco.MjModel and MjData to the world of the same file.

    Raises HrpsimError for a joint that the world does not have: a ball joint, or a joint that
    `load_world` left out.
    """
    joints = {m.joint(j).name: j for j in range(m.njnt)}
    mapped: set[int] = set()
    robots = [RobotMapping(m, data, robot, joints, mapped) for robot in world.robots.values()]
    lacking = [m.joint(j).name or f"joint {j}" for j in range(m.njnt) if j not in mapped]
    if lacking:
        raise HrpsimError(
            f"no degree of freedom in hrpsim's world stands for {', '.join(lacking[:5])}: ball "
            "joints, and joints without a name, have none"
        )
    return Mapping(robots, m, data, world)


def _free_body(m, robot: Robot, name: str) -> int:
    """Return the free body that is the robot's base link, or that has a joint of this name."""
    for body in range(1, m.nbody):
        if (m.body(body).name or f"body{body}") == robot.model.base_link:
            return body
        if name in [m.joint(j).name for j in _joints_of(m, body)]:
            return body
    raise HrpsimError(f"no body of the MJCF moves by the free joint {name!r} of hrpsim's world")


def _joints_of(m, body: int) -> range:
    return range(int(m.body_jntadr[body]), int(m.body_jntadr[body] + m.body_jntnum[body]))


def _readings(m, robot: Robot) -> list[tuple]:
    """Return READING values of MuJoCo's sensors at sites with a sensor of hrpsim.

    MuJoCo's sensors read the force of the parent on the child, hrpsim's sensors the reaction.
    """
    import mujoco

    sorts = mujoco.mjtSensor
    parts = {
        int(sorts.mjSENS_FORCE): 0,
        int(sorts.mjSENS_TORQUE): 3,
        int(sorts.mjSENS_ACCELEROMETER): 3,
    }
    found = []
    for k in range(m.nsensor):
        part = parts.get(int(m.sensor_type[k]))
        site = "" if part is None else m.site(int(m.sensor_objid[k])).name
        if part is not None and site in robot.sensors:
            sensor = robot.sensors[site]
            sign = 1.0 if sensor.description.kind == "imu" else -1.0
            found.append((int(m.sensor_adr[k]), sensor.index, part, sign))
    return found


def _delivered(m, dofs: set[int]) -> tuple[list[tuple], list[tuple]]:
    """Return DELIVERED values of the actuators, and of the sensors, of joints with these dofs."""
    import mujoco

    sorts, alone = mujoco.mjtSensor, alone_on_joint(m)
    forces = [(k, *where) for k, where in alone.items() if where[0] in dofs]
    sensors = []
    for k in range(m.nsensor):
        sort, of = m.sensor_type[k], int(m.sensor_objid[k])
        if sort == sorts.mjSENS_JOINTACTFRC:
            sensors.append((int(m.sensor_adr[k]), int(m.jnt_dofadr[of]), 1.0))
        elif sort == sorts.mjSENS_ACTUATORFRC and of in alone:
            sensors.append((int(m.sensor_adr[k]), *alone[of]))
    return forces, [one for one in sensors if one[1] in dofs]


def _unread(m, robots: list[RobotMapping]) -> np.ndarray:
    """Return the indices in sensordata of sensors of forces that no robot has."""
    import mujoco

    read = {index for robot in robots for index in robot.sensors_read}
    unread: list[int] = []
    for k in range(m.nsensor):
        at = int(m.sensor_adr[k])
        if m.sensor_needstage[k] == mujoco.mjtStage.mjSTAGE_ACC and at not in read:
            unread += range(at, at + int(m.sensor_dim[k]))
    return np.array(unread, dtype=int)
