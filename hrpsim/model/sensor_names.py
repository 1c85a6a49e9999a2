# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The ROS topic of a sensor, and the frame of its messages."""

from __future__ import annotations

import numpy as np

from hrpsim.model.model import Model, Sensor
from hrpsim.model.sensors.kinds import STEP_KINDS
from hrpsim.model.sensors.sampled_sensor import SampledSensor


def sensor_topic(sensor: Sensor) -> str:
    """Return the topic of a sensor.

    This is the declared topic, the topic of REP 145 for an IMU, or else the sensor's name.
    """
    return sensor.topic or sensor.name + STEP_KINDS[sensor.kind].topic_below


def sensor_frame(model: Model, sensor: Sensor | SampledSensor) -> str:
    """Return the frame of a sensor's messages.

    This is the declared frame, or else a link with the same frame, or else a frame with the name
    of the sensor.
    """
    return sensor.frame or link_at(model, sensor) or sensor.name


def link_at(model: Model, sensor: Sensor | SampledSensor) -> str | None:
    """Return a link whose frame coincides with the sensor's frame, preferably the sensor's link."""
    for link in (sensor.link, *model.link_names):
        frame = model.frame(link)
        if (
            frame.body == sensor.body
            and np.allclose(frame.p, sensor.p, rtol=0.0, atol=1e-9)
            and np.allclose(frame.R, sensor.R, rtol=0.0, atol=1e-9)
        ):
            return link
    return None
