# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Values in another unit, and options and rules without effect, are named at the doors."""

import re
import warnings

import pytest

from hrpsim import Box, HrpsimError, Lidar, ModelWarning, World, load_model, load_world
from hrpsim.commands.cli import main
from hrpsim.control import Gait

ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="rod"/>
<limit lower="-2" upper="2" effort="100" velocity="10"/></joint></robot>"""


def pushed(world):
    world.bodies["box"].apply_wrench([1, 0, 0], point=[2000, 0, 100])


def pushed_link(world):
    world.robots["arm"].apply_wrench("rod", [1, 0, 0], point=[0, 0, 1600])


def joined(world):
    world.connect("box", None, "ball", point=[2000, 0, 100])


def shifted(world):
    world.robots["arm"].deform_link("rod", shift=[0, 0, 500])


def soft(world):
    world.set_contact("default", "default", compliance=1e5)


def slow(world):
    world.set_contact("default", "default", compliance=1e-5, damping_time=20.0)


def rolling(world):
    world.set_friction("default", "default", 0.5, rolling=50.0)


def stuck(world):
    world.robots["arm"].set_joint_properties(friction=1e4)


def inert(world):
    world.robots["arm"].set_joint_properties(rotor_inertia=300.0)


def rule(world):
    world.add_solver_rule("newton", bodies="bx")
    world.step()


def rule_of_a_joint(world):
    world.add_solver_rule("newton", kind="limit", bodies="arm/jj")
    world.step()


DOUBTS = [
    (pushed, "the point is 2002 m from 'box'. Points are in m"),
    (pushed_link, "the point is 1600 m from 'rod'"),
    (joined, "the joined point is 2002 m from 'box'"),
    (shifted, "the shifted centre of mass is 500 m from 'rod'"),
    (soft, "If a stiffness of 100000 N/m is meant, write 1e-05"),
    (slow, "damping_time is 20 s, too long for contacts. If 20 ms are meant, write 0.02"),
    (rolling, "rolling friction of 'default' on 'default' is 50 m"),
    (stuck, "friction 10000 of 'j' exceeds the limit of effort, 100"),
    (inert, "the limit of effort, 100, needs 30 s to reach 10"),
    (rule, "body or joint 'bx' does not exist. Did you mean 'box'"),
    (rule_of_a_joint, "body or joint 'arm/jj' does not exist. Did you mean 'arm/j'"),
]


def scene():
    world = World()
    world.add_robot(load_model(ARM, base="fixed"), name="arm")
    world.add_body(Box((1, 1, 1)), 1.0, name="box")
    return world


@pytest.mark.parametrize(("mistake", "words"), DOUBTS, ids=[one.__name__ for one, _ in DOUBTS])
def test_a_value_in_another_unit_is_warned_of(mistake, words):
    with pytest.warns(ModelWarning, match=re.escape(words)):
        mistake(scene())


def test_plausible_values_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world = scene()
        world.bodies["box"].apply_wrench([1, 0, 0], point=[1, 0, 0])
        world.set_contact("default", "default", compliance=1e-5, damping_time=0.02)
        world.set_friction("default", "default", 0.5, torsional=0.01, rolling=0.001)
        world.robots["arm"].set_joint_properties(friction=1.0, rotor_inertia=0.1)
        for bodies in ("box", "arm", "arm/rod", "arm/j", "b*"):
            world.add_solver_rule("iterative", bodies=bodies)
        world.step()


def test_supports_in_milliseconds_are_warned_of():
    with pytest.warns(ModelWarning, match="single_support is 600 s.*If 600 ms are meant"):
        Gait(single_support=600.0)


def test_a_lidar_without_columns_is_refused():
    with pytest.raises(HrpsimError, match="columns must be at least 1"):
        Lidar(columns=0)


@pytest.mark.parametrize("number", ["1:30", "010", "-0_7", "1:30.5"])
def test_numbers_to_another_base_are_refused(tmp_path, number):
    """Law: what YAML 1.1 reads as another number than YAML 1.2 and people is named."""
    (tmp_path / "w.yaml").write_text(f"ground: {{height: {number}}}\n")
    with pytest.raises(HrpsimError, match="is a number to base 60 or 8"):
        load_world(tmp_path / "w.yaml")


def test_an_address_without_a_viewer_is_refused(capsys):
    assert main(["run", "floor.yaml", "--port", "9000"]) == 1
    assert "--port has no effect without --viewer" in capsys.readouterr().err
