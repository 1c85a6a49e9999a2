# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Each joint type becomes the right bodies; links, inertia and limits stay where URDF puts them."""

import numpy as np
import pytest
from model.urdf_text import joint, robot, zero_posture

from hrpsim import ModelError, World, load_model
from hrpsim.model.readers.urdf.joint_motions import PRISMATIC_MOTION, REVOLUTE_MOTION
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES, JointType, Step
from hrpsim.model.shapes.placement import quaternion_of, rotation_from_rpy, rotation_with_z_along
from hrpsim.model.system import FIXED, FREE, PRISMATIC, REVOLUTE

INERTIAL = """<inertial><origin xyz="0.1 0 0"/><mass value="2"/>
  <inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial>"""


def link(name: str, inertial: str = INERTIAL) -> str:
    return f'<link name="{name}">{inertial}</link>'


def link_placement(model, name: str):
    frame = model.frame(name)
    if frame.body < 0:
        return frame.R, frame.p
    R, p = zero_posture(model)[frame.body]
    return R @ frame.R, R @ frame.p + p


@pytest.mark.parametrize(
    "axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (1, 2, 3), (-3, 0.1, 0), (0, 1e-200, 0)]
)
def test_a_joint_frame_has_its_axis_along_z(axis):
    R = rotation_with_z_along(axis)
    unit = np.array(axis) / max(map(abs, axis))
    assert R[:, 2] == pytest.approx(unit / np.linalg.norm(unit), abs=1e-15)
    assert R @ R.T == pytest.approx(np.eye(3), abs=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3)]))
def test_coordinate_axes_cost_no_rounding(axis):
    assert set(rotation_with_z_along(axis).ravel()) <= {-1.0, 0.0, 1.0}


def test_quaternion_of_a_rotation_turns_vectors_alike():
    for rpy in np.random.default_rng(0).uniform(-3.1, 3.1, (20, 3)):
        R = rotation_from_rpy(rpy)
        *u, w = quaternion_of(R)
        x = np.array([0.3, -0.4, 0.5])
        turned = x + 2.0 * np.cross(u, np.cross(u, x) + w * x)
        assert turned == pytest.approx(R @ x, abs=1e-12)


def test_a_robot_of_one_link_is_a_free_body():
    model = load_model(robot(link("box")))
    assert (model.nq, model.nv, model.mass, model.joint_names) == (7, 6, 2.0, ())
    assert model.system.com[0] == pytest.approx([0.1, 0, 0])
    assert model.neutral().tolist() == [0, 0, 0, 0, 0, 0, 1]


def test_a_fixed_robot_of_one_link_has_no_body():
    model = load_model(robot(link("box")), base="fixed")
    assert (model.nq, model.nv, model.body_count, model.mass) == (0, 0, 0, 0.0)
    assert model.system.placement_R.shape == (0, 3, 3)
    assert model.frame("box").body == -1


def test_siblings_are_sorted_by_joint_name_whatever_the_order_of_the_file():
    text = robot(
        link("trunk"), link("z"), link("a"), link("m"), link("below_a"),
        joint("j_z", "continuous", "trunk", "z"),
        joint("j_m", "continuous", "trunk", "m"),
        joint("j_zz", "continuous", "a", "below_a"),
        joint("j_a", "continuous", "trunk", "a"),
    )  # fmt: skip
    assert load_model(text).joint_names == ("j_a", "j_zz", "j_m", "j_z")


def test_arrays_are_what_kernels_need():
    model = load_model(robot(link("a"), link("b"), joint("j", "continuous", "a", "b")))
    for name, array in model.system._asdict().items():
        assert array.flags.c_contiguous and array.flags.writeable, name
        assert array.dtype in (np.dtype(np.int64), np.dtype(np.float64)), name
    integers = {n for n, a in model.system._asdict().items() if a.dtype == np.int64}
    assert integers == {
        "parent", "root", "joint_type", "ball", "q_index", "v_index", "dof_body", "mimic_dof",
    }  # fmt: skip


def test_inertia_given_in_a_turned_frame_is_turned_into_the_links():
    inertial = INERTIAL.replace('xyz="0.1 0 0"', 'xyz="0.1 0 0" rpy="0 0 1.5707963267948966"')
    model = load_model(robot(link("box", inertial)))
    assert np.diag(model.system.inertia[0]) == pytest.approx([2.0, 1.0, 2.5])
    assert model.system.com[0] == pytest.approx([0.1, 0, 0])


def test_fixed_links_merge_by_the_parallel_axis_theorem():
    text = robot(
        link("a"), link("b"), joint("weld", "fixed", "a", "b", '<origin xyz="0 1 0"/>')
    )  # fmt: skip
    model = load_model(text)
    assert (model.body_count, model.mass) == (1, 4.0)
    assert model.system.com[0] == pytest.approx([0.1, 0.5, 0])
    # two masses of 2 kg, each 0.5 m off the common centre along y
    assert np.diag(model.system.inertia[0]) == pytest.approx([2 + 1, 4, 5 + 1])
    assert model.frame("b").p == pytest.approx([0, 1, 0])


def test_a_fixed_joint_under_a_force_sensor_stays_a_joint():
    text = robot(
        link("a"), link("b"), joint("weld", "fixed", "a", "b", '<origin xyz="0 1 0"/>'),
        '<hrpsim reference="b"><sensor name="s" type="force_torque"/></hrpsim>',
    )  # fmt: skip
    model = load_model(text)
    assert model.system.joint_type.tolist() == [FREE, FIXED]
    assert model.system.mass.tolist() == [2.0, 2.0]
    assert model.system.v_index.tolist() == [0, 6]
    assert (model.nv, model.joint_names) == (6, ())
    assert (model.sensors[0].body, model.frame("b").body) == (1, 1)


def test_a_force_sensor_at_the_foot_of_a_fixed_arm_cuts_it_from_the_world():
    text = robot(
        link("world", ""), link("arm"), joint("bolts", "fixed", "world", "arm"),
        '<hrpsim reference="bolts"><sensor name="s" type="force_torque"/></hrpsim>',
    )  # fmt: skip
    model = load_model(text, base="fixed")
    assert model.system.joint_type.tolist() == [FIXED]
    assert model.system.parent.tolist() == [-1]


def test_a_planar_joint_slides_twice_and_turns_about_its_normal():
    origin = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    text = robot(
        link("ground"), link("cart"),
        joint("p", "planar", "ground", "cart", origin + '<axis xyz="0 1 1"/>'),
    )  # fmt: skip
    model = load_model(text, base="fixed")
    assert model.joint_names == ("p_x", "p_y", "p_theta")
    assert model.system.joint_type.tolist() == [PRISMATIC, PRISMATIC, REVOLUTE]
    R, p = link_placement(model, "cart")
    assert R == pytest.approx(rotation_from_rpy((0.1, 0.2, 0.3)), abs=1e-15)
    assert p == pytest.approx([1, 2, 3])
    x, y, normal = (R_body[:, 2] for R_body, _ in zero_posture(model))
    assert normal == pytest.approx(R @ np.array([0, 1, 1]) / np.sqrt(2), abs=1e-15)
    assert np.cross(x, y) == pytest.approx(normal, abs=1e-15)


def test_a_type_of_several_axes_is_an_entry_of_the_table(monkeypatch):
    """Law: joints of the kernels follow one another from parent to child, about one axis."""
    steps = Step(REVOLUTE_MOTION, "_turn"), Step(PRISMATIC_MOTION, "_slide")
    monkeypatch.setitem(JOINT_TYPES, "cylindrical", JointType("cylindrical", steps))
    text = robot(
        link("ground"), link("rod"),
        joint("c", "cylindrical", "ground", "rod", '<axis xyz="0 1 1"/>'),
    )  # fmt: skip
    model = load_model(text, base="fixed")
    assert model.joint_names == ("c_turn", "c_slide")
    assert model.system.joint_type.tolist() == [REVOLUTE, PRISMATIC]
    for R, _ in zero_posture(model):
        assert R[:, 2] == pytest.approx(np.array([0, 1, 1]) / np.sqrt(2), abs=1e-15)


def test_floating_joints_hang_on_the_world_of_a_fixed_base():
    text = robot(
        link("room", ""), link("wall", ""), joint("w", "fixed", "room", "wall"),
        link("ball"), link("cup"),
        joint("f1", "floating", "wall", "ball", '<origin xyz="0 0 2" rpy="0 0 0.5"/>'),
        joint("f2", "floating", "room", "cup"),
    )  # fmt: skip
    model = load_model(text, base="fixed")
    assert model.system.joint_type.tolist() == [FREE, FREE]
    assert model.system.root.tolist() == [0, 1]
    assert (model.nq, model.nv) == (14, 12)
    second, first = model.neutral()[:7], model.neutral()[7:]
    assert second.tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert first == pytest.approx([0, 0, 2, 0, 0, np.sin(0.25), np.cos(0.25)])


def test_a_floating_joint_beneath_an_empty_root_is_the_free_base():
    text = robot(link("world", ""), link("trunk"), joint("f", "floating", "world", "trunk"))
    model = load_model(text)
    assert (model.base_link, model.nv, model.body_count) == ("trunk", 6, 1)
    assert model.frame("world").body == -1


@pytest.mark.parametrize("base", ["free", "fixed"])
def test_a_floating_joint_on_a_moving_link_is_refused(base):
    text = robot(
        link("a"), link("b"), link("c"),
        joint("j", "continuous", "a", "b"), joint("f", "floating", "b", "c"),
    )  # fmt: skip
    with pytest.raises(ModelError, match="joint 'f': a floating joint needs the root"):
        load_model(text, base=base)


def test_a_floating_joint_on_a_free_base_is_refused():
    text = robot(link("a"), link("b"), joint("f", "floating", "a", "b"))
    with pytest.raises(ModelError, match="base='fixed'"):
        load_model(text)


def test_a_mimic_joint_keeps_its_place_and_knows_its_leader():
    text = robot(
        link("a"), link("b"), link("c"),
        joint("z_leader", "continuous", "a", "b"),
        joint("follower", "continuous", "a", "c",
              '<mimic joint="z_leader" multiplier="-2" offset="0.5"/>'),
    )  # fmt: skip
    system = load_model(text).system
    assert system.mimic_dof.tolist() == [-1] * 6 + [7, -1]
    assert (system.mimic_ratio[6], system.mimic_offset[6]) == (-2.0, 0.5)


CHAIN = """<robot name="chain"><link name="l0"/>{links}{joints}</robot>"""


def followers(*mimics: str) -> str:
    """Sliders side by side on a fixed base, each with a <mimic> or nothing."""
    links = "".join(link(f"l{k + 1}") for k in range(len(mimics)))
    joints = "".join(
        joint(
            f"j{k}", "prismatic", "l0", f"l{k + 1}",
            f'<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/>{mimic}',
        )
        for k, mimic in enumerate(mimics)
    )  # fmt: skip
    return CHAIN.format(links=links, joints=joints)


def test_a_joint_may_follow_one_that_follows_another():
    """Law: q2 = 3 q1 + 0.1 with q1 = -2 q0 + 0.5 is q2 = -6 q0 + 1.6, in the motion too."""
    text = followers(
        "",
        '<mimic joint="j0" multiplier="-2" offset="0.5"/>',
        '<mimic joint="j1" multiplier="3" offset="0.1"/>',
    )
    model = load_model(text, base="fixed")
    system = model.system
    assert system.mimic_dof.tolist() == [-1, 0, 0]
    assert system.mimic_ratio.tolist() == [1.0, -2.0, -6.0]
    assert system.mimic_offset == pytest.approx([0.0, 0.5, 1.6], abs=1e-15)
    world = World(gravity=(0, 0, 0))
    robot = world.add_robot(model, q=[0.0, 0.5, 1.6])
    robot.command(efforts=[0.4], names=["j0"])
    world.step(300)
    q = robot.joint_positions
    assert q[0] > 1e-4
    assert q[1] == pytest.approx(-2.0 * q[0] + 0.5, abs=1e-7)
    assert q[2] == pytest.approx(-6.0 * q[0] + 1.6, abs=1e-7)


@pytest.mark.parametrize(
    "mimics",
    [
        ['<mimic joint="j1"/>', '<mimic joint="j0"/>'],
        ["", '<mimic joint="j3"/>', '<mimic joint="j1"/>', '<mimic joint="j2"/>'],
    ],
)
def test_joints_that_follow_each_other_are_refused(mimics):
    with pytest.raises(ModelError, match=r"joints follow each other: j[0-3] -> j"):
        load_model(followers(*mimics), base="fixed")


def test_a_massless_follower_needs_an_inertia():
    """The cure is named, and that the constraint is none."""
    text = robot(
        link("a"), link("b"), link("dial", ""), joint("j", "continuous", "a", "b"),
        joint("k", "continuous", "b", "dial", '<mimic joint="j"/>'),
    )  # fmt: skip
    with pytest.raises(ModelError, match=r"'k'.*following 'j' is a constraint.*'dial'.*<inertial>"):
        load_model(text)


def test_a_root_link_called_world_is_fixed():
    """As in Pinocchio, Gazebo and spawn_entity; a floating joint beneath it is the free base."""
    arm = robot(link("world", ""), link("arm"), joint("j", "continuous", "world", "arm"))
    assert (load_model(arm).base, load_model(arm).nv) == ("fixed", 1)
    assert load_model(arm.replace("world", "ground"), base="fixed").base == "fixed"
    floating = robot(link("world", ""), link("body"), joint("j", "floating", "world", "body"))
    assert (load_model(floating).base, load_model(floating).nv) == ("free", 6)


def test_a_mimic_without_numbers_follows_one_to_one_and_zero_is_a_number():
    text = robot(
        link("a"), link("b"), link("c"), link("d"),
        joint("j", "continuous", "a", "b"),
        joint("k", "continuous", "a", "c", '<mimic joint="j"/>'),
        joint("l", "continuous", "a", "d", '<mimic joint="j" multiplier="0"/>'),
    )  # fmt: skip
    system = load_model(text).system
    assert system.mimic_ratio[6:].tolist() == [1.0, 1.0, 0.0]
    assert system.mimic_offset[6:].tolist() == [0.0, 0.0, 0.0]


def test_limits_of_zero_effort_and_velocity_state_none():
    limit = '<limit lower="-1" upper="2" effort="0" velocity="0"/>'
    system = load_model(robot(link("a"), link("b"), joint("j", "revolute", "a", "b", limit))).system
    assert (system.lower[6], system.upper[6]) == (-1.0, 2.0)
    assert (system.effort_limit[6], system.velocity_limit[6]) == (np.inf, np.inf)


def test_a_continuous_joint_has_no_position_limit():
    limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
    system = load_model(
        robot(link("a"), link("b"), joint("j", "continuous", "a", "b", limit))
    ).system
    assert (system.lower[6], system.upper[6]) == (-np.inf, np.inf)
    assert (system.effort_limit[6], system.velocity_limit[6]) == (3.0, 4.0)


def test_a_massless_chain_of_crossing_axes_is_a_ball_joint():
    text = robot(
        link("a"), link("x", ""), link("y", ""), link("b"),
        joint("j1", "continuous", "a", "x", '<axis xyz="1 0 0"/>'),
        joint("j2", "continuous", "x", "y", '<axis xyz="0 1 0"/>'),
        joint("j3", "continuous", "y", "b", '<axis xyz="0 0 1"/>'),
    )  # fmt: skip
    assert load_model(text).system.mass.tolist() == [2.0, 0.0, 0.0, 2.0]


def test_a_rotor_inertia_is_inertia_enough_for_a_massless_leaf():
    text = robot(
        link("a"), link("dial", ""), joint("j", "continuous", "a", "dial"),
        '<hrpsim reference="j"><rotor inertia="1e-4"/></hrpsim>',
    )  # fmt: skip
    assert load_model(text).mass == 2.0


def test_a_massless_free_base_needs_a_body_it_is_fixed_to():
    text = robot(link("world", ""), link("arm"), joint("j", "continuous", "world", "arm"))
    with pytest.raises(ModelError, match="load with base='fixed'"):
        load_model(text, base="free")
    assert load_model(text, base="fixed").mass == 2.0


def test_a_chain_of_a_thousand_links_loads():
    count = 1000
    links = [link(f"l{i}") for i in range(count + 1)]
    joints = [joint(f"j{i}", "continuous", f"l{i}", f"l{i + 1}") for i in range(count)]
    assert load_model(robot(*links, *joints)).nv == count + 6


def test_looking_up_what_does_not_exist_names_what_does():
    model = load_model(robot(link("a"), link("b"), joint("j", "continuous", "a", "b")))
    with pytest.raises(ModelError, match=r"joint 'jj' does not exist. Did you mean 'j'"):
        model.joint("jj")
    with pytest.raises(ModelError, match=r"link 'c' does not exist.*Available: a, b"):
        model.frame("c")
