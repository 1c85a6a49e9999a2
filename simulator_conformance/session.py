# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Shared by the checks: calls with recorded result codes, and entities for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from simulator_conformance.client import Simulator, interface, message

PASSED, FAILED, UNSUPPORTED, SKIPPED = "passed", "failed", "unsupported", "skipped"
OK, NOT_FOUND, INCORRECT_STATE, OPERATION_FAILED = 1, 2, 3, 4
UNKNOWN = "no_such_thing_anywhere"  # a name that nothing has
PREFIX = "conformance_"
FAR = (40.0, 40.0, 30.0)  # where nothing is met [m]
BOX = """<?xml version="1.0"?>
<robot name="conformance_box"><link name="box">
<inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="0.2 0.3 0.4"/></geometry></visual>
<collision><geometry><box size="0.2 0.3 0.4"/></geometry></collision>
</link></robot>"""
SDF_BOX = """<?xml version="1.0"?>
<sdf version="1.9"><model name="conformance_box"><link name="box">
<inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
<visual name="v"><geometry><box><size>0.2 0.3 0.4</size></box></geometry></visual>
<collision name="c"><geometry><box><size>0.2 0.3 0.4</size></box></geometry></collision>
</link></model></sdf>"""
_TEXTS = {"urdf": BOX, "sdf": SDF_BOX}


class Broken(Exception):
    """A law of the standard that the simulator breaks."""


class NotTried(Exception):
    """A prerequisite of a check is missing."""


class Options(NamedTuple):
    """The URIs to test with; empty for those that the simulator offers."""

    resource: str = ""  # of an entity
    world: str = ""
    load_timeout: float = 300.0  # of a world [s, wall]


class Session:
    """One examination of a simulator."""

    def __init__(self, simulator: Simulator, options: Options):
        self.simulator = simulator
        self.options = options
        self.features: set[int] = set()
        self.formats: list[str] = []
        self.about = ""  # the interface of the present law
        self.codes: list[str] = []  # result codes that it gave
        self._spawned = 0

    def claims(self, feature: str) -> bool:
        """Return whether the simulator claims a feature."""
        return getattr(message("SimulatorFeatures"), feature, -1) in self.features

    def request(self, kind: str, **fields: Any) -> Any:
        """Return a request with these fields."""
        return interface(kind).Request(**fields)

    def ask(self, kind: str, request: Any = None, timeout: float | None = None) -> Any:
        """Return the answer to a request; note its result code."""
        answer = self.simulator.call(kind, request, timeout)
        if kind == self.about:
            self.note(code_name(answer, type(answer)))
        return answer

    def note(self, code: str) -> None:
        """Record a result code of the present law, once."""
        if code not in self.codes:
            self.codes.append(code)

    def expect(self, answer: Any, *codes: int | str) -> Any:
        """Return an answer whose result is one of these codes, RESULT_OK without any."""
        wanted = [
            code if isinstance(code, int) else getattr(answer, code) for code in codes or [OK]
        ]
        if answer.result.result not in wanted:
            names = " or ".join(code_name(answer, type(answer), code) for code in wanted)
            text = answer.result.error_message[:200]
            found = code_name(answer, type(answer))
            raise Broken(f"{found} where {names} is due" + (f": {text}" if text else ""))
        return answer

    def refused(self, answer: Any) -> Any:
        """Return an answer that must not be RESULT_OK."""
        if answer.result.result == OK:
            raise Broken("OK where it must be refused")
        return answer

    def names(self, **filters: Any) -> list[str]:
        """Return the names of entities that pass filters."""
        request = self.request("GetEntities")
        for name, value in filters.items():
            setattr(request.filters, name, value)
        return list(self.expect(self.ask("GetEntities", request)).entities)

    def spawning(self, kind: str = "SpawnEntity", **fields: Any) -> Any:
        """Return a request, or a message for several, that spawns something far from the rest."""
        made = self.request(kind) if kind == "SpawnEntity" else message("SpawnEntity")
        made = made if kind == "SpawnEntity" else made()
        self._spawned += 1
        made.name = f"{PREFIX}{self._spawned}"
        resource = resource_of(made)
        resource.uri, resource.resource_string = self._resource()
        x, y, z = FAR
        place = made.initial_pose.pose.position
        place.x, place.y, place.z = x, y + 2.0 * self._spawned, z
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    def entity(self) -> str:
        """Return the name of an entity for tests: a new one, or else any existing one."""
        if self.claims("SPAWNING"):
            return self.expect(self.ask("SpawnEntity", self.spawning())).entity_name
        found = self.names()
        if not found:
            raise NotTried("there is no entity, and none can be spawned")
        return found[0]

    def set_state(self, state: str) -> None:
        """Bring the simulation into a state, such as PAUSED, unless it is in it."""
        number = getattr(message("SimulationState"), f"STATE_{state}")
        request = self.request("SetSimulationState")
        request.state.state = number
        self.expect(self.ask("SetSimulationState", request), OK, "ALREADY_IN_TARGET_STATE")

    def state(self) -> int:
        """Return the state of the simulation."""
        return self.expect(self.ask("GetSimulationState")).state.state

    def pause(self) -> None:
        """Pause the simulation, if it can be paused."""
        if self.claims("SIMULATION_STATE_PAUSE"):
            self.set_state("PAUSED")

    def pose_of(self, name: str) -> Any:
        """Return the pose of an entity in the world."""
        answer = self.ask("GetEntityState", self.request("GetEntityState", entity=name))
        return self.expect(answer).state.pose

    def clear(self) -> None:
        """Delete the spawned entities; those whose deletion is refused stay."""
        if not (self.claims("DELETING") and self.simulator.offers("DeleteEntity")):
            return
        for name in self.simulator.call("GetEntities").entities:
            if name.rpartition("/")[2].startswith(PREFIX):
                self.simulator.call("DeleteEntity", self.request("DeleteEntity", entity=name))

    def _resource(self) -> tuple[str, str]:
        """Return URI and text of an entity to spawn."""
        if self.options.resource:
            return self.options.resource, ""
        if self.claims("SPAWNING_RESOURCE_STRING"):
            for name, text in _TEXTS.items():
                if name in self.formats:
                    return "", text
        if self.claims("SPAWNABLES"):
            for found in self.simulator.call("GetSpawnables").spawnables:
                return resource_of(found).uri, ""
        raise NotTried("nothing to spawn is known: give --resource URI")


def resource_of(message: Any) -> Any:
    """Return the part with `uri` and `resource_string`: a field, or before 2.1 the message."""
    for name in ("entity_resource", "world_resource", "level_resource"):
        if hasattr(message, name):
            return getattr(message, name)
    return message


def demand(holds: bool, text: str) -> None:
    """Raise Broken with a text unless a condition holds."""
    if not holds:
        raise Broken(text)


def near(pose: Any, other: Any, tolerance: float = 1e-3) -> bool:
    """Return whether two positions agree to `tolerance` [m]."""
    gap = [getattr(pose.position, k) - getattr(other.position, k) for k in "xyz"]
    return bool(np.linalg.norm(gap) <= tolerance)


def code_name(answer: Any, kind: type, code: int | None = None) -> str:
    """Return a result code with its name, from the response or from Result."""
    result = getattr(answer, "result", None)
    if code is None:
        if result is None:
            return "answered"
        code = result.result
    for place, prefix in ((kind, ""), (message("Result"), "RESULT_")):
        for name, number in constants_of(place).items():
            if number == code:
                return f"{name.removeprefix(prefix)} ({code})"
    return str(code)


def constants_of(kind: Any) -> dict[str, int]:
    """Return the constants of a message or a part of a service."""
    found = {name: getattr(kind, name) for name in dir(kind) if name.isupper()}
    return {name: value for name, value in found.items() if isinstance(value, int)}


Check = Callable[[Session], None]
