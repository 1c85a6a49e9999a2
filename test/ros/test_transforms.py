# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The tf tree is complete, and it is the forward kinematics of joint_states and odom."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tf2_msgs.msg import TFMessage

import hrpsim
from hrpsim.ros.base import qos
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.robot_transforms import RobotTransforms, transform_of

ROOT = Path(__file__).resolve().parents[2]
TF = "tf2_msgs/msg/TFMessage"


class Tree:
    """Transforms by child frame."""

    def __init__(self, *messages):
        self._edges = {t.child_frame_id: t for message in messages for t in message.transforms}

    def pose(self, frame, root="odom"):
        """Return (p, R) of `frame` in `root`."""
        if frame == root:
            return np.zeros(3), np.eye(3)
        edge = self._edges[frame]
        p, R = self.pose(edge.header.frame_id, root)
        t, q = edge.transform.translation, edge.transform.rotation
        return p + R @ [t.x, t.y, t.z], R @ Rotation.from_quat((q.x, q.y, q.z, q.w)).as_matrix()


@pytest.fixture
def still_life(simulations, listener):
    """What one publication of a standing robot says: (model, q, tf, tf_static)."""

    def make(**parameters):
        simulations.start(
            start_paused=True, step_count=100, xacro_arguments="['bush:=false']", **parameters
        )
        topics = {
            "tf": TF,
            "joint_states": "sensor_msgs/msg/JointState",
            "odom": "nav_msgs/msg/Odometry",
        }
        received = {topic: listener.collect(kind, topic) for topic, kind in topics.items()}
        static = listener.collect(TF, "tf_static", qos.LATCHED)
        description = listener.collect("std_msgs/msg/String", "robot_description", qos.LATCHED)
        assert listener.call("/hrpsim/step").success
        assert listener.wait_for(lambda: all(received.values()) and static and description)

        def stamps():
            headers = [received[topic][-1].header for topic in ("joint_states", "odom")]
            headers += [t.header for t in received["tf"][-1].transforms]
            return {header.stamp.nanosec for header in headers}

        assert listener.wait_for(lambda: stamps() == {100_000_000})
        model = hrpsim.load_model(description[0].data)
        state, odometry = received["joint_states"][-1], received["odom"][-1]
        pose = odometry.pose.pose
        base = [getattr(pose.position, axis) for axis in "xyz"]
        base += [getattr(pose.orientation, axis) for axis in "xyzw"]
        return model, np.array([*base, *state.position]), received["tf"][-1], static[-1]

    return make


def test_tree_is_the_forward_kinematics(still_life):
    model, q, moving, static = still_life()
    tree = Tree(moving, static)
    for link in model.link_names:
        p, R = hrpsim.link_pose(model, q, link)
        p_tree, R_tree = tree.pose(link)
        assert p_tree == pytest.approx(p, abs=1e-9), link
        assert R_tree == pytest.approx(R, abs=1e-9), link


def test_prefix_and_odom_frame(still_life):
    model, _, moving, static = still_life(frame_prefix="left/", odom_frame="world")
    tree = Tree(moving, static)
    for link in model.link_names:
        tree.pose("left/" + link, root="left/world")


def test_link_transforms_can_be_left_to_robot_state_publisher(still_life):
    _, _, moving, static = still_life(publish_link_tf=False)
    (edge,) = moving.transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("odom", "base_link")
    assert not static.transforms


BALL = """<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom size=".1" mass="1"/>
<body pos=".1 0 0"><joint name="hip" type="ball" pos=".01 0 .02"/><geom size=".1" mass="1"/>
</body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("has_ball", [False, True])
def test_any_posture_is_the_forward_kinematics(has_ball):
    if has_ball:
        robot = hrpsim.World().add_robot(hrpsim.load_model(BALL))
    else:
        robot = hrpsim.load_world(ROOT / "config" / "stand.yaml").robots["hrp2"]
    random = np.random.default_rng(5)
    q = robot.q + 2.0 * random.normal(size=robot.nq)
    q[3:7] /= np.linalg.norm(q[3:7])
    robot.q = q
    transforms = RobotTransforms(robot, RobotFrames(robot.model, "odom"), odometry=True, links=True)
    rows = np.zeros((len(transforms.names), 7))
    transforms.write(rows)
    edges = [transform_of(*pair, row) for pair, row in zip(transforms.names, rows)]
    tree = Tree(TFMessage(transforms=[*edges, *transforms.fixed()]))
    for link in robot.model.link_names:
        p, R = hrpsim.link_pose(robot.model, robot.q, link)
        p_tree, R_tree = tree.pose(link)
        assert p_tree == pytest.approx(p, abs=1e-12), link
        assert R_tree == pytest.approx(R, abs=1e-12), link
