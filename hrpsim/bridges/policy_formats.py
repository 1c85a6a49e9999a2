# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The table of other projects' file formats that are read as descriptions of policies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.bridges.legged_gym_policy import is_of_legged_gym, read_legged_gym
from hrpsim.bridges.rl_sar_policy import is_of_rl_sar, read_rl_sar
from hrpsim.bridges.unitree_policy import is_of_unitree, read_unitree
from hrpsim.common.foreign.yaml_text import YamlText


class PolicyFormat(NamedTuple):
    """A file format, with its conversion to entries of a description."""

    name: str
    fits: Callable[[Any], bool]  # whether the data of a YAML file have this format
    translate: Callable[[Path, YamlText], dict[str, Any]]  # ControllerError for unknown entries


FORMATS = (
    PolicyFormat("legged_gym", is_of_legged_gym, read_legged_gym),
    PolicyFormat("rl_sar", is_of_rl_sar, read_rl_sar),
    PolicyFormat("unitree_rl_gym", is_of_unitree, read_unitree),
)


def translated(path: Path, text: YamlText) -> Any:
    """Return the entries of a description, converted from a file in any of the formats."""
    for policy_format in FORMATS:
        if policy_format.fits(text.data):
            return policy_format.translate(path, text)
    return text.data
