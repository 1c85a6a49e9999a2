# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""An unsound description is refused with file, line, element and cause; nothing is half built."""

import re

import pytest

from hrpsim import ModelError, load_model

INERTIAL = """<inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="5"/>'
ARM = f"""<robot name="arm">
  <link name="base">{INERTIAL}</link>
  <link name="upper">{INERTIAL}
    <collision name="tube"><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
  </link>
  <link name="lower">{INERTIAL}</link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>{LIMIT}
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="lower"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>{LIMIT}
  </joint>
  <!-- more -->
</robot>"""


def arm(*changes: tuple[str, str], more: str = "") -> str:
    """The sound arm with each (old, new) applied where it first occurs, and `more` at its end."""
    text = ARM.replace("<!-- more -->", more)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def in_elbow(old: str, new: str) -> str:
    head, _, tail = ARM.partition('<joint name="elbow"')
    assert old in tail
    return head + '<joint name="elbow"' + tail.replace(old, new, 1)


def in_end(old: str, new: str) -> str:
    head, _, tail = ARM.partition('<link name="lower"')
    assert old in tail
    return head + '<link name="lower"' + tail.replace(old, new, 1)


def refusal(text: str, **options) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(text, **options)
    return str(caught.value)


def test_the_arm_itself_is_sound():
    """Without this the tests below would prove nothing."""
    assert load_model(ARM).joint_names == ("shoulder", "elbow")


def case(name: str, text: str, *parts: str):
    """A description that must be refused with a message that holds all `parts`."""
    return pytest.param(text, parts, id=name)


JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'
SECOND_ROOT = f'<link name="stray">{INERTIAL}</link>'

STRUCTURE = [
    case(
        "unknown parent",
        arm(('parent link="upper"', 'parent link="uper"')),
        "elbow",
        "link 'uper'",
        "Did you mean 'upper'",
    ),
    case(
        "unknown child",
        arm(('child link="lower"', 'child link="hand"')),
        "elbow",
        "link 'hand' does not exist",
        "Available: base, upper, lower",
    ),
    case("two roots", arm(more=SECOND_ROOT), "link 'stray'", "one root link", "'base'"),
    case(
        "two parents",
        arm(more=JOINT.format("again", "fixed", "base", "lower", "")),
        "joint 'again'",
        "'lower'",
        "child of joint 'elbow'",
    ),
    case(
        "cycle",
        arm(('parent link="base"', 'parent link="lower"')),
        "cycle",
        "upper -> lower -> upper",
    ),
    case(
        "cycle of one",
        arm(('parent link="base"', 'parent link="upper"')),
        "cycle",
        "upper -> upper",
    ),
    case("no links", '<robot name="nothing"></robot>', "at least one <link>"),
    case("no robot name", arm((' name="arm"', "")), "robot: attribute 'name'"),
    case("not a robot", "<model/>", "<model>", "the root element of a URDF must be <robot>"),
    case("syntax error", arm(("</robot>", "")), "XML syntax error"),
    case(
        "empty name",
        arm(('link name="base"', 'link name=""')),
        "attribute 'name' is missing or empty",
    ),
    case("duplicate link", arm(more=SECOND_ROOT + SECOND_ROOT), "link 'stray'", "exists already"),
    case("duplicate joint", arm(('"elbow"', '"shoulder"')), "joint 'shoulder'", "exists already"),
    case(
        "no parent", arm(('<parent link="base"/>', "")), "joint 'shoulder'", "<parent> is missing"
    ),
    case("no child", arm(('<child link="upper"/>', "")), "joint 'shoulder'", "<child> is missing"),
    case(
        "twice", arm(('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/>' * 2)), "<axis> is given 2 times"
    ),
    case(
        "unknown joint type",
        arm(('type="revolute"', 'type="revolut"')),
        "joint type 'revolut'",
        "Did you mean 'revolute'",
        "planar",
    ),
    case("no joint type", arm((' type="revolute"', "")), "joint 'shoulder'", "attribute 'type'"),
]

NUMBERS = [
    case(
        "NaN mass",
        arm(('mass value="1"', 'mass value="nan"')),
        "link 'base' / inertial / mass",
        "'nan' is not a finite number",
    ),
    case("infinite inertia", arm(('ixx="1"', 'ixx="inf"')), "inertia", "ixx", "'inf'"),
    case("absurdly large", arm(('mass value="1"', 'mass value="1e300"')), "too large a number"),
    case("word for a number", arm(('izz="1"', 'izz="one"')), "izz", "'one' is not a number"),
    case("missing inertia entry", arm(('izz="1" ', "")), "attribute 'izz' is missing"),
    case("missing mass", arm(('<mass value="1"/>', "")), "<mass> is missing"),
    case(
        "missing inertia",
        arm((INERTIAL, '<inertial><mass value="1"/></inertial>')),
        "<inertia> is missing",
    ),
    case(
        "two of three numbers",
        arm(('origin xyz="0 0 1"', 'origin xyz="0 1"')),
        "elbow",
        "origin",
        "must be 3 numbers, got 2",
    ),
    case("NaN origin", arm(('origin xyz="0 0 1"', 'origin xyz="0 0 NaN"')), "elbow", "'NaN'"),
    case("NaN angle", arm(('origin xyz="0 0 1"', 'origin rpy="nan 0 0"')), "rpy", "'nan'"),
    case("NaN axis", arm(('axis xyz="0 1 0"', 'axis xyz="0 nan 0"')), "axis", "'nan'"),
    case(
        "zero axis",
        arm(('axis xyz="0 1 0"', 'axis xyz="0 0 0"')),
        "joint 'shoulder' / axis",
        "the axis is zero",
    ),
    case("NaN limit", arm(('lower="-1"', 'lower="nan"')), "limit", "lower", "'nan'"),
    case(
        "lower above upper",
        arm(('lower="-1"', 'lower="2"')),
        "lower limit 2 is above the upper limit 1",
    ),
    case("negative effort", arm(('effort="10"', 'effort="-10"')), "effort limit -10 is negative"),
    case(
        "negative velocity", arm(('velocity="5"', 'velocity="-5"')), "velocity limit -5 is negative"
    ),
    case("missing velocity", arm((' velocity="5"', "")), "attribute 'velocity' is missing"),
    case("missing limit", arm((LIMIT, "")), "a revolute joint needs <limit"),
    case(
        "missing limit of a slide",
        arm((LIMIT, ""), ("revolute", "prismatic")),
        "a prismatic joint needs <limit",
    ),
    case(
        "negative damping",
        arm((LIMIT, LIMIT + '<dynamics damping="-1"/>')),
        "damping -1 is negative",
    ),
    case("NaN friction", arm((LIMIT, LIMIT + '<dynamics friction="nan"/>')), "friction", "'nan'"),
    case(
        "flat cylinder",
        arm(('length="0.5"', 'length="0"')),
        "link 'upper' / collision 'tube'",
        "length='0' must be positive",
    ),
    case("NaN radius", arm(('radius="0.1"', 'radius="nan"')), "radius", "'nan'"),
    case(
        "negative box",
        arm(('<cylinder radius="0.1" length="0.5"/>', '<box size="1 -1 1"/>')),
        "box",
        "must be positive",
    ),
    case(
        "unknown geometry", arm(("<cylinder", "<cone")), "geometry 'cone' does not exist", "sphere"
    ),
    case(
        "no geometry",
        arm(('<cylinder radius="0.1" length="0.5"/>', "")),
        "geometry: must have one shape, got 0",
    ),
    case(
        "NaN in a visual",
        arm(
            ("<collision", '<visual><geometry><sphere radius="nan"/></geometry></visual><collision')
        ),
        "visual / geometry / sphere",
        "'nan'",
    ),
]

INERTIA = [
    case(
        "negative mass",
        arm(('mass value="1"', 'mass value="-1"')),
        "link 'base' / inertial / mass",
        "the mass -1 kg is negative",
    ),
    case("zero mass", arm(('mass value="1"', 'mass value="0"')), "link 'base'", "the mass is zero"),
    case(
        "not positive definite",
        arm(('ixx="1"', 'ixx="-1"')),
        "principal moments",
        "not all positive",
    ),
    case(
        "zero inertia at the end",
        in_end('ixx="1" iyy="1" izz="1"', 'ixx="0" iyy="0" izz="0"'),
        "joint 'elbow'",
        "no inertia resists this joint",
        "'lower'",
    ),
    case("triangle inequality", arm(('ixx="1"', 'ixx="2.1"')), "exceeds the sum of the others"),
    case(
        "massless leaf",
        arm((INERTIAL + "</link>\n  <joint", "</link>\n  <joint")),
        "joint 'elbow'",
        "no inertia resists this joint",
        "'lower'",
    ),
    case(
        "massless robot",
        '<robot name="ghost"><link name="a"/></robot>',
        "link 'a'",
        "a free base needs inertia",
    ),
]

MIMICS = [
    case(
        "unknown",
        in_elbow("<axis", '<mimic joint="sholder"/><axis'),
        "joint 'elbow' / mimic",
        "Did you mean 'shoulder'",
    ),
    case("itself", in_elbow("<axis", '<mimic joint="elbow"/><axis'), "the joint follows itself"),
    case(
        "cycle",
        arm(
            ("<axis", '<mimic joint="elbow"/><axis'),
            ('<origin xyz="0 0 1"/>', '<mimic joint="shoulder"/>'),
        ),
        "joints follow each other",
    ),
    case(
        "NaN",
        in_elbow("<axis", '<mimic joint="shoulder" multiplier="nan"/><axis'),
        "multiplier",
        "'nan'",
    ),
    case(
        "fixed leader",
        arm(
            more=f'<link name="tip">{INERTIAL}</link><link name="jaw">{INERTIAL}</link>'
            + JOINT.format("weld", "fixed", "lower", "tip", "")
            + JOINT.format("jaw", "continuous", "tip", "jaw", '<mimic joint="weld"/>')
        ),
        "joint 'jaw' / mimic",
        "'weld' is fixed",
    ),
]


@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize(("text", "parts"), STRUCTURE + NUMBERS + MIMICS)
def test_unsound_descriptions_are_refused_with_element_and_cause(text, parts, base):
    message = refusal(text, base=base)
    assert message.startswith("<text>")
    for part in parts:
        assert part in message


@pytest.mark.parametrize(("text", "parts"), INERTIA)
def test_what_no_matter_can_have_is_refused_where_it_moves(text, parts):
    message = refusal(text)
    for part in parts:
        assert part in message


def test_errors_name_the_file_and_the_line(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(arm(('lower="-1"', 'lower="2"')))
    line = (
        path.read_text()
        .splitlines()
        .index(next(row for row in path.read_text().splitlines() if 'lower="2"' in row))
    )
    assert refusal(path).startswith(f"{path}:{line + 1}: joint 'shoulder' / limit: ")


def test_a_syntax_error_names_the_line(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(arm(('<link name="lower">', '<link name="lower>')))
    assert re.match(rf"{re.escape(str(path))}:\d+: XML syntax error", refusal(path))


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("nowhere/robot.urdf", "nowhere/robot.urdf: cannot be read: No such file"),
        ("", "must be a path, or XML text"),
        ("two\nlines", "must be a path, or XML text"),
        (42, "must be a text or a path, got 42"),
        (None, "must be a text or a path, got None"),
    ],
)
def test_a_source_that_is_no_description_is_refused(source, part):
    assert part in refusal(source)


def test_a_folder_is_not_a_description(tmp_path):
    assert f"{tmp_path}: cannot be read" in refusal(tmp_path)


def test_binary_is_not_a_description(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(b"\xff\xfe\x00<robot")
    assert "is not text" in refusal(path)


@pytest.mark.parametrize(
    ("mass", "cause"),
    [
        ("1", "a document type or entities are not allowed"),
        ("&mass;", "a document type or entities are not allowed"),
    ],
)
def test_entities_are_refused_used_or_not(tmp_path, mass, cause):
    secret = tmp_path / "secret"
    secret.write_text("1")
    doctype = f'<!DOCTYPE robot [<!ENTITY mass SYSTEM "{secret}">]>'
    told = refusal(doctype + arm(('mass value="1"', f'mass value="{mass}"')))
    assert cause in told


def test_an_unknown_base_is_refused():
    assert "base 'floating' does not exist. Available: free, fixed" in refusal(ARM, base="floating")


def test_parts_of_a_body_may_be_odd_if_the_whole_is_sound():
    """Only the sum of rigidly joined links is seen by physics; published robots rely on it."""
    odd = INERTIAL.replace('ixx="1"', 'ixx="-0.01"').replace('value="1"', 'value="0.001"')
    weld = f'<link name="nail">{odd}</link>' + JOINT.format("weld", "fixed", "lower", "nail", "")
    assert load_model(arm(more=weld)).mass == pytest.approx(3.001)


def test_a_whole_that_is_not_sound_names_all_its_links():
    odd = INERTIAL.replace('ixx="1"', 'ixx="-2"')
    weld = f'<link name="nail">{odd}</link>' + JOINT.format("weld", "fixed", "lower", "nail", "")
    message = refusal(arm(more=weld))
    assert "link 'lower': non-physical inertia together with 'nail', fixed to it" in message


def test_rounded_inertia_of_a_thin_plate_is_accepted():
    text = arm(('ixx="1" iyy="1" izz="1"', 'ixx="0.0333" iyy="0.0333" izz="0.06665"'))
    assert load_model(text).mass == 3.0


def test_accepting_nonphysical_inertia_is_a_choice():
    text = arm(('ixx="1"', 'ixx="5"'))
    assert "accept_nonphysical_inertia=True" in refusal(text)
    assert load_model(text, accept_nonphysical_inertia=True).system.inertia[0, 0, 0] == 5.0


def test_accepting_nonphysical_inertia_does_not_accept_a_robot_without_mass():
    ghost = '<robot name="ghost"><link name="a"/></robot>'
    assert "no moving link has a mass" in refusal(ghost, accept_nonphysical_inertia=True)


def test_accepting_is_no_cure_for_a_robot_without_mass():
    """Law: a description made for drawings is refused by what accepting it would be refused by."""
    drawn = arm().replace(INERTIAL, "")
    assert "no moving link has a mass" in refusal(drawn, base="fixed")
    assert "accept_nonphysical_inertia" not in refusal(drawn, base="fixed")


def test_two_massless_coaxial_joints_are_refused():
    """The link between them could spin at any rate: the mass matrix is singular."""
    text = arm((f'<link name="upper">{INERTIAL}', '<link name="upper">'))
    text = text.replace('<origin xyz="0 0 1"/>', "")
    assert "no inertia resists this joint" in refusal(text)
