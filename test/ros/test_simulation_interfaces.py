# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The services of simulation_interfaces over real DDS, and the entities behind them."""

import importlib.metadata
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from ros.messages import seconds, vector

pytest.importorskip("simulation_interfaces", reason="no simulation_interfaces: make setup-test")

from geometry_msgs.msg import Pose, Vector3
from ros.messages import time_told
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    Result,
    SimulationState,
    SimulatorFeatures,
)
from simulation_interfaces.srv import (
    DeleteEntity,
    GetEntities,
    GetEntitiesStates,
    GetEntityBounds,
    GetEntityInfo,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    SpawnEntity,
    StepSimulation,
)

from hrpsim.ros.base.faults import resource_of

OK, UNSUPPORTED = Result.RESULT_OK, Result.RESULT_FEATURE_UNSUPPORTED
FAILED, NOT_FOUND = Result.RESULT_OPERATION_FAILED, Result.RESULT_NOT_FOUND
STOPPED, PLAYING, PAUSED = range(3)
GRAVITY = 9.80665
CRATE = "{name: crate, shape: {box: [0.2, 0.3, 0.4]}, mass: 2}"
PENDULUM = """<robot name="pendulum"><link name="world"/><link name="arm"><inertial>
  <origin xyz="0 0 -1"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="world"/><child link="arm"/>
  <axis xyz="0 1 0"/></joint></robot>"""
LONE_LINK = """<robot name="stone"><link name="stone"><inertial><mass value="3"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""

# Of simulation_interfaces 2.1.0, made from its definitions by rosidl_generator_type_description.
HASHES = {
    "action/SimulateSteps": "f0837c898e12",
    "srv/DeleteEntity": "ff7e96a5b83d",
    "srv/GetAvailableWorlds": "ce5589b5523f",
    "srv/GetCurrentWorld": "79ed4e910e1b",
    "srv/GetEntities": "cb90004c48cd",
    "srv/GetEntitiesStates": "0a76170d0c1c",
    "srv/GetEntityBounds": "17be8d362311",
    "srv/GetEntityInfo": "953b7ab6bfc3",
    "srv/GetEntityState": "749c91f2a235",
    "srv/GetNamedPoseBounds": "59fa8dd2c68b",
    "srv/GetNamedPoses": "c3d12ab92011",
    "srv/GetSimulationState": "3362dcebee4b",
    "srv/GetSimulatorFeatures": "abb9439c8cf1",
    "srv/GetSpawnables": "3e25fd827d8b",
    "srv/LoadWorld": "87d0ded1bfdd",
    "srv/ResetSimulation": "4ce285d7ff9b",
    "srv/SetEntityInfo": "867fe2b6812f",
    "srv/SetEntityState": "fba636c91d38",
    "srv/SetSimulationState": "a868b916dce4",
    "srv/SpawnEntities": "41703a359ee0",
    "srv/SpawnEntity": "66860313e110",
    "srv/StepSimulation": "913fe0653690",
    "srv/UnloadWorld": "ac7f9a73df1b",
}


class Simulator:
    """Calls the services of one node."""

    def __init__(self, listener):
        self.listener = listener

    def call(self, kind, service, request=None, /, **fields):
        request = request or kind.Request()
        for flag in ("set_pose", "set_twist"):
            if hasattr(request, flag) and flag not in fields:
                setattr(request, flag, True)
        for field, value in fields.items():
            target, attributes = request, field.split("__")
            for attribute in attributes[:-1]:
                target = getattr(target, attribute)
            setattr(target, attributes[-1], value)
        type_name = f"simulation_interfaces/srv/{kind.__name__}"
        return self.listener.call(f"/hrpsim/{service}", request, type_name)

    def spawn(self, text="", name="", **fields):
        request = SpawnEntity.Request(name=name)
        resource = resource_of(request)
        resource.uri, resource.resource_string = fields.pop("uri", ""), text
        return self.call(SpawnEntity, "spawn_entity", request, **fields)

    def delete(self, name):
        return self.call(DeleteEntity, "delete_entity", entity=name).result

    def entities(self, **fields):
        response = self.call(GetEntities, "get_entities", **fields)
        assert response.result.result == OK, response.result.error_message
        return response.entities

    def state_of(self, name):
        return self.call(GetEntityState, "get_entity_state", entity=name).state

    def step(self, steps):
        return self.call(StepSimulation, "step_simulation", steps=steps).result

    def reset(self, scope=0):
        return self.call(ResetSimulation, "reset_simulation", scope=scope).result

    def state(self):
        return self.call(GetSimulationState, "get_simulation_state").state.state

    def go_to(self, state):
        target = SimulationState(state=state)
        return self.call(SetSimulationState, "set_simulation_state", state=target).result


@pytest.fixture(scope="module")
def shared(paused_simulation, module_listener):
    return Simulator(module_listener)


@pytest.fixture
def simulator(shared):
    """A paused node whose world is as it was at first."""
    shared.go_to(PAUSED)
    assert shared.reset().result == OK
    assert shared.entities() == ["hrp2"]
    return shared


def pose(x=0.0, y=0.0, z=0.0, yaw=0.0):
    result = Pose()
    result.position.x, result.position.y, result.position.z = float(x), float(y), float(z)
    result.orientation.z, result.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)
    return result


def test_types_are_the_distribution_s():
    try:
        importlib.metadata.version("hrpsim-simulation-interfaces")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("simulation_interfaces comes from a ROS 2 distribution")
    folder = Path(sys.prefix, "share", "simulation_interfaces")
    for name, expected in HASHES.items():
        described = json.loads((folder / f"{name}.json").read_text())
        assert described["type_hashes"][0]["hash_string"].startswith(f"RIHS01_{expected}"), name


def test_features_tell_what_there_is(simulator):
    features = simulator.call(GetSimulatorFeatures, "get_simulator_features").features
    assert SimulatorFeatures.STEP_SIMULATION_ACTION in features.features
    assert SimulatorFeatures.SPAWNING in features.features
    assert SimulatorFeatures.SIMULATION_RESET_TIME not in features.features
    assert SimulatorFeatures.WORLD_LOADING in features.features
    assert len(set(features.features)) == len(features.features)
    assert features.spawn_formats == ["urdf", "hrpsim"]


def test_services_are_those_of_the_document(simulator):
    reference = Path(__file__).resolve().parents[2] / "docs" / "reference"
    text = (reference / "ros" / "simulation_interfaces.md").read_text()
    table = text.split("## Services of simulation_interfaces\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `~")]
    documented = {name.strip(" `").replace("~", "/hrpsim"): kind.strip() for name, kind in rows}
    node = simulator.listener.node

    def offered():
        found = {
            n: kinds[0] for n, kinds in node.get_service_names_and_types() if "_action" not in n
        }
        return {n: k for n, k in found.items() if k.startswith("simulation_interfaces")}

    simulator.listener.wait_for(lambda: documented.keys() <= offered().keys())
    assert documented == offered()


def test_states_and_their_transitions(simulator):
    already = SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    assert simulator.state() == PAUSED
    assert simulator.go_to(PAUSED).result == already
    assert simulator.go_to(PLAYING).result == OK
    assert simulator.state() == PLAYING
    refused = simulator.step(1)
    assert refused.result == FAILED
    assert "Pause it" in refused.error_message
    assert simulator.go_to(STOPPED).result == OK
    assert simulator.state() == STOPPED
    assert simulator.go_to(STOPPED).result == already
    assert simulator.step(3).result == OK
    assert simulator.state() == PAUSED
    for state in (SimulationState.STATE_LOADING_WORLD, SimulationState.STATE_NO_WORLD):
        refused = simulator.go_to(state)
        assert refused.result == SetSimulationState.Response.INCORRECT_TRANSITION
        assert "load_world" in refused.error_message
    refused = simulator.go_to(77)
    assert refused.result == UNSUPPORTED
    assert "paused (2)" in refused.error_message


def test_steps_are_those_of_the_std_srvs_service(simulator):
    start = time_of(simulator.step(0))
    assert time_of(simulator.step(37)) == pytest.approx(start + 0.037, abs=1e-9)
    answer = simulator.listener.call("/hrpsim/step").message
    assert time_told(answer) == pytest.approx(start + 0.038, abs=1e-9)
    refused = simulator.step(10_000_000)
    assert refused.result == FAILED
    assert "simulate_steps" in refused.error_message
    assert time_of(simulator.step(0)) == pytest.approx(start + 0.038, abs=1e-9)


def time_of(result):
    assert result.result == OK, result.error_message
    return time_told(result.error_message)


def test_a_spawned_body_falls_as_bodies_do(simulator):
    answer = simulator.spawn(CRATE, initial_pose__pose=pose(3.0, -1.0, 2.0, yaw=0.5))
    assert answer.result.result == OK, answer.result.error_message
    assert answer.entity_name == "crate"
    assert simulator.entities() == ["hrp2", "crate"]
    before = simulator.state_of("crate")
    assert vector(before.pose.position) == pytest.approx([3, -1, 2], abs=1e-12)
    assert before.pose.orientation.z == pytest.approx(math.sin(0.25), abs=1e-12)
    assert before.header.frame_id == "world"
    simulator.step(100)
    after = simulator.state_of("crate")
    # Symplectic Euler: g dt^2 n (n + 1) / 2.
    assert after.pose.position.z == pytest.approx(2.0 - GRAVITY * 0.1**2 / 2, abs=1e-9)
    assert vector(after.twist.linear) == pytest.approx([0, 0, -0.1 * GRAVITY], abs=1e-9)
    passed = seconds(after) - seconds(before)
    assert passed == pytest.approx(0.1, abs=1e-9)


def test_the_robot_does_not_notice_what_comes_and_goes_beside_it(simulator):
    states = simulator.listener.collect("sensor_msgs/msg/JointState", "joint_states")

    def course(act):
        simulator.reset()
        states.clear()
        start = time_of(simulator.step(0))
        for k in range(4):
            act(k)
            simulator.step(50)
        assert simulator.listener.wait_for(
            lambda: states and abs(seconds(states[-1]) - start - 0.2) < 1e-6
        )
        after = {round(seconds(s) - start, 6): (s.position, s.effort) for s in states}
        return {t: state for t, state in after.items() if t > 0.0}

    def visit(k):
        if k == 1:
            assert simulator.spawn(CRATE, initial_pose__pose=pose(9.0, 0, 5.0)).result.result == OK
        if k == 3:
            assert simulator.delete("crate").result == OK

    undisturbed, visited = course(lambda k: None), course(visit)
    assert len(undisturbed) == 40
    assert visited == undisturbed


def test_a_fixed_base_is_spawned_where_the_request_says(simulator):
    for name, y in (("left", 4.0), ("right", -4.0)):
        at = pose(1.0, y, 3.0, yaw=1.0)
        answer = simulator.spawn(PENDULUM, name=name, initial_pose__pose=at)
        assert answer.result.result == OK, answer.result.error_message
    simulator.step(20)
    for name, y in (("left", 4.0), ("right", -4.0)):
        found = simulator.state_of(name).pose
        assert (found.position.x, found.position.y, found.position.z) == (1.0, y, 3.0)
        assert found.orientation.z == pytest.approx(math.sin(0.5))


def test_urdf_as_text_and_by_uri(simulator):
    answer = simulator.spawn(LONE_LINK, name="pebble", initial_pose__pose=pose(2, 2, 1))
    assert (answer.result.result, answer.entity_name) == (OK, "pebble")
    answer = simulator.spawn(PENDULUM)
    assert answer.result.result == OK, answer.result.error_message
    assert "Its topics are in 'pendulum/'" in answer.result.error_message
    uri = "package://hrpsim/urdf/hrp2_like.urdf.xacro"
    answer = simulator.spawn(uri=uri, name="twin", initial_pose__pose=pose(0, 3, 1))
    assert answer.result.result == OK, answer.result.error_message
    assert simulator.entities() == ["hrp2", "pebble", "pendulum", "twin"]
    category = EntityCategory(category=EntityCategory.CATEGORY_ROBOT)
    assert simulator.entities(filters__categories=[category]) == ["hrp2", "pendulum", "twin"]
    assert simulator.entities(filters__filter="^p.*e$|hrp") == ["hrp2", "pebble"]
    info = simulator.call(GetEntityInfo, "get_entity_info", entity="twin").info
    assert "joints" in info.description
    simulator.step(20)
    response = simulator.call(GetEntitiesStates, "get_entities_states")
    assert response.entities == ["hrp2", "pebble", "pendulum", "twin"]
    heights = [state.pose.position.z for state in response.states]
    assert heights[1] == pytest.approx(1.0 - GRAVITY * 0.02**2 / 2, abs=1e-9)
    assert heights[2] == 0.0
    assert heights[3] < 1.0 - 1e-3


def test_names(simulator):
    codes = SpawnEntity.Response
    far = {"initial_pose__pose": pose(5, 5, 5)}
    assert simulator.spawn(CRATE, **far).entity_name == "crate"
    refused = simulator.spawn(CRATE, **far).result
    assert refused.result == codes.NAME_NOT_UNIQUE
    assert "hrp2, crate" in refused.error_message
    assert simulator.spawn(CRATE, allow_renaming=True, **far).entity_name == "crate_2"
    assert simulator.spawn(CRATE, name="box", allow_renaming=True, **far).entity_name == "box"
    nameless = "{shape: {sphere: 0.1}, mass: 1}"
    assert simulator.spawn(nameless, **far).result.result == codes.NAME_INVALID
    assert simulator.spawn(nameless, allow_renaming=True, **far).entity_name == "entity"
    assert simulator.spawn(CRATE, name="a/b", **far).result.result == codes.NAME_INVALID


@pytest.mark.parametrize(
    ("fields", "code", "named"),
    [
        ({}, "NO_RESOURCE", "resource_string"),
        ({"text": "<sdf version='1.9'/>"}, "UNSUPPORTED_FORMAT", "urdf"),
        ({"text": "<robot name='r'><link/></robot>"}, "RESOURCE_PARSE_ERROR", "link"),
        ({"text": "{shape: {cone: 1}, mass: 1, name: c}"}, "RESOURCE_PARSE_ERROR", "cylinder"),
        ({"text": "{shape: {sphere: 1}, name: c}"}, "RESOURCE_PARSE_ERROR", "mass"),
        ({"text": "{shape: {sphere: 1}, mass: -1, name: c}"}, "RESOURCE_PARSE_ERROR", "mass"),
        ({"text": "- a\n- b"}, "RESOURCE_PARSE_ERROR", "mapping"),
        ({"text": "a: [1"}, "RESOURCE_PARSE_ERROR", ""),
        ({"uri": "/nowhere/robot.urdf"}, "RESOURCE_PARSE_ERROR", "/nowhere/robot.urdf"),
        ({"uri": "package://hrpsim/config/stand.rviz"}, "", "stand.rviz"),
        ({"text": CRATE, "entity_namespace": "1 2"}, "NAMESPACE_INVALID", ""),
        ({"text": CRATE, "initial_pose__pose": pose(math.nan)}, "INVALID_POSE", "finite"),
        ({"text": CRATE, "initial_pose__pose": Pose(position=pose(9e9).position)}, "", "finite"),
        ({"text": CRATE, "initial_pose__header__frame_id": "moon"}, "INVALID_POSE", "hrp2"),
        (
            {"text": LONE_LINK.replace('<sphere radius="0.1"/>', '<mesh filename="no.stl"/>')},
            "MISSING_ASSETS",
            "no.stl",
        ),
    ],
)
def test_what_cannot_be_spawned_changes_nothing(simulator, fields, code, named):
    result = simulator.spawn(**fields).result
    assert result.result != OK
    if code:
        assert result.result == getattr(SpawnEntity.Response, code), result.error_message
    assert named in result.error_message
    assert simulator.entities() == ["hrp2"]
    assert simulator.step(1).result == OK


def test_deleting(simulator):
    simulator.spawn(CRATE, initial_pose__pose=pose(5, 0, 1))
    assert simulator.delete("crate").result == OK
    missing = simulator.delete("crate")
    assert missing.result == NOT_FOUND
    assert "Available: hrp2" in missing.error_message
    assert simulator.entities() == ["hrp2"]


def test_states_are_set_in_the_frame_that_is_named(simulator):
    simulator.spawn(CRATE, initial_pose__pose=pose(4, 0, 5, yaw=math.pi / 2))
    simulator.spawn(CRATE, name="other", initial_pose__pose=pose(9, 9, 5))
    result = simulator.call(
        SetEntityState,
        "set_entity_state",
        entity="other",
        state__header__frame_id="crate",
        state__pose=pose(1.0, 0.0, 2.0),
        state__twist__linear=Vector3(x=1.0),
        state__twist__angular=Vector3(z=2.0),
    ).result
    assert result.result == OK, result.error_message
    state = simulator.state_of("other")
    assert vector(state.pose.position) == pytest.approx([4, 1, 7], abs=1e-12)
    assert state.pose.orientation.z == pytest.approx(math.sin(math.pi / 4), abs=1e-12)
    assert vector(state.twist.linear) == pytest.approx([0, 1, 0], abs=1e-12)
    simulator.step(100)
    state = simulator.state_of("other")
    assert state.pose.position.y == pytest.approx(1.1, abs=1e-9)
    yaw = 2 * math.atan2(state.pose.orientation.z, state.pose.orientation.w)
    assert yaw == pytest.approx(math.pi / 2 + 0.2, abs=1e-6)


def test_a_z_of_nan_puts_what_is_spawned_on_the_floor(simulator):
    """Law: a box of 0.4 m on the floor has its centre at 0.2 m."""
    assert simulator.spawn(CRATE, initial_pose__pose=pose(3, 1, math.nan)).result.result == OK
    position = simulator.state_of("crate").pose.position
    assert vector(position) == pytest.approx([3.0, 1.0, 0.2], abs=1e-9)


def test_a_robot_is_set_with_its_joints_as_they_are(simulator):
    before = simulator.state_of("hrp2")
    target = pose(0.5, 0.2, before.pose.position.z + 0.3, yaw=1.0)
    fields = {"entity": "hrp2", "state__pose": target, "state__twist__linear": Vector3(x=0.1)}
    result = simulator.call(SetEntityState, "set_entity_state", **fields).result
    assert result.result == OK, result.error_message
    after = simulator.state_of("hrp2")
    assert vector(after.pose.position) == pytest.approx(vector(target.position), abs=1e-12)
    assert vector(after.twist.linear) == pytest.approx([0.1, 0, 0], abs=1e-12)
    fields["state__pose"] = pose(z=math.inf)
    result = simulator.call(SetEntityState, "set_entity_state", **fields).result
    assert result.result == SetEntityState.Response.INVALID_POSE
    assert simulator.state_of("hrp2").pose == after.pose


def test_bounds(simulator):
    simulator.spawn(CRATE, initial_pose__pose=pose(4, 0, 5, yaw=math.pi / 2))
    bounds = simulator.call(GetEntityBounds, "get_entity_bounds", entity="crate").bounds
    assert bounds.type == Bounds.TYPE_BOX
    upper, lower = map(vector, bounds.points)
    assert upper == pytest.approx([0.1, 0.15, 0.2], abs=1e-12)
    assert lower == pytest.approx([-0.1, -0.15, -0.2], abs=1e-12)

    def inside(kind, *points):
        points = [Vector3(x=float(x), y=float(y), z=float(z)) for x, y, z in points]
        return simulator.entities(filters__bounds=Bounds(type=kind, points=points))

    # Turned by a quarter, the crate reaches 0.15 along x and 0.1 along y.
    assert inside(Bounds.TYPE_BOX, (3.86, 1, 6), (3, -1, 4)) == ["crate"]
    assert inside(Bounds.TYPE_BOX, (3.84, 1, 6), (3, -1, 4)) == []
    assert inside(Bounds.TYPE_SPHERE, (4, 0.6, 5), (0.51, 0, 0)) == ["crate"]
    assert inside(Bounds.TYPE_SPHERE, (4, 0.6, 5), (0.49, 0, 0)) == []
    assert inside(Bounds.TYPE_SPHERE, (0, 0, 0), (1, 0, 0)) == ["hrp2"]
    # A tetrahedron whose slanted face passes the crate's edge, and its hull's box does not.
    corner = (3.7, -0.25, 4.0)
    for reach, found in ((0.6, ["crate"]), (0.5, [])):
        others = [np.add(corner, reach * 2.0 * axis) for axis in np.eye(3)]
        assert inside(Bounds.TYPE_CONVEX_HULL, corner, *others) == found
    flat = [(3, -1, 5), (5, -1, 5), (5, 1, 5)]
    assert inside(Bounds.TYPE_CONVEX_HULL, *flat) == ["crate"]
    answer = simulator.call(
        GetEntities, "get_entities", filters__bounds=Bounds(type=Bounds.TYPE_CONVEX_HULL)
    )
    assert answer.result.result == FAILED
    answer = simulator.call(GetEntities, "get_entities", filters__bounds=Bounds(type=9))
    assert answer.result.result == UNSUPPORTED
    answer = simulator.call(GetEntities, "get_entities", filters__filter="(")
    assert answer.result.result == FAILED
    assert simulator.entities(filters__tags__tags=["red"]) == []


def test_scopes_of_a_reset(simulator):
    simulator.spawn(CRATE, initial_pose__pose=pose(4, 0, 5))
    simulator.step(50)
    fallen = simulator.state_of("crate").pose.position.z
    moved = simulator.state_of("hrp2").pose
    assert simulator.reset(ResetSimulation.Request.SCOPE_TIME).result == UNSUPPORTED
    assert simulator.reset(64).result == UNSUPPORTED
    assert simulator.reset(ResetSimulation.Request.SCOPE_STATE).result == OK
    assert simulator.state_of("crate").pose.position.z == 5.0 > fallen
    assert vector(simulator.state_of("hrp2").pose.position) == pytest.approx(
        vector(moved.position), abs=1e-4
    )
    simulator.step(50)
    assert simulator.reset(ResetSimulation.Request.SCOPE_SPAWNED).result == OK
    assert simulator.entities() == ["hrp2"]
    assert simulator.listener.call("/hrpsim/reset").success


@pytest.fixture
def action_client(simulator):
    client = simulator.listener.action_client(SimulateSteps, "/hrpsim/simulate_steps")
    yield client
    client.destroy()


def send(listener, client, steps, feedback=None):
    future = client.send_goal_async(SimulateSteps.Goal(steps=steps), feedback)
    assert listener.wait_for(future.done)
    return future.result()


def result_of(listener, goal):
    future = goal.get_result_async()
    assert listener.wait_for(future.done)
    return future.result().status, future.result().result.result


def test_simulate_steps_with_feedback(simulator, action_client):
    listener, told = simulator.listener, []
    start = time_of(simulator.step(0))
    goal = send(listener, action_client, 40, lambda m: told.append(m.feedback))
    # Before the result is asked for: with it rclpy's client forgets who hears its feedback.
    assert listener.wait_for(lambda: told and told[-1].completed_steps == 40)
    status, result = result_of(listener, goal)
    assert (status, result.result) == (4, OK), result.error_message  # succeeded
    assert time_of(simulator.step(0)) == pytest.approx(start + 0.04, abs=1e-9)
    assert all(f.completed_steps + f.remaining_steps == 40 for f in told)
    counts = [f.completed_steps for f in told]
    assert counts == sorted(set(counts))
    assert counts[0] == 1
    assert simulator.state() == PAUSED


def test_simulate_steps_can_be_cancelled_and_others_are_served_meanwhile(simulator, action_client):
    listener = simulator.listener
    start = time_of(simulator.step(0))
    told = []
    goal = send(listener, action_client, 10**9, told.append)
    assert goal.accepted
    assert listener.wait_for(lambda: told)  # the first step is made
    assert not send(listener, action_client, 1).accepted  # one at a time
    assert simulator.entities() == ["hrp2"]
    future = goal.cancel_goal_async()
    assert listener.wait_for(future.done)
    status, result = result_of(listener, goal)
    assert status == 5  # cancelled
    made = int(result.error_message.split()[1])
    assert 0 < made < 10**9
    assert time_of(simulator.step(0)) == pytest.approx(start + 1e-3 * made, abs=1e-9)
    assert send(listener, action_client, 1).accepted


def test_simulate_steps_needs_a_paused_simulation(simulator, action_client):
    simulator.go_to(PLAYING)
    goal = send(simulator.listener, action_client, 5)
    status, result = result_of(simulator.listener, goal)
    assert (status, result.result) == (6, FAILED)  # aborted
    assert "Pause it" in result.error_message
    simulator.go_to(PAUSED)


def test_spawning_while_the_simulation_plays(simulator):
    simulator.go_to(PLAYING)
    for k in range(3):
        name = f"crate{k}"
        assert simulator.spawn(CRATE, name, initial_pose__pose=pose(3, k, 0.2)).entity_name == name
    simulator.listener.spin(0.5)
    assert simulator.delete("crate1").result == OK
    simulator.listener.spin(0.2)
    simulator.go_to(PAUSED)
    assert simulator.entities() == ["hrp2", "crate0", "crate2"]
    resting = simulator.state_of("crate2")
    assert resting.pose.position.z == pytest.approx(0.2, abs=2e-3)
    assert simulator.state_of("hrp2").pose.position.z == pytest.approx(0.65, abs=0.02)


def test_a_node_without_the_types_says_so_once(simulations, listener, hide_module):
    hide_module("simulation_interfaces")
    node = simulations.start(start_paused=True, remap=["__node:=plain"])
    assert sum("only the std_srvs services" in line for line in node.lines) == 1
    assert listener.call("/plain/step").success
    offered = {name for name, _ in listener.node.get_service_names_and_types()}
    assert "/plain/step" in offered
    assert "/plain/get_entities" not in offered
    assert node.stop() == 0
