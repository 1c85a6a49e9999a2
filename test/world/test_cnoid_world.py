# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Projects of Choreonoid: the bodies, materials and simulator that they describe."""

import math
import warnings

import numpy as np
import pytest

import hrpsim
from hrpsim import ModelWarning, WorldError
from hrpsim.model.readers.robot_data import Notes
from hrpsim.world.file.cnoid_materials import CnoidMaterials

BODY = """format: ChoreonoidBody
name: {name}
links:
  - {{name: {name}, joint_type: {root}, material: {material}, mass: 2, inertia: [1,0,0,0,1,0,0,0,1],
     translation: [0, 0, 5], elements: {{Shape: {{geometry: {{type: Box, size: [1, 1, 0.2]}}}}}}}}
"""
ARM = """format: ChoreonoidBody
name: arm
links:
  - {name: base, joint_type: free, mass: 2, inertia: [1,0,0,0,1,0,0,0,1]}
  - {name: lower, parent: base, joint_type: revolute, joint_axis: Y, joint_id: 1, mass: 1}
  - {name: upper, parent: base, joint_type: revolute, joint_axis: Z, joint_id: 0, mass: 1}
"""
TABLE = """materials:
  - {name: Default, roughness: 0.5, viscosity: 1.0}
  - {name: Wood, roughness: 0.32, viscosity: 0.5}
  - {name: Ice, roughness: 0.02, viscosity: 0.5}
contact_materials:
  - {materials: [Ground, Wood], friction: 0.3, restitution: 0.0}
"""
PROJECT = """items:
  class: RootItem
  name: RootItem
  children:
    - class: WorldItem
      name: World
      data: {default_material_table_file: "${SHARE}/default/materials.yaml"}
      children:
"""
ITEM = "        - {{class: {kind}, name: {name}, data: {{{data}}}, children: [{children}]}}\n"
FLOOR = "file: floor.body, root_translation: [0, 0, -0.1], fix_root: true"


@pytest.fixture
def load(tmp_path):
    share = tmp_path / "share"
    (share / "default").mkdir(parents=True)
    (share / "default" / "materials.yaml").write_text(TABLE)
    folder = tmp_path / "sample" / "one"
    folder.mkdir(parents=True)
    (folder / "floor.body").write_text(
        BODY.format(name="floor", root="fixed", material="Ground").replace("1, 1, 0.2", "9, 9, 0.2")
    )
    (folder / "crate.body").write_text(BODY.format(name="crate", root="free", material="Wood"))
    (folder / "arm.body").write_text(ARM)
    fixed = ARM.replace("joint_type: free", "joint_type: fixed, translation: [0, 0, 7]")
    (folder / "fixed.body").write_text(fixed)

    def loaded(*items, text=PROJECT, **settings):
        path = folder / "scene.cnoid"
        path.write_text(text + "".join(items))
        return hrpsim.load_world(path, **settings)

    return loaded


def item(name, data, kind="BodyItem", children=""):
    return ITEM.format(kind=kind, name=name, data=data, children=children)


@pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")
def test_bodies_stand_where_the_project_says_not_their_files(load):
    """Law: root_rotation is an axis and an angle in degrees."""
    data = "file: crate.body, root_translation: [1, 2, 3], root_rotation: [0, 0, 1, 90]"
    world = load(item("crate", data), item("Floor", FLOOR))
    assert set(world.entities) == {"crate"}
    np.testing.assert_allclose(world.robots["crate"].q, (1, 2, 3, 0, 0, 0.5**0.5, 0.5**0.5))
    assert [name for entity, name in world.link_names if entity == "world"] == ["Floor_floor_0"]
    world.robots["crate"].q = (2, 0, 0.15, 0, 0, 0, 1)
    world.step(500)
    assert world.robots["crate"].q[2] == pytest.approx(0.1, abs=1e-5)  # the floor's top is at 0


@pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")
def test_the_place_of_a_fixed_root_is_absolute(load):
    """Law: root_translation replaces what the file says of its root link."""
    data = "file: fixed.body, root_translation: [1, 2, 3], root_rotation: [0, 0, 1, 90]"
    robot = load(item("arm", data)).robots["arm"]
    p, q = robot.link_pose("base")
    np.testing.assert_allclose(p, (1, 2, 3), atol=1e-15)
    np.testing.assert_allclose(q, (0, 0, 0.5**0.5, 0.5**0.5), atol=1e-15)


@pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")
def test_joint_displacements_are_degrees_in_the_order_of_the_joint_ids(load):
    data = "file: arm.body, root_translation: [0, 0, 1], joint_displacements: [30, -60]"
    robot = load(item("arm", data)).robots["arm"]
    at = {joint.name: joint.q_index for joint in robot.model.joints}
    assert robot.q[at["upper"]] == pytest.approx(math.radians(30), rel=1e-15)
    assert robot.q[at["lower"]] == pytest.approx(math.radians(-60), rel=1e-15)
    old = "modelFile: arm.body, jointPositions: [0.5, 1.5], fix_root: true"
    robot = load(item("arm", old)).robots["arm"]
    assert robot.model.base == "fixed"
    at = {joint.name: joint.q_index for joint in robot.model.joints}
    assert (robot.q[at["upper"]], robot.q[at["lower"]]) == (0.5, 1.5)


@pytest.mark.filterwarnings("error::hrpsim.ModelWarning")
def test_a_fixed_joint_with_an_id_has_a_place_in_the_list(load, tmp_path):
    """Law: ids come first, with a place for each, then joints without an id."""
    text = ARM.replace("joint_id: 0", "joint_id: 3").replace(", mass: 1}", ", mass: 1, MASS}")
    text = text.replace("MASS", "inertia: [1,0,0,0,1,0,0,0,1]")
    solid = "mass: 1, inertia: [1,0,0,0,1,0,0,0,1]"
    text += f"  - {{name: hand, parent: upper, joint_type: fixed, joint_id: 0, {solid}}}\n"
    text += f"  - {{name: tip, parent: hand, joint_type: revolute, joint_axis: Y, {solid}}}\n"
    (tmp_path / "sample" / "one" / "gap.body").write_text(text)
    data = "file: gap.body, joint_displacements: [9, 10, 9, 30, 50]"
    robot = load(item("arm", data)).robots["arm"]
    found = {name: math.degrees(q) for name, q in zip(robot.joint_names, robot.joint_positions)}
    assert found == pytest.approx({"lower": 10, "upper": 30, "tip": 50})


@pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")
def test_materials_of_links_have_the_friction_of_the_table(load):
    """Law: a sliding box stops after v^2 / (2 mu g); the pair Ground, Wood has mu = 0.3."""
    world = load(
        item("Floor", FLOOR), item("crate", "file: crate.body, root_translation: [0, 0, 0.1]")
    )
    crate = world.robots["crate"]
    crate.v = (1.0, 0, 0, 0, 0, 0)
    world.step(1000)
    assert crate.q[0] == pytest.approx(1.0 / (2.0 * 0.3 * 9.80665), rel=5e-3)


def test_pairs_that_the_table_lacks_have_geometric_means(tmp_path):
    """Law: friction sqrt(r1 r2), restitution sqrt((1 - v1) (1 - v2)), as in Choreonoid."""
    path = tmp_path / "materials.yaml"
    path.write_text(TABLE)
    table = CnoidMaterials()
    table.read(path)
    laws = {(a, b): law for a, b, law in table.pairs(["Wood", "Ice", "default"])}
    assert laws["Ice", "Wood"] == pytest.approx((0.08, 0.08, 0.5))
    assert laws["Ice", "default"] == pytest.approx((0.1, 0.1, 0.0))


@pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")
def test_the_simulator_sets_time_step_gravity_and_integration(load):
    simulator = "time_step: 0.002, gravity: [0, 0, -1.6], integration_mode: runge-kutta"
    world = load(item("s", simulator, "AISTSimulatorItem"))
    assert (world.time_step, world.integrator) == (0.002, "rk4")
    np.testing.assert_array_equal(world.gravity, (0, 0, -1.6))
    world = load(item("s", simulator, "AISTSimulatorItem"), time_step=0.004, integrator="euler")
    assert (world.time_step, world.integrator) == (0.004, "euler")
    assert load(item("s", "frame_rate: 500", "AISTSimulatorItem")).time_step == 0.002


def test_keys_of_materials_are_named_where_the_project_has_the_material(tmp_path):
    """Law: an entry of the table for other bodies says nothing of this world."""
    path = tmp_path / "materials.yaml"
    path.write_text(TABLE.replace("viscosity: 0.5}", "viscosity: 0.5, density: 9}", 1))
    table, notes = CnoidMaterials(), Notes()
    table.read(path)
    table.note_unread(["Ice", "default"], notes)
    assert not notes.lines()
    table.note_unread(["Wood", "default"], notes)
    assert notes.lines() == ["density of a material (1: Wood): not read"]


def test_the_time_bar_sets_the_time_step_that_the_simulator_leaves_out(load):
    """Settings of windows and logs, and switches that are off, are not named as left out."""
    bar = "toolbars: {TimeBar: {minTime: 0, frameRate: 200}}\n"
    quiet = "recording: full, realtimeSync: true, timeLength: 9, 2Dmode: false, gravity: [0, 0, -1]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world = load(item("s", quiet, "AISTSimulatorItem"), text=bar + PROJECT)
    assert world.time_step == 0.005
    with pytest.warns(ModelWarning, match="max_num_iterations of AISTSimulatorItem"):
        named = "timeStep: 0.002, maxNumIterations: 50"
        world = load(item("s", named, "AISTSimulatorItem"), text=bar + PROJECT)
    assert world.time_step == 0.002


def test_controllers_and_other_simulators_are_named(load):
    controller = "{class: SimpleControllerItem, name: c, data: {controller: WalkController}}"
    items = (
        item("crate", "file: crate.body, root_translation: [0, 0, 1]", children=controller),
        item("a", "time_step: 0.002", "AISTSimulatorItem"),
        item("b", "time_step: 0.001", "ODESimulatorItem"),
        item("v", "", "GLVisionSimulatorItem"),
    )
    with pytest.warns(ModelWarning, match="not simulated as it says") as caught:
        load(*items)
    text = "; ".join(str(one.message) for one in caught)
    for part in (
        "SimpleControllerItem of crate (1: WalkController): not run",
        "ODESimulatorItem (1: b): a holds",
        "GLVisionSimulatorItem (1: v): not read",
    ):
        assert part in text


@pytest.mark.parametrize(
    "items, text, why",
    [
        ((), "a: 1\n", "not a project of Choreonoid"),
        ((item("x", "file: no.body"),), PROJECT, "there is no file 'no.body'"),
        ((item("x", "file: '${SHARE}/no.body'"),), PROJECT, "CHOREONOID_SHARE"),
        ((item("x", "file: crate.body, root_translation: [0, 1]"),), PROJECT, "3 numbers"),
        ((item("s", "time_step: -1", "AISTSimulatorItem"),), PROJECT, "time_step"),
        (("        - 5\n",), PROJECT, "an item must be a mapping"),
    ],
)
def test_what_is_wrong_is_refused_with_file_and_item(load, items, text, why):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        with pytest.raises(WorldError, match=rf"scene\.cnoid.*{why}"):
            load(*items, text=text)
