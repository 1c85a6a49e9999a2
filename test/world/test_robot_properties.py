# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot whose properties were changed moves as one that was described so."""

import numpy as np
import pytest
from lxml import etree

import hrpsim
from hrpsim.sensors import NoiseLevels, SensorNoise
from robots import HRP2_LIKE

ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.1 0.02 -0.2"/><mass value="2"/>
  <inertia ixx="0.1" iyy="0.12" izz="0.05" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0 -0.2"/><mass value="1"/>
  <inertia ixx="0.05" iyy="0.05" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
  <axis xyz="0 1 0"/><dynamics damping="0.2" friction="0.1"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
  <origin xyz="0 0 -0.5"/><axis xyz="0 1 0"/><dynamics damping="0.1" friction="0.05"/></joint>
</robot>"""


def swinging(text):
    world = hrpsim.World()
    world.add_robot(hrpsim.load_model(text, base="fixed"), q=[0.7, -0.4], name="arm")
    return world


def with_masses(factors):
    tree = etree.fromstring(ARM)
    for link in tree.iter("link"):
        inertial = link.find("inertial")
        if inertial is not None:
            factor = factors[link.get("name")]
            for element in (inertial.find("mass"), inertial.find("inertia")):
                for name, value in element.items():
                    element.set(name, repr(factor * float(value)))
    return etree.tostring(tree, encoding="unicode")


@pytest.mark.parametrize("factors", [(1.3, 1.3), (1.7, 1.0)])
def test_scaled_inertias_are_those_of_another_description(factors):
    """The same bits as of a description with the products written into it."""
    changed = swinging(ARM)
    robot = changed.robots["arm"]
    robot.scale_inertias(0.5)  # not added up with the next
    robot.scale_inertias(1.0)
    robot.scale_inertias(factors, ["upper", "lower"])
    described = swinging(with_masses(dict(zip(("upper", "lower"), factors))))
    changed.step(300), described.step(300)
    np.testing.assert_array_equal(robot.q, described.robots["arm"].q)
    assert robot.model.mass == described.robots["arm"].model.mass
    assert robot.described.mass == 3.0


def test_joint_properties_are_those_of_another_description():
    changed = swinging(ARM)
    robot = changed.robots["arm"]
    robot.set_joint_properties(["elbow"], friction=0.3, damping=0.4)
    text = ARM.replace('damping="0.1" friction="0.05"', 'damping="0.4" friction="0.3"')
    described = swinging(text)
    changed.step(300), described.step(300)
    np.testing.assert_array_equal(robot.q, described.robots["arm"].q)
    assert robot.joint_properties()["friction"].tolist() == [0.1, 0.3]


def test_properties_are_kept_by_copies_and_not_by_the_original():
    world = swinging(ARM)
    copy = world.copy()
    copy.robots["arm"].scale_inertias(2.0, "lower")
    again = copy.copy()
    world.step(200), copy.step(200), again.step(200)
    np.testing.assert_array_equal(copy.robots["arm"].q, again.robots["arm"].q)
    assert (world.robots["arm"].q != copy.robots["arm"].q).any()
    for one in (copy, again):
        one.add_body(hrpsim.Sphere(0.1), 1.0, (5, 0, 0))
    copy.step(50), again.step(50)  # arrays made anew
    np.testing.assert_array_equal(copy.robots["arm"].q, again.robots["arm"].q)


def test_energy_is_kept_after_a_change_in_motion():
    """What a change of mass leaves is a conservative system: energy of the new masses."""
    world = hrpsim.World()
    text = ARM.replace('damping="0.2" friction="0.1"', "")
    text = text.replace('damping="0.1" friction="0.05"', "")
    robot = world.add_robot(hrpsim.load_model(text, base="fixed"), q=[0.7, -0.4], name="arm")
    world.step(100)
    robot.scale_inertias([3.0], ["lower"])
    before = hrpsim.energy(robot.model, robot.q, robot.v)
    world.step(1000)
    after = hrpsim.energy(robot.model, robot.q, robot.v)
    assert sum(after) == pytest.approx(sum(before), abs=2e-4 * abs(sum(before)))


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda r: r.scale_inertias(0.0), "must be positive"),
        (lambda r: r.scale_inertias([1.0], ["base"]), "'base' of 'arm' is fixed to the world"),
        (lambda r: r.scale_inertias([1.0], ["hand"]), "'hand' does not exist"),
        (lambda r: r.scale_inertias([1.0, 2.0], ["lower", "lower"]), "belong to the same body"),
        (lambda r: r.set_joint_properties(friction=-1.0), "must be >= 0"),
        (lambda r: r.set_joint_properties(["knee"], damping=1.0), "'knee' does not exist"),
    ],
)
def test_what_cannot_be_changes_nothing(change, message):
    world, other = swinging(ARM), swinging(ARM)
    with pytest.raises(ValueError, match=message):
        change(world.robots["arm"])
    world.step(50), other.step(50)
    np.testing.assert_array_equal(world.robots["arm"].q, other.robots["arm"].q)


def test_friction_set_in_motion_takes_hold_at_once():
    """v^2 / (2 mu g) from where it is set, the state around it unchanged."""
    world = hrpsim.World()
    world.add_ground()
    box = world.add_body(
        hrpsim.Box((0.2, 0.2, 0.1)), 1.0, (0, 0, 0.05), velocity=(2, 0, 0), name="box"
    )
    world.set_friction("default", "default", 0.2)
    world.step(200)
    x, speed = box.position[0], box.velocity[0]
    world.set_friction("default", "default", 0.6)
    assert box.position[0] == x and box.velocity[0] == speed
    world.step(1000)
    assert box.position[0] - x == pytest.approx(speed**2 / (2 * 0.6 * 9.80665), rel=1e-5)


def randomised():
    model = hrpsim.load_model(HRP2_LIKE)
    world = hrpsim.World()
    world.add_ground(material="floor")
    q = model.neutral()
    q[2] = 0.75
    world.add_robot(model, q=q, name="hrp2")
    return world


def test_a_batch_s_worlds_are_those_that_are_changed_alone():
    """Each world's bits are those of the same world by itself, after a reset of it as well."""
    world = randomised()
    world.step(20)
    names = list(world.robots["hrp2"].joint_names[:2])
    factors = np.array([0.9, 1.0, 1.2])
    with hrpsim.Batch(world, 3, threads=2) as batch:
        batch.scale_inertias("hrp2", factors)
        batch.set_gains("hrp2", factors[:, None] * [[900.0, 800.0]], [[9.0, 8.0]] * 3, names)
        batch.set_joint_properties("hrp2", names, friction=factors[:, None] * [[1.0, 2.0]])
        batch.set_friction("sole", "floor", 0.5 * factors)
        batch.set_noise("hrp2", [NoiseLevels(seed=k, force=2.0) for k in range(3)])
        for again in range(2):
            force = factors[:, None] * [[50.0, 0.0, 0.0]]
            batch.apply_wrench("hrp2", force, link="BODY")
            batch.step(30)
            read = batch.sensor("hrp2", "lfsensor")
            for k, factor in enumerate(factors):
                alone = world.copy()
                robot = alone.robots["hrp2"]
                robot.scale_inertias(factor)
                robot.set_gains([900 * factor, 800 * factor], [9, 8], names)
                robot.set_joint_properties(names, friction=[factor, 2 * factor])
                alone.set_friction("sole", "floor", 0.5 * factor)
                robot.apply_wrench("BODY", force[k])
                alone.step(30)
                np.testing.assert_array_equal(batch.q("hrp2")[k], robot.q)
                levels = NoiseLevels(seed=k, force=2.0)
                noise = SensorNoise("lfsensor", "force_torque", levels, robot="hrp2", world=k)
                exact = robot.sensors["lfsensor"].wrench
                np.testing.assert_array_equal(read[k], exact + noise.at(50))
            if not again:
                batch.step(10)
                batch.reset([0, 1, 2])
        with pytest.raises(hrpsim.WorldError, match="no world 3 in a batch of 3"):
            batch.reset([3])
        with pytest.raises(hrpsim.StateError, match=r"static friction of 3 worlds"):
            batch.set_friction("sole", "floor", [0.1, 0.2])
