# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A bag of the node has the signals of a recording without ROS, by name, unit and value."""

import pytest
from grouped import ros_group
from ros.bags import record, wait_until_recorded
from ros.messages import nanoseconds

import hrpsim
from hrpsim.bag import messages, read_signals

pytestmark = ros_group("signals_over_ros")
COUNTED = (
    "solver",
    "energy",
    "link_contacts",
    "joint_states",
    "odom",
    "lfsensor",
    "imu/data",
    "zmp",
)


def test_a_bag_of_the_node_has_the_names_of_a_logger(simulations, listener, tmp_path):
    """Law: from one start, a run over ROS and a run in Python record equal signals."""
    pytest.importorskip("rosbags")
    pytest.importorskip("control_msgs.msg")
    simulations.start(start_paused=True, step_count=100)
    bag = tmp_path / "bag"
    recorder = record(simulations, bag, "--expect", "solver", "energy", "link_contacts")
    assert listener.call("/hrpsim/step").success
    last = {100_000_000}
    wait_until_recorded(bag, {topic: last for topic in ("solver", "odom", "link_contacts")})
    recorder.stop()

    world = hrpsim.load_world(hrpsim.share_path("config/stand.yaml"))
    with hrpsim.Logger(world, every=0.005) as log:
        world.step(100)
    recorded = read_signals(bag)
    plain = log.log
    for topic in COUNTED:
        assert nanoseconds(list(messages(bag, topic))[-1]) == 100_000_000
        names = [name for name in plain.columns if name.startswith(f"{topic}.")]
        assert names and set(names) <= set(recorded.columns)
        for name in names:
            assert recorded.unit(name) == plain.unit(name)
            assert recorded[name][-1] == pytest.approx(plain[name][-1], abs=1e-9), name
