# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Links whose weight is borne, as by MuJoCo's gravcomp."""

import warnings

import numpy as np
import pytest

from hrpsim import Batch, ModelError, ModelWarning, World, WorldError, load_model, load_world

MJCF = """<mujoco><option timestep="0.0005" integrator="RK4"/><worldbody>
<body name="a" pos="0 0 2" gravcomp="{}"><joint name="j" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0.1" size="0.03" mass="1.5"/>
<body name="b" pos="0.4 0 0.1" gravcomp="{}"><joint name="k" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.7" contype="0" conaffinity="0"/>
</body></body></worldbody></mujoco>"""
BOB = """<robot name="r"><link name="world"/><link name="rod"><inertial><origin xyz="0.3 0 0"/>
<mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="world"/><child link="rod"/><axis xyz="0 1 0"/>
</joint><hrpsim reference="{}"><gravity compensation="{}"/></hrpsim></robot>"""


@pytest.mark.parametrize("parts", [(1.0, 1.0), (0.5, 0.0), (0.0, 2.0), (0.3, 0.8)])
def test_links_move_as_in_mujoco(tmp_path, parts):
    """Law: the joints are where MuJoCo's are, whatever part of each weight is borne."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    path.write_text(MJCF.format(*parts))
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        world = load_world(path, integrator="semi_implicit")
    robot = next(iter(world.robots.values()))
    data.qvel[:] = robot.v = [0.5, -0.4]
    for _ in range(1000):
        mujoco.mj_step(model, data)
    world.step(600)
    world.step(400)
    assert robot.q == pytest.approx(data.qpos, abs=2e-4)


def test_worlds_of_a_batch_bear_it_too():
    """Law: the rod rests in each, and in the world alone; twice its weight lifts it."""
    world = World()
    robot = world.add_robot(load_model(BOB.format("rod", 1)))
    batch = Batch(world, 3)
    batch.step(200)
    world.step(200)
    assert robot.q == pytest.approx([0.0], abs=1e-12)
    for one in batch.worlds:
        assert next(iter(one.robots.values())).q == pytest.approx([0.0], abs=1e-12)
    world.gravity = (0, 0, -3.0)
    world.step(200)
    assert robot.q == pytest.approx([0.0], abs=1e-12)
    other = World()
    up = other.add_robot(load_model(BOB.format("rod", 2)))
    other.step(10)
    rate = 2 * 9.80665 * 0.3 / (0.1 + 2 * 0.3**2) * 0.01
    assert up.v == pytest.approx([-rate], rel=1e-2)


def test_mistakes_are_named():
    with pytest.raises(ModelError, match="link 'world' has no weight"):
        load_model(BOB.format("world", 1))
    with pytest.raises(ModelError, match="attribute 'part' does not exist"):
        load_model(BOB.format("rod", 1).replace("compensation", "part"))
    with pytest.raises(ModelError, match="is given twice"):
        load_model(BOB.format("rod", 1).replace("<gravity", '<gravity compensation="1"/><gravity'))
    world = World()
    world.add_robot(load_model(BOB.format("rod", 1)))
    with pytest.raises(WorldError, match=r"compensation of gravity .* is not differentiated"):
        world.linearize()
    assert np.isfinite(world.robots["r"].q).all()
