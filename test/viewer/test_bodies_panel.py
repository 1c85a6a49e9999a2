# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bodies that pages add, move and remove, and values that no page may send."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from viewer.visitor import Visitor

from hrpsim import Sphere, World, load_model
from hrpsim.viewer import Viewer
from hrpsim.viewer.panels import bodies

pytest.importorskip("viser")
G = 10.0


_LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01"'
_LINK += ' ixy="0" ixz="0" iyz="0"/></inertial></link>'
ARM = (
    f'<robot name="arm">{_LINK.format("base")}{_LINK.format("upper")}'
    '<joint name="elbow" type="continuous"><parent link="base"/><child link="upper"/></joint>'
    "</robot>"
)


@pytest.fixture
def viewer():
    world = World(gravity=(0.0, 0.0, -G))
    world.add_ground()
    world.add_body(Sphere(0.1), 1.0, (0.0, 0.0, 1.0), name="ball")
    shown = Viewer(world, port=0)
    yield shown
    shown.stop()


def add(viewer, shape="box", size=0.2, mass=3.0, place=(1.0, 0.0, 5.0)):
    visitor, panel = Visitor(viewer), viewer.controls.bodies
    for element, value in ((panel.shape, shape), (panel.size, size), (panel.mass, mass)):
        visitor.use(element, value)
    visitor.use(panel.place, place)
    visitor.use(panel.add)
    visitor.look()


@pytest.mark.parametrize("shape", bodies.SHAPES)
def test_an_added_body_falls_from_its_place(viewer, shape):
    """Law: a body of the chosen mass falls by g t^2 / 2."""
    add(viewer, shape)
    world = viewer.session.world
    (body,) = (body for name, body in world.bodies.items() if name != "ball")
    assert body.mass == pytest.approx(3.0)
    np.testing.assert_allclose(body.position, (1.0, 0.0, 5.0))
    world.step(500)
    fallen = 0.5 * G * 0.5**2
    assert body.position[2] == pytest.approx(5.0 - fallen, abs=G * 0.5 * world.time_step)
    assert viewer.server.scene.get_handle_by_name(f"/scene/{body.name}/{body.name}")


def test_the_past_is_kept_apart_from_added_bodies(viewer):
    """Law: the recording begins again with the body, and looking back never fails."""
    session = viewer.session
    for _ in range(5):
        session.step()
    add(viewer)
    then = session.world.time
    for _ in range(5):
        session.step()
    session.look_back(1.0)
    assert session.problem == "" and session.world.time == pytest.approx(then)
    session.play()
    session.pause()
    assert session.world.time == pytest.approx(then + 5 * session.world.time_step)


def test_a_body_added_to_the_past_is_added_to_the_present(viewer):
    session = viewer.session
    for _ in range(5):
        session.step()
    then = session.world.time
    session.look_back(3 * session.world.time_step)
    add(viewer)
    assert session.looking_back == 0.0 and session.world.time == then


def test_a_moved_body_is_at_rest_in_its_new_place(viewer):
    visitor, panel = Visitor(viewer), viewer.controls.bodies
    viewer.session.world.step(100)
    visitor.use(panel.chosen, "ball")
    visitor.use(panel.target, (2.0, 1.0, 3.0))
    visitor.use(panel.move)
    ball = viewer.session.world.bodies["ball"]
    np.testing.assert_array_equal(ball.position, (2.0, 1.0, 3.0))
    np.testing.assert_array_equal(ball.v, 0.0)


def test_a_moved_robot_keeps_its_targets(viewer):
    """Law: the base moves, and the joint goes on to the target that was commanded."""
    robot = viewer.session.world.add_robot(load_model(ARM), position=(0.0, 5.0, 50.0))
    robot.set_gains(20.0, 2.0)
    robot.command(positions=[0.3])
    panel, visitor = viewer.controls.bodies, Visitor(viewer)
    panel.rebuild()
    visitor.use(panel.chosen, "arm")
    visitor.use(panel.target, (2.0, 1.0, 50.0))
    visitor.use(panel.move)
    np.testing.assert_array_equal(robot.q[:3], (2.0, 1.0, 50.0))
    viewer.session.world.step(1000)
    np.testing.assert_allclose(robot.joint_positions, 0.3, atol=1e-2)


def test_the_handles_move_the_chosen_body(viewer):
    """Law: the body has the pose of the handles that a page drags."""
    visitor, panel = Visitor(viewer), viewer.controls.bodies
    visitor.use(panel.chosen, "ball")
    visitor.use(panel.handles, True)
    np.testing.assert_allclose(panel.gizmo.position, (0.0, 0.0, 1.0))
    half = math.sqrt(0.5)
    panel.gizmo.position, panel.gizmo.wxyz = (0.0, 1.0, 2.0), (half, 0.0, 0.0, half)
    for callback in panel.gizmo._impl_aux.update_cb:
        callback(SimpleNamespace(client=visitor.client, target=panel.gizmo))
    viewer.controls.process_requests()
    ball = viewer.session.world.bodies["ball"]
    np.testing.assert_allclose(ball.position, (0.0, 1.0, 2.0))
    np.testing.assert_allclose(ball.orientation, (0.0, 0.0, half, half), atol=1e-7)
    visitor.use(panel.handles, False)
    assert panel.gizmo is None


def test_only_added_bodies_can_be_removed(viewer):
    """Law: what the world began with stays, and the page says why."""
    visitor, panel = Visitor(viewer), viewer.controls.bodies
    visitor.use(panel.chosen, "ball")
    visitor.use(panel.remove)
    assert "ball" in viewer.session.world.bodies
    assert "refused" in viewer.controls.desk.answer.content
    add(viewer)
    (added,) = panel.added
    visitor.use(panel.chosen, added)
    visitor.use(panel.remove)
    visitor.look()
    assert tuple(viewer.session.world.bodies) == ("ball",) and panel.added == []
    assert not viewer.controls.desk.answer.visible


def test_the_number_of_added_bodies_is_bounded(viewer, monkeypatch):
    monkeypatch.setattr(bodies, "MOST_ADDED", 2)
    for k in range(4):
        add(viewer, place=(float(k), 0.0, 5.0))
    assert len(viewer.session.world.bodies) == 3
    assert "refused" in viewer.controls.desk.answer.content


@pytest.mark.parametrize("place", [(float("nan"), 0, 0), (1e9, 0, 0), (0, 0), "here"])
def test_a_place_that_makes_no_sense_changes_nothing(viewer, place, capsys):
    add(viewer, place=place)
    assert tuple(viewer.session.world.bodies) == ("ball",)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e300, 1e300])
def test_no_number_of_a_page_stops_the_world(viewer, value, capsys):
    """Law: whatever number a page sends to any element, the world goes on and stays finite."""
    visitor = Visitor(viewer)
    for element in list(viewer.server.gui._gui_input_handle_from_uuid.values()):
        before = element._impl.value
        if isinstance(before, (int, float)) and not isinstance(before, bool):
            visitor.use(element, value)
    visitor.use(viewer.controls.bodies.add)
    visitor.look()
    for _ in range(20):
        viewer.session.step()
    assert viewer.session.problem == ""
    assert all(np.isfinite(body.q).all() for body in viewer.session.world.bodies.values())
