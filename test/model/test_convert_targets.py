# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim convert to SDF and MJCF: the file that is written is the same robot."""

import json
import re

import numpy as np
import pytest
from meshes import box, write_stl

from hrpsim import (
    ModelError,
    convert,
    inverse_dynamics,
    link_pose,
    load_model,
    mass_matrix,
    share_path,
)
from hrpsim.commands.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")

INERTIAL = (
    "<inertial><origin xyz='0.1 0.02 0.03' rpy='0.1 0.2 0.3'/><mass value='{}'/>"
    "<inertia ixx='0.3' iyy='0.4' izz='0.5' ixy='0.01' ixz='0.02' iyz='0.03'/></inertial>"
)
ROBOT = (
    "<robot name='r'><link name='{root}'>{base}</link><link name='a'>"
    + INERTIAL.format(2)
    + "<collision>"
    "<origin xyz='0 0 0.1'/><geometry><mesh filename='box.stl' scale='0.1 0.2 0.3'/></geometry>"
    "</collision><visual><geometry><sphere radius='0.1'/></geometry></visual></link>"
    "<link name='b'>" + INERTIAL.format(3) + "</link><link name='between'/>"
    "<link name='c'>" + INERTIAL.format(1) + "</link><link name='tool'/>"
    "<joint name='j' type='revolute'><origin xyz='0.1 0.2 0.3' rpy='0.3 0.2 0.1'/>"
    "<parent link='{root}'/><child link='a'/><axis xyz='0 0.6 0.8'/>"
    "<limit lower='-1' upper='2' effort='7' velocity='3'/>"
    "<dynamics damping='0.5' friction='0.25'/></joint>"
    "<joint name='k' type='prismatic'><origin xyz='0 0 0.4'/><parent link='a'/><child link='b'/>"
    "<axis xyz='1 0 0'/><limit lower='-0.5' upper='0.5' effort='0' velocity='0'/></joint>"
    "<joint name='l' type='continuous'><origin xyz='0 0.1 0' rpy='0 0 1'/><parent link='b'/>"
    "<child link='between'/><axis xyz='1 0 0'/></joint>"
    "<joint name='m' type='continuous'><origin xyz='0.05 0 0' rpy='1 0 0'/><parent link='between'/>"
    "<child link='c'/><axis xyz='0 1 0'/></joint>"
    "<joint name='t' type='fixed'><origin xyz='0 0 1'/><parent link='c'/>"
    "<child link='tool'/></joint>"
    "</robot>"
)
FREE = ROBOT.format(root="base", base=INERTIAL.format(5))
FIXED = ROBOT.format(root="world", base="")


def source(folder, text):
    write_stl(folder / "box.stl", *box())
    path = folder / "robot.urdf"
    path.write_text(text)
    return path


def states(model, count=5):
    rng = np.random.default_rng(0)
    for _ in range(count):
        q, v = model.neutral() + 0.4 * rng.normal(size=model.nq), rng.normal(size=model.nv)
        if model.base == "free":
            q[3:7] /= np.linalg.norm(q[3:7])
        yield q, v


@pytest.mark.parametrize("text", [FREE, FIXED], ids=["free", "fixed"])
def test_sdf_is_read_back_as_the_same_robot(tmp_path, text):
    """Law: masses, inertias, axes, limits, poses, mass matrix, bias agree to 1e-12."""
    path, target = source(tmp_path, text), tmp_path / "out" / "robot.sdf"
    written = convert(path, target)
    assert [file.name for file in written.meshes] == ["box.stl"]
    a, b = load_model(path), load_model(target)
    assert (a.base, a.joint_names, a.mass) == (b.base, b.joint_names, b.mass)
    assert set(a.link_names) == set(b.link_names)
    for field in ("lower", "upper", "velocity_limit", "effort_limit", "damping", "friction"):
        if hasattr(a.system, field):
            mine, other = getattr(a.system, field), getattr(b.system, field)
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12, err_msg=field)
    for q, v in states(a):
        np.testing.assert_allclose(mass_matrix(a, q), mass_matrix(b, q), rtol=0, atol=1e-12)
        bias = (inverse_dynamics(m, q, v, 0.0 * v) for m in (a, b))
        np.testing.assert_allclose(*bias, rtol=0, atol=1e-11)
        for link in a.link_names:
            for mine, other in zip(link_pose(a, q, link), link_pose(b, q, link), strict=True):
                np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12)
    (mine,), (other,) = a.shapes, b.shapes
    np.testing.assert_allclose(mine.geometry.volume, other.geometry.volume, rtol=1e-12)
    np.testing.assert_allclose(mine.p, other.p, atol=1e-12)


@pytest.mark.parametrize("text", [FREE, FIXED], ids=["free", "fixed"])
def test_mjcf_is_the_same_robot_for_mujoco(tmp_path, text):
    """Law: MuJoCo's mass matrix, bias force and poses of the MJCF are hrpsim's to 1e-9."""
    pytest.importorskip("mujoco")
    from model.mjcf_files import Counterpart

    path, target = source(tmp_path, text), tmp_path / "out" / "robot.xml"
    written = convert(path, target)
    assert [file.name for file in written.meshes] == ["box.stl"]
    assert written.not_written == ("velocity limit of a joint (1: j): MJCF has none",)
    model, rng = load_model(path), np.random.default_rng(1)
    other = Counterpart(target, model)
    gravity = other.m.opt.gravity
    for _ in range(5):
        q, v = other.random_state(rng)
        mass = other.mass_matrix()
        np.testing.assert_allclose(mass_matrix(model, q), mass, rtol=0, atol=1e-9)
        bias = inverse_dynamics(model, q, v, 0.0 * v, gravity=gravity)
        np.testing.assert_allclose(bias, other.bias(), rtol=0, atol=1e-9)
        for k in range(1, other.m.nbody):
            p, R = link_pose(model, q, other.m.body(k).name)
            np.testing.assert_allclose(p, other.d.xpos[k], rtol=0, atol=1e-9)
            np.testing.assert_allclose(R.ravel(), other.d.xmat[k], rtol=0, atol=1e-9)
    joint = other.m.joint("j")
    np.testing.assert_array_equal(joint.range, (-1, 2))
    assert (joint.frictionloss[0], other.m.jnt_actfrcrange[joint.id][1]) == (0.25, 7.0)


def test_a_humanoid_goes_to_sdf_and_back(tmp_path):
    """Law: the robot of the package has the same dynamics after a conversion to SDF."""
    target = tmp_path / "hrp2.sdf"
    path = share_path("urdf") / "hrp2_like.urdf.xacro"
    written = convert(path, target)
    assert any(line.startswith("gains of a joint") for line in written.not_written)
    a, b = load_model(path), load_model(target)
    assert set(a.joint_names) == set(b.joint_names) and a.mass == pytest.approx(b.mass, rel=1e-14)
    order = [b.joint_names.index(name) for name in a.joint_names]
    rng = np.random.default_rng(2)
    angles = 0.3 * rng.normal(size=len(order))
    poses = []
    for model, chosen in ((a, range(len(order))), (b, order)):
        q = model.neutral()
        q[7 + np.array(list(chosen))] = angles
        poses.append([link_pose(model, q, link)[0] for link in a.link_names])
    np.testing.assert_allclose(*poses, rtol=0, atol=1e-12)


def test_the_command_names_what_is_not_written(tmp_path, capsys):
    path = source(
        tmp_path,
        FREE.replace("</robot>", "<hrpsim reference='j'><rotor inertia='0.1'/></hrpsim></robot>"),
    )
    assert main(["convert", str(path), str(tmp_path / "robot.sdf"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["not_written"][-1] == "rotor inertia of a joint (1: j): SDF has none"


def test_a_joint_that_the_format_does_not_have_is_refused(tmp_path):
    text = re.sub("type='prismatic'", "type='planar'", FREE)
    for suffix in (".sdf", ".xml"):
        with pytest.raises(ModelError, match="no joint of the type 'planar'"):
            convert(source(tmp_path, text), tmp_path / f"robot_out{suffix}")
        assert not (tmp_path / f"robot_out{suffix}").exists()
