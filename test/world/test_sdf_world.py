# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Worlds of SDF: scenery, robots, surfaces and settings."""

import warnings

import numpy as np
import pytest

import hrpsim
from hrpsim import ModelError, ModelWarning

GRAVITY = 9.8
INERTIAL = (
    "<inertial><mass>2</mass><inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial>"
)
PLANE = "<plane><normal>0 0 1</normal><size>9 9</size></plane>"
SPHERE = "<sphere><radius>0.5</radius></sphere>"
BOX = "<box><size>1 1 0.2</size></box>"


def load(folder, content, version="1.9", **options):
    path = folder / "scene.sdf"
    path.write_text(f'<sdf version="{version}"><world name="w">{content}</world></sdf>')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return hrpsim.load_world(path, **options)


def model(name, shape, surface="", pose="0 0 0 0 0 0", more=""):
    collision = (
        f"<collision name='c'><geometry>{shape}</geometry><surface>{surface}</surface></collision>"
    )
    link = f"<link name='l'>{INERTIAL}{collision}</link>"
    return f"<model name='{name}'><pose>{pose}</pose>{more}{link}</model>"


def ground(surface=""):
    return model("ground", PLANE, surface, more="<static>true</static>")


def mu(value):
    return f"<friction><ode><mu>{value}</mu><mu2>{value}</mu2></ode></friction>"


def test_static_models_are_scenery_and_the_others_robots_where_the_file_says(tmp_path):
    world = load(
        tmp_path, ground() + model("crate", BOX, pose="1 2 3 0 0 0.5") + "<light name='sun'/>"
    )
    assert set(world.entities) == {"crate"}
    assert [name for entity, name in world.link_names if entity == "world"] == ["ground_l_c"]
    p, q = world.robots["crate"].link_pose("l")
    np.testing.assert_allclose(p, (1, 2, 3))
    np.testing.assert_allclose(q, (0, 0, np.sin(0.25), np.cos(0.25)))


@pytest.mark.parametrize(
    "place", ["model://", "https://fuel.gazebosim.org/1.0/OpenRobotics/models/"]
)
def test_the_sun_and_the_ground_plane_need_no_file(tmp_path, monkeypatch, place):
    """Law: a sphere lies on Gazebo's plane, whose friction is above any other."""
    monkeypatch.setenv("HOME", str(tmp_path))
    plane = f"{place}{'ground_plane' if place == 'model://' else 'Ground Plane'}"
    uris = f"{place}{'sun' if place == 'model://' else 'Sun'}", plane
    includes = "".join(f"<include><uri>{uri}</uri></include>" for uri in uris)
    world = load(tmp_path, includes + model("ball", SPHERE, mu(0.6), pose="0 0 0.5 0 0 0"))
    assert [name for entity, name in world.link_names if entity == "world"] != []
    world.step(50)
    assert world.robots["ball"].q[2] == pytest.approx(0.5, abs=1e-6)
    world.robots["ball"].v = (1.0, 0, 0, 0, 0, 0)
    world.step()
    slip = 1.0 - 0.6 * GRAVITY * world.time_step
    assert world.robots["ball"].v[0] == pytest.approx(slip, rel=1e-3)


def test_settings_are_those_of_physics_and_of_arguments(tmp_path):
    physics = "<physics type='ode'><max_step_size>0.002</max_step_size>{}</physics>"
    world = load(tmp_path, physics.format("") + "<gravity>0 0 -3.7</gravity>")
    assert world.time_step == 0.002
    np.testing.assert_array_equal(world.gravity, (0, 0, -3.7))
    old = load(tmp_path, physics.format("<gravity>0 0 -1.6</gravity>"), "1.5", time_step=0.004)
    assert old.time_step == 0.004
    np.testing.assert_array_equal(old.gravity, (0, 0, -1.6))
    np.testing.assert_array_equal(load(tmp_path, "").gravity, (0, 0, -GRAVITY))


def test_two_surfaces_have_the_smaller_friction(tmp_path):
    """Law: a sliding box stops after v^2 / (2 mu g), with the smaller mu of box and ground."""
    world = load(tmp_path, ground(mu(0.9)) + model("crate", BOX, mu(0.3), pose="0 0 0.1 0 0 0"))
    crate, speed = world.robots["crate"], 1.0
    crate.v = (speed, 0, 0, 0, 0, 0)
    world.step(1000)
    assert crate.q[0] == pytest.approx(speed**2 / (2.0 * 0.3 * GRAVITY), rel=5e-3)


def test_springs_of_surfaces_act_one_after_the_other(tmp_path):
    """Law: a sphere rests m g (1 / kp + 1 / kp) deep."""
    soft = "<contact><ode><kp>{}</kp><kd>200</kd></ode></contact>"
    ball = model("ball", SPHERE, soft.format(2e4), pose="0 0 0.5 0 0 0")
    world = load(tmp_path, ground(soft.format(1e4)) + ball)
    world.step(3000)
    depth = 2.0 * GRAVITY * (1.0 / 1e4 + 1.0 / 2e4)
    assert world.robots["ball"].q[2] == pytest.approx(0.5 - depth, abs=0.01 * depth)


def test_shapes_without_a_common_bit_do_not_collide(tmp_path):
    """Law: a body that nothing stops falls g t^2 / 2."""
    bits = "<contact><collide_bitmask>{}</collide_bitmask></contact>"
    through = model("through", SPHERE, bits.format("0x02"), pose="0 0 0.5 0 0 0")
    rests = model("rests", SPHERE, bits.format("3"), pose="3 0 0.5 0 0 0")
    world = load(tmp_path, ground(bits.format(1)) + through + rests)
    world.step(500)
    fallen = 0.5 * GRAVITY * world.time**2
    assert world.robots["through"].q[2] == pytest.approx(0.5 - fallen, rel=5e-3)
    assert world.robots["rests"].q[2] == pytest.approx(0.5, abs=1e-4)


def test_links_without_gravity_stay(tmp_path):
    floating = model("a", SPHERE, pose="0 0 3 0 0 0").replace(
        INERTIAL, INERTIAL + "<gravity>false</gravity>"
    )
    world = load(tmp_path, floating)
    world.step(200)
    assert world.robots["a"].q[2] == pytest.approx(3.0, abs=1e-12)


def test_a_joint_of_the_world_ties_two_models(tmp_path):
    """Law: a pendulum on a hinge keeps its distance from the hinge."""
    frames = model("base", BOX, more="<static>true</static>", pose="0 0 5 0 0 0")
    bob = model("bob", SPHERE, pose="1 0 4 0 0 0")
    joint = (
        "<joint name='hinge' type='revolute'><pose relative_to='base'>0 0 -1 0 0 0</pose>"
        "<parent>base::l</parent><child>bob::l</child><axis><xyz>0 1 0</xyz></axis></joint>"
    )
    world = load(tmp_path, frames + bob + joint)
    world.step(300)
    p, _ = world.robots["bob"].link_pose("l")
    assert np.linalg.norm(p - (0, 0, 4)) == pytest.approx(1.0, abs=1e-4)
    assert p[2] < 3.8 and abs(p[1]) < 1e-9


def test_a_model_alone_is_a_world_of_its_own(tmp_path):
    path = tmp_path / "model.sdf"
    path.write_text(f"<sdf version='1.9'>{model('one', BOX, pose='0 0 2 0 0 0')}</sdf>")
    world = hrpsim.load_world(path)
    assert set(world.entities) == {"one"}
    assert world.robots["one"].q[2] == 2.0


def test_what_is_not_simulated_is_warned_of(tmp_path):
    path = tmp_path / "a.world"
    content = ground() + "<gui><camera name='c'/></gui><plugin name='p' filename='f'/>"
    path.write_text(f"<sdf version='1.9'><world name='w'>{content}</world></sdf>")
    with pytest.warns(ModelWarning, match=r"<gui> of <world> .*<plugin> of <world> \(1: p\)"):
        hrpsim.load_world(path)


def test_an_invalid_surface_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"scene\.sdf:1: .*friction and kd must be >= 0"):
        load(tmp_path, model("a", BOX, mu(-1)))
