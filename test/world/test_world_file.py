# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""World files: what they may say, and that every mistake is named with its file and place."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from hrpsim import ModelWarning, WorldError, load_world, share_path

BOX = """
world: {time_step: 0.002, integrator: rk4, gravity: [0, 0, -1.6]}
ground: {height: 0.1, material: floor}
friction:
  - {between: [crate, floor], static: 0.6, kinetic: 0.5, restitution: 0.1}
static:
  - {name: step, shape: {box: [1, 1, 0.2]}, position: [2, 0, 0.2]}
bodies:
  - {name: crate, shape: {box: [0.2, 0.2, 0.2]}, mass: 3, position: [0, 0, 0.2], material: crate}
  - {name: ball, shape: {sphere: 0.1}, mass: 1, position: [2, 0, 0.4]}
  - {name: drum, shape: {cylinder: {radius: 0.1, length: 0.3}}, mass: 1, position: [1, 0, 0.25]}
  - {name: pill, shape: {capsule: {radius: 0.1, length: 0.3}}, mass: 1, position: [-1, 0, 0.35]}
"""


def load(tmp_path, text, **options):
    path = tmp_path / "world.yaml"
    path.write_text(text)
    return load_world(path, **options)


def test_everything_stands_where_the_file_says(tmp_path):
    world = load(tmp_path, BOX)
    assert (world.time_step, world.integrator) == (0.002, "rk4")
    world.step(500)
    assert set(world.bodies) == {"crate", "ball", "drum", "pill"}
    for name, height in {"crate": 0.2, "ball": 0.4, "drum": 0.25}.items():
        assert world.bodies[name].position[2] == pytest.approx(height, abs=1e-5)


def test_the_caller_may_replace_step_and_integrator(tmp_path):
    world = load(tmp_path, BOX, time_step=1e-3, integrator="semi_implicit")
    assert (world.time_step, world.integrator) == (1e-3, "semi_implicit")


def test_the_shipped_world_stands_at_rest():
    """config/stand.yaml: settled, so the first step already carries the whole weight."""
    world = load_world(share_path("config/stand.yaml"))
    robot = world.robots["hrp2"]
    world.step()
    carried = sum(robot.sensors[name].force[2] for name in ("lfsensor", "rfsensor"))
    assert carried == pytest.approx(robot.model.mass * 9.80665, rel=1e-6)
    assert len(robot.joint_names) == 36
    rigid = load_world(share_path("config/stand.yaml"), xacro_arguments={"bush": "false"})
    assert len(rigid.robots["hrp2"].joint_names) == 30


def test_gains_and_joints_of_a_robot(tmp_path):
    (tmp_path / "arm.urdf").write_text(
        """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>
        <origin xyz="0.1 0 0"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
        </inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>
        <axis xyz="0 0 1"/></joint></robot>"""
    )
    text = (
        "robots: [{name: arm, urdf: arm.urdf, base: fixed, joints: {j: 0.5}, gains: {j: [9, 1]}}]"
    )
    world = load(tmp_path, text)
    world.step(2000)
    assert world.robots["arm"].joint_positions == pytest.approx([0.5], abs=1e-6)
    world.reset()
    assert np.array_equal(world.robots["arm"].q, [0.5])


@pytest.mark.parametrize(
    "text, named",
    [
        ("world: {timestep: 1}", ["entry 'timestep'", "time_step"]),
        ("world: {time_step: -1}", ["world", "time_step"]),
        ("worlds: {}", ["entry 'worlds'", "world"]),
        ("[1, 2]", ["mapping"]),
        ("world: {integrator: rk5}", ["rk5", "rk4"]),
        ("a: [", ["YAML"]),
        ("bodies: [{shape: {box: [1, 1]}, mass: 1}]", ["bodies[0]", "three"]),
        ("bodies: [{shape: {cone: 1}, mass: 1}]", ["bodies[0]", "cone", "capsule"]),
        ("bodies: [{shape: {sphere: 1}}]", ["bodies[0]", "mass"]),
        ("bodies: [{shape: {sphere: 1}, mass: -1}]", ["bodies[0]", "mass"]),
        ("bodies: [{shape: {sphere: 1}, mass: 1, colour: red}]", ["colour", "material"]),
        ("bodies: {a: 1}", ["bodies", "list"]),
        ("friction: [{between: [a], static: 1}]", ["friction[0]", "between"]),
        ("friction: [{between: [a, b], static: -1}]", ["friction[0]", "static"]),
        ("robots: [{name: x}]", ["robots[0]", "urdf"]),
        ("robots: [{urdf: missing.urdf}]", ["robots[0]", "missing.urdf"]),
        ("robots: [{urdf: package://hrpsim/urdf/none.urdf}]", ["robots[0]", "none.urdf"]),
    ],
)
def test_mistakes_are_named(tmp_path, text, named):
    with pytest.raises(WorldError) as error:
        load(tmp_path, text)
    for part in ["world.yaml", *named]:
        assert part in str(error.value)


ARM = """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="c"><inertial><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
  <joint name="k" type="continuous"><parent link="b"/><child link="c"/><origin xyz="1 0 0"/>
  <axis xyz="0 0 1"/></joint></robot>"""
PLACED_CONNECTION = """
world: {gravity: [0, 0, 0], solver: iterative, position_projection: true}
contacts: [{between: [rubber, default], compliance: 1e-5, damping_time: 0.01, force_limit: 50}]
solvers: [{solver: direct, kind: lock}, {solver: split, bodies: ["box*", world/ground]}]
ground: {height: -5}
robots:
  - {name: arm, urdf: arm.urdf, base: fixed, joints: {j: 0.1}, locks: {j: },
     motors: {k: {velocity: 2, force_limit: 30}},
     constraints: [{kind: lock, joints: [j], damping_time: 0.02}]}
bodies:
  - {name: box, shape: {box: [0.1, 0.1, 0.1]}, mass: 1, position: [0, 2, 0], material: rubber}
  - {name: crate, shape: {box: [0.1, 0.1, 0.1]}, mass: 1, position: [0, 3, 0]}
connections:
  - {name: lid, between: [box, crate], kind: hinge, point: [0, 2.5, 0], axis: [1, 0, 0],
     compliance: 1e-6, drive: {rz: {velocity: 0.5, force_limit: 9}}}
  - {between: [arm/c, crate], kind: distance, length: 2.5, frame_a: {position: [0, 0, 1]},
     enabled: false, solver: direct, collide: true}
"""


def test_connections_locks_and_motors_of_a_file(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    world = load(tmp_path, PLACED_CONNECTION)
    lid, rod = world.connections["lid"], world.connections["distance"]
    assert (lid.a, lid.b, lid.kind, lid.solver) == (
        ("box",) * 2,
        ("crate",) * 2,
        "hinge",
        "iterative",
    )
    assert (lid.compliance == 1e-6).all() and lid.enabled
    assert (rod.a, rod.length, rod.solver, rod.enabled) == (("arm", "c"), 2.5, "direct", False)
    arm = world.robots["arm"]
    assert (arm.locked, arm.driven) == (("j",), ("k",))
    assert world.scene.settings["projection"][0] == 1
    yields = world.scene.materials[1, 0]
    assert (yields["compliance"], yields["damping_time"], yields["force_limit"]) == (1e-5, 0.01, 50)
    assert set(world.scene.solver_choice.ravel().tolist()) == {0, 2}
    for _ in range(2):
        world.step(1000)
        box, crate = world.bodies["box"], world.bodies["crate"]
        turning = crate.angular_velocity - box.angular_velocity
        assert turning == pytest.approx([0.5, 0, 0], abs=1e-6)
        # The motor takes hold in the middle of the first step.
        assert arm.joint_positions == pytest.approx([0.1, 2.0 * (1.0 - 0.5e-3)], abs=1e-9)
        world.reset()


@pytest.mark.parametrize(
    "text, named",
    [
        ("solvers: [{solver: springs}]", ["solvers[0]", "penalty", "direct"]),
        ("solvers: [{kind: contact}]", ["solvers[0]", "solver"]),
        ("world: {solver: 3}", ["world", "solver"]),
        ("contacts: [{between: [a, b], compliance: -1}]", ["contacts[0]", "compliance"]),
        ("contacts: [{between: [a, b], static: 1}]", ["contacts[0]", "static", "force_limit"]),
        ("connections: [{between: [world]}]", ["connections[0]", "between"]),
        ("connections: [{between: [world, box]}]", ["connections[0]", "box", "none"]),
        ("connections: [{between: [world, b], joint: ball}]", ["connections[0]", "joint", "kind"]),
        ("BALL connections: [{between: [world, b], frame_a: [0]}]", ["[0].frame_a", "position"]),
        ("BALL connections: [{between: [world, b], drive: {rx: 1}}]", ["[0].drive.rx", "velocity"]),
        (
            "BALL connections: [{between: [world, b], drive: {rx: {velocity: 1}}}]",
            ["[0].drive.rx", "force_limit"],
        ),
        (
            "BALL connections: [{between: [world, b], drive: {rx: {velocity: 1, force_limit: 2}}}]",
            ["connections[0]", "rx", "Free"],
        ),
        ("ARM locks: {jj: }", ["robots[0]", "jj"]),
        ("ARM locks: [j]", ["robots[0].locks", "positions"]),
        ("ARM motors: {j: 3}", ["robots[0].motors.j", "velocity"]),
        ("ARM constraints: [{joints: [j]}]", ["robots[0].constraints[0]", "kind"]),
        ("ARM constraints: [{kind: bolt}]", ["robots[0].constraints[0]", "bolt", "lock"]),
    ],
)
def test_mistakes_in_constraints_are_named(tmp_path, text, named):
    (tmp_path / "arm.urdf").write_text(ARM)
    ball = "bodies: [{name: b, shape: {sphere: 1}, mass: 1}]\n"
    arm = "robots: [{urdf: arm.urdf, base: fixed, "
    text = text.replace("BALL ", ball)
    text = f"{arm}{text[4:]}}}]" if text.startswith("ARM ") else text
    with pytest.raises(WorldError) as error:
        load(tmp_path, text)
    for part in ["world.yaml", *named]:
        assert part in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(WorldError, match=r"nowhere\.yaml"):
        load_world(tmp_path / "nowhere.yaml")


def test_an_unknown_joint_of_a_robot_is_named(tmp_path):
    urdf = share_path("urdf/hrp2_like.urdf.xacro")
    with pytest.raises(WorldError, match=r"robots\[0\].*LLEG_JOINT9.*LLEG_JOINT"):
        load(tmp_path, f"robots: [{{urdf: {urdf}, joints: {{LLEG_JOINT9: 1}}}}]")


CHAIN = """<robot name="arm"><link name="{root}"/>{links}{joints}{more}</robot>"""
CHAIN_LINK = """<link name="{0}"><inertial><mass value="1"/><origin xyz="0.1 0 0"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
CHAIN_JOINT = """<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>
  <axis xyz="0 0 1"/>{3}</joint>"""


def arm(tmp_path, root="base", mimic="", more=""):
    """Write arm.urdf, joints arm_1, arm_2, hand and spring from the base outwards."""
    names, above = ("arm_1", "arm_2", "hand", "spring"), root
    links, joints = "", ""
    for name in names:
        links += CHAIN_LINK.format(f"l_{name}")
        joints += CHAIN_JOINT.format(name, above, f"l_{name}", mimic if name == "hand" else "")
        above = f"l_{name}"
    more += '<hrpsim reference="spring"><spring stiffness="5"/></hrpsim>'
    text = CHAIN.format(root=root, links=links, joints=joints, more=more)
    (tmp_path / "arm.urdf").write_text(text)


def told(tmp_path, text):
    """Load a world; return it and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        world = load(tmp_path, text)
    return world, [str(one.message) for one in caught]


def test_gains_take_patterns(tmp_path):
    """Law: as with joint modes the last pattern counts; * leaves out springs and followers."""
    arm(tmp_path, mimic='<mimic joint="arm_1"/>')
    text = "robots: [{{urdf: arm.urdf, base: fixed, gains: {}}}]"
    world, said = told(tmp_path, text.format('{"*": [150, 2], "arm_?": [9, 1], arm_2: [7, 3]}'))
    kp, kd = world.robots["arm"].gains
    assert (kp.tolist(), kd.tolist()) == ([9, 7, 0, 0], [1, 3, 0, 0])
    assert said == []
    world, _ = told(tmp_path, text.format('{"*": [150, 2], spring: [8, 1]}'))
    assert world.robots["arm"].gains[0].tolist() == [150, 150, 0, 8]
    with pytest.raises(WorldError, match=r"robots\[0\].gains.leg_\*: .*'leg_\*' does not exist"):
        load(tmp_path, text.format('{"leg_*": [1, 1]}'))


def test_joints_without_gains_are_named_once_at_load(tmp_path):
    arm(tmp_path)
    text = "robots: [{urdf: arm.urdf, base: fixed, locks: {hand: }}]"
    _, said = told(tmp_path, text)
    assert len(said) == 1 and "'arm_1', 'arm_2'. Set gains" in said[0]
    _, said = told(tmp_path, text.replace("locks", "gains: {'*': [0, 0]}, locks"))
    assert said == []


def test_a_robot_on_a_root_link_called_world_does_not_fall(tmp_path):
    arm(tmp_path, root="world")
    world = load(tmp_path, "robots: [{urdf: arm.urdf, gains: {'*': [9, 1]}}]")
    assert world.robots["arm"].model.base == "fixed"


@pytest.mark.parametrize(
    "entry",
    [
        "friction: [{between: [defalt, floor], static: 0.5}]",
        "contacts: [{between: [floor, defalt], compliance: 1.0e-5}]",
        "penalties: [{between: [defalt, defalt], stiffness: 1.0e+5}]",
        "solvers: [{solver: direct, materials: defalt}]",
        "solvers: [{solver: direct, materials: [floor, defalt]}]",
    ],
)
def test_a_material_that_no_shape_has_is_named(tmp_path, entry):
    """Law: a warning has the place, the nearest name, and is missing where a shape has it."""
    body = "bodies: [{shape: {sphere: 0.1}, mass: 1, position: [0, 0, 1], material: %s}]"
    text = f"ground: {{material: floor}}\n{entry}\n"
    _, said = told(tmp_path, text + body % "rubber")
    assert said and all(
        "world.yaml:2" in one
        and f"{entry[: entry.index(':')]}[0]" in one
        and "material 'defalt' does not exist. Did you mean 'default'?" in one
        for one in said
    )
    assert told(tmp_path, text + body % "defalt")[1] == []


def test_materials_of_what_is_to_be_added_are_not_named(tmp_path):
    """A world without robots and bodies is a floor for those that are added to it."""
    text = "ground: {material: floor}\nfriction: [{between: [sole, floor], static: 0.5}]\n"
    assert told(tmp_path, text)[1] == []
