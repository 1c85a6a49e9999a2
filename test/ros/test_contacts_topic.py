# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topic contacts: forces, sides and places of what touches.

Values are tested with doubles of ros_gz_interfaces, whose fields are those of its definitions; the
topic itself where the package is installed.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import Wrench
from ros.messages import vector
from ros.stand_ins import Log
from std_msgs.msg import Header, String

from hrpsim import Box, World
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.robot.contact_messages import LINK
from hrpsim.ros.simulation.state_publisher import ContactPublisher, offer_contacts


def entity():
    return SimpleNamespace(id=0, name="", type=0)


def contact():
    lists = {name: [] for name in ("positions", "normals", "depths", "wrenches")}
    return SimpleNamespace(collision1=entity(), collision2=entity(), **lists)


def joint_wrench():
    return SimpleNamespace(
        body_1_name=String(), body_2_name=String(), body_1_wrench=Wrench(), body_2_wrench=Wrench()
    )


TYPES = SimpleNamespace(
    Contacts=lambda: SimpleNamespace(header=Header(), contacts=[]),
    Contact=contact,
    JointWrench=joint_wrench,
)


class Publisher:
    """Keeps what is published."""

    def __init__(self):
        self.listeners, self.sent = 0, []

    def get_subscription_count(self):
        return self.listeners

    def publish(self, message):
        self.sent.append(message)


def made(world):
    publisher = Publisher()
    node = SimpleNamespace(create_publisher=lambda *arguments: publisher, get_logger=Log)
    return ContactPublisher(node, world, "odom", TYPES), publisher


def stack():
    """Return a world with a box of 2 kg on one of 1 kg on the ground, at rest."""
    world = World()
    world.add_ground()
    for k, mass in enumerate((1.0, 2.0)):
        world.add_body(
            Box((0.1, 0.1, 0.1)), mass, position=(0.0, 0.0, 0.05 + 0.1 * k), name=f"b{k}"
        )
    world.step(400)
    return world


def test_what_touches_is_told_pair_by_pair():
    """Law: the forces of a pair carry what lies above; normals and forces point to collision1."""
    told = made(stack())[0].message(Stamp(1, 500))
    assert (told.header.stamp.sec, told.header.frame_id) == (1, "odom")
    carried = {}
    for one in told.contacts:
        names = one.collision1.name, one.collision2.name
        assert one.collision1.type == one.collision2.type == LINK
        count = len(one.positions)
        assert count == len(one.normals) == len(one.depths) == len(one.wrenches) == 4
        total = sum(vector(wrench.body_1_wrench.force) for wrench in one.wrenches)
        assert np.allclose(total, -sum(vector(w.body_2_wrench.force) for w in one.wrenches))
        assert all(w.body_1_name.data == names[0] for w in one.wrenches)
        sign = np.sign(vector(one.normals[0])[2])
        assert sign * total[2] > 0.0
        carried[frozenset(names)] = sign * total[2]
        assert np.ptp([vector(p)[:2] for p in one.positions], axis=0) == pytest.approx(
            0.1, abs=1e-3
        )
    weight = World().gravity[2]
    assert carried[frozenset({"b0::b0", "b1::b1"})] == pytest.approx(-2.0 * weight, rel=1e-5)
    (floor,) = (force for names, force in carried.items() if "b1::b1" not in names)
    assert floor == pytest.approx(-3.0 * weight, rel=1e-5)


def test_nothing_is_made_while_nobody_listens_and_another_world_is_told_of():
    publisher, sent = made(World())
    publisher.publish(Stamp(0, 0))
    assert not sent.sent
    sent.listeners = 1
    publisher.publish(Stamp(0, 0))
    assert sent.sent[-1].contacts == []
    publisher.hold(stack())
    publisher.publish(Stamp(0, 0))
    assert len(sent.sent[-1].contacts) == 2


def test_without_the_types_that_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ros_gz_interfaces", None)
    log = Log()
    assert offer_contacts(SimpleNamespace(get_logger=lambda: log), World(), "odom") is None
    assert "ros_gz_interfaces.msg is not installed" in log.lines[0]


def test_with_the_types_the_node_publishes_them(simulations, listener):
    """Law: what the feet feel is what the topic tells."""
    pytest.importorskip("ros_gz_interfaces", reason="ros_gz_interfaces")
    simulations.start(start_paused=True, step_count=20)
    contacts = listener.collect("ros_gz_interfaces/msg/Contacts", "contacts")
    assert listener.call("/hrpsim/step").success
    assert listener.wait_for(lambda: contacts and contacts[-1].contacts)
    wrenches = [w for one in contacts[-1].contacts for w in one.wrenches]
    assert sum(abs(w.body_1_wrench.force.z) for w in wrenches) > 100.0
