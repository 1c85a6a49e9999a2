# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""URDF 1.1 and 1.2: quaternions, capsules, limits, as urdfdom 6 reads them for Pinocchio."""

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from hrpsim import Capsule, ModelError, load_model
from hrpsim.model.visuals import visuals_of_model

INERTIAL = """<inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
CAPSULE = '<capsule radius="0.1" length="0.5"/>'
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="6"/>'
PARTS = st.floats(-2.0, 2.0)


def pendulum(version="1.0", origin="", shape='<box size="1 1 1"/>', limit=LIMIT) -> str:
    """A link that hangs, seen and touched as a shape, on a fixed base."""
    origin = f"<origin {origin}/>"
    seen = f"{origin}<geometry>{shape}</geometry>"
    return f"""<robot name="r" version="{version}"><link name="a"/><link name="b">{INERTIAL}
      <visual>{seen}</visual><collision>{seen}</collision></link>
      <joint name="j" type="revolute">{origin}<parent link="a"/><child link="b"/>
      <axis xyz="0 0 1"/>{limit}</joint></robot>"""


@given(parts=st.tuples(PARTS, PARTS, PARTS, PARTS).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_a_quaternion_turns_as_in_pinocchio(parts):
    """Law: joint, shape and visual stand as Pinocchio's; a quaternion has any length."""
    text = pendulum("1.1", f'xyz="0 0 1" quat_xyzw="{" ".join(map(repr, parts))}"')
    model, oracle = load_model(text, base="fixed"), pinocchio.buildModelFromXML(text)
    R = oracle.jointPlacements[1].rotation
    assert np.abs(model.system.placement_R[0] - R).max() < 1e-12
    assert np.abs(model.shapes[0].R - R).max() < 1e-12
    assert np.abs(visuals_of_model(model)[0].placement.R - R).max() < 1e-12
    assert np.array_equal(model.shapes[0].p, [0.0, 0.0, 1.0])


def test_a_capsule_is_pinocchios():
    """Law: its length is that of the cylinder between the hemispheres."""
    text = pendulum("1.1", shape=CAPSULE)
    oracle = pinocchio.buildGeomFromUrdfString(
        pinocchio.buildModelFromXML(text), text, pinocchio.GeometryType.COLLISION
    )
    capsule = oracle.geometryObjects[0].geometry
    for version in ("1.0", "1.1"):
        model = load_model(pendulum(version, shape=CAPSULE), base="fixed")
        expected = Capsule(capsule.radius, 2.0 * capsule.halfLength)
        assert model.shapes[0].geometry == expected
        assert visuals_of_model(model)[0].geometry == expected


def test_in_1_2_effort_and_velocity_are_unlimited_where_they_are_missing():
    """Law: those of Pinocchio; lower and upper are needed."""
    limit = '<limit lower="-1" upper="2"/>'
    text = pendulum("1.2", limit=limit)
    system, oracle = load_model(text, base="fixed").system, pinocchio.buildModelFromXML(text)
    assert system.effort_limit[0] == oracle.upperEffortLimit[0] == np.inf
    assert system.velocity_limit[0] == oracle.upperVelocityLimit[0] == np.inf
    assert (system.lower[0], system.upper[0]) == (-1.0, 2.0)
    with pytest.raises(ModelError, match="attribute 'effort' is missing"):
        load_model(pendulum("1.1", limit=limit))
    with pytest.raises(ModelError, match="joint 'j' / limit: attribute 'upper' is missing"):
        load_model(pendulum("1.2", limit='<limit lower="-1"/>'))


@pytest.mark.parametrize(
    "version, origin, message",
    [
        ("2.0", "", "version of URDF '2.0' does not exist. Available: 1.0, 1.1, 1.2|Did you mean"),
        ("1", "", "version of URDF '1' does not exist"),
        ("1.0", 'quat_xyzw="0 0 0 1"', 'needs <robot version="1.1">'),
        ("1.1", 'quat_xyzw="0 0 0 1" rpy="0 0 1"', "are both given. Remove one"),
        ("1.1", 'quat_xyzw="0 0 0 0"', "has no direction"),
        ("1.1", 'quat_xyzw="0 0 0"', "must be 4 numbers, got 3"),
    ],
)
def test_what_a_version_does_not_have_is_refused_with_the_cure(version, origin, message):
    with pytest.raises(ModelError, match=message):
        load_model(pendulum(version, origin))


def test_the_text_stays_as_it_was():
    """robot_description carries the file's own text."""
    text = pendulum("1.1", 'quat_xyzw="0 0 0 1"')
    model = load_model(text, base="fixed")
    assert model.urdf == text
    assert etree.fromstring(model.urdf).get("version") == "1.1"
