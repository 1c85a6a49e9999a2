# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A policy with a changed description, and with another rate of the PD control."""

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
    """Return whether delays or networks of actuators fix the rate of the PD control."""
    return any(model.delay or model.network is not None for model in policy.actuators)


class DescribedPolicy(OnnxPolicy):
    """A policy with a given description.

    Args:
        description: replaces the description in the parameters.
        hold: number of control periods in which the torques of the PD control stay constant.
    """

    def __init__(self, description: PolicyDescription, hold: int = 1) -> None:
        self._given, self._hold = description, hold

    def described(self, parameters: Mapping[str, Any]) -> PolicyDescription:
        """Return the given description."""
        return self._given

    def initialize(self, state: State) -> None:
        """Start with new torques."""
        super().initialize(state)
        self._age = 0

    def control(self, state: State) -> Command:
        """Return the command of the last period in which the PD control was evaluated."""
        command = super().control(state)
        if self._age % self._hold == 0:
            self._held = command
        self._age += 1
        return self._held
