# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The page and its buttons, over HTTP and the websocket that a browser would use."""

import time
import urllib.request

import numpy as np
import pytest
from meshes import angle_bracket

from hrpsim import Box, Capsule, Compound, HeightField, HrpsimError, Mesh, Sphere, World, load_model
from hrpsim.viewer import Viewer
from hrpsim.viewer.drawing import SCENE, contact_arrows
from hrpsim.world.objects.body import rotation_matrix
from robots import HRP2_LIKE

try:
    import msgspec
    import viser
    from viser import _messages as messages
    from websockets.sync.client import connect
except ImportError:
    viser = None

needs_viser = pytest.mark.skipif(viser is None, reason="viser is not installed: hrpsim[viewer]")


def world_of_all_kinds():
    world = World(time_step=2e-3)
    world.add_ground()
    world.add_static(Box((0.5, 0.5, 0.1)), position=(2.0, 0.0, 0.05), name="plate")
    world.add_body(Capsule(0.1, 0.3), 1.0, (1.0, 0.0, 1.0))
    world.add_body(Sphere(0.1), 1.0, (1.0, 1.0, 0.1))
    world.add_static(HeightField(np.zeros((3, 3)), size=1.0), (90.0, 0.0, 3.0), name="field")
    world.add_body(Mesh(*angle_bracket()), 1.0, (50.0, 0.0, 5.0))
    hammer = Compound([Box((0.1, 0.1, 0.2)), (Box((0.02, 0.02, 0.4)), (0.0, 0.0, -0.3))])
    world.add_body(hammer, 1.0, (0.0, 50.0, 5.0), name="hammer")
    world.add_robot(load_model(HRP2_LIKE, base="fixed", xacro_arguments={"bush": False}))
    return world


@pytest.fixture
def viewer():
    shown = Viewer(world_of_all_kinds(), port=0)
    yield shown
    shown.stop()


def names(nodes):
    return {name.removeprefix(SCENE) for name in nodes}


class Browser:
    """Says what a browser says: where its camera is, and which control was used."""

    def __init__(self, viewer):
        address = viewer.url.replace("http", "ws")
        self._socket = connect(
            address,
            subprotocols=[f"viser-v{viser.__version__}"],
            max_size=None,
            open_timeout=200,
            ping_interval=None,
            close_timeout=0.1,  # it never reads what the server goes on sending
        )
        self.report_camera()

    def report_camera(self):
        """Report the first camera, as a page does at first and as late as it has drawn nothing."""
        self._send(
            messages.ViewerCameraMessage,
            wxyz=(1, 0, 0, 0),
            position=(3, 0, 1),
            fov=1.0,
            near=0.01,
            far=100.0,
            image_height=480,
            image_width=640,
            look_at=(0, 0, 0),
            up_direction=(0, 0, 1),
        )

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._socket.close()

    def use(self, control, value=True):
        self._send(messages.GuiUpdateMessage, uuid=control._impl.uuid, updates={"value": value})

    def _send(self, kind, **content):
        self._socket.send(msgspec.msgpack.encode({"type": kind.__name__, **content}))


def turn_until(viewer, happened, limit=200.0):
    end = time.monotonic() + limit
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        viewer.turn()


@needs_viser
def test_the_page_is_served_on_loopback_and_the_scene_is_there(viewer):
    assert viewer.url.startswith("http://127.0.0.1:") and viewer.left_out == []
    with urllib.request.urlopen(viewer.url, timeout=200) as page:
        assert page.status == 200 and b"<html" in page.read().lower()
    nodes = viewer.server.scene._handle_from_node_name
    assert {"/world/ground_0", "/world/plate_1", "/capsule/capsule/shape"} <= names(nodes)
    assert {"/hammer/hammer/shape", "/hammer/hammer/shape1"} <= names(nodes)
    assert len(nodes[SCENE + "/mesh/mesh/shape"].vertices) == 12
    assert len(nodes[SCENE + "/world/field_2"].faces) == 8
    model = next(iter(viewer.session.world.robots.values())).model
    assert any(name.startswith(f"/{model.name}/RARM_LINK6/") for name in names(nodes))


@needs_viser
def test_nodes_follow_the_world(viewer):
    node = viewer.server.scene._handle_from_node_name[SCENE + "/capsule/capsule"]
    viewer.session.world.step(100)
    viewer.turn()
    height = viewer.session.world.bodies["capsule"].position[2]
    assert height < 0.9 and node.position[2] == pytest.approx(height)


@needs_viser
def test_a_followed_body_stays_where_it_is_on_a_page_that_reports_late():
    """Law: on the page, the followed body moves past no camera, whatever pages report, and when."""
    viewer = Viewer(world_of_all_kinds(), port=0, follow="capsule")
    world, body = viewer.session.world, viewer.session.world.bodies["capsule"]
    node = viewer.server.scene._handle_from_node_name[SCENE + "/capsule/capsule"]
    try:
        viewer.turn()
        at_first = viewer.scene.position + node.position
        np.testing.assert_allclose(at_first, body.position, atol=1e-9)
        world.step(100)  # before the page is opened
        with Browser(viewer) as browser:
            turn_until(viewer, viewer.server.get_clients)
            (client,) = viewer.server.get_clients().values()
            for _ in range(3):
                reported = client.camera.update_timestamp
                browser.report_camera()
                turn_until(viewer, lambda r=reported: client.camera.update_timestamp != r)
                world.step(20)
                viewer.turn()
                drawn = viewer.scene.position + node.position
                np.testing.assert_allclose(drawn, at_first, atol=1e-5)
                np.testing.assert_array_equal(client.camera.position, [3.0, 0.0, 1.0])
        assert np.linalg.norm(body.position - at_first) > 0.2
    finally:
        viewer.stop()


@needs_viser
def test_arrows_are_drawn_in_the_frame_of_the_link_that_they_act_on(viewer):
    """Law: a link's pose times the arrows below its node are the arrows of its contacts."""
    world = viewer.session.world
    world.bodies["capsule"].position, world.bodies["capsule"].orientation = (1, 0, 0.1), [0.5] * 4
    world.step(3)
    viewer.turn()
    nodes = viewer.server.scene._handle_from_node_name
    of_capsule = [c for c in world.contacts if "capsule" in (c.a[0], c.b[0])]
    frame, node = (nodes[SCENE + "/capsule/capsule" + end] for end in ("", "/contacts"))
    drawn = frame.position + node.points @ rotation_matrix(frame.wxyz[[1, 2, 3, 0]]).T
    expected = contact_arrows(of_capsule, viewer.drawing._force_scale)
    assert len(expected) > 0 and node.visible
    np.testing.assert_allclose(drawn, expected, atol=1e-5)
    world.bodies["capsule"].position = 1.0, 0.0, 2.0
    world.step()
    viewer.turn()
    assert not node.visible


@needs_viser
def test_time_waits_for_the_first_visitor_and_buttons_act_on_the_world(viewer):
    world, controls = viewer.session.world, viewer.controls
    viewer.run(0.2)
    assert world.time == 0.0
    with Browser(viewer) as browser:
        turn_until(viewer, lambda: world.time > 0.05)
        browser.use(controls.run.buttons, "Pause")
        turn_until(viewer, lambda: not viewer.session.playing)
        then = world.time
        for _ in range(5):
            viewer.turn()
        assert world.time == then
        browser.use(controls.run.buttons, "Step")
        turn_until(viewer, lambda: world.time > then)
        assert world.time == pytest.approx(then + world.time_step)
        browser.use(controls.run.buttons, "Play")
        turn_until(viewer, lambda: world.time > then + 0.3)

        def is_dragged_back():
            browser.use(controls.back, 0.2)  # a drag tells of itself more than once
            return viewer.session.looking_back > 0.1

        turn_until(viewer, is_dragged_back)
        assert not viewer.session.playing
        browser.use(controls.run.buttons, "Reset")
        turn_until(viewer, lambda: world.time == 0.0)


@needs_viser
def test_a_mesh_that_cannot_be_drawn_is_named():
    world = World()
    world.add_robot(
        load_model(
            '<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
            'izz="1" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry>'
            '<mesh filename="none.stl"/></geometry></visual></link></robot>'
        )
    )
    viewer = Viewer(world, port=0)
    viewer.stop()
    (line,) = viewer.left_out
    assert "r/base: none.stl" in line


def test_without_viser_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(HrpsimError, match=r"pip install 'hrpsim\[viewer\]'"):
        Viewer(World())
