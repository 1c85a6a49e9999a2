# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the formats' own readers take without a word is refused with its place, or told."""

import re
import warnings

import numpy as np
import pytest
from model.mjcf_files import ARM, BIPED, write_biped
from model.openhrp_files import PROTOS, write_robot

from hrpsim import ModelError, ModelWarning, load_model, load_world

NO_NUMBERS = [  # what is replaced in BIPED, by what, the place that is told
    ('pos="0.01 0.02 0.03"', 'pos="0.01 {} 0.03"', "body 'pelvis' / inertial: pos"),
    ('diaginertia="0.2 ', 'diaginertia="{} ', "body 'pelvis' / inertial: diaginertia"),
    ('armature="0.01"', 'armature="{}"', "default / joint: armature"),
    ('damping="0.2"', 'damping="{}"', "default / joint: damping"),
    ('pos="0 0.1 -0.1" euler', 'pos="0 0.1 {}" euler', "body 'pelvis' / body 'l_thigh': pos"),
    ('axis="0 1 0"/>', 'axis="0 {} 0"/>', "body 'r_thigh' / joint: axis"),
    ('springref="-0.1"', 'springref="{}"', "body 'l_thigh' / joint 'l_hip_y': springref"),
    ('friction="1.2"', 'friction="{}"', "body 'l_foot' / geom 'l_sole': friction"),
    ('fromto="0 0 0 0 0 -0.3"', 'fromto="0 {} 0 0 0 -0.3"', "body 'l_thigh' / geom: fromto"),
    ('vertex="0 0 0 ', 'vertex="0 0 {} ', "asset / mesh 'shin': vertex"),
    ('polycoef="0.1 ', 'polycoef="{} ', "equality / joint: polycoef"),
    ('anchor="0 0 -0.35"', 'anchor="0 0 {}"', "equality / connect 'linkage': anchor"),
    ('kp="200"', 'kp="{}"', "actuator / position 'hip': kp"),
    ('biasprm="0 -100', 'biasprm="0 {}', "actuator / general 'affine': biasprm"),
    ('qpos="0 0 1 ', 'qpos="0 0 {} ', "keyframe / key 'bent': qpos"),
    ('gravity="0 0 -9.81"', 'gravity="0 0 {}"', "mujoco / option: gravity"),
]


@pytest.fixture
def mujoco():
    return pytest.importorskip("mujoco", reason="no mujoco")


@pytest.mark.parametrize("word", ["nan", "-inf"])
@pytest.mark.parametrize("was, becomes, place", NO_NUMBERS, ids=lambda text: text)
def test_each_number_of_an_mjcf_is_finite(was, becomes, place, word):
    """MuJoCo takes nan for what is not given: the error names line, element, attribute, word."""
    assert was in BIPED
    text = BIPED.format(meshes=".").replace(was, becomes.format(word), 1)
    line = 1 + next(k for k, at in enumerate(text.splitlines()) if word in at.split("<!--")[0])
    told = f":{line}: {place}: '{word}' is not a finite number"
    with pytest.raises(ModelError, match=re.escape(told)):
        load_model(text)


def test_numbers_of_included_files_are_finite_too(tmp_path):
    """The error names the file that the number is in, for robots as for worlds."""
    (tmp_path / "parts").mkdir()
    arm = tmp_path / "parts" / "arm.xml"
    arm.write_text(ARM.replace('pos="0 0 0.6"', 'pos="0 NaN 0.6"'))
    scene = tmp_path / "scene.xml"
    scene.write_text('<mujoco><include file="parts/arm.xml"/></mujoco>')
    for load in (load_model, load_world):
        with pytest.raises(ModelError, match=rf"^{re.escape(str(arm))}:3: .*'upper': pos: 'NaN'"):
            load(scene)


def test_bounds_may_be_infinite_and_names_may_be_any(mujoco):
    """Law: a range of (-inf, inf) is none; what is called nan or inf is no number."""
    ranged = ARM.replace('range="-90 90"', 'range="-inf inf"').replace('"elbow"', '"nan"')
    ranged = ranged.replace(
        "</mujoco>",
        '<actuator><motor name="inf" joint="nan" forcerange="-3 inf"/></actuator></mujoco>',
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load_model(ranged)
    assert model.joint_names == ("shoulder", "nan")
    assert (model.system.lower == -np.inf).all() and (model.system.effort_limit == np.inf).all()


@pytest.mark.quick_cases("7")
@pytest.mark.parametrize("count", [1, 7, 18])
def test_a_short_keyframe_is_told_and_filled_up(tmp_path, mujoco, count):
    """Law: what is given is kept, the others are as in qpos0, and the key is named.

    Up to 3.3.5 MuJoCo refuses such a file, and so it is refused here.
    """
    path = write_biped(tmp_path)
    with pytest.warns(ModelWarning):
        sound = load_model(path)
    given = re.search(r'qpos="([^"]*)"', path.read_text())[1].split()
    text = re.sub(
        r'(name="bent" qpos=)"[^"]*"', rf'\1"{" ".join(given[:count])}"', path.read_text()
    )
    path.write_text(text)
    try:
        mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        with pytest.raises(ModelError, match="keyframe 0: invalid qpos size"):
            load_model(path)
        return
    told = f"keyframe qpos of {count} numbers (1: bent): {len(given)} are needed; the others"
    with pytest.warns(ModelWarning, match=re.escape(told)):
        model = load_model(path)
    assert told not in str(sound.not_simulated)
    if count == 18:  # all but the last, the hinge of the rod, which the file has at 0
        np.testing.assert_array_equal(model.keyframes["bent"], sound.keyframes["bent"])
    assert model.keyframes["bent"][0] == sound.keyframes["bent"][0]


def test_a_negative_friction_is_refused(mujoco):
    with pytest.raises(ModelError, match=r"geom 'foot': friction -0.5 is negative"):
        load_model(ARM.replace('type="capsule"', 'name="foot" type="capsule" friction="-0.5"', 1))


FIELDS = [
    ("mass 2 ", "mass 2 mass 3 ", "mass of Segment 'THIGH', line 27"),
    ('jointAxis "Y"', 'jointAxis "X" jointAxis "Y"', "jointAxis of Joint 'HIP'"),
    ("llimit [-1]", "llimit [-9] llimit [-1]", "llimit of Joint 'HIP'"),
    ("translation 0 0 0.1", "translation 1 0 0 translation 0 0 0.1", "translation of Gyro 'gyro'"),
    ("radius 0.05", "radius 1 radius 0.05", "radius of Cylinder"),
]


@pytest.mark.parametrize("was, becomes, told", FIELDS)
def test_a_field_that_is_given_twice_is_told(tmp_path, was, becomes, told):
    """Law: in VRML the last one holds; type, name and line of its node are told."""
    path = write_robot(tmp_path, "wrl")
    assert was in path.read_text()
    with pytest.warns(ModelWarning):
        sound = load_model(path)
    path.write_text(path.read_text().replace(was, becomes, 1))
    with pytest.warns(ModelWarning, match=rf"{told}.*: given twice \(1\): the last one holds"):
        model = load_model(path)
    same = was != "mass 2 "
    assert (model.mass == sound.mass) == same and model.joint_names == sound.joint_names
    assert (model.urdf == sound.urdf) == same


def test_a_key_of_a_body_file_that_is_given_twice_is_told(tmp_path):
    """Law: in .body files the last one holds, as in Choreonoid; key, file and line are told."""
    path = write_robot(tmp_path, "body")
    text = path.read_text()
    with pytest.warns(ModelWarning):
        sound = load_model(path)
    line = 2 + next(k for k, at in enumerate(text.splitlines()) if "mass:" in at)
    entry = text.splitlines()[line - 2]
    wrong = re.sub(r"mass: *[\d.]+", "mass: 77", entry)
    path.write_text(text.replace(entry, f"{wrong}\n{entry}", 1))
    told = rf"{path.name}, line {line}: mass: given twice \(1\): the last one holds"
    with pytest.warns(ModelWarning, match=told):
        assert load_model(path).urdf == sound.urdf


def test_fields_of_prototypes_and_other_nodes_are_given_once(tmp_path):
    """Law: a default of a PROTO and a field of the node itself are not the same field twice."""
    path = write_robot(tmp_path, "wrl")
    assert "translation 0 0 0" in PROTOS
    with pytest.warns(ModelWarning):
        assert "twice" not in str(load_model(path).not_simulated)
    (tmp_path / "sole.wrl").write_text(
        "#VRML V2.0 utf8\nShape { geometry Box { size 1 1 1 size 0.2 0.1 0.04 } }\n"
    )
    with pytest.warns(ModelWarning, match=r"size of Box, line 2: given twice \(1\)"):
        load_model(path)


def test_a_file_cut_off_within_its_indentation_is_refused_at_once(tmp_path):
    """Law: the work is linear in the spaces at the end; ways to part them would be 2^400."""
    path = write_robot(tmp_path, "wrl")
    path.write_text(path.read_text()[:1500].rstrip() + "\n" + 200 * " \t" + "# cut")
    with pytest.raises(ModelError, match="VRML syntax error"):
        load_model(path)


@pytest.mark.parametrize("was", ['armature="0.01"', 'range="0 2.2"', 'pos="0.01 0.02 0.03"'])
def test_an_empty_number_of_an_mjcf_is_refused(was):
    """MuJoCo takes it for what is not given."""
    name = was.partition("=")[0]
    with pytest.raises(ModelError, match=f": {name}: is empty"):
        load_model(BIPED.format(meshes=".").replace(was, f'{name}=""', 1))


@pytest.mark.parametrize(
    "kind, was, becomes, told",
    [
        (
            "wrl",
            "rotation 0 0 1 0.3",
            "rotation 0 0 0 0.3",
            "Joint 'HIP': rotation: the axis of a rotation",
        ),
        (
            "wrl",
            "rotation 1 0 0 1.57",
            "rotation 0 0 0 1.57",
            "Transform: rotation: the axis of a rotation",
        ),
        ("wrl", "mass 2 ", "mass 1e200 ", "Segment 'THIGH': mass: every number must be finite and"),
        (
            "body",
            "[ 0, 0, 1, 17.",
            "[ 0, 0, 0, 17.",
            "link 'HIP': rotation: the axis of a rotation",
        ),
        ("body", "[ 1, 0, 0, 180 ]", "[ 0, 0, 0, 180 ]", "rotation: the axis of a rotation"),
        ("body", ", 85.94366926962348 ]", ", -.inf ]", "-inf is not a valid upper bound"),
        ("body", "[ -57.29577951308232,", "[ inf,", "'inf' is not a valid lower bound"),
    ],
)
def test_axes_of_zero_and_bounds_of_the_wrong_sign_are_refused(tmp_path, kind, was, becomes, told):
    path = write_robot(tmp_path, kind)
    assert was in path.read_text()
    path.write_text(path.read_text().replace(was, becomes, 1))
    with pytest.raises(ModelError, match=re.escape(told)):
        load_model(path)


def test_a_second_segment_of_one_name_is_told_and_one_that_is_used_again_is_not(tmp_path):
    """Law: a Segment that was copied by mistake has its mass twice; USE means the same one."""
    path = write_robot(tmp_path, "wrl")
    text = path.read_text()
    before = "CylinderSensorY {"
    copied = "DEF THIGH Segment { mass 2 momentsOfInertia [0.03 0 0 0 0.03 0 0 0 0.01] } "
    path.write_text(text.replace(before, copied + before, 1))
    told = "a second Segment 'THIGH', line 31 (1): both have mass"
    with pytest.warns(ModelWarning, match=re.escape(told)):
        assert load_model(path).mass == pytest.approx(10.5)
    path.write_text(text.replace(before, "USE THIGH " + before, 1))
    with pytest.warns(ModelWarning):
        assert "second" not in str(load_model(path).not_simulated)
