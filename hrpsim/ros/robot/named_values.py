# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals without a special message type, as control_msgs/DynamicJointState."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from hrpsim.bag.world_signals import Source
from hrpsim.common.errors import optional_module


def value_types() -> ModuleType | None:
    """Return the module control_msgs.msg, or None if the package is not installed.

    `robot_interface` logs the absence.
    """
    return optional_module("control_msgs.msg", "", lambda _: None)


def named_values(types: ModuleType, source: Source, frame: str) -> tuple[Any, Callable[..., None]]:
    """Return the message of a source, and the function that updates the message.

    Returns:
        (DynamicJointState, function that writes stamp and numbers).
    """
    names = [field.name for field in source.fields]
    labels = source.fields[0].labels or (source.topic,)
    message = types.DynamicJointState(joint_names=list(labels))
    message.header.frame_id = frame if source.frame else ""
    message.interface_values = [types.InterfaceValue(interface_names=names) for _ in labels]

    def fill(message, stamp, numbers) -> None:
        message.header.stamp = stamp
        rows = np.asarray(numbers, dtype=np.float64).reshape(len(names), len(labels))
        for part, values in zip(message.interface_values, rows.T):
            part.values = values.tolist()

    return message, fill
