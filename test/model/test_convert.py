# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim convert: the URDF that is written is the same robot."""

import os

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="no mujoco")

from model.mjcf_files import ARM, write_biped

from hrpsim import ModelError, convert, inverse_dynamics, link_pose, load_model, mass_matrix
from hrpsim.commands.cli import main
from hrpsim.model.readers.urdf_writer import rpy_of
from hrpsim.model.shapes.placement import rotation_from_rpy

pytestmark = pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")


def assert_same_robot(a, b):
    """Mass matrix, bias force, poses of links, and all constants of joints."""
    assert (a.base, a.joint_names, a.link_names) == (b.base, b.joint_names, b.link_names)
    assert (a.gains, a.command_interfaces) == (b.gains, b.command_interfaces)
    assert (a.disabled_collisions, set(a.keyframes)) == (b.disabled_collisions, set(b.keyframes))
    assert [s.name for s in a.sensors] == [s.name for s in b.sensors]
    assert [c.name for c in a.connections] == [c.name for c in b.connections]
    for field, mine, other in zip(a.system._fields, a.system, b.system, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12, err_msg=field)
    for mine, other in zip(a.shapes, b.shapes, strict=True):
        assert (mine.link, mine.material) == (other.link, other.material)
        np.testing.assert_allclose(mine.p, other.p, rtol=0, atol=1e-12)
        np.testing.assert_allclose(mine.geometry.size, other.geometry.size, rtol=1e-15)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = a.neutral() + 0.3 * rng.normal(size=a.nq), rng.normal(size=a.nv)
        if a.base == "free":
            q[3:7] /= np.linalg.norm(q[3:7])
        pairs = [(mass_matrix(m, q), inverse_dynamics(m, q, v, 0.0 * v)) for m in (a, b)]
        for mine, other in zip(*pairs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12 * abs(mine).max())
        for link in a.link_names:
            for mine, other in zip(link_pose(a, q, link), link_pose(b, q, link), strict=True):
                np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12)


def test_the_urdf_is_the_same_robot(tmp_path):
    """Law: mass matrix, bias force, kinematics and constants agree to 1e-12, meshes are found."""
    source = write_biped(tmp_path)
    written = convert(source, tmp_path / "out" / "biped.urdf")
    assert sorted(path.name for path in written.meshes) == ["ellipsoid2.stl", "shin.stl", "toe.stl"]
    text = (tmp_path / "out" / "biped.urdf").read_text()
    assert f"file://{tmp_path}/out/biped_meshes/toe.stl" in text
    assert_same_robot(load_model(source), load_model(tmp_path / "out" / "biped.urdf"))
    assert written.not_simulated == load_model(source).not_simulated


def test_several_that_float_are_the_same_robot_too(tmp_path, capsys):
    """A robot whose root is the world; errors name the file that is read, not what is written."""
    path = tmp_path / "two.xml"
    body = "<body name='%s' pos='%d 0 1'><freejoint/><geom size='0.1'/></body>"
    path.write_text(f"<mujoco><worldbody>{body % ('a', 0)}{body % ('b', 1)}</worldbody></mujoco>")
    convert(path, tmp_path / "two.urdf")
    assert_same_robot(load_model(path), load_model(tmp_path / "two.urdf", base="fixed"))
    path = tmp_path / "flat.wrl"
    path.write_text(
        '#VRML V2.0 utf8\nDEF a Humanoid { humanoidBody DEF b Joint { jointType "free" children'
        " Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 9 ] } } }"
    )
    assert main(["convert", str(path), str(tmp_path / "flat.urdf")]) == 1
    assert capsys.readouterr().err.startswith(f"hrpsim: {path}: link 'b': non-physical inertia")


def test_what_stands_fixed_is_the_same_robot_when_it_is_loaded_so(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    convert(tmp_path / "arm.xml", tmp_path / "arm.urdf")
    written = load_model(tmp_path / "arm.urdf", base="fixed")
    assert_same_robot(load_model(tmp_path / "arm.xml"), written)


def test_meshes_in_a_package_are_named_by_it(tmp_path):
    package = tmp_path / "my_robot"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>my_robot</name></package>")
    source = write_biped(tmp_path)
    convert(source, package / "urdf" / "biped.urdf")
    text = (package / "urdf" / "biped.urdf").read_text()
    assert "package://my_robot/urdf/biped_meshes/toe.stl" in text and "file://" not in text
    assert_same_robot(load_model(source), load_model(package / "urdf" / "biped.urdf"))


def test_relative_meshes_of_a_urdf_are_found_from_elsewhere(tmp_path):
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\n")
    source = tmp_path / "a.urdf"
    source.write_text(
        '<robot name="a"><link name="l"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
        'izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>'
        '<mesh filename="part.obj"/></geometry></collision></link></robot>'
    )
    convert(source, tmp_path / "elsewhere" / "a.urdf")
    assert_same_robot(load_model(source), load_model(tmp_path / "elsewhere" / "a.urdf"))


def test_the_command_says_what_it_wrote(tmp_path, capsys):
    (tmp_path / "arm.xml").write_text(ARM)
    assert main(["convert", str(tmp_path / "arm.xml"), str(tmp_path / "b.urdf"), "--json"]) == 0
    assert '"meshes": 0' in capsys.readouterr().out
    assert main(["check-model", str(tmp_path / "b.urdf"), "--base", "fixed"]) == 0
    assert "base: fixed" in capsys.readouterr().out
    assert main(["convert", str(tmp_path / "arm.xml"), str(tmp_path / "arm.xml")]) == 1
    assert "is the description itself" in capsys.readouterr().err


def test_nothing_is_left_where_the_target_cannot_be_written(tmp_path):
    source = write_biped(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot be written"):
        convert(source, tmp_path / "file" / "b.urdf")
    if os.getuid():
        assert not list(tmp_path.glob("*.urdf"))


@pytest.mark.parametrize("pitch", [0.0, 1.2, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1.5707])
def test_angles_give_the_rotation_back(pitch):
    """Law: R -> roll, pitch, yaw -> R is the identity to rounding, near 90 degrees too."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        R = rotation_from_rpy((rng.uniform(-3, 3), pitch, rng.uniform(-3, 3)))
        np.testing.assert_allclose(rotation_from_rpy(rpy_of(R)), R, rtol=0, atol=2e-15)
