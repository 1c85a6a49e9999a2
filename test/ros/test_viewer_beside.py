"""The viewer beside the node: one world, one process, a page that plays it."""

import time
import urllib.request

import numpy as np
import pytest

from hrpsim import load_world
from hrpsim.resources import share_path
from hrpsim.ros.simulation.simulation_node import SimulationNode

pytest.importorskip("viser", reason="viser is not installed: hrpsim[viewer]")


@pytest.fixture
def simulation(private_domain):
    import rclpy
    from rclpy.context import Context
    from rclpy.parameter import Parameter

    context = Context()
    rclpy.init(context=context)
    given = {"viewer": True, "viewer_port": 0, "real_time_factor": 0.0}
    node = SimulationNode(
        lambda node: load_world(share_path("config/stand.yaml")),
        context=context,
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
    )
    yield node
    node.destroy()
    context.try_shutdown()


def run_until(simulation, happened, limit=60.0):
    end = time.monotonic() + limit
    simulation.run(lambda: happened() or time.monotonic() > end)
    assert happened()


def test_the_page_shows_and_plays_the_node_s_world(simulation):
    viewer, world = simulation._viewer.viewer, simulation.world
    with urllib.request.urlopen(viewer.url, timeout=20) as page:
        assert page.status == 200
    run_until(simulation, lambda: world.time > 0.2)
    controls, session = viewer.controls, viewer.session
    controls.wish(session.pause)
    run_until(simulation, lambda: simulation.paused)
    then, steps = world.time, simulation.clock.steps
    controls.wish(session.step)
    run_until(simulation, lambda: world.time > then)
    assert simulation.clock.steps == steps + 1 and simulation.paused
    controls.wish(session.reset)
    run_until(simulation, lambda: world.time == 0.0)
    assert simulation.clock.steps > steps + 1  # time of ROS goes on
    controls.wish(session.play)
    run_until(simulation, lambda: world.time > 0.05)
    assert controls.back is None


def test_a_drag_pulls_and_what_is_spawned_is_drawn(simulation):
    viewer, world = simulation._viewer.viewer, simulation.world
    robot = world.robots["hrp2"]
    run_until(simulation, lambda: world.time > 0.1)
    before = robot.q[:3]
    chest = robot.link_pose("CHEST_LINK1")[0]
    viewer.controls.wish(lambda: viewer.session.grab("hrp2", "CHEST_LINK1", chest))
    viewer.controls.wish(lambda: viewer.session.drag_to(chest + (0.1, 0.0, 0.0)))
    run_until(simulation, lambda: viewer.session.grip is not None)
    end = world.time + 0.5
    run_until(simulation, lambda: world.time > end)
    assert robot.q[0] - before[0] > 1e-3
    viewer.controls.wish(viewer.session.release)
    from hrpsim import Box

    world.add_body(Box((0.1, 0.1, 0.1)), 1.0, (1.0, 0.0, 0.05), name="crate")
    run_until(simulation, lambda: viewer.server.scene.get_handle_by_name("/crate/crate"))
    node = viewer.server.scene.get_handle_by_name("/crate/crate")
    np.testing.assert_allclose(node.position, [1.0, 0.0, 0.05], atol=1e-3)
    world.remove("crate")
    run_until(simulation, lambda: not viewer.server.scene.get_handle_by_name("/crate/crate"))
