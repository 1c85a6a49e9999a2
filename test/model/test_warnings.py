# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is odd about a description, but can be simulated, is said once at load, with its cure."""

import warnings

import numpy as np
import pytest

from hrpsim import ModelError, ModelWarning, World, WorldError, load_model
from hrpsim.model.visuals import visuals_of_model
from robots import ALL_ROBOTS

INERTIAL = """<inertial><origin xyz="0.1 0 0"/><mass value="{}"/>
  <inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/></inertial>"""
SOUND, POINT = INERTIAL.format(1, 0.1, 0.1, 0.1), INERTIAL.format(2, 0, 0, 0)


def chain(*links: str) -> str:
    """Links with what is in them, one after the other on hinges about z."""
    text = "".join(f'<link name="l{k}">{inside}</link>' for k, inside in enumerate(links))
    for k in range(1, len(links)):
        text += (
            f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/>'
            '<origin xyz="0.2 0 0"/><axis xyz="0 0 1"/></joint>'
        )
    return f'<robot name="chain">{text}</robot>'


def said(source, **options):
    """Load a model; return it and what was said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="collada")
        model = load_model(source, **options)
    assert all(issubclass(w.category, ModelWarning) for w in caught)
    return model, [str(w.message) for w in caught]


def test_what_is_only_seen_may_have_no_size():
    """It is not drawn, and said; what collides must have one."""
    seen = SOUND + "<visual><geometry><{}/></geometry></visual>"
    model, notes = said(chain(seen.format('sphere radius="0.00"'), seen.format('box size="1 1 1"')))
    assert [visual.link for visual in visuals_of_model(model)] == ["l1"]
    (note,) = [note for note in notes if "size of 0" in note]
    assert "'l0'" in note and ":1:" in note
    with pytest.raises(ModelError, match="must be positive"):
        load_model(chain(seen.format('sphere radius="-1"')))
    void = seen.format('cylinder radius="0" length="1"').replace("visual", "collision")
    model, notes = said(chain(void))
    assert model.shapes == () and any("does not collide (1: 'l0')" in note for note in notes)
    for flat in ('cylinder radius="1" length="0"', 'box size="1 0 1"'):
        with pytest.raises(ModelError, match="must be positive"):
            load_model(chain(seen.format(flat).replace("visual", "collision")))


def test_a_colour_beyond_its_range_is_told_and_drawn_at_the_end_of_it():
    """Law: each part is the nearest of 0 to 1; urdfdom reads such files, so none is refused."""
    material = '<material name="orange"><color rgba="{}"/></material>'
    box = '<visual><geometry><box size="1 1 1"/></geometry>{}</visual>'
    seen = SOUND + box.format(material.format("255 0.2 -3 255"))
    model, notes = said(chain(seen, SOUND + box.format(material.format("1 0 0 1"))))
    (note,) = [note for note in notes if "colour" in note]
    assert "beyond 0 to 1" in note and "(1: 'orange')" in note and ":2: link 'l0'" in note
    with pytest.raises(ModelError, match="rgba='1 0 0 1 1': must be 4 numbers, got 5"):
        load_model(chain(SOUND + box.format(material.format("1 0 0 1 1"))))
    model, _ = said(chain(seen))
    assert visuals_of_model(model)[0].color == (255, 51, 0)


def test_a_sphere_without_radius_is_a_point_on_which_a_robot_stands():
    """Feet are described so for Drake (Atlas, Valkyrie): four points bear as a sole's corners."""
    point = '<collision><origin xyz="{} {} -0.1"/><geometry><sphere radius="0.0"/></geometry>'
    corners = "".join(point.format(x, y) + "</collision>" for x in (0, 0.2) for y in (-0.1, 0.1))
    model, (note,) = said(chain(SOUND + corners))
    assert "'l0'" in note and "is a point" in note and ":1:" in note
    world = World(1e-3)
    world.add_ground()
    robot = world.add_robot(model, q=[0, 0, 0.1, 0, 0, 0, 1])
    world.step(500)
    contacts = world.contact_arrays()
    weight = 9.80665
    assert robot.q == pytest.approx([0, 0, 0.1, 0, 0, 0, 1], abs=2e-6)
    assert len(contacts.points) == 4 and (abs(contacts.forces[:, 2]) > 0.1).all()
    assert abs(contacts.forces[:, 2].sum()) == pytest.approx(weight, rel=1e-6)
    assert abs(contacts.forces[:, 2] @ contacts.points[:, 0]) == pytest.approx(
        0.1 * weight, rel=1e-6
    )


def test_a_box_without_any_size_collides_with_nothing_and_is_told():
    box = '<collision><geometry><box size="0 0 0"/></geometry></collision>'
    model, (note,) = said(chain(SOUND + box), base="fixed")
    assert model.shapes == () and "'l0'" in note and "does not collide" in note


def test_limits_of_minus_one_and_of_the_largest_double_are_none():
    """-1 is what SDF calls no limit; EVE and Atlas with Sandia's hands are published so."""
    hinge = chain(SOUND, SOUND).replace(
        "</joint>",
        '<limit lower="-1.797693134862e+308" upper="1" effort="-1" velocity="1.79e308"/></joint>',
    )
    model, notes = said(hinge.replace("continuous", "revolute"))
    system, at = model.system, model.joint("j1").v_index
    assert system.effort_limit[at] == system.velocity_limit[at] == np.inf
    assert (system.lower[at], system.upper[at]) == (-np.inf, 1.0)
    assert len(notes) == 1 and "'j1'" in notes[0] and "none is stated" in notes[0]


def test_calls_of_macros_that_were_left_over_are_told_and_passed_over():
    """Xacro of old wrote what it did not know into its output: Valkyrie, ROBOTIS OP2."""
    text = chain(SOUND + "<visual><xacro:grey/><geometry><box size='1 1 1'/></geometry></visual>")
    text = text.replace("<robot", '<robot xmlns:xacro="http://ros.org/wiki/xacro"')
    text = text.replace("</robot>", "<xacro:imu port='none'/></robot>")
    model, notes = said(text, base="fixed")
    assert model.link_names == ("l0",)
    (note,) = notes
    assert "'xacro:grey', 'xacro:imu'" in note and "ignored" in note


def test_prefixes_that_nobody_declared_are_those_of_old_gazebo():
    """urdfdom knows no namespaces, and Fetch's description has <sensor:camera>."""
    odd = '</link><gazebo><sensor:camera name="eye"><a:b/></sensor:camera></gazebo>'
    with pytest.raises(ModelError, match="XML syntax error"):
        load_model("<robot")  # what was wrong with another text does not count
    model, notes = said(chain(SOUND).replace("</link>", odd), base="fixed")
    assert model.link_names == ("l0",)
    assert [note.partition(" as it says: ")[2] for note in notes] == [
        "<sensor:camera> of <gazebo> (1: eye): not read"
    ]
    with pytest.raises(ModelError, match="XML syntax error"):
        load_model(chain(SOUND).replace("</link>", odd.replace("</gazebo>", "")))


def test_a_fixed_joint_may_have_an_axis_without_numbers():
    model, notes = said(
        chain(SOUND, SOUND).replace("continuous", "fixed").replace(' xyz="0 0 1"', "")
    )
    assert model.mass == 2.0 and notes == []


def test_a_sound_description_is_loaded_in_silence():
    assert said(chain(SOUND, SOUND))[1] == []


def test_links_without_moments_of_inertia_are_named_once_and_simulated():
    """Point masses off the axes: the pendulum of two points has the closed form's acceleration."""
    model, notes = said(chain("", POINT, POINT), base="fixed")
    assert len(notes) == 1
    for part in ("link 'l1'", "links 'l1', 'l2'", "no moment of inertia", "<inertia>"):
        assert part in notes[0]
    world = World(1e-3, gravity=(0.0, -10.0, 0.0))
    robot = world.add_robot(model)
    world.step(1)
    # two points of 2 kg on a line, at 0.1 and 0.2 + 0.1 from the first hinge, joints free
    M = np.array([[2 * 0.01 + 2 * 0.09, 2 * 0.03], [2 * 0.03, 2 * 0.01]])
    force = -10.0 * np.array([2 * 0.1 + 2 * 0.3, 2 * 0.1])
    assert robot.v / 1e-3 == pytest.approx(np.linalg.solve(M, force), rel=1e-9)


@pytest.mark.parametrize("inertial", [INERTIAL.format(2, 0, 0, 0).replace("0.1 0 0", "0 0 0"), ""])
def test_what_cannot_move_is_refused_with_the_joint_and_a_cure(inertial):
    with pytest.raises(ModelError, match=r"joint 'j1': no inertia resists .*'l1'.*rotor"):
        load_model(chain(SOUND, inertial))


def test_impossible_matter_is_refused_as_before():
    """Mass without which there are moments, and moments that are negative."""
    for odd in (INERTIAL.format(0, 0.1, 0.1, 0.1), INERTIAL.format(1, -0.1, 0.1, 0.1)):
        with pytest.raises(ModelError, match=r"link 'l1'.*accept_nonphysical_inertia=True"):
            load_model(chain(SOUND, odd, SOUND))


def test_accepted_joints_that_nothing_resists_are_named_at_load():
    """They fail at the first step, unless gains resist them."""
    model, notes = said(chain(SOUND, "", ""), accept_nonphysical_inertia=True)
    assert len(notes) == 1
    for part in ("joints 'j2', 'j1'", "links 'l2', 'l1'", "<inertial>", "rotor", "gains"):
        assert part in notes[0]
    world = World(gravity=(0.0, 0.0, 0.0))
    robot = world.add_robot(model)
    with pytest.raises(WorldError, match="moves no positive inertia"):
        world.step(1)
    robot.set_gains(1.0, 0.1)
    robot.command(positions=[0.1, 0.1])
    world.step(100)
    assert np.isfinite(robot.q).all()


def test_a_free_robot_that_is_seen_but_touches_nothing_is_named():
    visual = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
    _, notes = said(chain(SOUND + visual, SOUND + visual))
    assert len(notes) == 1
    for part in ("link 'l0'", "no link has a <collision>", "2 have a <visual>", "'l1'", "falls"):
        assert part in notes[0]
    touching = visual.replace("visual", "collision")
    assert said(chain(SOUND + visual, SOUND + visual + touching))[1] == []
    assert said(chain(SOUND + visual, SOUND + visual), base="fixed")[1] == []


@pytest.mark.parametrize(
    "name, options, parts",
    [
        ("alexander_description/alexander_v1.lowerBodyOnly", {}, ["<collision>", "'RIGHT_FOOT'"]),
        ("icub_description/icub", {}, ["'r_hip_1'", "no moment of inertia"]),
        (
            "romeo_description/romeo",
            {"accept_nonphysical_inertia": True},
            ["'RThumb3'", "no inertia resists", "18 more"],
        ),
    ],
)
def test_published_robots_are_told_about(name, options, parts):
    _, notes = said(ALL_ROBOTS[name], **options)
    (note,) = (n for n in notes if parts[0] in n)
    assert str(ALL_ROBOTS[name]) in note
    for part in parts:
        assert part in note
