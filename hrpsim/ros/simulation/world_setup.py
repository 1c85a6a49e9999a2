"""From the node's parameters to a World."""

from __future__ import annotations

from pathlib import Path

from rclpy.node import Node

import hrpsim
from hrpsim.resources import share_path
from hrpsim.ros.base import parameters


def world_from_parameters(node: Node):
    """Return the World that the node's parameters describe.

    Raises FileNotFoundError, ValueError or HrpsimError that names what cannot be loaded.
    """
    return hrpsim.load_world(
        world_path(parameters.value_of(node, "world_file")),
        time_step=parameters.value_of(node, "time_step") or None,
        integrator=parameters.value_of(node, "integrator") or None,
        xacro_arguments=parameters.xacro_arguments(parameters.value_of(node, "xacro_arguments")),
    )


def world_path(name: str) -> Path:
    """Return the path of a world file: as given, or inside the package's share folder.

    Raises FileNotFoundError for what is no file.
    """
    for path in (Path(name).expanduser(), share_path(name)):
        if path.is_file():
            return path
    raise FileNotFoundError(f"world_file: {name!r} is no file")
