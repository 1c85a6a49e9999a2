# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Construction of a World from the node's parameters or a request; doubtful parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rclpy.node import Node

from hrpsim.common.resources import share_path, user_path
from hrpsim.ros.base import parameters
from hrpsim.ros.core.simulation_contents import LoadedWorld
from hrpsim.world.file.file_reader import FileReader
from hrpsim.world.file.load_world import build_world, load_world, notes_of
from hrpsim.world.objects.plausibility import SLOWEST_SAMPLES, long_period


def world_from_parameters(node: Node) -> tuple[Any, LoadedWorld]:
    """Return the World that the node's parameters describe, and the notes.

    Raises FileNotFoundError, ValueError or HrpsimError that names the file that cannot be loaded.
    """
    path = world_path(parameters.value_of(node, "world_file"))
    texts = [text for text in parameters.value_of(node, "xacro_arguments") if text]
    arguments = parameters.named_values("xacro_arguments", texts)
    world = load_world(path, xacro_arguments=arguments, **_overrides(node))
    return world, LoadedWorld(notes_of(path), str(path), xacro_arguments=tuple(texts))


def world_of(node: Node, reader: FileReader):
    """Return the World of an opened file, with the time step and integrator of the parameters."""
    return build_world(reader, **_overrides(node))


def _overrides(node: Node) -> dict[str, Any]:
    names = "time_step", "integrator"
    return {name: parameters.value_of(node, name) or None for name in names}


def world_path(name: str) -> Path:
    """Return the path of a world file: as given, or inside the package's share folder.

    Raises FileNotFoundError if there is no such file.
    """
    searched = [user_path(name).absolute(), share_path() / name]
    for path in searched:
        if path.is_file():
            return path
    looked = " and ".join(dict.fromkeys(map(str, searched)))
    raise FileNotFoundError(f"world_file: {name!r} is not a file. Searched: {looked}")


def warn_of_lockstep(node: Node) -> None:
    """Warn of parameters of lockstep without lockstep, and of a control period in milliseconds."""
    if parameters.value_of(node, "lockstep"):
        period = parameters.value_of(node, "control_period")
        if text := long_period("control_period", period, SLOWEST_SAMPLES):
            node.get_logger().warning(text)
        return
    for name in ("control_period", "lockstep_timeout", "lockstep_policy"):
        if name in parameters.given_to(node):
            node.get_logger().warning(f"{name} has no effect without lockstep:=true")
