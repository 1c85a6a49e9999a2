# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read a recording without ROS: foot wrenches, and the centre of pressure."""

import tempfile
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from hrpsim.bag import read_foot_wrenches, topic_types

TYPES = get_typestore(Stores.ROS2_JAZZY)
Wrench, Stamped, Vector, Header, Time = (
    TYPES.types[name]
    for name in (
        "geometry_msgs/msg/Wrench",
        "geometry_msgs/msg/WrenchStamped",
        "geometry_msgs/msg/Vector3",
        "std_msgs/msg/Header",
        "builtin_interfaces/msg/Time",
    )
)


def write(bag):
    """Write a bag as `ros2 bag record` does: 300 N on each foot, 3 cm in front of the sensor."""
    with Writer(bag, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for foot in ("lfsensor", "rfsensor"):
            topic = writer.add_connection(f"/{foot}", Stamped.__msgtype__, typestore=TYPES)
            for k in range(100):
                stamp = Time(sec=0, nanosec=k * 5_000_000)
                wrench = Wrench(Vector(0.0, 0.0, 300.0), Vector(0.0, -300.0 * 0.03, 0.0))
                message = Stamped(Header(stamp, foot), wrench)
                data = TYPES.serialize_cdr(message, Stamped.__msgtype__)
                writer.write(topic, k * 5_000_000, data)


with tempfile.TemporaryDirectory() as folder:
    bag = Path(folder, "bag")
    write(bag)
    print(topic_types(bag))
    feet = read_foot_wrenches(bag)

time, left, right = feet.vertical_forces()
print(f"{len(time)} samples, {left.mean() + right.mean():.0f} N in all")
assert np.allclose(left + right, 600.0)
pressure = feet.left.center_of_pressure(feet.least_force)
print(f"centre of pressure of the left foot: {pressure[0]} m")
assert np.allclose(pressure, [0.03, 0.0])  # x = -torque about y / vertical force
