# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors that a URDF declares for Gazebo, over ROS: on their topics, in their frames."""

from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import qos_profile_sensor_data
from ros.messages import seconds
from ros.stand_ins import Log
from ros.test_contacts_topic import TYPES, Publisher

import hrpsim
from hrpsim.model.sensors.kinds import SAMPLED_KINDS, STEP_KINDS
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.sample_publishers import PUBLISHERS, sample_publishers
from hrpsim.ros.robot.step_sensors import STEP_MESSAGES

ROBOT = """<robot name="r"><link name="body"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision></link>
<link name="eye"/><joint name="eye_joint" type="fixed"><parent link="body"/><child link="eye"/>
</joint><gazebo reference="body">
<sensor name="gyro" type="imu"><update_rate>100</update_rate><topic>/imu/raw</topic>
<gz_frame_id>eye</gz_frame_id></sensor>
<sensor name="sole" type="contact"><update_rate>100</update_rate>
<contact><topic>/foot_contact</topic></contact></sensor>
<sensor name="laser" type="gpu_lidar"><update_rate>50</update_rate><topic>scan</topic>
<lidar><scan><horizontal><samples>5</samples></horizontal></scan></lidar></sensor>
<sensor name="rings" type="gpu_lidar"><update_rate>50</update_rate><topic>cloud</topic>
<lidar><scan><horizontal><samples>5</samples></horizontal><vertical><samples>2</samples>
<min_angle>-0.1</min_angle><max_angle>0.1</max_angle></vertical></scan></lidar></sensor>
<sensor name="camera" type="camera"><topic>front/image</topic><camera/></sensor>
<sensor name="both" type="rgbd_camera"><topic>rgbd</topic><camera/></sensor>
</gazebo></robot>"""


def test_every_kind_of_sensor_has_a_message():
    assert (PUBLISHERS.keys(), STEP_MESSAGES.keys()) == (SAMPLED_KINDS.keys(), STEP_KINDS.keys())


def test_topics_and_frames_are_those_of_the_description(simulations, tmp_path, listener):
    """Law: one that subscribes where Gazebo's bridge publishes gets the readings."""
    (tmp_path / "r.urdf").write_text(ROBOT)
    world = tmp_path / "world.yaml"
    urdf = tmp_path / "r.urdf"
    world.write_text(f"ground: true\nrobots: [{{name: r, urdf: {urdf}, position: [0, 0, 0.1]}}]\n")
    simulations.start(world_file=world, start_paused=True, step_count=100)
    imus = listener.collect("sensor_msgs/msg/Imu", "imu/raw")
    scans = listener.collect("sensor_msgs/msg/LaserScan", "scan", qos_profile_sensor_data)

    def arrived():
        assert listener.call("/hrpsim/step").success
        return scans and imus and seconds(imus[-1]) > 0.0  # else that of the paused state

    assert listener.wait_for(arrived)
    assert (imus[-1].header.frame_id, scans[-1].header.frame_id) == ("eye", "body")
    assert imus[-1].linear_acceleration.z == pytest.approx(9.80665, abs=1e-6)
    assert len(scans[-1].ranges) == 5


def test_a_contact_sensor_publishes_its_contacts(monkeypatch):
    """Law: the points' forces sum to the wrench; both only while somebody listens."""
    made = {}

    def create_publisher(kind, topic, quality):
        made[topic] = Publisher()
        return made[topic]

    monkeypatch.setattr("hrpsim.ros.robot.sample_publishers.contact_types", lambda *_: TYPES)
    node = SimpleNamespace(create_publisher=create_publisher, get_logger=Log)
    world = hrpsim.World()
    world.add_ground()
    robot = world.add_robot(hrpsim.load_model(ROBOT))
    robot.q = np.array([0, 0, 0.1, 0, 0, 0, 1])
    clock = SimulationClock(world.time_step)
    publishers = sample_publishers(node, robot, RobotFrames(robot.model, "odom"), clock, "r/")
    assert set(made) == {
        *("r/sole", "r/foot_contact", "r/scan", "r/cloud/points"),
        *("r/front/image", "r/front/image/compressed", "r/front/camera_info"),
        *("r/rgbd/image", "r/rgbd/image/compressed", "r/rgbd/depth_image", "r/rgbd/points"),
        "r/rgbd/camera_info",
    }
    contacts = made["r/foot_contact"]
    for heard in (0, 1):
        contacts.listeners = made["r/sole"].listeners = heard
        for _ in range(20):
            world.step(10)
            for one in publishers:
                one.publish()
        assert bool(contacts.sent) == bool(heard)
    wrench: WrenchStamped = made["r/sole"].sent[-1]
    (pair,) = contacts.sent[-1].contacts
    assert pair.collision1.name == "r::body" and len(pair.positions) == 4
    total = sum(one.body_1_wrench.force.z for one in pair.wrenches)
    assert total == pytest.approx(wrench.wrench.force.z, rel=1e-12)
    assert total == pytest.approx(2 * 9.80665, rel=1e-6)
    assert contacts.sent[-1].header.frame_id == "odom"


def test_without_pillow_only_the_compressed_topics_are_missing(monkeypatch):
    topics = []
    node = SimpleNamespace(create_publisher=lambda *a: topics.append(a[1]), get_logger=Log)
    world = hrpsim.World()
    robot = world.add_robot(hrpsim.load_model(ROBOT))
    made = []
    for found in (object(), None):
        topics.clear()
        monkeypatch.setattr("hrpsim.ros.robot.owned_names.find_spec", lambda _, is_=found: is_)
        frames = RobotFrames(robot.model, "odom")
        sample_publishers(node, robot, frames, SimulationClock(world.time_step), "")
        made.append(set(topics))
    assert made[0] - made[1] == {"front/image/compressed", "rgbd/image/compressed"}
    assert made[1] < made[0]


@pytest.mark.parametrize("names", ["", "<gz_frame_id>eye</gz_frame_id>", "optical"])
def test_points_of_a_camera_are_in_the_frame_that_they_name(names):
    """Law: where a point is does not depend on the frame that the messages name."""
    optical = "<optical_frame_id>turned</optical_frame_id>" if names == "optical" else ""
    model = hrpsim.load_model(
        ROBOT.replace(
            "</robot>",
            f"""<link name="turned"/><joint name="turned_joint" type="fixed">
<origin xyz="0.3 0.1 0.2" rpy="-1.5708 0.2 -1.5708"/><parent link="body"/><child link="turned"/>
</joint><gazebo reference="body"><sensor name="deep" type="depth_camera">{names * (not optical)}
<pose>0.2 0 0.1 0 0.4 0.1</pose><camera>{optical}</camera></sensor></gazebo></robot>""",
        )
    )
    frames = RobotFrames(model, "odom")
    camera = next(sensor for sensor in model.sampled_sensors if sensor.name == "deep")
    named = frames.of_optics("deep")
    assert named == ("turned" if optical else "eye" if names else "deep_optical_frame")
    own = [
        SimpleNamespace(p=p, R=R) for _, frame, p, R in frames.sensor_offsets() if frame == named
    ]
    (at,) = own or [model.frame(named)]
    R, p = frames.optical_axes("deep")
    seen = np.array([2.0, -0.3, 0.4])
    np.testing.assert_allclose(
        at.R @ ((seen - p) @ R) + at.p, camera.R @ seen + camera.p, atol=1e-12
    )
