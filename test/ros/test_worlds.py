# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Worlds over ROS: which there are, load, unload, named poses, what can be spawned, quitting."""

import pytest
from ros.messages import seconds

pytest.importorskip("simulation_interfaces", reason="no simulation_interfaces: make setup-test")

if not hasattr(pytest.importorskip("simulation_interfaces.srv"), "LoadWorld"):
    pytest.skip("a release of simulation_interfaces without worlds", allow_module_level=True)

from ros.conftest import LIMIT
from ros.spawning import spawn_request
from simulation_interfaces.msg import EntityCategory, Result, SimulationState, TagsFilter
from simulation_interfaces.srv import (
    GetAvailableWorlds,
    GetCurrentWorld,
    GetEntities,
    GetEntityInfo,
    GetEntityState,
    GetNamedPoseBounds,
    GetNamedPoses,
    GetSimulationState,
    GetSpawnables,
    LoadWorld,
    ResetSimulation,
    SetEntityInfo,
    SetSimulationState,
    StepSimulation,
    UnloadWorld,
)

from hrpsim.ros.base.faults import resource_of

OK, NOT_FOUND = Result.RESULT_OK, Result.RESULT_NOT_FOUND
INCORRECT_STATE = Result.RESULT_INCORRECT_STATE
STAND = "package://hrpsim/config/stand.yaml"
CRANE = "package://hrpsim/urdf/crane.urdf.xacro"
GRAVITY = 9.80665
BALLS = """
about:
  name: balls
  tags: [toys]
  entities: {red: {category: dynamic_object, description: a red ball, tags: [toys, red]}}
  poses:
    - {name: high, position: [0, 0, 5], orientation: [0, 0, 2, 0], tags: [spawn]}
    - {name: low, position: [1, 0, 1], bounds: {sphere: 0.5}}
    - name: wide
      position: [1, 0, 0]
      tags: [spawn, goal]
      bounds: {box: [[-1, -2, 0], [1, 2, 3]]}
world: {time_step: 0.002}
bodies:
  - {name: red, shape: {sphere: 0.1}, mass: 1, position: [0, 0, 10]}
  - {name: blue, shape: {sphere: 0.1}, mass: 1, position: [0, 3, 10]}
"""
PENDULUM = """<robot name="pendulum"><link name="world"/><link name="arm"><inertial>
  <origin xyz="0 0 -1"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="world"/><child link="arm"/>
  <axis xyz="0 1 0"/></joint></robot>"""


class Worlds:
    """Calls the services of one node."""

    def __init__(self, listener):
        self.listener = listener

    def ask(self, request, service):
        name = type(request).__name__.removesuffix("_Request")
        kind = f"simulation_interfaces/srv/{name}"
        return self.listener.call(f"/hrpsim/{service}", request, kind)

    def load(self, uri="", text=""):
        request = LoadWorld.Request()
        resource_of(request).uri, resource_of(request).resource_string = uri, text
        return self.ask(request, "load_world")

    def state(self):
        return self.ask(GetSimulationState.Request(), "get_simulation_state").state.state

    def go_to(self, state):
        request = SetSimulationState.Request(state=SimulationState(state=state))
        return self.ask(request, "set_simulation_state").result

    def entities(self, *tags, mode=TagsFilter.FILTER_MODE_ANY):
        request = GetEntities.Request()
        request.filters.tags.tags, request.filters.tags.filter_mode = tags, mode
        return self.ask(request, "get_entities").entities

    def height(self, name):
        return self.ask(GetEntityState.Request(entity=name), "get_entity_state").state

    def step(self, steps):
        return self.ask(StepSimulation.Request(steps=steps), "step_simulation").result


@pytest.fixture(scope="module")
def shared(paused_simulation, module_listener):
    return Worlds(module_listener)


@pytest.fixture
def worlds(shared):
    answer = shared.load(STAND)
    assert answer.result.result == OK, answer.result.error_message
    return shared


def time_of(result):
    assert result.result == OK, result.error_message
    return float(result.error_message.rsplit("time ", 1)[1].split()[0])


def test_another_world_is_simulated_and_time_goes_on(worlds):
    """Law: another time step, other robots and topics; a body falls; no stamp goes back."""
    clocks = worlds.listener.collect("rosgraph_msgs/msg/Clock", "/clock")
    before = time_of(worlds.step(7))
    listener = worlds.listener
    assert listener.wait_for(lambda: "/joint_states" in listener.publishers_of("hrpsim"))
    answer = worlds.load(text=BALLS)
    after = time_of(answer.result)
    assert (answer.world.name, list(answer.world.tags)) == ("balls", ["toys"])
    assert worlds.state() == SimulationState.STATE_STOPPED
    assert worlds.entities() == ["red", "blue"]
    assert listener.wait_for(lambda: "/joint_states" not in listener.publishers_of("hrpsim"))
    start = time_of(worlds.step(0))
    assert start == after > before
    assert start / 0.002 == pytest.approx(round(start / 0.002), abs=1e-6)
    assert time_of(worlds.step(50)) == pytest.approx(start + 0.1, abs=1e-9)
    fallen = GRAVITY * 0.1**2 / 2
    assert worlds.height("red").pose.position.z == pytest.approx(10.0 - fallen, abs=1e-9)
    assert worlds.load(STAND).result.result == OK
    assert listener.wait_for(lambda: "/joint_states" in listener.publishers_of("hrpsim"))
    stamps = [(clock.clock.sec, clock.clock.nanosec) for clock in clocks]
    assert stamps == sorted(stamps)


def test_a_world_begins_as_it_would_in_a_node_of_its_own(worlds):
    """Law: a robot of a loaded world moves bit for bit as before; a reset brings it back."""
    states = worlds.listener.collect("sensor_msgs/msg/JointState", "joint_states")

    def course():
        states.clear()
        end = time_of(worlds.step(100))
        assert worlds.listener.wait_for(
            lambda: states and seconds(states[-1]) == pytest.approx(end)
        )
        by_stamp = {seconds(s): (list(s.position), list(s.effort)) for s in states}
        return [*by_stamp.values()][-10:]  # each once: a paused node repeats the last

    first = course()
    assert worlds.load(text=BALLS).result.result == OK
    assert worlds.load(STAND).result.result == OK
    again = worlds.listener.collect("sensor_msgs/msg/JointState", "joint_states")
    states = again
    assert course() == first
    request = ResetSimulation.Request()
    assert worlds.ask(request, "reset_simulation").result.result == OK
    assert course() == first


@pytest.mark.parametrize(
    ("given", "code", "named"),
    [
        ({}, "NO_RESOURCE", "uri"),
        ({"uri": "/nowhere.yaml"}, "RESOURCE_PARSE_ERROR", "/nowhere.yaml"),
        ({"uri": "package://hrpsim/config/hrpsim.rviz"}, "UNSUPPORTED_FORMAT", "YAML"),
        ({"uri": "package://hrpsim/config/ros2_control.yaml"}, "RESOURCE_PARSE_ERROR", "Available"),
        ({"text": "bodies: [{mass: 1}]"}, "RESOURCE_PARSE_ERROR", "shape"),
        ({"text": "a: [1"}, "RESOURCE_PARSE_ERROR", "resource_string"),
        ({"text": "robots: [{urdf: /no/robot.urdf}]"}, "MISSING_ASSETS", "/no/robot.urdf"),
        ({"text": "about: {entities: {ghost: {}}}"}, "RESOURCE_PARSE_ERROR", "ghost"),
        (
            {
                "text": f"robots: [{{name: a b, base: fixed, urdf: '{CRANE}'}},"
                f" {{name: c, base: fixed, urdf: '{CRANE}'}}]"
            },
            "RESULT_OPERATION_FAILED",
            "'a b'",
        ),
    ],
)
def test_what_cannot_be_loaded_changes_nothing(worlds, given, code, named):
    worlds.step(20)
    before = worlds.height("hrp2")
    answer = worlds.load(**given)
    expected = getattr(LoadWorld.Response, code, None) or getattr(Result, code)
    assert answer.result.result == expected, answer.result.error_message
    assert named in answer.result.error_message
    assert worlds.height("hrp2") == before
    assert worlds.entities() == ["hrp2"]
    assert worlds.step(1).result == OK


def test_xacro_from_elsewhere_is_not_evaluated(worlds, tmp_path):
    robot = tmp_path / "robot.urdf.xacro"
    robot.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<link name="${1 + 1}"/></robot>'
    )
    answer = worlds.load(text=f"robots: [{{urdf: {robot}}}]")
    assert answer.result.result == LoadWorld.Response.UNSUPPORTED_FORMAT
    assert "spawn_xacro" in answer.result.error_message


def test_without_a_world_nothing_can_be_done_until_one_is_loaded(worlds):
    listener = worlds.listener
    codes = SetSimulationState.Response
    assert worlds.ask(UnloadWorld.Request(), "unload_world").result.result == OK
    assert worlds.state() == SimulationState.STATE_NO_WORLD
    assert worlds.entities() == []
    again = worlds.ask(UnloadWorld.Request(), "unload_world").result.result
    assert again == UnloadWorld.Response.NO_WORLD_LOADED
    current = worlds.ask(GetCurrentWorld.Request(), "get_current_world").result.result
    assert current == GetCurrentWorld.Response.NO_WORLD_LOADED
    for state in (0, 1, 2):
        assert worlds.go_to(state).result == codes.INCORRECT_TRANSITION
    assert worlds.go_to(4).result == codes.ALREADY_IN_TARGET_STATE
    assert worlds.step(1).result == INCORRECT_STATE
    reset = worlds.ask(ResetSimulation.Request(), "reset_simulation").result.result
    assert reset == INCORRECT_STATE
    spawned = worlds.ask(spawn_request(PENDULUM), "spawn_entity").result.result
    assert spawned == INCORRECT_STATE
    for name in ("resume", "step", "reset"):
        answer = listener.call(f"/hrpsim/{name}")
        assert not answer.success and "load" in answer.message
    assert worlds.ask(GetNamedPoses.Request(), "get_named_poses").poses == []
    assert worlds.load(STAND).result.result == OK
    assert worlds.step(3).result == OK


def test_spawned_robots_go_with_their_world(worlds):
    listener = worlds.listener
    assert worlds.ask(spawn_request(PENDULUM), "spawn_entity").result.result == OK
    assert listener.wait_for(lambda: "/pendulum/joint_states" in listener.publishers_of("hrpsim"))
    assert worlds.load(STAND).result.result == OK
    assert worlds.entities() == ["hrp2"]
    assert listener.wait_for(
        lambda: "/pendulum/joint_states" not in listener.publishers_of("hrpsim")
    )
    assert worlds.ask(spawn_request(PENDULUM), "spawn_entity").result.result == OK


def test_worlds_that_are_there(worlds, tmp_path):
    (tmp_path / "mine.yaml").write_text(BALLS)
    (tmp_path / "no_world.yaml").write_text("controller: {gain: 1}")
    request = GetAvailableWorlds.Request()
    found = {world.name: world for world in worlds.ask(request, "get_available_worlds").worlds}
    assert found.keys() >= {"standing", "walking demo", "crane game"}
    assert resource_of(found["standing"]).uri == STAND
    assert "balls" not in found
    request.additional_sources = [str(tmp_path), "http://nowhere/"]
    refused = worlds.ask(request, "get_available_worlds").result
    assert refused.result == NOT_FOUND and "http://nowhere/" in refused.error_message
    request.continue_on_error = True
    answer = worlds.ask(request, "get_available_worlds")
    assert answer.result.result == OK and "http://nowhere/" in answer.result.error_message
    (mine,) = [world for world in answer.worlds if world.name == "balls"]
    assert resource_of(mine).uri == str(tmp_path / "mine.yaml")
    request.filter.tags = ["toys", "game"]
    tagged = worlds.ask(request, "get_available_worlds").worlds
    assert [world.name for world in tagged] == ["crane game", "balls"]
    request.filter.filter_mode = TagsFilter.FILTER_MODE_ALL
    assert worlds.ask(request, "get_available_worlds").worlds == []
    assert worlds.load(resource_of(mine).uri).result.result == OK
    current = worlds.ask(GetCurrentWorld.Request(), "get_current_world").world
    assert (current.name, resource_of(current).uri) == ("balls", resource_of(mine).uri)


def test_poses_with_names(worlds):
    assert worlds.load(text=BALLS).result.result == OK
    request = GetNamedPoses.Request()
    poses = {pose.name: pose for pose in worlds.ask(request, "get_named_poses").poses}
    assert list(poses) == ["high", "low", "wide"]
    high = poses["high"].pose
    assert (high.position.z, high.orientation.z, high.orientation.w) == (5.0, 1.0, 0.0)
    request.tags.tags = ["spawn"]
    tagged = worlds.ask(request, "get_named_poses").poses
    assert [pose.name for pose in tagged] == ["high", "wide"]
    request.tags.tags, request.tags.filter_mode = ["spawn", "goal"], TagsFilter.FILTER_MODE_ALL
    assert [pose.name for pose in worlds.ask(request, "get_named_poses").poses] == ["wide"]

    def bounds(name):
        request = GetNamedPoseBounds.Request(name=name)
        answer = worlds.ask(request, "get_named_pose_bounds")
        return answer.result.result, answer.bounds.type, answer.bounds.points

    assert bounds("high") == (OK, 0, [])
    code, kind, (centre, radius) = bounds("low")
    assert (code, kind, centre.x, radius.x) == (OK, 3, 0.0, 0.5)
    code, kind, (upper, lower) = bounds("wide")
    assert (code, kind, upper.y, upper.z, lower.y) == (OK, 1, 2.0, 3.0, -2.0)
    assert bounds("nowhere")[0] == NOT_FOUND


def test_what_is_said_of_entities(worlds):
    """Law: from the world file, by SetEntityInfo in its place, found by tags and categories."""
    assert worlds.load(text=BALLS).result.result == OK

    def info(name):
        return worlds.ask(GetEntityInfo.Request(entity=name), "get_entity_info").info

    assert info("red").description == "a red ball"
    assert info("red").category.category == EntityCategory.CATEGORY_DYNAMIC_OBJECT
    assert info("blue").category.category == EntityCategory.CATEGORY_OBJECT
    assert worlds.entities("red", "green") == ["red"]
    assert worlds.entities("red", "green", mode=TagsFilter.FILTER_MODE_ALL) == []
    assert worlds.entities("red", "toys", mode=TagsFilter.FILTER_MODE_ALL) == ["red"]
    request = SetEntityInfo.Request(entity="blue")
    request.info.category.category = EntityCategory.CATEGORY_HUMAN
    request.info.description, request.info.tags = "in disguise", ["green"]
    assert worlds.ask(request, "set_entity_info").result.result == OK
    assert info("blue") == request.info
    assert worlds.entities("red", "green") == ["red", "blue"]
    request.info.category.category = 3
    refused = worlds.ask(request, "set_entity_info").result
    assert refused.result != OK and "human (2)" in refused.error_message
    request.info.category.category, request.info.tags = 1, ["x"] * 101
    assert "100 tags" in worlds.ask(request, "set_entity_info").result.error_message
    assert info("blue").description == "in disguise"
    assert worlds.ask(SetEntityInfo.Request(entity="no"), "set_entity_info").result.result == 2


def test_what_can_be_spawned(worlds, tmp_path):
    (tmp_path / "pendulum.urdf").write_text(PENDULUM)
    request = GetSpawnables.Request(sources=[str(tmp_path), "/no/where"])
    answer = worlds.ask(request, "get_spawnables")
    assert answer.result.result == OK and "/no/where" in answer.result.error_message
    uris = [resource_of(one).uri for one in answer.spawnables]
    assert uris[-1] == str(tmp_path / "pendulum.urdf")
    assert "package://hrpsim/urdf/hrp2_like.urdf.xacro" in uris
    spawned = worlds.ask(spawn_request(uri=uris[-1]), "spawn_entity")
    assert (spawned.result.result, spawned.entity_name) == (OK, "pendulum")


def test_several_come_at_once(worlds):
    """Law: each request is answered by itself; what cannot come keeps nobody away."""
    srv = pytest.importorskip("simulation_interfaces.srv")
    msg = pytest.importorskip("simulation_interfaces.msg")
    if not hasattr(srv, "SpawnEntities"):
        pytest.skip("a release of simulation_interfaces without SpawnEntities")
    bodies = [msg.SpawnEntity(name=name) for name in ("a", "b", "a")]
    for k, body in enumerate(bodies):
        resource_of(body).resource_string = "{shape: {sphere: 0.1}, mass: 1}"
        body.initial_pose.pose.position.z = 3.0 + k
    answer = worlds.ask(srv.SpawnEntities.Request(spawn_requests=bodies), "spawn_entities")
    assert answer.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    codes = [one.result.result for one in answer.results]
    assert codes == [OK, OK, msg.SpawnResult.NAME_NOT_UNIQUE]
    assert "in use" in answer.results[2].result.error_message
    assert worlds.entities() == ["hrp2", "a", "b"]
    bodies[2].allow_renaming = True
    answer = worlds.ask(srv.SpawnEntities.Request(spawn_requests=bodies[2:]), "spawn_entities")
    assert (answer.result.result, answer.results[0].entity_name) == (OK, "a_2")


def test_goals_of_a_world_that_is_unloaded_are_aborted(worlds):
    """Law: each goal whose result is requested is answered, also where its robot leaves."""
    control_msgs = pytest.importorskip("control_msgs.action")
    from ros.test_follow_joint_trajectory import ABORTED, HEAD, SUCCEEDED, Result, Sent, goal

    listener, kind = worlds.listener, control_msgs.FollowJointTrajectory
    client = listener.action_client(kind, "follow_joint_trajectory")
    sent = Sent(listener, client, goal([HEAD], [(0.01, [0.0])]))
    worlds.step(500)
    assert sent.answer()[0] == SUCCEEDED  # so requests for results arrive before what is sent later
    sent = Sent(listener, client, goal([HEAD], [(0.5, [0.1])]))
    worlds.step(10)
    assert worlds.ask(UnloadWorld.Request(), "unload_world").result.result == OK
    reason = "the robot was removed or unloaded"
    assert sent.answer() == (ABORTED, Result.INVALID_GOAL, reason)
    assert listener.wait_for(lambda: not client.server_is_ready())
    assert worlds.load(STAND).result.result == OK
    listener.meet_server(client)
    sent = Sent(listener, client, goal([HEAD], [(0.01, [0.0])]))
    worlds.step(500)
    assert sent.answer()[0] == SUCCEEDED
    client.destroy()


def test_quitting_is_answered_and_ends_the_node(simulations, listener):
    node = simulations.start(remap=["__node:=leaving"])
    request = SetSimulationState.Request(state=SimulationState(state=3))
    kind = "simulation_interfaces/srv/SetSimulationState"
    answer = listener.call("/leaving/set_simulation_state", request, kind)
    assert answer.result.result == OK
    assert node.wait(LIMIT) == 0


def test_in_lockstep_a_world_must_fit_the_control_period(simulations, listener):
    """Law: a world whose time step does not divide the control period is refused, nothing lost."""
    simulations.start(remap=["__node:=locked"], lockstep=True, start_paused=True)
    request = LoadWorld.Request()
    resource_of(request).resource_string = "world: {time_step: 0.003}"
    kind = "simulation_interfaces/srv/LoadWorld"
    answer = listener.call("/locked/load_world", request, kind)
    assert answer.result.result != OK and "control_period" in answer.result.error_message
    request = GetEntities.Request()
    answer = listener.call("/locked/get_entities", request, "simulation_interfaces/srv/GetEntities")
    assert answer.entities == ["hrp2"]
