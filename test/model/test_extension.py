# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What stands under <hrpsim> and <ros2_control> reaches the model, and nothing else is let in."""

import numpy as np
import pytest

import hrpsim
from hrpsim import Box, Capsule, Cylinder, ModelError, Sphere, load_model
from hrpsim.model.extension import robot_name, with_robot_name
from hrpsim.model.visuals import visuals_of_model

INERTIAL = """<inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
LEG = f"""<robot name="leg">
  <link name="trunk">{INERTIAL}</link>
  <link name="shank">{INERTIAL}
    <collision name="tube"><origin xyz="0 0 -0.2"/>
      <geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
    <collision><geometry><sphere radius="0.2"/></geometry></collision>
  </link>
  <link name="foot">{INERTIAL}
    <collision name="sole"><geometry><box size="0.2 0.1 0.05"/></geometry></collision>
  </link>
  <joint name="knee" type="continuous">
    <parent link="trunk"/><child link="shank"/><axis xyz="0 1 0"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>
  <joint name="ankle" type="fixed">
    <parent link="shank"/><child link="foot"/><origin xyz="0 0 -1"/>
  </joint>
  %s
</robot>"""


def leg(inside: str = "", reference: str = "knee", more: str = "", **options):
    element = f'<hrpsim reference="{reference}">{inside}</hrpsim>' if inside else ""
    return load_model(LEG % (element + more), **options)


def test_a_spring_adds_to_the_damping_of_the_urdf():
    system = leg('<spring stiffness="100" damping="2" rest="0.3"/>').system
    assert (system.stiffness[6], system.damping[6], system.rest[6]) == (100.0, 2.5, 0.3)
    assert system.friction[6] == 0.25


def test_a_rotor_is_felt_through_the_square_of_its_gear():
    assert leg('<rotor inertia="1e-5" gear_ratio="100"/>').system.rotor_inertia[6] == 0.1
    assert leg('<rotor inertia="1e-5" gear_ratio="-100"/>').system.rotor_inertia[6] == 0.1
    assert leg('<rotor inertia="0.2"/>').system.rotor_inertia[6] == 0.2


def test_gains_are_kept_by_joint():
    assert leg('<gains kp="5000" kd="30"/>').gains == {"knee": (5000.0, 30.0)}


def test_elements_about_one_joint_may_be_spread():
    more = '<hrpsim reference="knee"><rotor inertia="0.2"/></hrpsim>'
    model = leg('<gains kp="5" kd="3"/>', more=more)
    assert model.gains == {"knee": (5.0, 3.0)}
    assert model.system.rotor_inertia[6] == 0.2


def test_a_material_belongs_to_all_shapes_of_its_link():
    model = leg('<material name="rubber"/>', "shank")
    materials = {shape.name: shape.material for shape in model.shapes}
    assert materials == {"tube": "rubber", "shank_1": "rubber", "sole": "default"}


def test_collision_elements_become_shapes_in_their_body():
    model = leg()
    by_name = {shape.name: shape for shape in model.shapes}
    assert by_name["tube"].geometry == Cylinder(0.1, 0.5)
    assert by_name["shank_1"].geometry == Sphere(0.2)
    assert by_name["sole"].geometry == Box((0.2, 0.1, 0.05))
    assert (by_name["sole"].link, by_name["sole"].body) == ("foot", 1)
    frame = model.frame("shank")
    assert by_name["sole"].p == pytest.approx(frame.R @ [0, 0, -1], abs=1e-15)
    assert by_name["tube"].p == pytest.approx(frame.R @ [0, 0, -0.2], abs=1e-15)


def test_a_capsule_is_inscribed_in_its_cylinder():
    model = leg('<capsule collision="tube"/>', "shank")
    capsule = model.shapes[0].geometry
    assert isinstance(capsule, Capsule)
    assert (capsule.radius, capsule.length) == (0.1, pytest.approx(0.3))


def test_a_collision_has_its_own_material():
    model = leg('<surface collision="tube" material="rubber"/><material name="wood"/>', "shank")
    found = {shape.name: shape.material for shape in model.shapes if shape.link == "shank"}
    assert found.pop("tube") == "rubber" and set(found.values()) == {"wood"}
    with pytest.raises(ModelError, match="collision 'tub' does not exist"):
        leg('<surface collision="tub" material="rubber"/>', "shank")


def test_a_force_sensor_on_a_joint_is_one_on_its_child_link():
    sensor = (
        '<sensor name="s" type="force_torque" tare="true" rate="50" latency="0.01">'
        '<origin xyz="1 0 0"/></sensor>'
    )
    on_joint, on_link = leg(sensor, "ankle").sensors[0], leg(sensor, "foot").sensors[0]
    assert (on_joint.link, on_joint.body, on_joint.tare) == ("foot", 2, True)
    assert (on_joint.rate, on_joint.latency) == (50.0, 0.01)
    assert (on_link.link, on_link.body) == ("foot", 2)
    assert on_joint.p.tolist() == on_link.p.tolist() == [1, 0, 0]


def test_a_sensor_stands_at_its_origin_in_its_link():
    sensor = (
        '<sensor name="s" type="imu"><origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/></sensor>'
    )
    model = leg(sensor, "foot")
    measured, frame = model.sensors[0], model.frame("foot")
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert measured.body == 1
    assert measured.R == pytest.approx(frame.R @ turn, abs=1e-15)
    assert measured.p == pytest.approx(frame.R @ [0, 0, 0.1] + frame.p, abs=1e-15)
    assert measured.tare is False and measured.rate == 0.0


def test_a_sensor_on_a_fixed_root_stands_in_the_world():
    assert leg('<sensor name="s" type="imu"/>', "trunk", base="fixed").sensors[0].body == -1


def test_command_interfaces_are_those_of_ros2_control_and_its_bounds_tighten_nothing():
    more = """<ros2_control name="r" type="system"><hardware><plugin>p/P</plugin></hardware>
      <joint name="knee"><command_interface name="position">
        <param name="min">-1</param><param name="max">1</param></command_interface>
        <command_interface name="effort"/><state_interface name="position"/></joint>
      </ros2_control>"""
    model = leg(more=more)
    assert model.command_interfaces == {"knee": ("position", "effort")}
    assert (model.system.lower[6], model.system.upper[6]) == (-np.inf, np.inf)


SENSOR = '<sensor name="s" type="imu"/>'
# what stands in <hrpsim reference="...">, and what is said of it
REFUSED = {
    "nee": {"<rotor inertia='1'/>": "joint or link 'nee' does not exist. Did you mean 'knee'"},
    "knee": {
        "<sping rest='1'/>": "element in <hrpsim> 'sping' does not exist. Did you mean 'spring'",
        "<spring stifness='1'/>": "attribute 'stifness' does not exist. Did you mean 'stiffness'",
        "<spring><damper/></spring>": "element in <spring> 'damper' does not exist",
        "<spring stiffness='stiff'/>": "spring: stiffness: 'stiff' is not a number",
        "<spring rest='nan'/>": "rest: 'nan' is not a finite number",
        "<spring stiffness='-1'/>": "stiffness='-1' is negative",
        "<spring damping='-1'/>": "damping='-1' is negative",
        "<rotor inertia='-1'/>": "inertia='-1' is negative",
        "<rotor gear_ratio='2'/>": "attribute 'inertia' is missing",
        "<rotor inertia='1' gear_ratio='0'/>": "gear_ratio is zero",
        "<gains kp='1'/>": "attribute 'kd' is missing",
        "<gains kp='1' kd='1'/><gains kp='1' kd='1'/>": "<gains> is given twice for 'knee'",
        "<material name='m'/>": "applies to links, but 'knee' is a joint",
    },
    "foot": {
        "<spring stiffness='1'/>": "applies to joints, but 'foot' is a link",
        "<material/>": "attribute 'name' is missing",
        "<capsule collision='sole'/>": "must be one <cylinder>",
        "<sensor name='s' type='gyro'/>": (
            "sensor type 'gyro' does not exist. Available: force_torque, imu"
        ),
        "<sensor type='imu'/>": "attribute 'name' is missing",
        SENSOR + SENSOR: "a sensor with this name exists already",
        "<sensor name='s' type='force_torque' tare='yes'/>": "tare='yes' must be true or false",
        "<sensor name='s' type='imu' rate='-1'/>": "rate='-1' is negative",
        "<sensor name='s' type='imu' latency='-1'/>": "latency=-1 is not from 0 to 1 s",
        "<sensor name='s' type='imu' latency='1.5'/>": "latency=1.5 is not from 0 to 1 s",
        "<sensor name='s' type='imu' tare='true'/>": "only a force_torque sensor has a tare",
        "<sensor name='s' type='imu'><origin xyz='0 0'/></sensor>": "must be 3 numbers, got 2",
    },
    "ankle": {"<spring stiffness='1'/>": "'ankle' is fixed"},
    "shank": {"<capsule collision='tub'/>": "collision 'tub' does not exist. Did you mean 'tube'"},
    "trunk": {"<sensor name='s' type='force_torque'/>": "'trunk' is the root"},
}


@pytest.mark.parametrize(
    ("reference", "inside"), [(name, text) for name in REFUSED for text in REFUSED[name]]
)
def test_unknown_or_bad_content_is_refused(reference, inside):
    with pytest.raises(ModelError) as caught:
        leg(inside, reference)
    assert REFUSED[reference][inside] in str(caught.value)
    assert "<text>:2" in str(caught.value)
    assert f"hrpsim '{reference}'" in str(caught.value)


def test_an_element_without_reference_is_refused():
    with pytest.raises(ModelError, match="hrpsim: attribute 'reference' is missing"):
        leg(more="<hrpsim><gains/></hrpsim>")


def test_a_capsule_too_short_for_its_radius_is_refused():
    with pytest.raises(ModelError, match="a radius below half of the length"):
        load_model(
            LEG.replace('length="0.5"', 'length="0.2"')
            % '<hrpsim reference="shank"><capsule collision="tube"/></hrpsim>'
        )


def test_an_unknown_joint_of_ros2_control_is_refused():
    with pytest.raises(ModelError, match=r"joint 'nee' does not exist. Did you mean 'knee'"):
        leg(more='<ros2_control name="r" type="system"><joint name="nee"/></ros2_control>')


def test_a_sensor_cannot_stand_on_a_name_of_two_things():
    text = (LEG % '<hrpsim reference="shank"><sensor name="s" type="imu"/></hrpsim>').replace(
        'joint name="ankle"', 'joint name="shank"'
    )
    with pytest.raises(ModelError, match="is a link, and also a joint above another link"):
        load_model(text)


START = """<ros2_control name="r" type="system"><joint name="{}"><state_interface name="position">
<param name="initial_value">{}</param></state_interface></joint></ros2_control>"""
MASSES = "".join(f'<link name="l{k}">{INERTIAL}</link>' for k in range(2))
JOINT = """<joint name="{}" type="revolute"><parent link="world"/><child link="{}"/>
<axis xyz="0 1 0"/><limit lower="{}" upper="1" effort="9" velocity="9"/>{}</joint>"""
MIMICKED = (
    f'<robot name="r"><link name="world"/>{MASSES}{JOINT.format("a", "l0", 0.2, "")}'
    + JOINT.format("b", "l1", -9, '<mimic joint="a" multiplier="-2" offset="0.5"/>')
    + "{}</robot>"
)


def test_a_joint_starts_at_its_initial_value():
    """Law: so does what follows it; a q has priority; a start beyond the limits is told."""
    model = load_model(MIMICKED.format(START.format("a", 0.7)))
    assert model.start == {"a": 0.7} and model.not_simulated == ()
    robot = hrpsim.World().add_robot(model)
    assert robot.q == pytest.approx([0.7, -0.9])
    assert hrpsim.World().add_robot(model, q=[0.3, -0.1]).q == pytest.approx([0.3, -0.1])
    with pytest.raises(ModelError, match="'fast' is not a finite number"):
        load_model(MIMICKED.format(START.format("a", "fast")))
    with pytest.warns(hrpsim.ModelWarning, match=r"position 0 of 'a' is not within 0\.2 to 1 "):
        hrpsim.World().add_robot(load_model(MIMICKED.format("")))


@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="0.0"?><robot name="r">{}</robot>',
        '<robot name="r"><!-- a -- b -->{}<!----></robot>',
        '<robot name="r" xmlns:drake="http://drake.mit.edu">{}</robot>',
        '<robot name="r">{}</robot>',
    ],
)
def test_what_loses_nothing_is_passed_over(text):
    """Law: the shape is there, whatever other tools' elements stand beside it."""
    shape = '<geometry><drake:declare_convex/><box size="1 2 3"/><drake:properties/></geometry>'
    link = f'<link name="a">{INERTIAL}<{{0}}>{shape}</{{0}}></link>'
    for tag in ("collision", "visual"):
        model = load_model(text.format(link.format(tag)))
        (visual,) = visuals_of_model(model)
        assert tuple(visual.geometry.lengths) == (1.0, 2.0, 3.0)


def test_other_tools_elements_are_left_alone(capfd):
    more = "<gazebo><plugin name='p'/></gazebo><transmission name='t'/><mujoco/>"
    assert leg(more=more).mass == 3.0
    assert capfd.readouterr() == ("", "")


def test_a_connection_joins_two_frames_of_two_links():
    tag = (
        '<connection to="foot" kind="hinge" name="loop" xyz="1 2 3" rpy="0 0 1.5" to_xyz="4 5 6" '
        'compliance="1e-6" damping_time="0.01" force_limit="50" solver="iterative" collide="true"/>'
    )
    (loop,) = leg(tag, "trunk").connections
    assert (loop.name, loop.kind, loop.axes, loop.links) == (
        "loop",
        "hinge",
        None,
        ("trunk", "foot"),
    )
    assert loop.frames[0].p.tolist() == [1, 2, 3] and loop.frames[1].p.tolist() == [4, 5, 6]
    assert loop.frames[0].R[0, 0] == pytest.approx(np.cos(1.5)) and loop.frames[1].R[0, 0] == 1.0
    assert loop.settings == {
        "compliance": 1e-6,
        "damping_time": 0.01,
        "force_limit": 50.0,
        "solver": "iterative",
        "collide": True,
    }


def test_a_connection_is_fixed_and_named_by_its_links_unless_it_says_more():
    plain, axes = leg(
        '<connection to="foot"/><connection to="shank" axes="x rz"/>', "trunk"
    ).connections
    assert (plain.name, plain.kind, plain.axes) == ("trunk-foot", None, None)
    assert (axes.name, axes.axes, axes.settings) == ("trunk-shank", ("x", "rz"), {"collide": False})
    (rod,) = leg('<connection to="foot" kind="distance" length="2"/>', "trunk").connections
    assert (rod.kind, rod.length) == ("distance", 2.0)


REFUSED_CONNECTIONS = {
    "knee": {'<connection to="foot"/>': ["applies to links", "knee"]},
    "trunk": {
        "<connection/>": ["to"],
        '<connection to="feet"/>': ["feet", "foot"],
        '<connection to="trunk"/>': ["itself"],
        '<connection to="foot" kind="weld"/>': ["weld", "fixed"],
        '<connection to="foot" axes="x q"/>': ["'q'", "rx"],
        '<connection to="foot" axes="x" kind="ball"/>': ["not both"],
        '<connection to="foot" kind="distance"/>': ["length"],
        '<connection to="foot" length="1"/>': ["length"],
        '<connection to="foot" kind="distance" length="0"/>': ["positive"],
        '<connection to="foot" compliance="-1"/>': ["compliance", "negative"],
        '<connection to="foot" force_limit="nan"/>': ["force_limit"],
        '<connection to="foot" solver="split"/>': ["split", "direct"],
        '<connection to="foot" collide="yes"/>': ["collide", "true"],
        '<connection to="foot" xyz="1 2"/>': ["xyz", "3 numbers"],
        '<connection to="foot" weight="1"/>': ["weight"],
        '<connection to="foot"/><connection to="foot"/>': ["trunk-foot", "name"],
    },
    "shank": {'<connection to="foot"/>': ["'shank-foot'", "do not move apart"]},
}


@pytest.mark.parametrize(
    ("link", "inside"),
    [(link, text) for link in REFUSED_CONNECTIONS for text in REFUSED_CONNECTIONS[link]],
)
def test_connections_that_cannot_be_are_refused(link, inside):
    with pytest.raises(ModelError) as error:
        leg(inside, link)
    for part in REFUSED_CONNECTIONS[link][inside]:
        assert part in str(error.value)


@pytest.mark.parametrize("name", ["hrp2", "left", 'a "quoted" <name> & more'])
def test_a_published_description_tells_the_robots_name_and_describes_the_same_robot(name):
    text = LEG % ""
    published = with_robot_name(text, name)
    assert robot_name(text) == ""
    assert robot_name(published) == name
    assert robot_name(with_robot_name(published, "another")) == "another"
    assert load_model(published).mass == load_model(text).mass
    declared = f"\n<?xml version='1.0' encoding='latin-1'?>\n{published}"
    assert robot_name(declared) == name
