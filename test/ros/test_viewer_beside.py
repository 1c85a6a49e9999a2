# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The viewer beside the node: one world, one process, a page that plays it."""

import time
import urllib.request

import numpy as np
import pytest
from ros.conftest import LIMIT

from hrpsim import load_world, share_path
from hrpsim.ros.core.simulation_contents import LoadedWorld
from hrpsim.ros.simulation.simulation_node import SimulationNode

pytest.importorskip("viser", reason="viser is not installed: hrpsim[viewer]")


@pytest.fixture
def node(private_domain):
    import rclpy
    from rclpy.context import Context
    from rclpy.parameter import Parameter

    context = Context()
    rclpy.init(context=context)
    given = {"viewer": True, "viewer_port": 0, "real_time_factor": 0.0}
    node = SimulationNode(
        lambda node: (load_world(share_path("config/stand.yaml")), LoadedWorld()),
        context=context,
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
    )
    yield node
    node.destroy()
    context.try_shutdown()
    context.destroy()


def run_until(node, happened, limit=LIMIT):
    end = time.monotonic() + limit
    node.run(lambda: happened() or time.monotonic() > end)
    assert happened()


def test_the_page_shows_and_plays_the_node_s_world(node):
    simulation = node.simulation
    viewer, world = node._viewer.viewer, simulation.world
    with urllib.request.urlopen(viewer.url, timeout=LIMIT) as page:
        assert page.status == 200
    run_until(node, lambda: world.time > 0.2)
    controls, session = viewer.controls, viewer.session
    controls.request(session.pause)
    run_until(node, lambda: simulation.paused)
    then, steps = world.time, simulation.clock.steps
    controls.request(session.step)
    run_until(node, lambda: world.time > then)
    assert simulation.clock.steps == steps + 1 and simulation.paused
    controls.request(session.reset)
    run_until(node, lambda: world.time == 0.0)
    assert simulation.clock.steps > steps + 1  # time of ROS goes on
    controls.request(session.play)
    run_until(node, lambda: world.time > 0.05)
    assert controls.back is None


def test_a_drag_pulls_and_what_is_spawned_is_drawn(node):
    viewer, world = node._viewer.viewer, node.simulation.world
    robot = world.robots["hrp2"]
    run_until(node, lambda: world.time > 0.1)
    before = robot.q[:3]
    chest = robot.link_pose("CHEST_LINK1")[0]
    viewer.controls.request(lambda: viewer.session.grab("hrp2", "CHEST_LINK1", chest))
    viewer.controls.request(lambda: viewer.session.drag_to(chest + (0.1, 0.0, 0.0)))
    run_until(node, lambda: viewer.session.grip is not None)
    end = world.time + 0.5
    run_until(node, lambda: world.time > end)
    assert robot.q[0] - before[0] > 1e-3
    viewer.controls.request(viewer.session.release)
    from hrpsim import Box

    world.add_body(Box((0.1, 0.1, 0.1)), 1.0, (1.0, 0.0, 0.05), name="crate")
    run_until(node, lambda: viewer.server.scene.get_handle_by_name("/scene/crate/crate"))
    drawn = viewer.server.scene.get_handle_by_name("/scene/crate/crate")
    np.testing.assert_allclose(drawn.position, [1.0, 0.0, 0.05], atol=1e-3)
    world.remove("crate")
    run_until(node, lambda: not viewer.server.scene.get_handle_by_name("/scene/crate/crate"))


def test_another_world_has_a_page_on_the_same_port(node):
    before = node._viewer
    world = load_world(share_path("config/walking_demo.yaml"))
    node.simulation.load(world, LoadedWorld())
    viewer = node._viewer.viewer
    assert node._viewer.port == before.port and viewer.session.world is world
    with urllib.request.urlopen(viewer.url, timeout=LIMIT) as page:
        assert page.status == 200
    assert before.session not in node.simulation.other_inputs
    viewer.controls.request(viewer.session.play)
    run_until(node, lambda: world.time > 0.1)
