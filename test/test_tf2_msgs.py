# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""TFMessage is the distribution's type, whoever built it, and travels between processes."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from grouped import ros_group

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here")
pytest.importorskip("tf2_msgs", reason="no tf2_msgs: `make setup` says what it lacks")

from geometry_msgs.msg import TransformStamped  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

INTERFACES = Path(__file__).resolve().parent.parent / "interfaces"
LISTENER = """
import rclpy
from tf2_msgs.msg import TFMessage

rclpy.init()
node = rclpy.create_node("listener")
received = []
node.create_subscription(TFMessage, "/tf", received.append, 10)
while not received:
    rclpy.spin_once(node, timeout_sec=0.1)
print([(t.child_frame_id, t.transform.rotation.w) for t in received[0].transforms])
"""
# What pip does: the environment's packages are not on the path, but sys.prefix is still its own.
BUILDING = """
import sys
sys.path[:] = {found} + [path for path in sys.path if "-packages" not in path]
import rosidl_package
print(rosidl_package.PREFIX)
"""


@pytest.fixture
def node():
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("publisher_of_transforms", context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


@ros_group("tf2_msgs")
def test_type_hash_and_transport(node):
    from rosbags.typesys import Stores, get_typestore

    publisher = node.create_publisher(TFMessage, "/tf", 10)
    message = TFMessage(transforms=[TransformStamped(child_frame_id=name) for name in ("a", "b")])
    command = [sys.executable, "-c", LISTENER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listener:
        try:
            while listener.poll() is None:
                publisher.publish(message)
                time.sleep(0.05)
            assert listener.stdout.read().strip() == "[('a', 1.0), ('b', 1.0)]"
        finally:
            listener.kill()
    known = get_typestore(Stores.ROS2_JAZZY).hash_rihs01("tf2_msgs/msg/TFMessage")
    (info,) = node.get_publishers_info_by_topic("/tf")
    assert str(info.topic_type_hash) == known


def test_interface_packages_are_built_for_the_ros_that_is_installed(tmp_path):
    """Law: where pip hides the environment from a build, its ROS is found; no wheels are required
    that would replace it."""
    import rosidl_generator_c
    import setuptools

    packages = Path(setuptools.__file__).parents[1]
    for name in ("setuptools", "_distutils_hack", "pkg_resources"):
        if (packages / name).exists():
            (tmp_path / name).symlink_to(packages / name)
    done = subprocess.run(
        [sys.executable, "-c", BUILDING.format(found=[str(tmp_path), str(INTERFACES)])],
        capture_output=True,
        text=True,
        check=False,
    )
    prefix = Path(rosidl_generator_c.__file__).parents[4]
    assert done.stdout.strip() == str(prefix), done.stderr
    for path in INTERFACES.glob("*/pyproject.toml"):
        assert "ros-" not in path.read_text(), path
