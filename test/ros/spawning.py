# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Requests to spawn, whatever release of simulation_interfaces is installed."""

from contextlib import contextmanager

from simulation_interfaces.srv import DeleteEntity, SpawnEntity

from hrpsim.ros.base.faults import resource_of


def spawn_request(text="", uri="", **fields):
    """Return a request for what a text or a URI describes."""
    request = SpawnEntity.Request(**fields)
    resource_of(request).uri, resource_of(request).resource_string = uri, text
    return request


ROTOR = """<robot name="rotor"><link name="world"/><link name="wheel"><inertial>
  <mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link><joint name="spin" type="continuous"><parent link="world"/><child link="wheel"/>
  <origin xyz="-3 0 2"/><axis xyz="0 1 0"/></joint></robot>"""


@contextmanager
def rotor_without_limits(listener):
    """Spawn a robot whose only joint has no effort limit; yield a publisher of its commands."""
    spawned = listener.call(
        "/hrpsim/spawn_entity",
        spawn_request(ROTOR, name="rotor"),
        "simulation_interfaces/srv/SpawnEntity",
    )
    assert spawned.result.result == spawned.result.RESULT_OK, spawned.result.error_message
    publisher = listener.publisher("sensor_msgs/msg/JointState", "/rotor/joint_commands")
    yield publisher
    listener.node.destroy_publisher(publisher)
    request = DeleteEntity.Request(entity="rotor")
    listener.call("/hrpsim/delete_entity", request, "simulation_interfaces/srv/DeleteEntity")
