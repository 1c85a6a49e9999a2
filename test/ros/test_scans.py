# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lidars, height scans and contact sensors over ROS: values, stamps, frames, only where heard."""

import numpy as np
import pytest
from rclpy.qos import qos_profile_sensor_data
from ros.messages import nanoseconds

import hrpsim
from hrpsim.ros.base.qos import LATCHED
from hrpsim.ros.robot.sample_publishers import SCAN_POINT

ROBOT = """<robot name="r"><link name="body"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision></link>
<hrpsim reference="body">
<sensor name="planar" type="lidar" columns="31" azimuth="-1 1" rate="50" noise="0.01" seed="4"/>
<sensor name="rings" type="lidar" columns="64" azimuth="-3 3" rings="4" elevation="-0.1 0.4"
 rate="20" sweep="true"><origin xyz="0.1 0 0.2" rpy="0 0 0.5"/></sensor>
<sensor name="ground" type="height_scan" size="0.4 0.2" spacing="0.1" rate="100"/>
<sensor name="sole" type="contact" rate="100"/>
</hrpsim></robot>"""
WORLD = """
ground: true
static: [{{shape: {{box: [0.2, 8, 4]}}, position: [2, 0, 0], name: wall}}]
robots: [{{name: r, urdf: {}, position: [0, 0, 0.1]}}]
"""
CLOUD, SCAN = "sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/LaserScan"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "r.urdf").write_text(ROBOT)
    world = tmp_path / "world.yaml"
    world.write_text(WORLD.format(tmp_path / "r.urdf"))
    return world


def sensor_at(files, name, message):
    """The sensor of the same world in Python, when it measured what the message holds."""
    world = hrpsim.load_world(files)
    sensor = world.robots["r"].sensors[name]
    while world.time < 10.0 and not sensor.stamp * 1e9 >= nanoseconds(message) - 1.0:
        world.step()
    assert sensor.stamp * 1e9 == pytest.approx(nanoseconds(message))
    return sensor


def test_messages_have_what_the_sensors_of_the_same_world_measure(simulations, files, listener):
    """Law: ranges and points are those of Python, rounded to single precision; stamps are due."""
    simulations.start(world_file=files, start_paused=True, step_count=100)
    quality = qos_profile_sensor_data
    topics = {
        "planar": listener.collect(SCAN, "planar", quality),
        "rings": listener.collect(CLOUD, "rings", quality),
        "ground": listener.collect(CLOUD, "ground", quality),
        "sole": listener.collect("geometry_msgs/msg/WrenchStamped", "sole", quality),
    }
    fixed = listener.collect("tf2_msgs/msg/TFMessage", "tf_static", LATCHED)
    node = listener.node
    assert listener.wait_for(lambda: all(node.count_publishers(f"/{name}") for name in topics))

    def arrived():
        assert listener.call("/hrpsim/step").success
        return all(topics.values())

    assert listener.wait_for(arrived)
    scan = topics["planar"][-1]
    planar = sensor_at(files, "planar", scan)
    np.testing.assert_array_equal(scan.ranges, planar.ranges[0].astype(np.float32))
    assert (scan.header.frame_id, scan.scan_time) == ("body", pytest.approx(0.02))
    assert scan.angle_min + 30 * scan.angle_increment == pytest.approx(scan.angle_max)

    cloud = topics["rings"][-1]
    assert (cloud.height, cloud.width, cloud.header.frame_id) == (4, 64, "rings")
    assert nanoseconds(cloud) % 50_000_000 == 0
    rows = np.frombuffer(cloud.data, dtype=SCAN_POINT)
    points = np.stack([rows[axis] for axis in "xyz"], axis=1)
    rings = sensor_at(files, "rings", cloud)
    np.testing.assert_array_equal(points, rings.points.astype(np.float32))
    np.testing.assert_array_equal(rows["time"], rings.times.ravel().astype(np.float32))
    assert rows["time"].max() == pytest.approx(0.049)
    assert rows["ring"].reshape(4, 64)[:, 0].tolist() == [0, 1, 2, 3]

    ground = np.frombuffer(topics["ground"][-1].data, dtype=SCAN_POINT)
    assert topics["ground"][-1].header.frame_id == "odom"
    np.testing.assert_allclose(ground["z"], 0.0, atol=1e-6)
    assert topics["sole"][-1].wrench.force.z == pytest.approx(2.0 * 9.80665, abs=1e-3)
    assert listener.wait_for(lambda: fixed)
    frames = {t.child_frame_id: t for message in fixed for t in message.transforms}
    assert frames["rings"].header.frame_id == "body"
    assert frames["rings"].transform.translation.z == pytest.approx(0.2)
