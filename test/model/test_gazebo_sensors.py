# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""IMUs, force and contact sensors that a URDF declares for Gazebo."""

import math
import warnings

import numpy as np
import pytest

import hrpsim
from hrpsim import ModelError, ModelWarning
from hrpsim.sensors import NoiseLevels, SensorNoise

LINK = """<link name="{}"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision></link>"""
ROBOT = f"""<robot name="r">{LINK.format("body")}{LINK.format("foot")}
<joint name="ankle" type="{{kind}}"><parent link="body"/><child link="foot"/>
<origin xyz="0 0 -0.3" rpy="0.2 0 0"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="500" velocity="6"/></joint>{{sensors}}</robot>"""


def gazebo(reference, kind, content, name="s"):
    """Return the <gazebo> element of a sensor."""
    return (
        f'<gazebo reference="{reference}"><sensor name="{name}" type="{kind}">{content}'
        "</sensor></gazebo>"
    )


def load(sensors, kind="revolute"):
    """Return a model and the text of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        model = hrpsim.load_model(ROBOT.format(sensors=sensors, kind=kind))
    return model, " ".join(str(one.message) for one in caught)


def noise(bias_mean, form):
    """Return the noise of the first three values in a form of SDF; (new, old) names."""
    inner = f"<mean>0.0</mean><stddev>0.3</stddev><bias_mean>{bias_mean}</bias_mean>"
    inner += "<bias_stddev>0.4</bias_stddev>"
    new, old = form
    axes = "".join(f'<{a}><noise type="gaussian">{inner}</noise></{a}>' for a in "xyz")
    return f"<{new}>{axes}</{new}>", f"<noise><type>gaussian</type><{old}>{inner}</{old}></noise>"


@pytest.mark.parametrize("form", [0, 1], ids=["SDF 1.6", "SDF 1.4"])
@pytest.mark.parametrize(
    "reference, kind, names",
    [("body", "imu", ("angular_velocity", "rate")), ("ankle", "force_torque", ("force", "force"))],
)
def test_noise_rate_topic_and_frame_are_as_declared(reference, kind, names, form):
    """Laws: noise and bias have the declared deviations, and the bias its declared mean."""
    content = "<update_rate>100</update_rate><topic>/a/b_1</topic><gz_frame_id>foot</gz_frame_id>"
    content += f"<always_on>1</always_on><{kind}>{noise(0.3, names)[form]}</{kind}>"
    model, warned = load(gazebo(reference, kind, content))
    (sensor,) = model.sensors
    assert (sensor.kind, sensor.rate, sensor.topic, sensor.frame) == (kind, 100.0, "a/b_1", "foot")
    assert not warned
    drawn = SensorNoise("s", kind, NoiseLevels(), sensor.own_noise)
    assert drawn.is_on
    np.testing.assert_allclose(drawn.variances, [0.3**2 + 0.3**2 + 0.4**2] * 3 + [0.0] * 3)
    values = np.array([drawn.at(k) for k in range(4000)])
    assert values[:, :3].std(axis=0) == pytest.approx(0.3, rel=0.05)
    assert not values[:, 3:].any()
    assert sensor.bias_mean[:3] == (0.3,) * 3 and sensor.bias[:3] == (0.4,) * 3


@pytest.mark.parametrize("frame", ["child", "sensor"])
def test_a_force_sensor_measures_at_its_joint(frame):
    """Law: the foot hangs from its joint by its weight; axes as those of <hrpsim> with a turn."""
    pose = "<pose>5 6 7 0.1 0.2 0.3</pose>"
    content = f"{pose}<force_torque><frame>{frame}</frame></force_torque>"
    model, _ = load(gazebo("ankle", "force_torque", content))
    world = hrpsim.World(gravity=(0, 0, -9.81))
    robot = world.add_robot(hrpsim.load_model(model.urdf, base="fixed"))
    robot.lock("ankle", 0.0)
    world.step(1)
    wrench = robot.sensors["s"].wrench
    assert math.sqrt(wrench[:3] @ wrench[:3]) == pytest.approx(2 * 9.81, rel=1e-9)
    np.testing.assert_allclose(wrench[3:], 0.0, atol=1e-9)
    turn = "0.1 0.2 0.3" if frame == "sensor" else "0 0 0"
    own = f'<sensor name="s" type="force_torque"><origin rpy="{turn}"/></sensor>'
    ours, _ = load(f'<hrpsim reference="foot">{own}</hrpsim>')
    np.testing.assert_array_equal(ours.sensors[0].R, model.sensors[0].R)
    np.testing.assert_array_equal(ours.sensors[0].p, model.sensors[0].p)


def test_a_force_sensor_may_measure_the_opposite():
    """Law: parent_to_child is the opposite of child_to_parent, force and torque, noise or none."""
    readings = []
    for direction in ("child_to_parent", "parent_to_child"):
        content = f"<measure_direction>{direction}</measure_direction>"
        content = f"<force_torque>{content}</force_torque>"
        model, warned = load(gazebo("ankle", "force_torque", content))
        assert not warned
        world = hrpsim.World()
        robot = world.add_robot(hrpsim.load_model(model.urdf, base="fixed"), q=[0.3])
        robot.lock("ankle", 0.3)
        world.step(1)
        readings.append(robot.sensors["s"].wrench)
    np.testing.assert_array_equal(readings[0], -readings[1])
    assert np.linalg.norm(readings[0]) > 10.0


WALL = f"""<robot name="r">{LINK.format("a")}{LINK.format("b")}<link name="o"/>
<joint name="h" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 1"
rpy="0 0 1.5707963267948966"/><axis xyz="0 0 1"/></joint>
<joint name="f" type="fixed"><parent link="b"/><child link="o"/><origin xyz="0 -1 0"/></joint>
{{}}</robot>"""


@pytest.mark.parametrize(
    "pose, position, heading",
    [
        ("<pose>1 2 3 0 0 0.5</pose>", (1, 2, 3), 0.5),
        ('<pose degrees="true">0 0 0 0 0 90</pose>', (0, 0, 0), math.pi / 2),
        ('<pose degrees="false">0 0 0 0 0 1</pose>', (0, 0, 0), 1.0),
        ('<pose relative_to="o">1 0 0 0 0 0.1</pose>', (1, -1, 0), 0.1),
        ('<pose relative_to="f">0 0 0 0 0 0</pose>', (0, -1, 0), 0.0),
        ('<pose relative_to="a">0 0 0 0 0 0</pose>', (0, 0, -1), -math.pi / 2),
        ('<pose relative_to="__model__">1 0 1 0 0 0</pose>', (0, -1, 0), -math.pi / 2),
        ('<pose rotation_format="quat_xyzw">1 0 0  0 0 2 2</pose>', (1, 0, 0), math.pi / 2),
    ],
)
def test_poses_are_those_of_sdf(pose, position, heading):
    """Law: placement and heading in the sensor's link, with all joints at zero."""
    text = WALL.format(gazebo("b", "gpu_lidar", pose))
    (sensor,) = hrpsim.load_model(text).sampled_sensors
    assert sensor.p == pytest.approx(position, abs=1e-12)
    assert sensor.R[:, 0] == pytest.approx([math.cos(heading), math.sin(heading), 0], abs=1e-12)


@pytest.mark.parametrize("form", ['<noise type="none">', "<noise><type>none</type>"])
@pytest.mark.parametrize("kind, tag", [("gpu_lidar", "lidar"), ("camera", "camera")])
def test_noise_of_type_none_is_none(kind, tag, form):
    """Law: what is there besides its type has no effect."""
    content = f"<{tag}>{form}<stddev>0.2</stddev></noise></{tag}>"
    model, warned = load(gazebo("body", kind, content))
    assert model.sampled_sensors[0].noise == 0.0 and not warned


def test_a_lidar_may_see_without_end():
    """Law: with an infinite range it meets a wall a thousand metres off, and reads inf at none."""
    scan = "<lidar><scan><horizontal><samples>1</samples></horizontal></scan>"
    content = f"{scan}<range><min>0.1</min><max>inf</max></range></lidar>"
    world = hrpsim.World(gravity=(0, 0, 0))
    robot = world.add_robot(hrpsim.load_model(WALL.format(gazebo("a", "gpu_lidar", content))))
    lidar = robot.sensors["s"]
    assert np.isinf(lidar.ranges).all()
    world.add_static(hrpsim.Box((1, 9, 9)), (1000.5, 0, 0))
    world.step(2)
    assert lidar.ranges == pytest.approx(1000.0)


def test_a_contact_sensor_of_gazebo_feels_the_contacts_of_its_link():
    """Law: what stands on the ground weighs m g; the topic may be in <contact>."""
    contact = "<contact><collision>foot_collision</collision><topic>/r_foot</topic></contact>"
    model, warned = load(gazebo("foot", "contact", f"<update_rate>200</update_rate>{contact}"))
    assert not warned
    assert (model.sampled_sensors[0].topic, model.sampled_sensors[0].enabled) == ("r_foot", False)
    world = hrpsim.World()
    world.add_ground()
    flat = model.urdf.replace('rpy="0.2 0 0"', "")
    robot = world.add_robot(hrpsim.load_model(flat))
    robot.q = np.array([0, 0, 0.4, 0, 0, 0, 1, 0])
    robot.lock("ankle", 0.0)
    sole = robot.sensors["s"]
    assert np.isfinite(sole.wrench).all()
    world.step(300)
    assert sole.wrench[2] == pytest.approx(4 * 9.80665, rel=1e-6)


@pytest.mark.parametrize(
    "sensor, line",
    [
        (
            gazebo("ankle", "force_torque", "<force_torque><frame>parent</frame></force_torque>"),
            "<sensor> of <gazebo> (1: s)",
        ),
        (
            gazebo(
                "ankle",
                "force_torque",
                "<force_torque><measure_direction>parent_to_parent</measure_direction>"
                "</force_torque>",
            ),
            "<sensor> of <gazebo> (1: s)",
        ),
        (gazebo("body", "force_torque", ""), "<sensor> of <gazebo> (1: s)"),
        (gazebo("nobody", "imu", ""), "<sensor> of <gazebo> (1: s)"),
        (gazebo("body", "imu", "<topic>no topic</topic>"), "<topic> of <sensor>"),
        (gazebo("body", "imu", "<topic>a__b</topic>"), "<topic> of <sensor>"),
        (gazebo("body", "imu", "<gz_frame_id>x</gz_frame_id>"), "<gz_frame_id> of <sensor>"),
        (
            gazebo("body", "imu", "<imu><noise><rate><mean>1</mean></rate></noise></imu>"),
            "<mean> of <rate>",
        ),
        (
            gazebo("body", "camera", "<camera><gz_frame_id>body</gz_frame_id></camera>"),
            "<gz_frame_id> of <camera> (1: s): not read",
        ),
    ],
)
def test_what_is_not_simulated_is_listed(sensor, line):
    """Law: nothing that has no effect passes in silence."""
    assert line in load(sensor)[1]


def test_a_force_sensor_in_a_fixed_joint_feels_the_contacts_beyond_it():
    """Law: a welded foot carries the body's weight and what pushes it, about the joint."""
    flat = load(gazebo("ankle", "force_torque", ""), "fixed")[0].urdf.replace('rpy="0.2 0 0"', "")
    model = hrpsim.load_model(flat)
    assert (model.nv, model.body_count, len(model.joints)) == (6, 2, 1)
    world = hrpsim.World()
    world.add_ground()
    robot = world.add_robot(model, q=[0, 0, 0.4, 0, 0, 0, 1])
    push = np.array([1.0, -2.0, 5.0])
    for _ in range(400):
        robot.apply_wrench("body", push)
        world.step()
    ground = np.array([0.0, 0.0, 2 * 9.80665]) - push
    expected = np.concatenate([ground, np.cross((0, 0, 0.3), ground)])
    np.testing.assert_allclose(robot.sensors["s"].wrench, expected, atol=1e-4)


BOB = f"""<robot name="r"><link name="base"/>{LINK.format("rod")}{LINK.format("bob")}
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
</joint><joint name="weld" type="fixed"><parent link="rod"/><child link="bob"/>
<origin xyz="0 0 -0.5"/></joint>{gazebo("weld", "force_torque", "")}</robot>"""


@pytest.mark.parametrize("angle, rate", [(0.0, 2.0), (0.8, 0.0), (-1.3, 3.0)])
def test_a_force_sensor_in_a_fixed_joint_feels_the_inertia_beyond_it(angle, rate):
    """Law: the bob of a pendulum pulls by m (g - a), and turns its weld by -I times its angular
    acceleration; the pendulum's is -m g l sin q / (I + m l^2), with I of rod and bob.

    A semi-implicit step finds its forces at its middle.
    """
    world = hrpsim.World(gravity=(0, 0, -9.81))
    start = angle - 0.5 * world.time_step * rate
    robot = world.add_robot(hrpsim.load_model(BOB, base="fixed"), q=[start], v=[rate])
    robot.tau = [0.0]
    world.step()
    m, inertia, length = 2.0, 0.1, 0.5
    turning = -m * 9.81 * length * math.sin(angle) / (2 * inertia + m * length**2)
    across, inward = -length * turning, length * rate**2  # along x and z of the rod
    force = m * (9.81 * math.sin(angle) - across), 0.0, m * (-9.81 * math.cos(angle) - inward)
    wrench = robot.sensors["s"].wrench
    np.testing.assert_allclose(wrench, [*force, 0.0, -inertia * turning, 0.0], atol=1e-9)


def test_a_sensor_of_hrpsim_has_priority_and_comes_first():
    """Law: a robot that has sensors of its own keeps them, in the same places."""
    own = '<hrpsim reference="body"><sensor name="s" type="imu" rate="7"/></hrpsim>'
    model, _ = load(gazebo("body", "imu", "") + gazebo("body", "imu", "", "t") + own)
    assert [(s.name, s.rate) for s in model.sensors] == [("s", 7.0), ("t", 0.0)]


def test_numbers_that_are_none_are_refused_with_their_place():
    with pytest.raises(ModelError, match=r"'fast': must be one number"):
        load(gazebo("body", "imu", "<update_rate>fast</update_rate>"))
