# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A policy with a modified description, and with another rate of the PD control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hrpsim.bridges.onnx_policy import OnnxPolicy
from hrpsim.bridges.policy_description import PolicyDescription
from hrpsim.control.framework.controller import Command, State


def divided(policy: PolicyDescription, ticks: int) -> PolicyDescription:
    """Return the description with `ticks` control periods between two evaluations."""
    return replace(policy, period=policy.seconds / ticks, decimation=ticks)


def rate_is_fixed(policy: PolicyDescription) -> bool:
    """Return whether actuator delays or networks prevent another rate of the PD control."""
    return any(model.delay or model.network is not None for model in policy.actuators)


class DescribedPolicy(OnnxPolicy):
    """A policy with a given description.

    Args:
        description: replaces the description in the parameters.
        hold: number of control periods for which each torque of the PD control is held.
    """

    def __init__(self, description: PolicyDescription, hold: int = 1) -> None:
        self._description, self._ticks = description, hold

    def described(self, parameters: Mapping[str, Any]) -> PolicyDescription:
        """Return the given description."""
        return self._description

    def initialize(self, state: State) -> None:
        """Start the policy, and evaluate the PD control in the first period."""
        super().initialize(state)
        self._age = 0

    def control(self, state: State) -> Command:
        """Return the command of the latest evaluation of the PD control."""
        command = super().control(state)
        if self._age % self._ticks == 0:
            self._last_command = command
        self._age += 1
        return self._last_command
