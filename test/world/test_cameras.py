# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures and cameras: closed forms, rays through pixels, corners, own links, refusals."""

import gc
import sys
import threading

import numpy as np
import pytest
from world.sensing_robot import free_box

import hrpsim
from hrpsim import ModelError, ModelWarning, RendererError, WorldError
from hrpsim.model.shapes.placement import Placement
from hrpsim.viewer.rendering.renderer import Drawn, Lens, Renderer
from hrpsim.world.objects.body import rotation_matrix

EYE = np.array([0.0, 0.0, 1.0])
ALL = "color depth segmentation"
RED = (255, 0, 0)


@pytest.fixture(scope="module")
def scene():
    """A box, a ball and a mesh on the ground, and what a camera at 1 m sees of them."""
    world = hrpsim.World()
    world.add_ground()
    world.add_static(hrpsim.Box((0.4, 0.6, 0.8)), (2.0, 0.5, 0.4), name="box")
    world.add_static(hrpsim.Sphere(0.3), (3.0, -0.8, 0.6), name="ball")
    corners = [(x, y, z) for x in (2.4, 2.9) for y in (-0.4, 0.1) for z in (1.2, 1.5)]
    world.add_static(hrpsim.ConvexHull(corners), name="hull")
    try:
        return world, world.render(EYE, images=ALL, width=320, height=240, fov=1.2)
    except RendererError as error:
        pytest.skip(str(error))


def camera_matrix(width, height, fov):
    f = 0.5 * width / np.tan(0.5 * fov)
    return np.array([[f, 0.0, 0.5 * (width - 1)], [0.0, f, 0.5 * (height - 1)], [0.0, 0.0, 1.0]])


def link(world, name):
    return world.link_names.index(("world", name))


def test_depth_of_the_ground_is_that_of_its_closed_form(scene):
    """Law: a level camera at height h sees the ground in row v at depth h f / (v - v0)."""
    world, picture = scene
    K, v = camera_matrix(320, 240, 1.2), np.arange(240)
    for column in (2, 310):
        on_ground = picture.segmentation[:, column] == link(world, "ground")
        assert on_ground.sum() > 80
        exact = EYE[2] * K[1, 1] / (v[on_ground] - K[1, 2])
        depth, near = picture.depth[on_ground, column], exact < 30.0
        np.testing.assert_allclose(depth[near], exact[near], rtol=1e-5)
        np.testing.assert_allclose(depth, exact, rtol=5e-5)
    assert np.isinf(picture.depth[:100, 2]).all() and (picture.segmentation[:100, 2] == -1).all()


def test_pixels_are_what_rays_through_their_centres_meet(scene):
    """Law: depth and link of a pixel are those of its ray, except at edges, within one pixel."""
    world, picture = scene
    K = camera_matrix(320, 240, 1.2)
    v, u = np.mgrid[0:240, 0:320]
    right, down = (u - K[0, 2]) / K[0, 0], (v - K[1, 2]) / K[1, 1]
    ways = np.stack([np.ones_like(right), -right, -down], axis=-1).reshape(-1, 3)
    hits = world.cast_rays(EYE, ways, max_range=100.0 * np.linalg.norm(ways, axis=1).max())
    depth = (hits.distances / np.linalg.norm(ways, axis=1)).reshape(240, 320)
    links = np.where(depth < 100.0, hits.links.reshape(240, 320), -1)
    around = np.lib.stride_tricks.sliding_window_view(links, (3, 3)).reshape(238, 318, 9)
    inside = np.zeros(links.shape, dtype=bool)
    inside[1:-1, 1:-1] = (around == around[..., :1]).all(axis=-1)
    assert inside.sum() > 70_000
    np.testing.assert_array_equal(picture.segmentation[inside], links[inside])
    met = inside & (links >= 0) & (depth < 30.0)
    ball = links == link(world, "ball")  # drawn as facets
    np.testing.assert_allclose(picture.depth[met & ~ball], depth[met & ~ball], rtol=1e-5)
    np.testing.assert_allclose(picture.depth[met & ball], depth[met & ball], atol=0.02)


def test_colours_change_where_links_do(scene):
    """Law: the edges of the box in colour are those in the segmentation, within one pixel."""
    world, picture = scene
    row = 180
    edges = np.flatnonzero(np.diff((picture.segmentation[row] == link(world, "box")).astype(int)))
    assert len(edges) == 2
    change = np.abs(np.diff(picture.color[row].astype(int), axis=0)).sum(axis=1)
    for edge in edges:
        assert change[max(edge - 1, 0) : edge + 2].max() > 10


def test_corners_of_a_box_are_where_its_camera_matrix_puts_them(scene):
    """Law: silhouette of a box within half a pixel of its projected corners."""
    world, picture = scene
    K = camera_matrix(320, 240, 1.2)
    corners = np.array([(x, y, 0.8) for x in (1.8, 2.2) for y in (0.2, 0.8)])
    optical = np.stack([-corners[:, 1], EYE[2] - corners[:, 2], corners[:, 0]], axis=1)
    u, v, _ = (optical @ K.T / optical[:, 2:]).T
    rows, columns = np.nonzero(picture.segmentation == link(world, "box"))
    assert abs(columns.min() - 0.5 - u.min()) <= 0.5 + 1e-6
    assert abs(columns.max() + 0.5 - u.max()) <= 0.5 + 1e-6
    assert abs(rows.min() - 0.5 - v.min()) <= 0.5 + 1e-6


def test_the_same_world_gives_the_same_picture(scene):
    world, picture = scene
    again = world.copy().render(EYE, images=ALL, width=320, height=240, fov=1.2)
    for one, other in zip(picture, again):
        assert one.tobytes() == other.tobytes()


def test_the_end_of_a_world_leaves_the_pictures_of_others(scene):
    """Law: OpenGL's memory is freed where it was taken, not in the context that is current."""
    world, picture = scene
    other = hrpsim.World()
    other.add_ground()
    other.render(EYE, images=ALL, width=320, height=240, fov=1.2)
    world.render(EYE, images=ALL, width=320, height=240, fov=1.2)
    del other
    gc.collect()
    again = world.render((0.5, 0.0, 1.0), images=ALL, width=320, height=240, fov=1.2)
    assert again.color.tobytes() != picture.color.tobytes()
    again = world.render(EYE, images=ALL, width=320, height=240, fov=1.2)
    assert all(one.tobytes() == two.tobytes() for one, two in zip(again, picture))


@pytest.mark.usefixtures("scene")
def test_any_thread_may_end_a_world_that_was_drawn(monkeypatch):
    """Law: OpenGL's memory is freed by the thread that collects it, whichever drew."""
    missed = []
    monkeypatch.setattr(sys, "unraisablehook", missed.append)
    worlds = [hrpsim.World()]
    worlds[0].add_ground()
    worlds[0].render(EYE, width=32, height=24)
    ending = threading.Thread(target=lambda: (worlds.clear(), gc.collect()))
    ending.start()
    ending.join()
    assert not missed


@pytest.mark.usefixtures("scene")
def test_a_camera_of_a_robot_measures_at_its_rate_and_does_not_see_its_link():
    """Law: depth is that of the wall from where it looked; latency delays it, not its content."""
    settings = 'type="camera" width="32" height="24" images="depth" rate="20" latency="0.03"'
    back = '<origin xyz="1 0 0" rpy="0 0 3.141592653589793"/></sensor>'
    model = free_box(
        f'<sensor name="eye" {settings}/><sensor name="own" {settings} see_own="true">{back}'
        f'<sensor name="others" {settings}>{back}'
    )
    world = hrpsim.World(gravity=(0.0, 0.0, 0.0))
    world.add_static(hrpsim.Box((0.2, 20.0, 20.0)), (3.1, 0.0, 0.0), name="wall")
    robot = world.add_robot(model, v=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    eye = robot.sensors["eye"]
    assert eye.depth is None
    seen = {}
    for _ in range(200):
        world.step()
        if eye.depth is not None:
            seen[round(eye.stamp, 6)] = float(eye.depth[12, 16]), world.time
    assert list(seen) == [0.0, 0.05, 0.1, 0.15]
    for stamp, (depth, _) in seen.items():
        assert depth == pytest.approx(3.0 - stamp, abs=1e-5)
    assert robot.sensors["own"].measure().depth[12, 16] == pytest.approx(0.8, abs=1e-5)
    assert robot.sensors["others"].measure().depth[12, 16] == np.inf
    with pytest.raises(AttributeError, match='Write images="depth color"'):
        eye.color  # noqa: B018


@pytest.mark.usefixtures("scene")
def test_a_camera_declared_for_gazebo_is_read(recwarn):
    """Law: types and settings are Gazebo's, all of it has effect; rays meet its points."""
    text = """<gazebo reference="body"><sensor name="rgbd" type="rgbd_camera">
    <update_rate>30</update_rate><pose>0.2 0 0.1 0 0 0</pose><camera name="c">
    <horizontal_fov>1.5</horizontal_fov><image><width>64</width><height>48</height>
    <format>R8G8B8</format></image><clip><near>0.1</near><far>20</far></clip></camera>
    </sensor></gazebo>"""
    world = hrpsim.World()
    world.add_ground()
    eye = world.add_robot(free_box("", text)).sensors["rgbd"]
    assert not [w for w in recwarn if issubclass(w.category, ModelWarning)]
    assert (eye.pattern.fov, eye.pattern.far, eye.pattern.images) == (1.5, 20.0, "color depth")
    assert not eye.enabled
    world.step()
    assert eye.color is None and eye.enabled  # from its first reading on it measures
    world.step(34)
    assert eye.color.shape == (48, 64, 3) and eye.depth.shape == (48, 64)
    np.testing.assert_allclose(eye.matrix, camera_matrix(64, 48, 1.5))
    assert eye.points.shape == (48, 64, 3)
    points, (R, p) = eye.points[np.isfinite(eye.depth)], eye.frame_pose
    hits = world.cast_rays(p, points @ R.T, exclude=eye.robot.name)
    np.testing.assert_allclose(hits.distances, np.linalg.norm(points, axis=1), rtol=1e-5)
    assert len(points) > 500 and np.isnan(eye.points[0]).all()


@pytest.mark.parametrize(
    "settings, message",
    [
        ('fov="3.5"', "fov must be above 0 and below 179 degrees, got 200.535"),
        ('width="0"', "width and height must be positive"),
        ('images="colour"', "image 'colour' does not exist. Did you mean 'color'"),
        ('near="2" far="1"', "near must be at least 1e-06 m, and far above near"),
        ('width="100000" height="100000"', "CAMERA_PIXELS"),
        ('depth_encoding="8UC1"', "depth_encoding '8UC1' does not exist"),
        ('rings="4"', "attribute 'rings' does not exist"),
        ('fov="nan"', "fov='nan' must be finite"),
    ],
)
def test_bad_cameras_are_refused_by_name(settings, message):
    with pytest.raises(ModelError, match="eye") as error:
        free_box(f'<sensor name="eye" type="camera" {settings}/>')
    assert message in str(error.value)


def test_bad_pictures_are_refused():
    world = hrpsim.World()
    with pytest.raises(WorldError, match="the target is at the position of the camera"):
        world.render(EYE, target=EYE)
    with pytest.raises(WorldError, match="images must have at least one"):
        world.render(EYE, images=())
    with pytest.raises(hrpsim.HrpsimError, match="position"):
        world.render((0.0, np.nan, 1.0))


def test_without_egl_the_error_names_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco.egl", None)
    world = hrpsim.World()
    with pytest.raises(RendererError, match=r"pip install 'hrpsim\[camera\]'.*libegl1"):
        world.render(EYE)


@pytest.mark.usefixtures("scene")
def test_a_mesh_that_cannot_be_read_is_replaced_and_named():
    text = """<robot name="r"><link name="base"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="gone.stl"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>"""
    world = hrpsim.World()
    world.add_robot(hrpsim.load_model(text))
    with pytest.warns(ModelWarning, match=r"'r': links are drawn by collision.*base \(.*gone"):
        picture = world.render((-3.0, 0.0, 0.0), images="segmentation", width=32, height=24)
    assert picture.segmentation[12, 16] == world.link_names.index(("r", "base"))


@pytest.mark.parametrize("corners", [3, 4, 6, 7])
def test_flat_meshes_are_drawn_whatever_inertia_they_would_have(scene, corners):
    """Law: the share of pixels of a polygon ahead is its area over that of the view there.

    Turned at random in their own axes: by rounding, some inertias are then those of no body.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)
    rim = np.stack([0.0 * angles, np.cos(angles), np.sin(angles)], axis=1)
    fan = np.array([[0, k + 1, k] for k in range(1, corners - 1)])
    turns = [
        rotation_matrix(q / np.linalg.norm(q))
        for q in np.random.default_rng(1).normal(size=(40, 4))
    ]
    drawn = [Drawn(hrpsim.Mesh(rim @ R, fan), 0, Placement(R, np.zeros(3)), RED) for R in turns]
    renderer = Renderer(drawn, Lens(200, 200, 0.5 * np.pi, 0.1, 100.0))
    camera, orientation = Placement(np.eye(3), np.array([-2.0, 0.0, 0.0])), [[0.0, 0.0, 0.0, 1.0]]
    picture = renderer.render(np.zeros((1, 3)), np.array(orientation), camera, ("segmentation",))
    area = 0.5 * corners * np.sin(2.0 * np.pi / corners)
    assert (picture.segmentation == 0).mean() == pytest.approx(area / 16.0, rel=0.05)
