# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Map MuJoCo's state, commands and readings to an hrpsim world loaded from the same MJCF.

MuJoCo's coordinates of free bodies: hrpsim/model/mjcf/free_motion.py. hrpsim: quaternions are
x y z w, and both velocities are along the body's axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.errors import HrpsimError
from hrpsim.model.mjcf.free_motion import FreeMotion
from hrpsim.model.mjcf.tree import rotation_of
from hrpsim.model.system import FREE
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

_XYZW = [1, 2, 3, 0]  # indices of x y z w in MuJoCo's quaternion
_WXYZ = [3, 0, 1, 2]


class FreeBase(NamedTuple):
    """A body that moves freely: its link, and the first index of its joint in q and v."""

    motion: FreeMotion
    link: str
    q: int
    v: int


class Actuator(NamedTuple):
    """An affine actuator: the joint's command is `scale` ctrl + `offset`."""

    number: int
    joint: int  # index of the robot's joint
    field: int  # 0 position, 1 velocity, 2 effort
    scale: float
    offset: float
    low: float
    high: float


class Delivered(NamedTuple):
    """An entry of sensordata: what a joint's actuators deliver, over a gear ratio."""

    place: int
    dof: int  # in qvel
    gear: float


class Reading(NamedTuple):
    """Three entries of sensordata: `sign` times a part of a sensor's reading."""

    place: slice
    sensor: str
    part: slice
    sign: float  # MuJoCo: the parent's force on the child; hrpsim: the reaction


class RobotMapping(NamedTuple):
    """One robot of the world; arrays pair MuJoCo's indices with the robot's."""

    robot: Robot
    bases: list[FreeBase]
    qpos: np.ndarray
    q: np.ndarray
    qvel: np.ndarray
    v: np.ndarray
    dofs: np.ndarray  # in qvel, of the robot's joints, -1 where MuJoCo has none (n,)
    actuators: list[Actuator]
    bodies: list[tuple[int, str, np.ndarray]]  # number, link, centre of mass in the body
    readings: list[Reading]


class Mapping:
    """State, commands and readings of all robots of a world."""

    def __init__(self, robots: list[RobotMapping], m):
        self._robots = robots
        self._alone = _alone_on_joint(m)
        self._delivered, self._unread = _sensors_of_forces(m, robots, self._alone)
        self.unread = [  # sensors of which hrpsim has no reading
            m.sensor(k).name or f"sensor {k}"
            for k in range(m.nsensor)
            if int(m.sensor_adr[k]) in self._unread
        ]

    def put_state(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Set the world to MuJoCo's qpos (nq,) and qvel (nv,)."""
        for one in self._robots:
            q, v = one.robot.q.copy(), one.robot.v.copy()
            q[one.q], v[one.v] = qpos[one.qpos], qvel[one.qvel]
            for base in one.bases:
                position, turn = base.motion.pose(qpos)
                linear, spin = base.motion.velocity(turn, qvel)
                q[base.q : base.q + 3], q[base.q + 3 : base.q + 7] = position, turn[_XYZW]
                v[base.v : base.v + 3] = rotation_of(turn).T @ linear
                v[base.v + 3 : base.v + 6] = spin
            one.robot.q, one.robot.v = q, v

    def get_state(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Write qpos (nq,) and qvel (nv,)."""
        for one in self._robots:
            q, v = one.robot.q, one.robot.v
            qpos[one.qpos], qvel[one.qvel] = q[one.q], v[one.v]
            for base in one.bases:
                turn = q[base.q + 3 : base.q + 7][_WXYZ]
                base.motion.put_pose(q[base.q : base.q + 3], turn, qpos)
                linear = rotation_of(turn) @ v[base.v : base.v + 3]
                base.motion.put_velocity(turn, linear, v[base.v + 3 : base.v + 6], qvel)

    def command(self, data) -> None:
        """Command the joints by data.ctrl and push by qfrc_applied and xfrc_applied."""
        for one in self._robots:
            robot = one.robot
            values = np.full((3, len(one.dofs)), np.nan)
            for a in one.actuators:
                ctrl = min(max(float(data.ctrl[a.number]), a.low), a.high)
                target = a.scale * ctrl + a.offset
                before = values[a.field, a.joint]
                values[a.field, a.joint] = target if np.isnan(before) else before + target
            pushed = np.where(one.dofs >= 0, data.qfrc_applied[one.dofs], 0.0)
            at = np.flatnonzero(pushed)
            values[2, at] = np.where(np.isnan(values[2, at]), 0.0, values[2, at]) + pushed[at]
            robot.command(*values, nan_holds=True)
            for base in one.bases:
                motion = base.motion
                force = data.qfrc_applied[motion.qvel : motion.qvel + 6]
                if force.any():
                    torque = rotation_of(robot.q[base.q + 3 : base.q + 7][_WXYZ]) @ force[3:]
                    robot.apply_wrench(base.link, motion.axes @ force[:3], torque, motion.anchor)
            if data.xfrc_applied.any():
                for body, link, centre in one.bodies:
                    wrench = data.xfrc_applied[body]
                    if wrench.any():
                        robot.apply_wrench(link, wrench[:3], wrench[3:], centre)

    def get_sensors(self, data) -> None:
        """Write force, torque and accelerometer sensors, and those of actuators."""
        for one in self._robots:
            for place, name, part, sign in one.readings:
                sensor = one.robot.sensors[name]
                is_imu = sensor.description.kind == "imu"
                values = sensor.linear_acceleration if is_imu else sensor.wrench[part]
                data.sensordata[place] = sign * values
        for place, dof, gear in self._delivered:
            data.sensordata[place] = data.qfrc_actuator[dof] / gear

    def mark_unread(self, sensordata: np.ndarray) -> None:
        """Write NaN for sensors of which hrpsim has no reading."""
        sensordata[self._unread] = np.nan

    def get_efforts(self, data) -> None:
        """Write the efforts of joints, without applied forces, and of their actuators.

        NaN for actuators that share a joint with others.
        """
        for one in self._robots:
            there = one.dofs >= 0
            dofs = one.dofs[there]
            efforts = one.robot.joint_efforts[there]
            data.qfrc_actuator[dofs] = efforts - data.qfrc_applied[dofs]
        data.actuator_force[:] = np.nan
        for number, (dof, gear) in self._alone.items():
            data.actuator_force[number] = data.qfrc_actuator[dof] / gear


def map_world(m, world: World) -> Mapping:
    """Return the mapping of a mujoco.MjModel to the world of the same file.

    Raises HrpsimError for a joint that the world does not have: a ball joint, or one that
    `load_world` left out.
    """
    joints = {m.joint(j).name: j for j in range(m.njnt)}
    mapped: set[int] = set()
    robots = [_map_robot(m, robot, joints, mapped) for robot in world.robots.values()]
    lacking = [m.joint(j).name or f"joint {j}" for j in range(m.njnt) if j not in mapped]
    if lacking:
        raise HrpsimError(
            f"no degree of freedom in hrpsim's world stands for {', '.join(lacking[:5])}: ball "
            "joints, and joints without a name, have none"
        )
    return Mapping(robots, m)


def _map_robot(m, robot: Robot, joints: dict[str, int], mapped: set[int]) -> RobotMapping:
    pairs: list[tuple[int, int, int, int]] = []
    bases, names = [], robot.joint_names
    dofs = np.full(len(names), -1)
    for joint in robot.model.joints:
        if joint.joint_type == FREE:
            body = _free_body(m, robot, joint.name)
            link = m.body(body).name or robot.model.base_link
            bases.append(FreeBase(FreeMotion(m, body), link, joint.q_index, joint.v_index))
            mapped.update(_joints_of(m, body))
        elif (number := joints.get(joint.name)) is not None:
            qvel = int(m.jnt_dofadr[number])
            mapped.add(number)
            pairs.append((int(m.jnt_qposadr[number]), joint.q_index, qvel, joint.v_index))
            dofs[names.index(joint.name)] = qvel
    table = np.array(pairs, dtype=int).reshape(-1, 4)
    links = robot.model.frames
    bodies = [
        (body, m.body(body).name, np.array(m.body_ipos[body]))
        for body in range(1, m.nbody)
        if m.body(body).name in links
    ]
    return RobotMapping(
        robot, bases, *table.T, dofs, _actuators(m, robot), bodies, _readings(m, robot)
    )


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


def _actuators(m, robot: Robot) -> list[Actuator]:
    """Return the actuators of a robot's joints as hrpsim has them: servos, dampers, motors."""
    found, names = [], robot.joint_names
    for k in range(m.nu):
        name = m.joint(int(m.actuator_trnid[k][0])).name if m.actuator_trntype[k] == 0 else ""
        if name not in robot.model.command_interfaces:
            continue
        gear, gain = float(m.actuator_gear[k][0]), float(m.actuator_gainprm[k][0])
        b0, b1, b2 = (float(b) for b in m.actuator_biasprm[k][:3])
        if m.actuator_biastype[k] == 0:
            b0 = b1 = b2 = 0.0
        kp, kd = -b1 * gear * gear, -b2 * gear * gear
        if kp > 0.0:
            field, unit = 0, kp
        elif kd > 0.0 and np.isclose(gain, -b2):
            field, unit = 1, kd
        else:
            field, unit = 2, 1.0
        bounded = bool(m.actuator_ctrllimited[k])
        low, high = m.actuator_ctrlrange[k] if bounded else (-np.inf, np.inf)
        scale, offset = gain * gear / unit, b0 * gear / unit
        found.append(Actuator(k, names.index(name), field, scale, offset, float(low), float(high)))
    return found


def _readings(m, robot: Robot) -> list[Reading]:
    """Return the sensors of MuJoCo read from hrpsim's: those at sites of the same name."""
    import mujoco

    sorts = mujoco.mjtSensor
    parts = {
        int(sorts.mjSENS_FORCE): slice(0, 3),
        int(sorts.mjSENS_TORQUE): slice(3, 6),
        int(sorts.mjSENS_ACCELEROMETER): slice(3, 6),
    }
    found = []
    for k in range(m.nsensor):
        part = parts.get(int(m.sensor_type[k]))
        site = m.site(int(m.sensor_objid[k])).name if part else ""
        if part and site in robot.sensors:
            at, is_imu = int(m.sensor_adr[k]), robot.sensors[site].description.kind == "imu"
            found.append(Reading(slice(at, at + 3), site, part, 1.0 if is_imu else -1.0))
    return found


def _alone_on_joint(m) -> dict[int, tuple[int, float]]:
    """Return the index in qvel and gear ratio of actuators that share their joint with no other."""
    joints = [
        int(m.actuator_trnid[k][0]) if m.actuator_trntype[k] == 0 else -1 for k in range(m.nu)
    ]
    return {
        k: (int(m.jnt_dofadr[joint]), float(m.actuator_gear[k][0]))
        for k, joint in enumerate(joints)
        if joint >= 0 and joints.count(joint) == 1 and m.actuator_gear[k][0]
    }


def _sensors_of_forces(m, robots: list[RobotMapping], alone) -> tuple[list[Delivered], np.ndarray]:
    """Return the actuator force sensors, and the indices of those without a reading."""
    import mujoco

    sorts = mujoco.mjtSensor
    delivered: list[Delivered] = []
    read = {one.place.start for robot in robots for one in robot.readings}
    unread: list[int] = []
    for k in range(m.nsensor):
        at, sort, of = int(m.sensor_adr[k]), m.sensor_type[k], int(m.sensor_objid[k])
        if sort == sorts.mjSENS_JOINTACTFRC:
            delivered.append(Delivered(at, int(m.jnt_dofadr[of]), 1.0))
        elif sort == sorts.mjSENS_ACTUATORFRC and of in alone:
            delivered.append(Delivered(at, *alone[of]))
        elif m.sensor_needstage[k] == mujoco.mjtStage.mjSTAGE_ACC and at not in read:
            unread += range(at, at + int(m.sensor_dim[k]))
    return delivered, np.array(unread, dtype=int)
