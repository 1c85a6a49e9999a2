# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is drawn: visuals of descriptions, force arrows, capsules, plotted signals."""

from types import SimpleNamespace

import numpy as np
import pytest
from meshes import angle_bracket, write_dae, write_obj, write_stl

from hrpsim import Box, Capsule, Cylinder, Sphere, World, load_model, load_world, share_path
from hrpsim.model.shapes.placement import IDENTITY
from hrpsim.model.visuals import MeshFile, Visual, colored_meshes, load_mesh, visuals_of_model
from hrpsim.viewer.drawing import Drawing, contact_arrows, sensor_pose, wrench_arrows
from hrpsim.viewer.panels.signals import History, signals_of

URDF = """<robot name="r">
  <material name="red"><color rgba="1 0 0.2 1"/></material>
  <link name="base">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    {}
  </link>
</robot>"""


def drawn(elements):
    return visuals_of_model(load_model(URDF.format(elements)))


def test_visuals_have_place_geometry_and_colour():
    box, ball, rod = drawn(
        '<visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/>'
        '</geometry><material name="red"/></visual>'
        '<visual><geometry><sphere radius="0.3"/></geometry></visual>'
        '<visual><geometry><cylinder radius="0.1" length="0.4"/></geometry></visual>'
    )
    assert box.geometry == Box((1, 2, 3)) and box.color == (255, 0, 51) and box.link == "base"
    np.testing.assert_allclose(box.placement.p, [1, 2, 3])
    np.testing.assert_allclose(box.placement.R @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    assert ball.geometry == Sphere(0.3) and rod.geometry == Cylinder(0.1, 0.4)


def test_materials_of_one_name_have_their_own_colours():
    """Exporters name all materials "": each visual has the colour that it gives itself."""
    visual = (
        '<visual><!-- from CAD --><geometry><box size="1 1 1"/></geometry>'
        '<material name="">{}</material></visual>'
    )
    colors = ('<color rgba="1 0 0 1"/>', '<color rgba="0 1 0 1"/>', "")
    red, green, last = drawn("".join(map(visual.format, colors)))
    assert (red.color, green.color, last.color) == ((255, 0, 0), (0, 255, 0), (0, 255, 0))


def test_a_mesh_is_named_with_its_scale():
    (mesh,) = drawn('<visual><geometry><mesh filename="a.stl" scale="2 2 2"/></geometry></visual>')
    assert mesh.geometry == MeshFile("a.stl", (2.0, 2.0, 2.0))


def test_a_mesh_is_drawn_in_metres_and_scaled(tmp_path):
    path = write_dae(tmp_path / "l.dae", *angle_bracket(), unit="0.001")
    model = load_model(URDF.format(""))
    scene = load_mesh(model, MeshFile(str(path), (2.0, 1.0, -1.0)))
    np.testing.assert_allclose(scene.bounds, [[0, 0, -1e-3], [2e-3, 2e-4, 0]], atol=1e-9)


def test_a_mesh_without_colours_has_that_of_its_visual(tmp_path):
    path = write_stl(tmp_path / "l.stl", *angle_bracket())
    model = load_model(URDF.format(""))
    visual = Visual("base", IDENTITY, MeshFile(str(path), (1.0, 1.0, 1.0)), (255, 0, 10))
    (part,) = load_mesh(model, visual.geometry, visual.color).geometry.values()
    np.testing.assert_array_equal(part.visual.material.main_color, [255, 0, 10, 255])
    ((_, color),) = colored_meshes(model, visual)
    assert color == (255, 0, 10)


def test_collision_meshes_are_drawn_where_they_collide(tmp_path):
    write_obj(tmp_path / "l.obj", *angle_bracket())
    (tmp_path / "r.urdf").write_text(
        URDF.format(
            '<collision><origin xyz="0 0 1"/><geometry><mesh filename="l.obj"/></geometry>'
            "</collision>"
        )
    )
    (hull,) = visuals_of_model(load_model(tmp_path / "r.urdf"))
    corners = hull.geometry.vertices @ hull.placement.R.T + hull.placement.p
    np.testing.assert_allclose(corners.min(axis=0), [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(corners.max(axis=0), [1, 0.2, 2], atol=1e-12)


def test_without_visuals_the_collision_shapes_are_drawn():
    (box,) = drawn(
        '<collision><origin xyz="0 0 1"/><geometry><box size="1 1 1"/></geometry></collision>'
    )
    assert box.geometry == Box((1, 1, 1))
    np.testing.assert_allclose(box.placement.p, [0, 0, 1])


def test_arrows_of_a_resting_box_carry_its_weight_upwards():
    world = World()
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), mass=4.0, position=(0.0, 0.0, 0.1))
    world.step(200)
    arrows = contact_arrows(world.contacts, 0.01)
    assert arrows.shape == (4, 2, 3)
    total = (arrows[:, 1] - arrows[:, 0]).sum(axis=0)
    np.testing.assert_allclose(total, [0.0, 0.0, 0.01 * 4.0 * 9.80665], atol=1e-6)
    np.testing.assert_allclose(np.abs(arrows[:, 0, :2]), 0.1, atol=1e-6)
    assert contact_arrows([], 1.0).shape == (0, 2, 3)


def test_sensor_arrows_begin_at_the_sensor_and_carry_the_standing_robot():
    world = load_world(share_path("config/stand.yaml"))
    (robot,) = world.robots.values()
    world.step()
    feet = [robot.sensors["lfsensor"], robot.sensors["rfsensor"]]
    forces, _ = wrench_arrows(feet, 1e-3)
    carried = 1e3 * (forces[:, 1] - forces[:, 0]).sum(axis=0)
    weight = robot.model.mass * 9.80665
    np.testing.assert_allclose(carried, [0.0, 0.0, weight], atol=1e-3 * weight)
    for sensor, arrow in zip(feet, forces):
        origin, R = sensor_pose(sensor)
        ankle, _ = robot.link_pose(sensor.description.link)
        assert np.linalg.norm(origin - ankle) < 0.2
        np.testing.assert_array_equal(arrow[0], origin)
        np.testing.assert_allclose(1e3 * R.T @ (arrow[1] - origin), sensor.force, rtol=1e-9)


def test_a_capsule_is_closed_has_its_volume_and_lies_about_its_middle(monkeypatch):
    drawing = Drawing.__new__(Drawing)
    drawing._scene = SimpleNamespace(add_mesh_simple=lambda name, *mesh, **options: mesh)
    vertices, faces = drawing._add_geometry("capsule", Capsule(0.1, 0.3), IDENTITY, (0, 0, 0))
    a, b, c = vertices[faces].astype(np.float64).transpose(1, 0, 2)
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    assert volume == pytest.approx(np.pi * 0.1**2 * (0.3 + 4.0 / 3.0 * 0.1), rel=5e-3)
    assert vertices[:, 2].max() == pytest.approx(0.25) == -vertices[:, 2].min()


def test_signals_are_read_when_asked():
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_body(Sphere(0.1), 1.0, velocity=(0.0, 0.0, 2.0))
    history = History(signals_of(world)["sphere/odom.position.z [m]"], duration=0.1)
    for _ in range(200):
        world.step()
        history.add(world.time)
    times, values = history.arrays()
    assert times[-1] - times[0] == pytest.approx(0.1)
    np.testing.assert_allclose(values, 2.0 * times, atol=1e-9)
    world.reset()
    history.add(world.time)
    assert len(history.arrays()[0]) == 1
