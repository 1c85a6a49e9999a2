# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots of others made ready to walk: what is found in them, what is made, what is missing."""

import re

import numpy as np
import pytest
from control.bipeds import balls, biped, box, shape

import hrpsim
from hrpsim.control import (
    BipedOptions,
    Walk,
    WalkError,
    prepare_biped,
    simulate_walk,
    walking_pattern,
)
from hrpsim.control.biped.anatomy import biped_of
from hrpsim.control.biped.urdf_parts import BUSH_SETS
from hrpsim.control.pattern.gait import Pace
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.control.walk_trial import sole_motion
from robots import EXAMPLE_ROBOTS, HRP2_LIKE

ORDERS = [("yxz", "yx"), ("xyz", "yx"), ("yxz", "xy"), ("zxy", "yx")]
LEG = [f"left_{k}" for k in range(6)]
ROD = (
    '<hrpsim reference="left_5_link">'
    '<connection name="rod" to="left_2_link" kind="distance" length="0.5"/></hrpsim>'
)


def one_ball(ahead):
    return balls(ahead, 1)


def findings(prepared):
    return {finding.what: finding for finding in prepared.findings}


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_legs_and_ankle_axes_are_found_in_any_order(order):
    found = biped_of(hrpsim.load_model(biped(*order)))
    left, right = found.legs
    assert list(left.joints) == LEG and right.joints[0] == "right_0"
    pitch, roll = (4, 5) if order[1] == "yx" else (5, 4)
    assert left.ankle_axes == (LEG[pitch], LEG[roll])
    assert left.ankle_height == pytest.approx(0.07 if pitch == 4 else 0.06)
    assert np.abs(found.R - np.eye(3)).max() == 0.0 and found.above == ()


def test_a_sole_is_read_off_boxes_and_balls():
    """Its frame is beneath the ankle's pitch axis, in the middle of its width."""
    for foot, low, high in (
        (box, (-0.07, -0.05), (0.13, 0.05)),
        (balls, (-0.07, -0.04), (0.13, 0.04)),
    ):
        left = biped_of(hrpsim.load_model(biped(foot=foot))).legs[0]
        assert left.outline.min(axis=0) == pytest.approx(low, abs=1e-12)
        assert left.outline.max(axis=0) == pytest.approx(high, abs=1e-12)
        assert left.sole_p == pytest.approx((0.0, 0.0, -0.06), abs=1e-12)


def test_the_robot_faces_away_from_where_its_knees_take_the_feet():
    """Turned by half, it gets a base link that faces along x, and its left foot on the left."""
    model = hrpsim.load_model(biped(ahead=-1, sense=-1))
    found = biped_of(model)
    assert found.R[:, 0] == pytest.approx((-1.0, 0.0, 0.0))
    prepared = prepare_biped(biped(ahead=-1, sense=-1))
    assert prepared.model.base_link == "walking_base"
    q = prepared.start
    left, right = (hrpsim.link_pose(prepared.model, q, sole) for sole in prepared.soles)
    assert left[0][1] > 0.0 > right[0][1]
    assert np.abs(left[1] - np.eye(3)).max() < 1e-8


@pytest.mark.parametrize("knees", [(-1.05, 1.1), (-1.1, 1.05)])
@pytest.mark.parametrize("ahead", [1, -1])
def test_soles_or_names_tell_the_facing_where_knees_bend_to_both_sides(ahead, knees):
    """Law: forward is where soles are longer, 0.13 to 0.07 m, or what has the left foot left."""
    model = hrpsim.load_model(biped(ahead=ahead, knees=knees))
    found = biped_of(model)
    assert found.R[:, 0] == pytest.approx((ahead, 0.0, 0.0)) and "soles" in found.facing
    assert [leg.joints[0] for leg in found.legs] == ["left_0", "right_0"]
    named = biped_of(model, ("right_5_link", "left_5_link"))  # the other way round
    assert named.R[:, 0] == pytest.approx((-ahead, 0.0, 0.0)) and "named" in named.facing
    even = biped(knees=knees, foot=lambda ahead: box(0))
    with pytest.raises(
        hrpsim.ModelError, match=r"forward direction is unknown\. .*'left_3'.*--left"
    ):
        biped_of(hrpsim.load_model(even))


def test_feet_can_be_named():
    model = hrpsim.load_model(biped())
    found = biped_of(model, ("right_5_link", "left_5_link"))  # the other way round
    assert [leg.joints[0] for leg in found.legs] == ["right_0", "left_0"]
    with pytest.raises(hrpsim.ModelError, match="foot: link 'left_sole' does not exist"):
        biped_of(model, ("left_sole", "right_sole"))
    with pytest.raises(hrpsim.ModelError, match="name both feet, or none"):
        BipedOptions(left_foot="left_5_link")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            biped(foot=lambda ahead: balls(ahead, 1)),
            "foot has no sole. .* 'left_5_link' have 1 points within 2 mm",
        ),
        (re.sub("<collision>.*?</collision>", "", biped()), "has no feet"),
        (biped(ankle="xx"), "no pitch axis. Neither 'left_4' nor 'left_5' turns about the y axis"),
        (biped(ankle="yy"), "no roll axis"),
        (biped(ankle="yy", extra=ROD), r"no roll axis.*closed loops \(rod\) do not walk"),
        (
            biped().replace('name="left_2" type="revolute"', 'name="left_2" type="fixed"'),
            "5 joints",
        ),
        (
            re.sub('(name="(left|right)_2" type=)"revolute"', r'\1"fixed"', biped()),
            "5 joints below the base, .*a leg that walks needs 6 joints: hip 3, knee 1, ankle 2",
        ),
        (
            biped().replace('lower="-0.1" upper="2.4"', 'lower="-2.4" upper="0.1"', 1),
            r"knees 'left_3' \(-2.400 to 0.100 rad\) and 'right_3' .* do not bend the same way",
        ),
    ],
    ids=[
        "no sole",
        "no shapes",
        "no pitch",
        "no roll",
        "loop",
        "five joints",
        "five each",
        "knees",
    ],
)
def test_what_is_missing_is_named(text, message):
    with pytest.raises(hrpsim.ModelError, match=message):
        prepare_biped(text)


def test_gains_follow_from_inertias():
    """Legs: kp = I (2 pi 3 Hz)^2, with I about the ankle of all but the foot, by parallel axes."""
    prepared = prepare_biped(biped())
    model, q = prepared.model, prepared.start
    at = {}  # each link with a mass by itself: every body of this robot is one link
    ankle, R_ankle = hrpsim.link_pose(model, q, "left_5_link")
    axis, inertia = R_ankle[:, 0], 0.0
    for name, frame in model.frames.items():
        if name.startswith("left_5") or name in prepared.soles or frame.body in at:
            continue
        at[frame.body] = name
        p, R = hrpsim.link_pose(model, q, name)
        R_body = R @ frame.R.T
        r = p - R @ frame.R.T @ frame.p + R_body @ model.system.com[frame.body] - ankle
        own = R_body @ model.system.inertia[frame.body] @ R_body.T
        inertia += axis @ own @ axis + model.system.mass[frame.body] * (r @ r - (axis @ r) ** 2)
    kp = inertia * (2.0 * np.pi * 3.0) ** 2
    stated = {model.gains[name] for name in LEG}
    assert len(stated) == 1 and stated.pop()[0] == pytest.approx(kp, rel=0.02)
    assert findings(prepared)["gains"].made


def test_gains_of_the_description_stay():
    own = '<hrpsim reference="left_3"><gains kp="1234" kd="5"/></hrpsim>'
    prepared = prepare_biped(biped(extra=own))
    assert prepared.model.gains["left_3"] == (1234.0, 5.0)
    assert "none for 11 of 12 joints" in findings(prepared)["gains"].text


def test_half_sitting_puts_the_load_on_the_middle_of_level_soles():
    prepared = prepare_biped(biped())
    model, q = prepared.model, prepared.start
    middle = []
    for sole in prepared.soles:
        p, R = hrpsim.link_pose(model, q, sole)
        assert abs(p[2]) < 1e-8 and np.abs(R - np.eye(3)).max() < 1e-8
        middle.append(p[0] + 0.03)
    assert hrpsim.center_of_mass(model, q)[0] == pytest.approx(np.mean(middle), abs=1e-8)
    assert q[model.joint("left_3").q_index] > 0.3


def test_knees_that_bend_little_give_a_straighter_posture():
    text = biped().replace('upper="2.4"', 'upper="0.9"')
    bent, straighter = prepare_biped(biped()).start, prepare_biped(text).start
    assert straighter[2] > bent[2]


def test_hips_of_little_roll_do_not_straighten_the_knees():
    """Law: a limit that is as near however the knees bend, to rounding, leaves them their reach."""
    text = biped().replace('xyz="0 0.08 -0.05"', 'xyz="0 0.0800001 -0.05"')
    narrow = re.sub(r'(name="left_1".*?upper=)"2.0"', r'\1"0.17"', text, flags=re.DOTALL)
    assert narrow != text != biped()
    np.testing.assert_allclose(prepare_biped(narrow).start, prepare_biped(text).start, atol=1e-6)


def test_a_finger_that_mimics_is_held():
    finger = (
        '<link name="finger"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"'
        ' ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="finger" type="revolute">'
        '<parent link="pelvis"/><child link="finger"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="left_3"/></joint>'
    )
    prepared = prepare_biped(biped(extra=finger))
    assert "finger" not in prepared.model.joint_names
    assert findings(prepared)["held"].text == "finger"


def test_bushes_keep_the_mass_and_have_the_published_constants():
    """As those of hrp2_like, beneath the ankle, three a foot."""
    rigid, soft = prepare_biped(biped()), prepare_biped(biped(), BipedOptions(bush_set="jaxon"))
    assert soft.model.mass == pytest.approx(rigid.model.mass, abs=1e-9)
    assert len(soft.model.joint_names) == len(rigid.model.joint_names) + 6
    for name, constants in BUSH_SETS.items():
        own = hrpsim.load_model(HRP2_LIKE, xacro_arguments={"bush": True, "bush_set": name})
        for joint, (k, c, rotor) in (
            ("LLEG_BUSH_Z", constants.slide),
            ("LLEG_BUSH_ROLL", constants.turn),
        ):
            v = own.joint(joint).v_index
            system = own.system
            assert (system.stiffness[v], system.damping[v]) == (k, c)
            assert system.rotor_inertia[v] == pytest.approx(rotor)
    with pytest.raises(hrpsim.ModelError, match="bush set 'soft' does not exist"):
        prepare_biped(biped(), BipedOptions(bush_set="soft"))
    with pytest.raises(hrpsim.ModelError, match="link 'left_5' has the same name as a joint"):
        prepare_biped(biped().replace('"left_5_link"', '"left_5"'), BipedOptions(bush_set="jaxon"))


def test_a_box_can_take_the_place_of_the_feet_s_shapes():
    prepared = prepare_biped(biped(foot=balls), BipedOptions(sole=(0.05, 0.1, 0.09)))
    outline = biped_of(prepared.model).legs[0].outline
    assert outline.min(axis=0) == pytest.approx((-0.05, -0.045))
    assert outline.max(axis=0) == pytest.approx((0.1, 0.045))


def test_the_urdf_that_is_made_is_a_description_like_any_other():
    """It says all that the model has: loaded again, the same masses, gains, sensors and posture."""
    prepared = prepare_biped(biped())
    again = hrpsim.load_model(prepared.urdf)
    assert again.mass == prepared.model.mass and again.gains == prepared.model.gains
    assert [s.name for s in again.sensors] == [s.name for s in prepared.model.sensors]
    assert (again.keyframes["half_sitting"] == prepared.start).all()


@pytest.mark.quick_cases("g1*", "icub*")
@pytest.mark.parametrize(
    "name",
    [
        "talos_data/talos_reduced",
        "romeo_description/romeo_small",
        "g1_description/g1_29dof_rev_1_0",
        "icub_description/icub_reduced",
    ],
)
def test_published_robots_are_made_ready(name):
    """Soles level on the floor, longer than wide: iCub's, once its Y-up meshes are turned."""
    prepared = prepare_biped(EXAMPLE_ROBOTS[name], BipedOptions(accept_nonphysical_inertia=True))
    turned = [finding.text for finding in prepared.findings if finding.what == "meshes"]
    assert [text[:9] for text in turned] == (["56 turned"] if "icub" in name else [])
    for side in prepared.soles:
        length, width = np.ptp(sole_outline(prepared.model, side), axis=0)
        assert 1.2 * width < length
    for side in prepared.soles:
        p, R = hrpsim.link_pose(prepared.model, prepared.start, side)
        assert abs(p[2]) < 1e-6 and np.abs(R - np.eye(3)).max() < 1e-6


def walked(prepared, pattern, duration=np.inf):
    world = hrpsim.World(time_step=1e-3)
    world.add_ground(material="floor")
    world.set_friction("sole", "floor", static=0.8)
    robot = world.add_robot(prepared.model, q=prepared.start)
    robot.command(positions=robot.joint_positions)
    world.settle()
    left, right = prepared.soles
    parameters = {"pattern": pattern, "left_sole": left, "right_sole": right}
    return simulate_walk(robot, Walk(), parameters, duration=duration)


@pytest.mark.quick_cases("sideways*")
@pytest.mark.parametrize(
    ("robot", "options", "pattern"),
    [
        (biped(), BipedOptions(), "forward"),
        (biped(ankle="xy", foot=balls), BipedOptions(), "turn"),
        (biped(ahead=-1, sense=-1), BipedOptions(bush_set="openhrp"), "sideways"),
    ],
    ids=["forward", "turn on balls", "sideways on bushes, facing back"],
)
def test_made_up_bipeds_walk(robot, options, pattern):
    """All steps, upright, and no sole that stands alone creeps by 0.1 mm."""
    prepared = prepare_biped(robot, options)
    trial = walked(prepared, pattern)
    moved = sole_motion(prepared.model, trial)
    assert trial.completed and np.degrees(trial.tilt.max()) < 1.5
    assert moved.creep < 1e-4 and trial.touched == ()
    # Nine steps of 0.2 m and five of 0.05 m with legs of 0.6 m; these have 0.5 m.
    far = {"forward": (1.5, 0.0), "turn": (0.0, 120.0), "sideways": (0.208, 0.0)}[pattern]
    assert moved.distance == pytest.approx(far[0], abs=0.02)
    assert np.degrees(moved.turn) == pytest.approx(far[1], abs=2.0)


def test_an_ankle_that_comes_down_to_the_floor_is_told():
    """A ball between the ankle's axes, 1 mm above the floor: the sway of a walk takes it down."""
    ball = shape((0.0, 0.06, -0.065), '<sphere radius="0.004"/>')
    prepared = prepare_biped(biped(between=ball))
    with pytest.raises(WalkError, match=r"link '.*_4_link' would touch the floor"):
        walking_pattern(prepared.model, "stepping", soles=prepared.soles)
    walking_pattern(prepare_biped(biped()).model, "stepping", soles=prepared.soles)


def test_a_zero_moment_point_further_inside_sways_less():
    """A ball 9.5 mm above the floor: slow steps take it down, but not with half the sole inside."""
    ball = shape((0.0, 0.06, -0.0565), '<sphere radius="0.004"/>')
    prepared = prepare_biped(biped(between=ball))
    slow = Pace(0.4, 2.0)
    with pytest.raises(WalkError, match=r"link '.*_4_link' would touch the floor"):
        walking_pattern(prepared.model, "stepping", soles=prepared.soles, pace=slow)
    inside = slow._replace(inset=0.5)
    pattern = walking_pattern(prepared.model, "stepping", soles=prepared.soles, pace=inside)
    on_left = pattern.contacts[:, 0] & ~pattern.contacts[:, 1]
    ways = pattern.soles[on_left, 0, 1] - pattern.zmp_reference[on_left, 1]
    assert ways == pytest.approx(0.5 * 0.05, abs=1e-9)
