# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A topic, a frame and an entity's name have one owner each; an error names both owners."""

import pytest
from ros.test_gazebo_sensors import ROBOT

import hrpsim
from hrpsim import WorldError
from hrpsim.model.sensor_names import sensor_topic
from hrpsim.model.shapes.placement import IDENTITY
from hrpsim.ros.base.entities import Entities, Refusal
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.owned_names import OF_NODE, OF_ROBOT, NamedRobot, check_names

LIDAR = '<sensor name="{}" type="gpu_lidar"><topic>{}</topic><lidar><scan><horizontal>'
LIDAR += "<samples>4</samples></horizontal></scan></lidar></sensor>"


def described(*sensors, links=""):
    return (
        '<robot name="r"><link name="body"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" '
        f'izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>{links}<gazebo reference="body">'
        f"{''.join(sensors)}</gazebo></robot>"
    )


def named(text, name="r", prefix=""):
    robot = hrpsim.World().add_robot(hrpsim.load_model(text), name=name)
    return NamedRobot(robot, prefix, RobotFrames(robot.model, "odom", prefix))


def resolved(topic):
    return topic if topic.startswith("/") else f"/{topic}"


@pytest.mark.parametrize("topic", ["/clock", *OF_ROBOT, "tf", "contacts"])
def test_a_sensor_with_a_topic_of_the_node_is_named(topic):
    """Law: a topic from a description never mixes with the topics of the node or its robots."""
    owner = "the node" if topic not in OF_ROBOT else "robot 'r'"
    one = named(described(LIDAR.format("scanner", topic)))
    with pytest.raises(
        WorldError, match=f"^sensor 'scanner' of 'r' and {owner} have the same topic"
    ):
        check_names([one], resolved, sensor_topic)


def test_two_sensors_with_one_topic_are_named():
    one = named(described(LIDAR.format("left", "scan"), LIDAR.format("right", "/scan")))
    with pytest.raises(
        WorldError, match=r"sensor 'right' of 'r' .*'left' of 'r' have the same topic, '/scan'"
    ):
        check_names([one], resolved, sensor_topic)


def test_a_topic_that_lies_in_another_robots_namespace_is_named():
    one = named(described(LIDAR.format("left", "two/joint_states")))
    two = named(described(), name="two", prefix="two/")
    with pytest.raises(
        WorldError, match=r"robot 'two' and sensor .* the same topic, '/two/joint_states'"
    ):
        check_names([one, two], resolved, sensor_topic)


def test_two_frames_of_one_name_are_named():
    links = '<link name="odom"/><joint name="j" type="fixed"><parent link="body"/>'
    links += '<child link="odom"/></joint>'
    one = named(described(links=links))
    with pytest.raises(
        WorldError, match=r"link 'odom' of 'r' and the node .* have the same frame, 'odom'"
    ):
        check_names([one], resolved, sensor_topic)


def test_cameras_of_one_namespace_share_their_camera_info():
    """Law: as in Gazebo; only topics with different messages need different names."""
    camera = '<sensor name="{0}" type="camera"><topic>head/{0}</topic><camera/></sensor>'
    check_names([named(described(camera.format("a"), camera.format("b")))], resolved, sensor_topic)


@pytest.mark.parametrize("name", ["world", "world/ground"])
def test_no_entity_has_the_name_of_the_fixed_frame(name):
    """Law: names of fixed links begin with "world/", and no body mixes with these."""
    world = hrpsim.World()
    with pytest.raises(WorldError, match="'world' is the fixed frame"):
        world.add_body(hrpsim.Sphere(0.1), 1.0, name=name)
    with pytest.raises(WorldError, match="'world' is the fixed frame"):
        world.add_robot(hrpsim.load_model(ROBOT), name=name)
    assert not world.entities


@pytest.mark.parametrize("name", ["world", "odom"])
def test_no_entity_is_spawned_with_the_name_of_the_worlds_frame(name):
    entities = Entities(hrpsim.World())
    with pytest.raises(Refusal, match="is the frame of the world"):
        entities.spawn(name, "", "shape: {sphere: 0.1}\nmass: 1.0\n", IDENTITY)


def test_a_world_file_with_a_body_called_world_is_refused(tmp_path):
    (tmp_path / "w.yaml").write_text("bodies: [{name: world, shape: {sphere: 0.1}, mass: 1.0}]\n")
    with pytest.raises(WorldError, match=r"w.yaml.*'world' is the fixed frame"):
        hrpsim.load_world(tmp_path / "w.yaml")


def test_the_lists_hold_every_topic_of_a_running_node(simulations, listener, tmp_path):
    """Law: a topic that the node makes and the lists lack could be taken by a sensor."""
    (tmp_path / "r.urdf").write_text(described())
    world = tmp_path / "world.yaml"
    world.write_text(f"robots: [{{name: r, urdf: {tmp_path / 'r.urdf'}}}]\n")
    simulations.start(world_file=world, start_paused=True)
    known = {resolved(topic) for topic in (*OF_NODE, *OF_ROBOT)}

    def found():
        both = (listener.publishers_of("hrpsim"), listener.subscribers_of("hrpsim"))
        return {topic for topics in both for topic in topics if "/_" not in topic}

    assert listener.wait_for(lambda: "/joint_states" in found() and "/apply_wrench" in found())
    assert found() <= known
