# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots and bodies are put on the floor, and materials that no shape has are named."""

import warnings

import numpy as np
import pytest

import hrpsim
from hrpsim import Box, ModelWarning, World, WorldError, load_model

LEG = """<robot name="leg"><link name="hip"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="shank"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="knee" type="revolute"><parent link="hip"/><child link="shank"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="100" velocity="10"/></joint></robot>"""


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize("knee", [0.0, 1.0])
@pytest.mark.parametrize("height", [-2.0, 5.0])
def test_a_robot_on_the_floor_touches_it(slope, knee, height):
    """Law: the sphere at the end of the leg touches the plane; x, y and the knee stay."""
    world = World()
    turn = [0.0, np.sin(0.5 * slope), 0.0, np.cos(0.5 * slope)]
    world.add_static(hrpsim.Plane(), orientation=turn)
    robot = world.add_robot(load_model(LEG, base="free"), [0.3, 0.2, height, 0, 0, 0, 1, knee])
    robot.place_on_floor()
    center = np.array([0.3 - 0.5 * np.sin(knee), 0.2, robot.q[2] - 0.5 * np.cos(knee)])
    assert center @ [np.sin(slope), 0.0, np.cos(slope)] == pytest.approx(0.1, abs=1e-9)
    assert robot.q[[0, 1, 7]].tolist() == [0.3, 0.2, knee]


def test_what_cannot_be_put_on_the_floor_is_refused():
    world = World()
    leg = world.add_robot(load_model(LEG, base="fixed"))
    with pytest.raises(WorldError, match=r"'leg' has a fixed base, .* Give `position`"):
        leg.place_on_floor()
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0)
    with pytest.raises(WorldError, match=r"no plane is under its shapes. Add one by `add_ground`"):
        box.place_on_floor()


def test_a_world_file_puts_on_the_floor_and_has_properties(tmp_path):
    """Law: `on_floor`, `joint_properties`, `inertia` and `color` say what Python says."""
    (tmp_path / "leg.urdf").write_text(LEG)
    (tmp_path / "world.yaml").write_text(
        "ground: {}\nrobots:\n  - {urdf: leg.urdf, base: free, on_floor: true, position: [1, 0, 7],"
        "     joint_properties: {'*': {rotor_inertia: 0.05}, knee: {damping: 2}},\n"
        "     gains: {knee: [0, 0]}}\n"
        "bodies:\n  - {shape: {box: [1, 1, 1]}, mass: 1, on_floor: true, color: [1, 0, 0.2],\n"
        "     inertia: [[1, 0, 0], [0, 2, 0], [0, 0, 2]]}\n"
    )
    world = hrpsim.load_world(tmp_path / "world.yaml")
    (leg,), (box,) = world.robots.values(), world.bodies.values()
    assert (leg.q[2], box.q[2]) == pytest.approx((0.6, 0.5))
    assert leg.initial_q[2] == leg.q[2] and box.initial_q[2] == box.q[2]
    assert (leg.system.rotor_inertia[-1], leg.system.damping[-1]) == (0.05, 2.0)
    assert np.diag(box.system.inertia[0]).tolist() == [1.0, 2.0, 2.0]
    assert box.color == (255, 0, 51)


def test_a_misspelt_material_is_named_at_the_next_step():
    """Law: properties of a material that no shape has are reported once, in Python too."""
    world = World()
    world.add_ground(material="floor")
    world.add_body(Box((1.0, 1.0, 1.0)), 1.0, position=(0.0, 0.0, 0.5), material="sole")
    world.set_friction("Sole", "floor", static=0.1)
    with pytest.warns(ModelWarning, match="material 'Sole' does not exist. Did you mean 'sole'"):
        world.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.step()
        world.set_friction("sole", "floor", static=0.1)
        world.step()
