# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topic contact_points: what controllers see of contacts is the same over it, bit for bit."""

from types import SimpleNamespace

import numpy as np
import pytest

import hrpsim
from hrpsim import Box, HrpsimError, World, share_path
from hrpsim.control.framework.contact_points import ContactSums, pressing_points
from hrpsim.control.framework.control_loop import StateReader
from hrpsim.control.framework.needs import Needs
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.controller.controller_topics import StateListener
from hrpsim.ros.robot.robot_publishers import POINT, ContactPointPublisher, points_of

NEEDS = Needs(contacts=("l_sole", "RLEG_SOLE", "BODY"), zmp=True)
DROPPED = """
ground: {{material: floor}}
robots:
  - name: hrp2
    urdf: {urdf}
    position: [0, 0, 0.71]
    orientation: [0, 0, 0.3, 1]
"""
LAST = 0.3  # [s]


def told(robot):
    """Return the message that the node would publish now."""
    sent = []
    topic = SimpleNamespace(get_subscription_count=lambda: 1, publish=sent.append)
    node = SimpleNamespace(create_publisher=lambda *_: topic)
    ContactPointPublisher(node, robot, "odom", "contact_points").publish(Stamp(3, 7))
    return sent[0]


@pytest.fixture(scope="module")
def crowd():
    """A robot that stands beside another one, with a box on its foot."""
    model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))
    world = World()
    world.add_ground()
    q = model.neutral()
    q[2] -= hrpsim.link_pose(model, q, "l_sole")[0][2]
    world.add_robot(model, q=q, name="other")
    robot = world.add_robot(model, q=q + np.eye(model.nq)[1] * 2.0, name="mine")
    x, y, _ = robot.link_pose("l_sole")[0]
    world.add_body(Box((0.02, 0.02, 0.02)), 1.0, position=(x + 0.13, y, 0.2), name="box")
    world.step(200)
    return world


def same(a, b):
    return all(np.array_equal(one, other) for one, other in zip(a, b))


@pytest.mark.parametrize("name", ["mine", "other"])
def test_the_cloud_says_the_robot_s_own_contacts_to_the_last_bit(crowd, name):
    robot = crowd.robots[name]
    message, expected = told(robot), pressing_points(robot)
    assert (message.header.stamp.sec, message.header.frame_id) == (3, "odom")
    assert message.width == len(expected.links) >= 6
    assert {robot.model.link_names[k] for k in expected.links} <= {"LLEG_SOLE", "RLEG_SOLE"}
    assert same(points_of(message, len(robot.model.link_names)), expected)
    rows = np.frombuffer(message.data, dtype=POINT)
    for k, axis in enumerate("xyz"):
        assert np.array_equal(rows[axis], rows["position"][:, k].astype(np.float32))


def test_forces_and_moments_are_those_of_the_links_asked_for(crowd):
    """Law: the sum over the points, about the origin of the link that is asked, fixed ones too."""
    robot = crowd.robots["mine"]
    sums = ContactSums(robot.model, NEEDS.contacts)
    contacts = sums.of_links(points_of(told(robot), len(robot.model.link_names)))
    for link in NEEDS.contacts:
        contact, (origin, _) = contacts[link], robot.link_pose(link)
        moment = np.cross(contact.points - origin, contact.forces).sum(axis=0)
        assert contact.torque == pytest.approx(moment, abs=1e-9)
        assert contact.touches == (link != "BODY")
    feet = contacts["l_sole"].force + contacts["RLEG_SOLE"].force
    assert feet == pytest.approx(robot.contact_arrays().forces.sum(axis=0), abs=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.fields.pop(), "the fields must be those of contact_points, got x, y, z, link"),
        (lambda m: m.data.pop(), "data must have"),
        (lambda m: setattr(m, "is_bigendian", True), "little-endian"),
        (
            lambda m: m.data.__setitem__(slice(12, 16), m.data[:0].__class__("B", b"\xff" * 4)),
            "link",
        ),
        (
            lambda m: m.data.__setitem__(slice(40, 48), m.data[:0].__class__("B", b"\xff" * 8)),
            "not finite",
        ),
    ],
)
def test_what_is_no_such_cloud_is_refused_with_a_reason(crowd, change, words):
    robot = crowd.robots["mine"]
    message = told(robot)
    change(message)
    with pytest.raises(HrpsimError, match=words):
        points_of(message, len(robot.model.link_names))


@pytest.mark.long
def test_a_controller_sees_the_same_over_topics_as_in_process(simulations, listener, tmp_path):
    """Law: of a robot that drops onto the floor, every state that is heard is that of its stamp."""
    file = tmp_path / "dropped.yaml"
    file.write_text(DROPPED.format(urdf=share_path("urdf/hrp2_like.urdf.xacro")))
    world = hrpsim.load_world(file)
    robot = world.robots["hrp2"]
    simulations.start(world_file=str(file), start_paused=True)
    states = StateListener(listener.node, robot.model, NEEDS)
    assert listener.wait_for(lambda: states.is_connected)
    heard = []

    def has_heard(time):
        if (arrived := states.wait(0.05)) is not None:
            heard.append(arrived[1])
        return bool(heard) and heard[-1].time >= time

    assert listener.wait_for(lambda: has_heard(0.0))
    assert heard[0].time == 0.0
    listener.call("/hrpsim/resume")
    assert listener.wait_for(lambda: has_heard(LAST))

    reader = StateReader(robot, robot.joint_names, NEEDS)
    for state in heard:
        world.step(round((state.time - world.time) / world.time_step))
        expected = reader.read(world.time)
        assert state.time == expected.time
        for link in NEEDS.contacts:
            assert same(state.contacts[link], expected.contacts[link]), (state.time, link)
        if state.zmp is None or expected.zmp is None:
            assert state.zmp is expected.zmp is None
        else:
            assert state.zmp.tolist() == expected.zmp.tolist(), state.time
    assert heard[0].zmp is None and not heard[0].contacts["l_sole"].touches
    assert heard[-1].zmp is not None and heard[-1].contacts["l_sole"].touches
