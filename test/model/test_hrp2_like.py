# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrp2_like has HRP-2's published dimensions, and other tools read the same robot from it."""

import mujoco
import numpy as np
import pinocchio
import pytest

from hrpsim import Box, Capsule, ModelError, load_model, mass_matrix
from hrpsim.model.load import expand_xacro
from hrpsim.model.system import FIXED
from robots import HRP2_LIKE

DRIVEN = (
    [f"CHEST_JOINT{i}" for i in range(2)]
    + [f"HEAD_JOINT{i}" for i in range(2)]
    + [f"{side}ARM_JOINT{i}" for side in "LR" for i in range(7)]
    + [f"{side}LEG_JOINT{i}" for side in "LR" for i in range(6)]
)
BUSHES = [f"{side}LEG_BUSH_{axis}" for side in "LR" for axis in ("Z", "PITCH", "ROLL")]
HALF_SITTING_LEG = (0.0, 0.0, -0.4538, 0.8727, -0.4189, 0.0)
HALF_SITTING_WAIST = 0.6487
VARIANTS = [{}, {"bush": True}, {"bush": True, "bush_set": "jaxon"}]


@pytest.fixture(scope="module", params=VARIANTS, ids=["rigid", "bush", "jaxon"])
def model(request):
    return load_model(HRP2_LIKE, xacro_arguments=request.param)


@pytest.fixture(scope="module")
def oracle(model):
    """Pinocchio's model of the same text, with its data."""
    built = pinocchio.buildModelFromXML(model.urdf, pinocchio.JointModelFreeFlyer())
    return built, built.createData()


def has_bushes(model) -> bool:
    return "LLEG_BUSH_Z" in model.joint_names


def half_sitting(built) -> np.ndarray:
    q = pinocchio.neutral(built)
    q[2] = HALF_SITTING_WAIST
    for side in "LR":
        for i, angle in enumerate(HALF_SITTING_LEG):
            q[built.joints[built.getJointId(f"{side}LEG_JOINT{i}")].idx_q] = angle
    return q


def test_it_has_30_driven_joints_and_6_bush_joints(model):
    assert sorted(model.joint_names) == sorted(DRIVEN + (BUSHES if has_bushes(model) else []))
    assert set(model.gains) == set(DRIVEN)
    assert model.command_interfaces == dict.fromkeys(model.command_interfaces, ("position",))
    assert set(model.command_interfaces) == set(DRIVEN)


def test_it_weighs_58_kg(model):
    assert model.mass == pytest.approx(58.0, abs=1e-12)


def test_each_leg_weighs_the_same_with_and_without_bushes(model):
    names = [name for name in model.link_names if name.startswith("LLEG")]
    bodies = {model.frame(name).body for name in names}
    assert sum(model.system.mass[b] for b in bodies) == pytest.approx(9.0, abs=1e-12)


def test_left_and_right_mirror_each_other(model, oracle):
    built, data = oracle
    com = pinocchio.centerOfMass(built, data, half_sitting(built))
    assert com[1] == pytest.approx(0.0, abs=1e-15)
    limits = {j.name: (model.system.lower[j.v_index], model.system.upper[j.v_index])
              for j in model.joints[1:]}  # fmt: skip
    axes = {j.name: model.system.placement_R[j.body][:, 2] for j in model.joints[1:]}
    for name in [n for n in model.joint_names if n[0] == "L"]:
        mirror = "R" + name[1:]
        about_y = name.endswith(("BUSH_Z", "BUSH_PITCH")) or abs(link_axis(model, name)[1]) == 1.0
        lower, upper = limits[name]
        assert limits[mirror] == pytest.approx((lower, upper) if about_y else (-upper, -lower))
        assert axes[mirror] == pytest.approx(axes[name])


def link_axis(model, joint_name: str) -> np.ndarray:
    """The joint axis in the frame of the link that the joint moves."""
    body = model.joint(joint_name).body
    link = next(f for f in model.frames.values() if f.body == body)
    return link.R[2]


def test_it_is_1_54_m_tall_with_straight_legs(model, oracle):
    built, data = oracle
    pinocchio.framesForwardKinematics(built, data, pinocchio.neutral(built))
    sole = data.oMf[built.getFrameId("l_sole")].translation[2]
    head = next(shape for shape in model.shapes if shape.name == "head")
    neck = data.oMf[built.getFrameId("HEAD_LINK1")].translation[2]
    top = neck + (model.frame("HEAD_LINK1").R.T @ head.p)[2] + 0.5 * head.geometry.lengths[2]
    assert sole == pytest.approx(-0.705, abs=1e-12)
    assert top - sole == pytest.approx(1.54, abs=1e-3)


def test_half_sitting_puts_both_soles_flat_on_the_floor(oracle):
    built, data = oracle
    pinocchio.framesForwardKinematics(built, data, half_sitting(built))
    for name, y in (("l_sole", 0.095), ("r_sole", -0.095)):
        sole = data.oMf[built.getFrameId(name)]
        assert sole.translation == pytest.approx([0.0095, y, 0.0], abs=1e-4)
        assert sole.rotation == pytest.approx(np.eye(3), abs=1e-12)


def test_half_sitting_stands_over_the_soles(oracle):
    built, data = oracle
    com = pinocchio.centerOfMass(built, data, half_sitting(built))
    ankle = 0.0095
    assert ankle - 0.10 + 0.05 < com[0] < ankle + 0.14 - 0.05


def test_thigh_and_shank_are_30_cm_and_the_ankle_10_5_cm_high(oracle):
    built, data = oracle
    pinocchio.framesForwardKinematics(built, data, pinocchio.neutral(built))
    height = {
        name: data.oMf[built.getFrameId(name)].translation[2]
        for name in ("BODY", "LLEG_LINK2", "LLEG_LINK3", "LLEG_LINK5", "l_sole")
    }
    assert height["BODY"] == height["LLEG_LINK2"]
    assert height["LLEG_LINK2"] - height["LLEG_LINK3"] == pytest.approx(0.30)
    assert height["LLEG_LINK3"] - height["LLEG_LINK5"] == pytest.approx(0.30)
    assert height["LLEG_LINK5"] - height["l_sole"] == pytest.approx(0.105)


def test_soles_are_flat_boxes_of_the_sole_material(model):
    soles = [shape for shape in model.shapes if shape.material == "sole"]
    assert [shape.name for shape in soles] == ["LLEG_sole", "RLEG_sole"]
    assert soles[0].geometry == Box((0.24, 0.14, 0.03))
    frame = model.frame("l_sole")
    bottom = frame.R.T @ (soles[0].p - frame.p)
    assert bottom == pytest.approx([0.02, 0.0, 0.015], abs=1e-15)


def test_geometry_is_boxes_and_capsules(model):
    assert {type(shape.geometry) for shape in model.shapes} == {Box, Capsule}


def test_sensors_are_named_as_controllers_expect(model):
    sensors = {sensor.name: sensor for sensor in model.sensors}
    assert set(sensors) == {"lfsensor", "rfsensor", "lhsensor", "rhsensor", "imu"}
    for name, sole in (("lfsensor", "l_sole"), ("rfsensor", "r_sole")):
        sensor, frame = sensors[name], model.frame(sole)
        assert sensor.tare
        assert sensor.body == frame.body
        assert sensor.p == pytest.approx(frame.p, abs=1e-15)
        assert sensor.R == pytest.approx(frame.R, abs=1e-15)
    assert sensors["imu"].kind == "imu"
    assert sensors["imu"].p.tolist() == [0, 0, 0]


def test_what_a_foot_sensor_tares_is_only_what_hangs_beneath_it(model):
    body = next(s.body for s in model.sensors if s.name == "lfsensor")
    assert (model.system.joint_type[body] == FIXED) == (not has_bushes(model))
    assert model.system.mass[body] == pytest.approx(0.6)
    assert body not in model.system.parent


def test_without_bushes_it_is_the_robot_whose_bushes_stay_at_zero():
    """Base and driven joints have the same mass matrix: a motion means the same to both."""
    angles = dict(zip(DRIVEN, np.random.default_rng(3).uniform(-0.5, 0.5, len(DRIVEN))))
    matrices = []
    for bush in (False, True):
        model = load_model(HRP2_LIKE, xacro_arguments={"bush": bush})
        q, common = model.neutral(), list(range(6))
        for name, angle in angles.items():
            q[model.joint(name).q_index] = angle
            common.append(model.joint(name).v_index)
        matrices.append(mass_matrix(model, q)[np.ix_(common, common)])
    np.testing.assert_allclose(matrices[0], matrices[1], atol=1e-12)


def test_bushes_have_published_constants():
    published = {
        "openhrp": ((5.0e5, 1.0e3, 0.1), (1.0e3, 25.0, 0.014)),
        "jaxon": ((1.1e6, 1.1e3, 0.07), (2.5e3, 2.5, 0.01)),
    }
    for name, (slide, turn) in published.items():
        model = load_model(HRP2_LIKE, xacro_arguments={"bush": True, "bush_set": name})
        for joint in BUSHES:
            v, system = model.joint(joint).v_index, model.system
            given = (system.stiffness[v], system.damping[v], system.rotor_inertia[v])
            assert given == (slide if joint.endswith("Z") else turn)


def test_gains_are_jvrc_1s():
    gains = load_model(HRP2_LIKE).gains
    leg = [gains[f"RLEG_JOINT{i}"] for i in range(6)]
    assert leg == [(5000, 30)] * 3 + [(6000, 50)] + [(3000, 20)] * 2


def test_an_unknown_bush_set_is_refused_with_those_that_exist():
    with pytest.raises(ModelError, match=r"bush_set x does not exist. Available: openhrp, jaxon"):
        load_model(HRP2_LIKE, xacro_arguments={"bush": True, "bush_set": "x"})


def test_pinocchio_reads_the_same_robot(model, oracle):
    built, data = oracle
    assert (built.nq, built.nv) == (model.nq, model.nv)
    assert list(built.names)[2:] == list(model.joint_names)
    assert pinocchio.computeTotalMass(built) == pytest.approx(model.mass, rel=1e-15)
    pinocchio.framesForwardKinematics(built, data, half_sitting(built))
    assert len({frame.name for frame in built.frames} & set(model.link_names)) == len(model.frames)


def test_mujoco_reads_the_same_robot(model):
    fixed = load_model(model.urdf, base="fixed")
    compiled = mujoco.MjModel.from_xml_string(model.urdf)
    names = {compiled.joint(i).name for i in range(compiled.njnt)}
    assert names == set(fixed.joint_names)
    assert compiled.body_mass.sum() == pytest.approx(fixed.mass, rel=1e-12)
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    heights = [data.geom(shape.name).xpos[2] for shape in fixed.shapes if shape.name == "head"]
    assert heights == [pytest.approx(0.755, abs=1e-3)]


def test_robot_description_is_plain_urdf_of_the_same_robot(model):
    assert load_model(model.urdf).joint_names == model.joint_names
    assert "xacro:" not in expand_xacro(HRP2_LIKE, {"bush": False})
