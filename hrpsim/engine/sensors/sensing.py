# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Force/torque sensors and inertial measurement units, read from the accelerations of a step."""

import numpy as np

from hrpsim.engine.actuators.commands import delayed_slots
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Kinematics,
    Mat3,
    Matrix,
    Records,
    Sensor,
    Tensor,
    Vec3,
    Vec6,
)
from hrpsim.engine.spatial.vector import placed_point, point_velocity
from hrpsim.model.sensors.quantities import MOTION

SENSOR = np.dtype(
    [
        ("quantity", "i8"),  # WRENCH or MOTION
        ("body", "i8"),  # body of the sensor; -1: the world
        ("R", "f8", (3, 3)),  # sensor frame in the body frame
        ("p", "f8", (3,)),  # sensor origin in the body frame [m]
        ("tare", "i8"),  # 1: the weight of the subtree is subtracted, 0: not
        ("subtree_size", "i8"),  # number of bodies in the subtree of `body`, in index order
        ("slots", "i8"),  # number of stored readings for the latency; 0: no latency
        ("delay_steps", "i8"),  # whole steps of the latency
        ("delay_part", "f8"),  # remainder of the latency, as a fraction of a step
        ("slot", "i8"),  # index of the next reading in the stored readings
        ("wrench", "f8", (6,)),  # work: moment, force, in the world
        ("measured", "f8", (6,)),  # measured value of the present step, which may still fail
        ("reading", "f8", (6,)),  # force, torque | angular velocity, specific force
    ]
)


@inner_kernel
def keep_readings(sensors: Records[Sensor], past_readings: Tensor) -> None:
    """Store the measurements of a finished step as readings, after each sensor's latency.

    Args:
        sensors: SENSOR records (n,). `measured` is read, `reading` and `slot` are written.
        past_readings: stored measurements (n, slots, 6), in the units of the readings, written.
    """
    for k in range(sensors.shape[0]):
        sensor = sensors[k]
        if sensor.slots > 0:
            _delay(sensor, past_readings[k])
            continue
        for r in range(6):
            sensor.reading[r] = sensor.measured[r]


@inlined_kernel
def _delay(sensor: Sensor, stored: Matrix) -> None:
    """Store a measurement, and write the measurement of one latency ago as the reading."""
    newer, older = delayed_slots(sensor.slot, sensor)
    for r in range(6):
        stored[sensor.slot, r] = sensor.measured[r]
        change = stored[older, r] - stored[newer, r]
        sensor.reading[r] = stored[newer, r] + sensor.delay_part * change
    sensor.slot = sensor.slot + 1 if sensor.slot + 1 < sensor.slots else 0


@inner_kernel
def sense(
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    gravity: Vec3,
    sensors_out: Records[Sensor],
) -> None:
    """Measure with every sensor: means over the step, in the frames of the sensors.

    A force sensor reads -(I_A a + p_A), the wrench [N, Nm] of the child side on the parent side
    through the joint (RBDA eq. 7.22, sign turned). p_A includes a_vp. Constraints add
    `delta_acceleration` of the records to a, and subtract `constraint_wrench` from p_A. An IMU
    reads angular velocity [rad/s] and specific force [m/s^2].

    Args:
        kinematics: KINEMATICS records of the bodies (n,).
        articulated: ARTICULATED records of the bodies (n,).
        gravity: acceleration of gravity in the world (3,) [m/s^2].
        sensors_out: SENSOR records. `wrench` and `measured` (6,) are written.
    """
    for k in range(sensors_out.shape[0]):
        sensor = sensors_out[k]
        if sensor.body < 0:
            _read_at_rest(gravity, sensor)
            continue
        link = kinematics[sensor.body]
        R = link.R
        x, y, z = placed_point(R, link.p, sensor.p)
        if sensor.quantity == MOTION:
            _measure_motion(link.v, articulated[sensor.body], x, y, z, sensor.wrench)
        else:
            _measure_wrench(articulated[sensor.body], sensor.wrench)
            if sensor.tare:
                _take_out_weight(articulated, gravity, sensor)
            w = sensor.wrench
            w[0] -= y * w[5] - z * w[4]
            w[1] -= z * w[3] - x * w[5]
            w[2] -= x * w[4] - y * w[3]
        _turn_into_sensor(R, sensor)


@inner_kernel
def _measure_wrench(here: Articulated, wrench_out: Vec6) -> None:
    """Write the wrench of the child side on the parent side, about the tree's origin."""
    for r in range(6):
        total = here.constraint_wrench[r] - here.p_A[r]
        for s in range(6):
            total -= here.I_A[r, s] * (here.a[s] + here.delta_acceleration[s])
        wrench_out[r] = total


@inner_kernel
def _take_out_weight(articulated: Records[Articulated], gravity: Vec3, sensor: Sensor) -> None:
    """Remove the weight of the child side from sensor.wrench."""
    w = sensor.wrench
    for j in range(sensor.body, sensor.body + sensor.subtree_size):
        placed = articulated[j].inertia
        m, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
        w[0] -= hy * gravity[2] - hz * gravity[1]
        w[1] -= hz * gravity[0] - hx * gravity[2]
        w[2] -= hx * gravity[1] - hy * gravity[0]
        for r in range(3):
            w[3 + r] -= m * gravity[r]


@inner_kernel
def _measure_motion(
    v: Vec6, here: Articulated, x: float, y: float, z: float, motion_out: Vec6
) -> None:
    """Write specific force, then angular velocity, at (x, y, z) from the tree's origin."""
    a, b, c = here.a, here.a_vp, here.delta_acceleration
    a0, a1, a2 = a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]
    a3, a4, a5 = a[3] + b[3] + c[3], a[4] + b[4] + c[4], a[5] + b[5] + c[5]
    wx, wy, wz = v[0], v[1], v[2]
    vx, vy, vz = point_velocity(v, x, y, z)
    motion_out[0] = a3 + a1 * z - a2 * y + wy * vz - wz * vy
    motion_out[1] = a4 + a2 * x - a0 * z + wz * vx - wx * vz
    motion_out[2] = a5 + a0 * y - a1 * x + wx * vy - wy * vx
    motion_out[3], motion_out[4], motion_out[5] = wx, wy, wz


@inner_kernel
def _turn_into_sensor(R: Mat3, sensor: Sensor) -> None:
    """Write the reading along the sensor's axes: second half of sensor.wrench, then first half."""
    L, w = sensor.R, sensor.wrench
    for c in range(3):
        x = R[0, 0] * L[0, c] + R[0, 1] * L[1, c] + R[0, 2] * L[2, c]
        y = R[1, 0] * L[0, c] + R[1, 1] * L[1, c] + R[1, 2] * L[2, c]
        z = R[2, 0] * L[0, c] + R[2, 1] * L[1, c] + R[2, 2] * L[2, c]
        sensor.measured[c] = x * w[3] + y * w[4] + z * w[5]
        sensor.measured[3 + c] = x * w[0] + y * w[1] + z * w[2]


@inner_kernel
def _read_at_rest(gravity: Vec3, sensor: Sensor) -> None:
    """Write the reading of a sensor that is fixed to the world."""
    L = sensor.R
    for c in range(3):
        sensor.measured[c] = sensor.measured[3 + c] = 0.0
        if sensor.quantity == MOTION:
            sensor.measured[3 + c] = -(
                L[0, c] * gravity[0] + L[1, c] * gravity[1] + L[2, c] * gravity[2]
            )
