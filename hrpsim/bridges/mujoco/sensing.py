# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The sensors of a model, computed by functions of MuJoCo or read from hrpsim's world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hrpsim.bridges.mujoco.actuators import alone_on_joint
from hrpsim.bridges.mujoco.fields import DYNAMICS, POSES, VELOCITIES
from hrpsim.bridges.mujoco.native import package
from hrpsim.world.objects.robot import Robot

# Sensors that depend only on qpos and qvel, and sensors of points and frames of bodies.
_OF_JOINTS = ("JOINTPOS", "JOINTVEL", "BALLQUAT", "BALLANGVEL", "CLOCK")
_OF_POSES = ("MAGNETOMETER", "FRAMEPOS", "FRAMEQUAT", "FRAMEXAXIS", "FRAMEYAXIS", "FRAMEZAXIS")
_OF_POSES += ("SUBTREECOM",)
_OF_VELOCITIES = ("VELOCIMETER", "GYRO", "FRAMELINVEL", "FRAMEANGVEL")
_POSES = ("mj_kinematics", "mj_comPos")
_OF_ENERGY = ("mj_makeM", "mj_energyPos", "mj_energyVel")
_ALL = (*_POSES, "mj_camlight", "mj_tendon", "mj_transmission", *_OF_ENERGY, "mj_sensorPos")
_ALL += ("mj_comVel", "mj_fwdVelocity", "mj_subtreeVel", "mj_sensorVel")
Levels = list[tuple[int, tuple[Callable[[Any, Any], None], ...]]]
_OF_ACCELERATIONS = ("ACCELEROMETER", "FRAMELINACC", "FRAMEANGACC")


def sensing(m: Any) -> tuple[Callable[[Any, Any], None], ...]:
    """Return MuJoCo's functions of model and data that compute `sensordata`, in calling order.

    hrpsim computes the sensors of forces and accelerations instead.
    """
    mujoco = package()
    needed: set[str] = set()
    for sort, stage in zip(m.sensor_type.tolist(), m.sensor_needstage.tolist(), strict=True):
        if stage == mujoco.mjtStage.mjSTAGE_ACC:
            continue
        name = mujoco.mjtSensor(sort).name.removeprefix("mjSENS_")
        if name in _OF_VELOCITIES:
            needed.update((*_POSES, "mj_comVel"))
        elif name in _OF_POSES:
            needed.update(_POSES)
        elif name not in _OF_JOINTS:
            needed.update(_ALL)
        is_of_positions = stage == mujoco.mjtStage.mjSTAGE_POS
        needed.add("mj_sensorPos" if is_of_positions else "mj_sensorVel")
    if not reads_energy(m):
        needed.difference_update(_OF_ENERGY)
    return tuple(_function(name) for name in _ALL if name in needed)


def _function(name: str) -> Callable[[Any, Any], None]:
    """Return a function of MuJoCo by name. `mj_makeM` was called `mj_crb` before 4.0."""
    return getattr(package(), name, None) or package().mj_crb


def reads_energy(m: Any) -> bool:
    """Return whether a sensor reads the potential or kinetic energy."""
    sorts = package().mjtSensor
    kinds = [sorts.mjSENS_E_POTENTIAL, sorts.mjSENS_E_KINETIC]
    return bool(np.isin(m.sensor_type, kinds).any())


def acceleration_sensors(m: Any) -> np.ndarray:
    """Return the indices in sensordata of the acceleration sensors that follow from qacc."""
    sorts = package().mjtSensor
    kinds = [getattr(sorts, f"mjSENS_{name}") for name in _OF_ACCELERATIONS]
    numbers = np.flatnonzero(np.isin(m.sensor_type, kinds))
    return np.array(
        [at for k in numbers for at in range(m.sensor_adr[k], m.sensor_adr[k] + m.sensor_dim[k])],
        dtype=int,
    )


def _unread(m, read: list[int]) -> np.ndarray:
    """Return the indices in sensordata of force sensors for which no reading exists.

    read: first indices of sensors that hrpsim reads.
    """
    known, indices = {*read, *acceleration_sensors(m).tolist()}, list[int]()
    for k in range(m.nsensor):
        at = int(m.sensor_adr[k])
        if m.sensor_type[k] == package().mjtSensor.mjSENS_TOUCH:
            continue
        if m.sensor_needstage[k] == package().mjtStage.mjSTAGE_ACC and at not in known:
            indices += range(at, at + int(m.sensor_dim[k]))
    return np.array(indices, dtype=int)


class Readings(NamedTuple):
    """Actuators and sensors of a model, grouped by the source of their values.

    Attributes:
        hidden: actuators whose forces are computed by MuJoCo's actuator laws.
        measured: sensors computed by MuJoCo's actuator laws, see `sensors_of_actuators`.
        off: disabled actuators, which read 0.
        sensors_off: indices in sensordata of sensors of disabled actuators, which read 0.
        unread: indices in sensordata of sensors without a reading, which read NaN.
    """

    hidden: list[int]
    measured: list[tuple[int, int, bool]]
    off: np.ndarray
    sensors_off: list[int]
    unread: np.ndarray


def readings_of(  # many parameters: numbers of actuators and sensors by source
    m,
    staged: bool,
    numbers: Sequence[int],
    taken: Sequence[int],
    shown: Sequence[int],
    read: Sequence[int],
) -> Readings:
    """Group the actuators and sensors of a mujoco.MjModel by the source of their values.

    Args:
        m: a mujoco.MjModel.
        staged: whether the integrator is RK4.
        numbers: actuators whose forces MuJoCo computes.
        taken: actuators that hrpsim's joints represent.
        shown: actuators with a reading from hrpsim's world.
        read: first indices in sensordata of sensors with a reading from hrpsim's world.
    """
    hidden = [k for k in taken if k not in shown]
    measured = sensors_of_actuators(m, [*numbers, *taken] if staged else hidden)
    measured = [sensor for sensor in measured if staged or not sensor[2]]
    off = np.setdiff1d(np.arange(len(m.actuator_gear)), [*numbers, *shown, *hidden])
    sensors_off = [at for at, _, is_joint in sensors_of_actuators(m, off.tolist()) if not is_joint]
    unread = _unread(m, [*read, *(at for at, *_ in measured), *sensors_off])
    return Readings(hidden, measured, off, sensors_off, unread)


def force_readings(m, robot: Robot, names: dict[int, str]) -> list[tuple]:
    """Return READING values for MuJoCo's force sensors at sites where hrpsim has a sensor.

    MuJoCo's sensors read the force of the parent on the child. hrpsim's sensors read the reaction.

    Args:
        m: the mujoco.MjModel.
        robot: the robot that has the sensors.
        names: names of hrpsim's force-torque sensors by site.
    """
    sorts = package().mjtSensor
    parts = {int(sorts.mjSENS_FORCE): 0, int(sorts.mjSENS_TORQUE): 3}
    result = []
    for k in range(m.nsensor):
        part = parts.get(int(m.sensor_type[k]))
        site = int(m.sensor_objid[k])
        if part is not None and site in names:
            index = robot.sensors[names[site]].index
            result.append((int(m.sensor_adr[k]), index, part, -1.0))
    return result


def delivered_forces(m, dofs: set[int], taken: list[int]) -> tuple[list[tuple], list[tuple]]:
    """Return `actuator_forces` and `force_sensors` of Exchange for the joints with these dofs."""
    sorts, alone = package().mjtSensor, alone_on_joint(m, taken)
    forces = [(k, *where) for k, where in alone.items() if where[0] in dofs]
    sensors = []
    for k in range(m.nsensor):
        sort, of = m.sensor_type[k], int(m.sensor_objid[k])
        if sort == sorts.mjSENS_JOINTACTFRC:
            sensors.append((int(m.sensor_adr[k]), int(m.jnt_dofadr[of]), 1.0))
        elif sort == sorts.mjSENS_ACTUATORFRC and of in alone:
            sensors.append((int(m.sensor_adr[k]), *alone[of]))
    return forces, [sensor for sensor in sensors if sensor[1] in dofs]


def delayed_sensors(m) -> list[str]:
    """Return the names of sensors with a delay or an interval, which exist since MuJoCo 3.5."""
    late = np.zeros(m.nsensor, dtype=bool)
    for name in ("sensor_delay", "sensor_interval"):
        values = getattr(m, name, late) > 0
        late |= values if values.ndim == 1 else values.any(axis=1)
    return [m.sensor(k).name or f"sensor {k}" for k in np.flatnonzero(late).tolist()]


def sensors_of_actuators(m: Any, numbers: list[int]) -> list[tuple[int, int, bool]]:
    """Return the sensors of actuator forces: on all joints, and of the actuators `numbers`.

    The sensors on all joints are needed, because other actuators may act on the same joint.

    Returns:
        A list of (index in sensordata, dof of the joint or number of the actuator, whether the
        second entry is a dof).
    """
    sorts, result = package().mjtSensor, []
    for k in range(m.nsensor):
        at, of = int(m.sensor_adr[k]), int(m.sensor_objid[k])
        if m.sensor_type[k] == sorts.mjSENS_JOINTACTFRC:
            result.append((at, int(m.jnt_dofadr[of]), True))
        elif m.sensor_type[k] == sorts.mjSENS_ACTUATORFRC and of in numbers:
            result.append((at, of, False))
    return result


def sense_accelerations(m: Any, data: Any, indices: np.ndarray) -> None:
    """Write sensordata at `indices` for the accelerations qacc. Velocities must be up to date."""
    readings = data.sensordata.copy()
    package().mj_rnePostConstraint(m, data)  # mj_sensorAcc takes the results of any call before
    package().mj_sensorAcc(m, data)
    readings[indices] = data.sensordata[indices]
    data.sensordata[:] = readings


def levels_of(m: Any) -> Levels:
    """Return the functions that compute fields at each level, without contacts or forces.

    The result lists levels from POSES to DYNAMICS, each with MuJoCo's functions of model and data.
    """
    poses = (*_POSES, "mj_camlight", "mj_tendon", "mj_transmission")
    # mj_fwdVelocity also computes passive forces and qfrc_bias
    velocities = ("mj_sensorPos", "mj_fwdVelocity", "mj_subtreeVel", "mj_sensorVel")
    if reads_energy(m):
        velocities = (*_OF_ENERGY, *velocities)
    levels = {POSES: poses, VELOCITIES: velocities, DYNAMICS: ("mj_makeM", "mj_factorM")}
    return [(level, tuple(map(_function, names))) for level, names in levels.items()]


def forward(model: Any, data: Any, levels: Levels, current: int, need: int) -> None:
    """Compute MuJoCo's fields of all levels above `current` up to `need`."""
    for level, functions in levels:
        if current < level <= need:
            for function in functions:
                function(model, data)
