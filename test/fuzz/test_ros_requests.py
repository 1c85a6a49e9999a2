# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random requests and messages: the node answers each, stays finite and stays alive.

HRPSIM_FUZZ_MINUTES gives the time; a few rounds without it. HRPSIM_FUZZ_SEED repeats a run.
"""

import math
import os
import time

import pytest

pytest.importorskip("rclpy", reason="no ROS 2")
pytest.importorskip("simulation_interfaces", reason="no simulation_interfaces: make setup-test")

from fuzz.random_messages import RandomMessages
from geometry_msgs.msg import PoseStamped, WrenchStamped
from grouped import ros_group
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from ros.conftest import Listener, Simulations
from sensor_msgs.msg import JointState
from simulation_interfaces import srv
from trajectory_msgs.msg import JointTrajectory

MINUTES = float(os.environ.get("HRPSIM_FUZZ_MINUTES", 0.0))
ROUNDS = 20  # where no time is given: the same each day, on any machine
SEED = int(os.environ.get("HRPSIM_FUZZ_SEED", 15))
SLOWEST = 60.0  # processor time of an answer without end [s]: a kernel may be compiled
MOST_MEMORY = 1 << 30  # [bytes]
ENTITY_SERVICES = {
    "spawn_entity": srv.SpawnEntity,
    "delete_entity": srv.DeleteEntity,
    "get_entities": srv.GetEntities,
    "get_entities_states": srv.GetEntitiesStates,
    "get_entity_state": srv.GetEntityState,
    "set_entity_state": srv.SetEntityState,
    "get_entity_info": srv.GetEntityInfo,
    "get_entity_bounds": srv.GetEntityBounds,
    "get_simulation_state": srv.GetSimulationState,
    "reset_simulation": srv.ResetSimulation,
    "set_parameters": SetParameters,
    "set_parameters_atomically": SetParametersAtomically,
    "get_parameters": GetParameters,
}
TOPICS = {
    "joint_commands": JointState,
    "joint_trajectory": JointTrajectory,
    "apply_wrench": WrenchStamped,
    "set_base_pose": PoseStamped,
}


class Fuzzed:
    """A node, its clients and its publishers."""

    def __init__(self, node, listener):
        self.node, self.listener = node, listener
        self.clients = {
            name: listener.node.create_client(kind, f"/hrpsim/{name}")
            for name, kind in {**ENTITY_SERVICES, "step_simulation": srv.StepSimulation}.items()
        }
        for client in self.clients.values():
            assert listener.wait_for(client.service_is_ready)
        self.publishers = {
            topic: listener.node.create_publisher(kind, topic, 10) for topic, kind in TOPICS.items()
        }
        self.sent = 0

    def call(self, name, request):
        """Return the answer of a service; none, or one without end, is a failure."""
        self.sent += 1
        begin = processor_time(self.node.pid)
        future = self.clients[name].call_async(request)
        assert self.listener.wait_for(future.done), (name, request)
        assert processor_time(self.node.pid) - begin < SLOWEST, (name, request)
        return future.result()

    def is_well(self):
        """Whether the node lives, is not too large, and all it knows is finite."""
        assert self.node.exit_code is None, self.node.lines[-20:]
        assert memory_of(self.node.pid) < MOST_MEMORY
        answer = self.call("get_entities_states", srv.GetEntitiesStates.Request())
        numbers = [
            getattr(part, axis)
            for state in answer.states
            for part in (state.pose.position, state.pose.orientation, state.twist.linear)
            for axis in "xyz"
        ]
        return all(map(math.isfinite, numbers))


def memory_of(pid):
    """Return what a process holds in memory [bytes]."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def processor_time(pid):
    """Return what a process has used of the processor [s]."""
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    simulations = Simulations(tmp_path_factory.mktemp("fuzzed"))
    listener = Listener()
    yield Fuzzed(simulations.start(start_paused=True, entity_limit=20), listener)
    listener.close()
    simulations.stop()


@pytest.mark.long
@ros_group("fuzz")
@pytest.mark.timeout(60 * MINUTES + 1200)
def test_nothing_that_is_sent_brings_the_node_down(fuzzed):
    """Law: every request is answered, the state stays finite, the node stays alive."""
    print(f"seed {SEED}")
    made, end, rounds = RandomMessages(SEED), time.monotonic() + 60.0 * MINUTES, 0
    while rounds < ROUNDS if MINUTES == 0.0 else time.monotonic() < end:
        rounds += 1
        for _ in range(20):
            name = made.random.choice(list(ENTITY_SERVICES))
            fuzzed.call(name, made.message(ENTITY_SERVICES[name].Request))
        for _ in range(20):
            topic = made.random.choice(list(TOPICS))
            junk = made.random.random() < 0.05
            message = made.bytes() if junk else made.message(TOPICS[topic])
            fuzzed.publishers[topic].publish(message)
            fuzzed.sent += 1
        fuzzed.call("step_simulation", srv.StepSimulation.Request(steps=made.random.randrange(20)))
        assert fuzzed.is_well(), f"after {fuzzed.sent} inputs of seed {SEED}"
        fuzzed.call("reset_simulation", srv.ResetSimulation.Request(scope=0xFF))
    internal = [line for line in fuzzed.node.lines if "internal error" in line]
    print(f"{fuzzed.sent} inputs, {len(internal)} internal errors in the log")
