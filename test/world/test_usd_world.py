# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""USD stages as worlds: robots, scenery, gravity and materials, by closed forms."""

import math
import warnings

import numpy as np
import pytest

import hrpsim
from hrpsim import ModelWarning, WorldError

pytest.importorskip("pxr", reason="no usd-core")

HEAD = '#usda 1.0\n(\n    defaultPrim = "W"\n    metersPerUnit = {}\n    upAxis = "{}"\n)\n'
SCENE = """def PhysicsScene "scene"
{
    vector3f physics:gravityDirection = (0, 0, -1)
    float physics:gravityMagnitude = 10
}
"""
FLOOR = 'def Plane "floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{}\n'
RUBBER = """def Material "rubber" (prepend apiSchemas = ["PhysicsMaterialAPI"])
{
    float physics:staticFriction = 0.9
    float physics:dynamicFriction = 0.7
}
"""


def cube(name, at, *, edge=0.2, apis=("PhysicsRigidBodyAPI",), more=""):
    listed = ", ".join(f'"{api}"' for api in ("PhysicsCollisionAPI", *apis))
    return f"""def Cube "{name}" (prepend apiSchemas = [{listed}])
{{
    double size = {edge}
    double3 xformOp:translate = {at}
    uniform token[] xformOpOrder = ["xformOp:translate"]
    {more}
}}
"""


@pytest.fixture
def load(tmp_path):
    def loaded(*contents, meters=1, up="Z", **settings):
        path = tmp_path / "stage.usda"
        path.write_text(HEAD.format(meters, up) + f'def Xform "W"\n{{\n{"".join(contents)}\n}}\n')
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return hrpsim.load_world(path, **settings)

    return loaded


def test_bodies_without_a_common_joint_are_robots_of_their_own(load):
    """Law: each group of connected bodies is a robot, where the stage shows the group."""
    arm = f"""def Xform "arm" {{
    {cube("upper", "(0, 0, 2)")}
    {cube("lower", "(0, 0, 1.5)")}
    def PhysicsRevoluteJoint "elbow"
    {{
        rel physics:body0 = </W/arm/upper>
        rel physics:body1 = </W/arm/lower>
        point3f physics:localPos1 = (0, 0, 0.5)
    }}
    }}
    """
    world = load(arm, cube("a", "(3, 0, 1)"), cube("b", "(4, 5, 1)"))
    assert sorted(world.robots) == ["a", "arm", "b"]
    assert world.robots["arm"].joint_names == ("elbow",)
    np.testing.assert_allclose(world.robots["b"].link_pose("b")[0], (4, 5, 1))


def test_a_joint_to_the_world_holds_a_pendulum(load):
    """Law: small swings of a cube on an arm have the period of a physical pendulum, g = 10."""
    angle, length, edge = 0.02, 1.0, 0.2
    at = f"({length * math.sin(angle)}, 0, {-length * math.cos(angle)})"
    turned = f"quatd xformOp:orient = ({math.cos(angle / 2)}, 0, {-math.sin(angle / 2)}, 0)"
    bob = cube("bob", at, more=turned).replace(
        '["xformOp:translate"]', '["xformOp:translate", "xformOp:orient"]'
    )
    hinge = """def PhysicsRevoluteJoint "hinge"
    {
        rel physics:body1 = </W/bob>
        uniform token physics:axis = "Y"
        point3f physics:localPos1 = (0, 0, 1)
    }
    """
    world = load(SCENE, bob, hinge)
    (robot,) = world.robots.values()
    start = robot.q[0]
    assert abs(start) == pytest.approx(angle, rel=1e-5)
    period = 2 * math.pi * math.sqrt((length**2 + edge**2 / 6) / (10 * length))
    world.step(round(period / 2 / world.time_step))
    assert robot.q[0] == pytest.approx(-start, rel=1e-4)


def test_kinematic_bodies_and_shapes_of_no_body_are_fixed(load):
    """Law: a cube rests on a kinematic table above a plane, and nothing else moves."""
    kinematic = "bool physics:kinematicEnabled = 1"
    table = cube("table", "(3, 0, 0.5)", edge=1, more=kinematic)
    world = load(SCENE, FLOOR, table, cube("box", "(3, 0, 1.1)"), cube("low", "(0, 0, 0.1)"))
    assert sorted(world.robots) == ["box", "low"]
    world.step(300)
    for name, place in (("box", (3, 0, 1.1)), ("low", (0, 0, 0.1))):
        np.testing.assert_allclose(world.robots[name].link_pose(name)[0], place, atol=1e-6)


def test_a_pair_has_the_mean_friction_of_both_materials(load):
    """Law: a cube of rubber (0.7) on a floor without a material (0.5) slows by 0.6 g."""
    binding = "rel material:binding:physics = </W/rubber>"
    apis = ("PhysicsRigidBodyAPI", "MaterialBindingAPI")
    world = load(SCENE, RUBBER, FLOOR, cube("box", "(0, 0, 0.1)", apis=apis, more=binding))
    robot = world.robots["box"]
    v = robot.v.copy()
    v[:3] = (3, 0, 0)
    robot.v = v
    world.step(200)
    place = robot.link_pose("box")[0][0]
    assert place == pytest.approx(3 * 0.2 - 0.5 * 6 * 0.2**2, abs=2e-3)


def test_a_material_with_dynamic_friction_alone_holds(load):
    """Law: 0.7 on 0.5 hold a cube on a slope of 0.5, whose static friction is not stated."""
    rubber = RUBBER.replace("    float physics:staticFriction = 0.9\n", "")
    binding = "rel material:binding:physics = </W/rubber>"
    apis = ("PhysicsRigidBodyAPI", "MaterialBindingAPI")
    slope = SCENE.replace("(0, 0, -1)", "(0.5, 0, -1)")
    world = load(slope, rubber, FLOOR, cube("box", "(0, 0, 0.1)", apis=apis, more=binding))
    world.step(200)
    np.testing.assert_allclose(world.robots["box"].link_pose("box")[0][:2], 0.0, atol=1e-6)


def test_what_a_robot_lacks_is_in_the_warning(tmp_path):
    """Law: notes of robots are in the warning of the world, and in `not_simulated`."""
    joint = 'def PhysicsDistanceJoint "rope"\n{\n    rel physics:body1 = </W/box>\n}\n'
    path = tmp_path / "stage.usda"
    content = FLOOR + cube("box", "(0, 0, 0.1)") + joint
    path.write_text(HEAD.format(1, "Z") + f'def Xform "W"\n{{\n{content}\n}}\n')
    with pytest.warns(ModelWarning, match="joint distance"):
        world = hrpsim.load_world(path)
    assert "joint distance" in " ".join(world.robots["box"].model.not_simulated)


@pytest.mark.parametrize(
    ("scene", "why"),
    [
        (RUBBER.replace("0.9", "-1"), "friction must be >= 0"),
        (RUBBER.replace("0.9", "nan"), "friction must be >= 0"),
        (SCENE.replace("}", "    float newton:timeStepsPerSecond = 1e-3\n}"), "time_step"),
    ],
)
def test_values_that_no_world_has_are_refused_with_the_file(load, scene, why):
    binding = "rel material:binding:physics = </W/rubber>"
    apis = ("PhysicsRigidBodyAPI", "MaterialBindingAPI")
    with pytest.raises(hrpsim.HrpsimError, match=rf"stage.usda: .*{why}"):
        load(scene, FLOOR, cube("box", "(0, 0, 0.1)", apis=apis, more=binding))


def test_units_turn_gravity_and_scenery(load):
    """Law: in centimetres with y up, a plane of axis Y is the floor, and gravity is downward."""
    floor = FLOOR.replace("{}", '{\n    uniform token axis = "Y"\n}')
    world = load(floor, cube("box", "(0, 10, 0)", edge=20), meters=0.01, up="Y")
    np.testing.assert_allclose(world.gravity, (0, 0, -9.81))
    world.step(200)
    place = world.robots["box"].link_pose("box")[0]
    np.testing.assert_allclose(place, (0, 0, 0.1), atol=1e-6)


def test_a_stage_without_solids_is_refused(load):
    with pytest.raises(WorldError, match="neither a rigid body nor a shape that collides"):
        load(SCENE)


GROUP = """def PhysicsCollisionGroup "{name}"
{{
    prepend rel collection:colliders:includes = [{members}]
    rel physics:filteredGroups = </W/{other}>
}}
"""


def lowest(world, name):
    return world.robots[name].link_pose(name)[0][2]


def test_filtered_pairs_and_groups_fall_through_each_other(load):
    """Law: filtered bodies never collide, others do: a stack of cubes of 0.2 m on a floor."""
    floor = FLOOR.format("{}")
    pair = "rel physics:filteredPairs = </W/low>"
    low = cube("low", "(0, 0, 0.1)")
    for filters, at in (("", 0.3), (pair, 0.1)):
        apis = ("PhysicsRigidBodyAPI", "PhysicsFilteredPairsAPI")
        world = load(floor, low, cube("high", "(0, 0, 0.35)", apis=apis, more=filters))
        world.step(600)
        assert lowest(world, "high") == pytest.approx(at, abs=2e-3)
    groups = GROUP.format(name="one", members="</W/low>", other="one")
    groups += GROUP.format(name="two", members="</W/high>", other="two")
    world = load(floor, low, cube("high", "(0, 0, 0.35)"), groups)
    world.step(600)
    assert lowest(world, "high") == pytest.approx(0.3, abs=2e-3)
    groups = groups.replace("Groups = </W/two>", "Groups = </W/one>")
    world = load(floor, low, cube("high", "(0, 0, 0.35)"), groups)
    world.step(600)
    assert lowest(world, "high") == pytest.approx(0.1, abs=2e-3)
    groups = GROUP.format(name="one", members="</W/low>, </W/floor>", other="one")
    world = load(floor, low, groups)
    world.step(500)
    assert lowest(world, "low") < -1.0


def test_bodies_of_an_articulation_collide_unless_the_root_says_otherwise(load):
    """Law: PhysX's enabledSelfCollisions holds for the bodies beneath the root."""
    parts = cube("a", "(0, 0, 1)") + cube("b", "(1, 0, 1)") + cube("c", "(2, 0, 1)")
    joints = "".join(
        f'def PhysicsPrismaticJoint "j{k}" {{ rel physics:body0 = </W/r/{m}>'
        f" rel physics:body1 = </W/r/{n}> }}\n".replace(" rel", "\n rel").replace("> }", ">\n }")
        for k, (m, n) in enumerate(("ab", "bc"))
    )
    root = 'def Xform "r" {}\n{{\n{}{}\n}}\n'
    on = load(root.format("", parts, joints)).robots["r"]
    assert on.self_collision
    off = "bool physxArticulation:enabledSelfCollisions = 0\n"
    assert not load(root.format("", off + parts, joints)).robots["r"].self_collision


def test_a_flat_mesh_that_should_be_a_hull_stays_a_mesh(load):
    """Law: a quad has no volume, so the triangles collide."""
    quad = """def Mesh "ground" (
        prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
    {
        uniform token physics:approximation = "convexHull"
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
    }
    """
    world = load(quad, cube("box", "(0, 0, 0.2)"))
    world.step(500)
    assert lowest(world, "box") == pytest.approx(0.1, abs=2e-3)


def test_scenes_without_gravity_and_steps_of_mujoco_are_read(load):
    more = "bool newton:gravityEnabled = 0\n double mjc:option:timestep = 0.004\n}"
    world = load(SCENE.replace("}", more), cube("a", "(0, 0, 1)"))
    assert world.time_step == 0.004
    np.testing.assert_array_equal(world.gravity, (0, 0, 0))


@pytest.mark.parametrize("apis", [(), ("PhysicsRigidBodyAPI",)])
def test_a_body_does_not_collide_with_the_fixed_body_of_its_joint(load, apis):
    """Law: a cube that overlaps its fixed neighbour swings freely: no contact at all."""
    kinematic = "bool physics:kinematicEnabled = 1" if apis else ""
    post = cube("post", "(0, 0, 1)", apis=apis, more=kinematic)
    hinge = """def PhysicsRevoluteJoint "j" {
        uniform token physics:axis = "Y"
        rel physics:body0 = </W/post>
        rel physics:body1 = </W/arm>
        point3f physics:localPos1 = (-0.15, 0, 0)
    }
    """
    world = load(post, cube("arm", "(0.15, 0, 1)"), hinge)
    world.step(20)
    assert len(world.contacts) == 0
    assert abs(world.robots["arm"].q[0]) > 1e-3
