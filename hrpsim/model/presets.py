# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Published actuators, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hrpsim.model.actuator import Actuator


class Preset(NamedTuple):
    """A published actuator."""

    actuator: Actuator
    source: str


ACTUATOR_PRESETS: Mapping[str, Preset] = MappingProxyType({})
