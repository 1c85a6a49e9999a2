# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Inertial measurement units."""

from hrpsim.model.sensors.quantities import MOTION
from hrpsim.model.sensors.sensor_kind import StepSensorKind


class Imu(StepSensorKind):
    """Angular velocity, specific force and orientation of the sensor's frame."""

    kind = "imu"
    quantity = MOTION
    has_orientation = True
    topic_below = "/data"  # REP 145
    noise_levels = ("gyro", "accelerometer")
    bias_levels = ("gyro_bias", "accelerometer_bias")
    gazebo_types = ("imu",)
    gazebo_quantities = ("angular_velocity", "linear_acceleration", "noise/rate", "noise/accel")
    gazebo_tags = ("imu",)
    gazebo_elements = {
        "imu": ("", "angular_velocity linear_acceleration noise"),
        **dict.fromkeys(("angular_velocity", "linear_acceleration"), ("", "x y z noise")),
    }
    mjcf_types = ("GYRO", "ACCELEROMETER")
    body_elements = (
        "RateGyroSensor",
        "RateGyro",
        "Gyro",
        "AccelerationSensor",
        "AccelSensor",
        "IMU",
    )
    vrml_nodes = ("Gyro", "AccelerationSensor")
