# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""config/hrpsim.rviz and config/hrpsim.foxglove.json show what the node publishes."""

import array
import importlib
import json
import re

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
    "energy",
    "imu/data",
    "joint_states",
    "link_contacts",
    "simulation_description",
    "solver",
}
TOPIC_OF = "topicToRender", "topicPath"  # keys of Foxglove's panels


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


def test_foxglove_s_layout_shows_every_topic_and_plots_fields_of_its_messages():
    """Law: the layout's topics are those of the interface document, each path is a field's."""
    layout = json.loads(share_path("config/hrpsim.foxglove.json").read_text())
    panels, types = layout["configById"], dict(row[:2] for row in table("Published topics"))
    paths = [p["value"] for panel in panels.values() for p in panel.get("paths", ())]
    shown = {path.split(".")[0] for path in paths} | {*panels["3D!robot"]["topics"]}
    shown |= {panel[key] for panel in panels.values() for key in TOPIC_OF if key in panel}
    assert {topic.lstrip("/") for topic in shown} == {*(t.lstrip("/") for t in types)} - {"clock"}
    for path in paths:
        topic, *fields = re.sub(r"\[\d+\]", "", path).lstrip("/").split(".")
        kind = types[topic].split("/")
        message = getattr(importlib.import_module(".".join(kind[:2])), kind[2])()
        for field in fields:
            message = getattr(message, field)
        assert isinstance(message, (float, array.array)), path


def test_foxglove_s_layout_places_each_of_its_panels_once():
    layout = json.loads(share_path("config/hrpsim.foxglove.json").read_text())

    def leaves(node):
        if isinstance(node, str):
            return [node]
        return leaves(node["first"]) + leaves(node["second"])

    assert sorted(leaves(layout["layout"])) == sorted(layout["configById"])
