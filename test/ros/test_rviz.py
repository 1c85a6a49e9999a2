# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""config/hrpsim.rviz shows all that the node publishes and RViz can draw."""

import yaml
from ros.test_interface_document import table

from hrpsim import share_path

DRAWN_BY = {
    "geometry_msgs/msg/WrenchStamped": "Wrench",
    "geometry_msgs/msg/PointStamped": "PointStamped",
    "nav_msgs/msg/Odometry": "Odometry",
    "visualization_msgs/msg/MarkerArray": "MarkerArray",
}
# By its own subscription; by what is latched; RViz has no display of its own for an IMU, and draws
# only clouds of 32-bit numbers: contacts are among the markers.
OTHERWISE = {"tf": "TF", "tf_static": "TF", "robot_description": "RobotModel"}
NOT_DRAWN = {
    "/clock",
    "/diagnostics",
    "contact_points",
    "imu/data",
    "joint_states",
    "simulation_description",
}


def displays():
    content = yaml.safe_load(share_path("config/hrpsim.rviz").read_text())
    return content["Visualization Manager"]["Displays"]


def test_every_topic_that_can_be_drawn_has_its_display():
    """Law: the topics of the interface document are those of the displays, by their types."""
    shown = {d["Topic"]["Value"]: d["Class"].partition("/")[2] for d in displays() if "Topic" in d}
    classes = {d["Class"].partition("/")[2] for d in displays()}
    expected = {}
    for topic, kind, *_ in table("Published topics"):
        if topic in OTHERWISE:
            assert OTHERWISE[topic] in classes
        elif topic not in NOT_DRAWN:
            expected[topic] = DRAWN_BY[kind]
    assert shown == expected


def test_what_is_latched_is_asked_for_so_and_the_rest_is_heard_by_any_quality():
    (robot,) = (d for d in displays() if d["Class"].endswith("/RobotModel"))
    assert robot["Description Topic"]["Durability Policy"] == "Transient Local"
    for display in displays():
        if "Topic" in display:
            assert display["Topic"].get("Durability Policy", "Volatile") == "Volatile"
