# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""USD stages with UsdPhysics: bodies, joints, drives, limits and masses by closed forms."""

import math
import warnings

import numpy as np
import pytest

import hrpsim
from hrpsim import ModelError, ModelWarning

pytest.importorskip("pxr", reason="no usd-core")

HEAD = """#usda 1.0
(
    defaultPrim = "arm"
    metersPerUnit = {meters}
    upAxis = "{up}"
)
"""
BODY = """def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
{{
    float physics:mass = {mass}
    float3 physics:diagonalInertia = (0.1, 0.2, 0.3)
    double3 xformOp:translate = {at}
    uniform token[] xformOpOrder = ["xformOp:translate"]
    {more}
}}
"""
JOINT = """def {kind} "{name}" {apis}
{{
    rel physics:body0 = </arm/a>
    rel physics:body1 = </arm/b>
    {more}
}}
"""


def body(name, at="(0, 0, 0)", mass=2, more=""):
    return BODY.format(name=name, at=at, mass=mass, more=more)


def joint(kind, more, name="j", apis=""):
    apis = f"(prepend apiSchemas = [{apis}])" if apis else ""
    return JOINT.format(kind=f"Physics{kind}", name=name, apis=apis, more=more)


@pytest.mark.parametrize(
    "content, said",
    [
        (body("a", at="(nan, 0, 0)"), "/arm/a: its placement has a number"),
        (
            body("a", more="float3 xformOp:scale = (0, nan, 1)").replace(
                '["xformOp:translate"]', '["xformOp:translate", "xformOp:scale"]'
            ),
            "/arm/a",
        ),
        ("def Xform", "stage.usda:9:"),
    ],
)
def test_faults_name_their_place_without_internal_words(load, content, said):
    """Law: an error names the file, and the prim or the line, but no source of usd-core."""
    with pytest.raises(ModelError, match=said) as error:
        load(content)
    assert "stage.usda" in str(error.value) and "pxr" not in str(error.value)


@pytest.fixture
def load(tmp_path):
    def loaded(*contents, meters=1, up="Z"):
        path = tmp_path / "stage.usda"
        arm = f'def Xform "arm"\n{{\n{"".join(contents)}\n}}\n'
        path.write_text(HEAD.format(meters=meters, up=up) + arm)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return hrpsim.load_model(path)

    return loaded


def turned(axis, angle):
    K = np.cross(np.eye(3), np.array(axis, dtype=float))
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def test_a_hinge_turns_about_its_frame_by_degrees(load):
    """Law: child = frame 0, turn by q, inverse of frame 1; limits and drives are in degrees."""
    more = """uniform token physics:axis = "Y"
    point3f physics:localPos0 = (0, 0, 1)
    point3f physics:localPos1 = (0, 0, -0.5)
    float physics:lowerLimit = -90
    float physics:upperLimit = 45
    float drive:angular:physics:stiffness = 2
    float drive:angular:physics:damping = 0.5
    float drive:angular:physics:maxForce = 7
    float mjc:armature = 0.25"""
    drive = '"PhysicsDriveAPI:angular"'
    model = load(body("a"), body("b", "(0, 0, 1.5)"), joint("RevoluteJoint", more, apis=drive))
    data = model.robot.joints["j"]
    assert (data.lower, data.upper) == pytest.approx((-math.pi / 2, math.pi / 4))
    assert data.gains == pytest.approx((2 * 180 / math.pi, 0.5 * 180 / math.pi))
    assert (data.effort, data.rotor_inertia) == (7.0, 0.25)
    q, angle = model.neutral(), 0.6
    q[model.joint("j").q_index] = angle
    robot = hrpsim.World().add_robot(model, q=q)
    p, _ = robot.link_pose("b")
    expected = np.array((0, 0, 1)) + turned((0, 1, 0), angle) @ (0, 0, 0.5)
    np.testing.assert_allclose(p - robot.link_pose("a")[0], expected, atol=1e-7)


def test_poses_of_the_stage_are_the_keyframe_initial(load):
    """Law: robots start as the stage shows them, also away from zero of their joints."""
    more = 'uniform token physics:axis = "X"'
    model = load(body("a", "(1, 2, 3)"), body("b", "(1.25, 2, 3)"), joint("PrismaticJoint", more))
    robot = hrpsim.World().add_robot(model, q=model.keyframes["initial"])
    np.testing.assert_allclose(robot.link_pose("a")[0], (1, 2, 3))
    np.testing.assert_allclose(robot.link_pose("b")[0], (1.25, 2, 3))


def test_units_and_the_upward_axis_become_metres_and_z(load):
    """Law: y up turns to z up; lengths count in metersPerUnit, inertias in its square."""
    model = load(body("a", "(100, 200, 300)"), meters=0.01, up="Y")
    robot = hrpsim.World().add_robot(model, q=model.keyframes["initial"])
    np.testing.assert_allclose(robot.link_pose("a")[0], (1, -3, 2), atol=1e-12)
    _, _, inertia = model.robot.links["a"].inertial
    np.testing.assert_allclose(inertia, np.diag((0.1, 0.2, 0.3)) * 1e-4, rtol=1e-6)


def test_d6_joints_have_their_free_axes_in_a_row(load):
    """Law: an axis is locked if its low limit is above its high limit."""
    axes = ("transX", "transY", "transZ", "rotX")
    locked = "".join(f"float limit:{axis}:physics:low = 1\n" for axis in axes)
    locked += "".join(f"float limit:{axis}:physics:high = -1\n" for axis in axes)
    apis = ", ".join(f'"PhysicsLimitAPI:{axis}"' for axis in axes)
    model = load(body("a"), body("b"), joint("Joint", locked, apis=apis))
    assert model.joint_names == ("j_y", "j_z")
    fixed = load(body("a"), body("b"), joint("FixedJoint", ""))
    assert (fixed.nv, fixed.mass) == (6, 4.0)
    ball = load(body("a"), body("b"), joint("SphericalJoint", ""))
    assert ball.joint_names == ("j_x", "j_y", "j_z")


def test_masses_follow_from_volumes_where_none_is_stated(load):
    """Law: 1000 kg/m^3, a cube of edge s has m s^2 / 6 about its centre."""
    shape = """def Cube "c" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    { double size = 2
      float3 xformOp:scale = (0.1, 0.1, 0.1)
      double3 xformOp:translate = (0, 0, 1)
      uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }"""
    free = body("a", more=shape).replace("float physics:mass = 2", "")
    free = free.replace("float3 physics:diagonalInertia = (0.1, 0.2, 0.3)", "")
    model = load(free)
    mass, center, inertia = model.robot.links["a"].inertial
    assert mass == pytest.approx(8.0, rel=1e-6)
    np.testing.assert_allclose(center, (0, 0, 1), atol=1e-7)
    np.testing.assert_allclose(inertia, np.eye(3) * 8 * 0.04 / 6, rtol=1e-6, atol=1e-9)
    (cube,) = model.shapes
    np.testing.assert_allclose(cube.geometry.lengths, (0.2, 0.2, 0.2), rtol=1e-6)


def test_joints_that_close_loops_are_connections_and_the_rest_is_named(load):
    other = joint("FixedJoint", "", name="k")
    model = load(body("a"), body("b"), joint("SphericalJoint", ""), other)
    assert [one.kind for one in model.connections] == ["fixed"]
    distance = load(body("a"), body("b"), joint("DistanceJoint", ""))
    assert "joint distance (1: j): not simulated" in distance.not_simulated


@pytest.mark.parametrize(
    "text, why",
    [
        ("no stage", "no USD stage"),
        ("", "no USD stage|empty"),
        (HEAD.format(meters=1, up="Z"), "no prim of the stage has PhysicsRigidBodyAPI"),
        ("version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
    ],
)
def test_what_is_no_robot_is_refused(tmp_path, text, why):
    path = tmp_path / "stage.usda"
    path.write_text(text)
    with pytest.raises(ModelError, match=why):
        hrpsim.load_model(path)


def test_usd_is_refused_where_parsers_in_other_languages_are(tmp_path):
    path = tmp_path / "stage.usda"
    path.write_text(HEAD.format(meters=1, up="Z"))
    with pytest.raises(ModelError, match="USD is not allowed here"):
        hrpsim.load_model(path, allow_mjcf=False)


def cube(name, more="", apis=()):
    listed = ", ".join(f'"{api}"' for api in ("PhysicsCollisionAPI", *apis))
    return f"""def Cube "{name}" (prepend apiSchemas = [{listed}])
    {{ double size = 0.2
      {more}
    }}"""


def massless(name, more):
    made = body(name, more=more).replace("float physics:mass = 2", "")
    return made.replace("float3 physics:diagonalInertia = (0.1, 0.2, 0.3)", "")


WOOD = """def Material "wood" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    {
      float physics:density = 800
    }
    """


def test_the_density_of_a_shape_comes_before_those_of_its_body_and_material(load):
    """Law: mass = density times volume, by shape, else body, else material, as in UsdPhysics."""
    bound = "rel material:binding:physics = </arm/wood>"
    by_material = load(WOOD, massless("a", cube("c", bound, ["MaterialBindingAPI"])))
    assert by_material.mass == pytest.approx(800 * 0.008, rel=1e-6)
    own = bound + "\n float physics:density = 500"
    both = ["MaterialBindingAPI", "PhysicsMassAPI"]
    of_body = massless("a", "float physics:density = 700\n" + cube("c", own, both))
    assert load(WOOD, of_body).mass == pytest.approx(500 * 0.008, rel=1e-6)
    of_body = massless("a", "float physics:density = 700\n" + cube("c", bound, both))
    assert load(WOOD, of_body).mass == pytest.approx(700 * 0.008, rel=1e-6)


def test_a_body_without_shapes_has_the_inertia_of_a_small_ball(load):
    """Law: 0.4 m r^2 with r = 0.1 m, as in UsdPhysics."""
    bare = body("a").replace("float3 physics:diagonalInertia = (0.1, 0.2, 0.3)", "")
    _, _, inertia = load(bare).robot.links["a"].inertial
    np.testing.assert_allclose(inertia, np.eye(3) * 0.4 * 2 * 0.01, rtol=1e-12)


def test_inertias_and_gravity_of_bodies_in_other_schemas_count(load):
    more = """double[] newton:inertia = [2, 3, 4, 0.1, 0.2, 0.3]
    bool physxRigidBody:disableGravity = 1"""
    data = load(body("a", more=more)).robot.links["a"]
    np.testing.assert_allclose(data.inertial[2], [[2, 0.1, 0.2], [0.1, 3, 0.3], [0.2, 0.3, 4]])
    assert data.gravity_compensation == 1.0


def test_velocities_dampings_and_armatures_of_joints_are_in_the_units_of_the_stage(load):
    """Law: angles in degrees, lengths in centimetres here; Newton's value comes before PhysX's."""
    more = """uniform token physics:axis = "X"
    float newton:velocityLimit = 90
    float physxJoint:maxJointVelocity = 10
    float newton:damping = 1
    float physxJoint:armature = 100"""
    hinge = load(body("a"), body("b"), joint("RevoluteJoint", more), meters=0.01).robot.joints["j"]
    assert hinge.velocity == pytest.approx(math.pi / 2)
    assert hinge.damping == pytest.approx(180 / math.pi * 1e-4)
    assert hinge.rotor_inertia == pytest.approx(0.01)
    slide = load(body("a"), body("b"), joint("PrismaticJoint", more), meters=0.01).robot.joints["j"]
    assert (slide.velocity, slide.damping) == pytest.approx((0.9, 1.0))
    assert slide.rotor_inertia == 100.0
    free = more.replace("newton:velocityLimit = 90", "physxJoint:maxJointVelocity = 1000000")
    free = free.replace("float physxJoint:maxJointVelocity = 10\n", "")
    unlimited = load(body("a"), body("b"), joint("RevoluteJoint", free)).robot.joints["j"]
    assert unlimited.velocity == math.inf


FOLLOWERS = {
    "newton": (
        """rel newton:mimicJoint = </arm/j>
        float newton:mimicCoef0 = 90
        float newton:mimicCoef1 = -2""",
        (-2.0, math.pi / 2),
    ),
    "physx": (
        """rel physxMimicJoint:rotX:referenceJoint = </arm/j>
        float physxMimicJoint:rotX:gearing = 3
        float physxMimicJoint:rotX:offset = -45""",
        (-3.0, math.pi / 4),
    ),
}


@pytest.mark.parametrize("schema", FOLLOWERS)
def test_joints_follow_their_leaders(load, schema):
    """Law: Newton's q = c0 + c1 leader, PhysX's q + gearing leader + offset = 0, in degrees."""
    more, (ratio, offset) = FOLLOWERS[schema]
    second = joint("RevoluteJoint", more, name="k").replace("/arm/b", "/arm/c")
    second = second.replace("/arm/a", "/arm/b")
    model = load(body("a"), body("b"), body("c"), joint("RevoluteJoint", ""), second)
    assert model.robot.joints["k"].mimic[0] == "j"
    assert model.robot.joints["k"].mimic[1:] == pytest.approx((ratio, offset))
    alone = load(body("b"), body("c"), second)
    assert "mimic of no joint of one axis (1: k): not simulated" in alone.not_simulated


def test_parts_that_act_in_other_simulators_are_named(load):
    tendon = "rel physxTendon:t:x = </arm/a>"
    hinge = joint("RevoluteJoint", tendon, apis='"PhysxTendonAxisRootAPI:t"')
    damped = "float physxRigidBody:linearDamping = 0.5\nfloat physxRigidBody:angularDamping = 0"
    broken = joint("FixedJoint", "float physics:breakForce = 10", name="k")
    old = 'def DistancePhysicsJoint "rope" {}\n'
    model = load(body("a", more=damped), body("b"), hinge, broken, old)
    assert set(model.not_simulated) == {
        "PhysxTendonAxisRootAPI (1: j): not simulated",
        "physxRigidBody:linearDamping (1: a): not read",
        "physics:breakForce (1: k): not read",
        "joint of the unknown type DistancePhysicsJoint (1: rope): not simulated",
    }


def test_layers_that_cannot_be_opened_are_named(load, tmp_path):
    model = load(body("a"), 'def "visuals" (prepend references = @missing.usd@) {}\n')
    (note,) = model.not_simulated
    assert "missing part of the stage" in note
    assert "missing.usd" in note
    with pytest.raises(ModelError, match=r"PhysicsRigidBodyAPI.*missing\.usd"):
        load('def "visuals" (prepend references = @missing.usd@) {}\n')
