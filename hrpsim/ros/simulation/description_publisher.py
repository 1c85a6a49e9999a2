# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The latched topic simulation_description: a description of the simulation as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

from rclpy.node import Node
from std_msgs.msg import String

from hrpsim.ros.base import parameters, qos
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.core.simulation_contents import DESCRIPTION_VERSION, LoadedWorld

_SETTINGS = (
    *("lockstep", "control_period", "interpolate_commands", "wrench_duration", "wrench_ramp"),
)


def describe(
    world, loaded: LoadedWorld | None, interfaces, settings: dict[str, Any]
) -> dict[str, Any]:
    """Return world, robots, bodies, fixed shapes and connections [m, rad] as data for JSON.

    interfaces: a RobotInterface for each robot.
    settings: parameters of the node that affect commands.
    """
    return {
        "version": DESCRIPTION_VERSION,
        "settings": settings,
        "world": None if loaded is None else _world(world, loaded),
        "robots": [_robot(interface) for interface in interfaces],
        "bodies": [
            {"name": name, "mass": float(body.system.mass.sum()), "shapes": len(body.shapes)}
            for name, body in world.bodies.items()
        ],
        "static": [shape.name for shape in world.fixed_shapes],
        "connections": [
            {
                "name": name,
                "kind": connection.kind,
                "between": ["/".join(connection.a), "/".join(connection.b)],
            }
            for name, connection in world.connections.items()
        ],
    }


def _world(world, loaded: LoadedWorld) -> dict[str, Any]:
    return {
        "name": loaded.notes.name,
        "description": loaded.notes.description,
        "tags": list(loaded.notes.tags),
        "uri": loaded.uri,
        "text": loaded.text,
        "xacro_arguments": list(loaded.xacro_arguments),
        "time_step": world.time_step,
        "integrator": world.integrator,
        "gravity": [float(x) for x in world.gravity],
    }


def _robot(interface) -> dict[str, Any]:
    robot, names = interface.robot, interface.names
    model = robot.model
    return {
        "name": robot.name,
        "model": model.name,
        "source": model.source,
        "base": model.base,
        "base_link": model.base_link,
        "mass": model.mass,
        "links": len(model.link_names),
        "topics": names.topics,
        "frames": names.frames,
        "parameters": names.parameters,
        "joints": [
            _joint(interface, joint) for joint in model.joints if joint.name in robot.joint_names
        ],
        "sensors": [
            {
                "name": sensor.name,
                "kind": sensor.kind,
                "link": sensor.link,
                "frame": interface.frames.of_sensor(sensor.name),
            }
            for sensor in (*model.sensors, *model.sampled_sensors)
        ],
    }


def _joint(interface, joint) -> dict[str, Any]:
    """Return the limits and the drive of a joint. A missing limit is null."""
    robot = interface.robot
    system, at = robot.system, joint.v_index
    kp, kd = (float(gains[robot.joint_names.index(joint.name)]) for gains in robot.gains)
    return {
        "name": joint.name,
        "type": joint.motion.name,
        "lower": _bound(system.lower[at]),
        "upper": _bound(system.upper[at]),
        "velocity_limit": _bound(system.velocity_limit[at]),
        "effort_limit": _bound(system.effort_limit[at]),
        "gains": [kp, kd],
        "mode": interface.modes.of(joint.name),
    }


def _bound(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


class DescriptionPublisher:
    """Publishes the latched topic simulation_description, as JSON.

    The first message is sent at construction, and another message after each change.
    """

    def __init__(self, node: Node, simulation: Simulation) -> None:
        self._node = node
        self._simulation = simulation
        self._last = ""
        self._publisher = node.create_publisher(String, "simulation_description", qos.LATCHED)
        simulation.contents.changed.append(self.publish)
        self.publish()

    def publish(self) -> None:
        """Publish the description if anything has changed."""
        simulation = self._simulation
        settings = {name: parameters.value_of(self._node, name) for name in _SETTINGS}
        data = describe(simulation.world, simulation.contents.loaded, simulation.robots, settings)
        text = json.dumps(data, indent=1)
        if text != self._last:
            self._last = text
            self._publisher.publish(String(data=text))
