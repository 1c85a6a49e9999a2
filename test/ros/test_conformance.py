# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim check-simulation-interfaces` over real DDS: our node, and a server that is wrong."""

import contextlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("simulation_interfaces", reason="no simulation_interfaces: make setup-test")

import rclpy
import simulation_interfaces.msg as msg
import simulation_interfaces.srv as srv
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from ros.conftest import LIMIT

DOCUMENT = Path(__file__).parents[2] / "docs" / "verification" / "simulation_interfaces.md"
PATIENT = "--timeout", LIMIT / 4, "--discovery", LIMIT / 4
ANSWERS_WITHIN = 15.0  # [s, wall] of the wrong simulator's one request that is never answered
OK, UNSUPPORTED = msg.Result.RESULT_OK, msg.Result.RESULT_FEATURE_UNSUPPORTED


def check(*arguments):
    """Return exit code, rows and errors of the command."""
    command = [sys.executable, "-m", "hrpsim", "check-simulation-interfaces", "--json"]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=2 * LIMIT,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)["rows"] if done.stdout else [], done.stderr


@pytest.mark.long
def test_our_node_passes_and_quits(simulations, tmp_path):
    """Law: no law fails; only what is not claimed, time set back, is unsupported."""
    node = simulations.start()
    table = tmp_path / "table.md"
    code, rows, errors = check(*PATIENT, "--node", "/hrpsim", "--quit", "--markdown", table)
    assert [row for row in rows if row["verdict"] not in ("passed", "unsupported")] == []
    assert code == 0, errors
    left_out = {row["feature"] for row in rows if row["verdict"] == "unsupported"}
    claimed = {name for name in dir(msg.SimulatorFeatures) if name.isupper()} - {"SLOT_TYPES"}
    assert left_out == {"SIMULATION_RESET_TIME"}
    assert {row["feature"] for row in rows} - {""} == claimed
    lines = table.read_text().splitlines()
    assert len(lines) == 2 + len(rows)  # a row a line
    assert [line for line in lines if line not in DOCUMENT.read_text().splitlines()] == []
    assert node.wait(LIMIT) == 0  # it was asked to quit


class Silence(Exception):
    """What lets a request go unanswered."""


class WrongSimulator:
    """A node that claims more than it does, tells what is not so, and sometimes does not answer."""

    CLAIMS = (
        *("SPAWNING", "SPAWNING_RESOURCE_STRING", "DELETING", "ENTITY_STATE_GETTING"),
        *("ENTITY_INFO_GETTING", "SIMULATION_STATE_GETTING", "SIMULATION_STATE_PAUSE"),
        *("SIMULATION_RESET", "NAMED_POSES", "ENTITY_BOUNDS"),
    )

    def __init__(self):
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("wrong", namespace="/fake", context=self._context)
        self._ended = threading.Event()
        self.entities = ["ground"]
        for name, answer in {
            "GetSimulatorFeatures": self.features,
            "GetSimulationState": self.state,
            "SetSimulationState": self.done,
            "SpawnEntity": self.spawn,
            "GetEntities": self.names,
            "DeleteEntity": self.done,  # nothing is
            "GetEntityState": self.done,
            "GetEntityInfo": self.silence,
            "GetNamedPoses": self.poses,
            "ResetSimulation": self.unsupported,
        }.items():
            # The standard gives types, not names.
            self._node.create_service(getattr(srv, name), f"~/any/{name}", answer)
        executor = SingleThreadedExecutor(context=self._context)
        executor.add_node(self._node)
        self._executor = executor
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self):
        while not self._ended.is_set():
            with contextlib.suppress(Silence):
                self._executor.spin_once(timeout_sec=0.05)

    def close(self):
        self._ended.set()
        self._thread.join(LIMIT)
        self._executor.shutdown(timeout_sec=1.0)
        self._node.destroy_node()
        self._context.try_shutdown()
        self._context.destroy()

    def features(self, request, response):
        kinds = msg.SimulatorFeatures
        response.features.features = [*(getattr(kinds, name) for name in self.CLAIMS), 199]
        response.features.spawn_formats = ["urdf"]
        return response

    def state(self, request, response):
        response.result.result = OK
        response.state.state = msg.SimulationState.STATE_PLAYING  # whatever was asked for
        return response

    def done(self, request, response):
        """Do nothing; tell an empty state of whatever is asked for."""
        response.result.result = OK
        return response

    def unsupported(self, request, response):
        response.result.result = UNSUPPORTED
        return response

    def spawn(self, request, response):
        """Take anything, under any name."""
        self.entities.append(request.name)
        response.result.result, response.entity_name = OK, request.name
        return response

    def names(self, request, response):
        """Heed no filter."""
        response.result.result, response.entities = OK, self.entities
        return response

    def poses(self, request, response):
        response.result.result = OK
        response.poses = [msg.NamedPose(name="a"), msg.NamedPose(name="a")]
        return response

    def silence(self, request, response):
        raise Silence  # no response is sent then


@pytest.fixture
def wrong():
    simulator = WrongSimulator()
    yield simulator
    simulator.close()


@pytest.mark.long
def test_a_wrong_simulator_fails(wrong):
    """Law: the only simulator is found without its name, its services by whichever name they go.

    Each law that it does not keep is told.
    """
    code, rows, errors = check(*PATIENT, "--timeout", ANSWERS_WITHIN)
    assert code == 1 and len(rows) > 40, errors
    failed = {row["law"].split(",")[0]: row["detail"] for row in rows if row["verdict"] == "failed"}
    told = {row["interface"]: row for row in rows}
    for law, detail in {
        "each is in the standard": "[199]",
        "PAUSED is reached; a second request is ALREADY_IN_TARGET_STATE": "in state 1, not 2",
        "a taken name is NAME_NOT_UNIQUE; with allow_renaming another is found": "NAME_NOT_UNIQUE",
        "neither uri nor resource_string is NO_RESOURCE": "OK (1) where NO_RESOURCE (104) is due",
        "a quaternion of length 0 is INVALID_POSE": "INVALID_POSE (109)",
        "initial_pose is where the entity then is": "elsewhere",
        "the filter is a regular expression of POSIX": "a name that nobody has is found",
        "the state of an entity": "NOT_FOUND (2) is due",
        "a category of the standard; an unknown name is NOT_FOUND": "no answer within 15 s",
        "a box whose first corner is the upper one; an unknown name is NOT_FOUND": (
            "no GetEntityBounds"
        ),
        "the entity is removed; a second deletion is NOT_FOUND": "still there",
        "names are unique; an unused tag finds none": "two poses have one name",
        "as many states as entities": "no GetEntitiesStates is offered",
        "the default scope is done; spawned entities are removed": (
            "FEATURE_UNSUPPORTED (0) where OK (1) is due"
        ),
    }.items():
        assert detail in failed.pop(law), law
    assert told["LoadWorld"]["verdict"] == told["StepSimulation"]["verdict"] == "unsupported"
    passed = [row["law"] for row in rows if row["verdict"] == "passed"]
    assert "the state is one of the standard's" in passed
    assert "a scope that is not claimed is FEATURE_UNSUPPORTED" in passed
    assert any("under its name" in law for law in passed)


def test_no_simulator_is_told(private_domain):
    code, rows, errors = check("--node", "/nobody", "--discovery", "0.5")
    assert (code, rows) == (1, [])
    assert "no simulation_interfaces/srv/GetSimulatorFeatures at '/nobody'" in errors
    assert "simulators found within 0.5 s: none" in errors
