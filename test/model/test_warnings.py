# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is odd about a description, but can be simulated, is said once at load, with its cure."""

import warnings

import numpy as np
import pytest

from hrpsim import World, load_model
from hrpsim.errors import ModelError, ModelWarning, WorldError
from hrpsim.viewer.visuals import visuals_of_model
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
    with pytest.raises(ModelError, match="must be positive"):
        load_model(chain(seen.format('sphere radius="0"').replace("visual", "collision")))


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
