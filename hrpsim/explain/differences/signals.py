# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Differences in signals: delays of commands and measurements, filters, orders of histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from hrpsim.explain.differences.difference import Change, Difference, There
from hrpsim.explain.runs.subject import Subject
from hrpsim.model.actuator import Actuator

_DELAYS = (*(0.002 * k for k in range(1, 13)), 0.03, 0.04)  # [s]


def _delays(kind: Difference, here: Subject) -> list[Change]:
    """Return delays in whole control periods, without duplicates."""
    period = here.policy.period
    delays = [period * n for n in sorted({round(delay / period) for delay in _DELAYS} - {0})]
    return [kind.change(f"+{1e3 * delay:g} ms", delay=delay) for delay in delays]


class CommandDelay(Difference):
    """The delay from the policy's output to the torque."""

    name = "delay of commands"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change that removes the delay of commands, as in MuJoCo."""
        late = {
            k: actuator.delay
            for k, actuator in here.robot.fitted_actuators.items()
            if actuator.delay > 0.0
        }
        if not late:
            return []
        longest = 1e3 * max(late.values())
        return [self.change(f"{longest:g} ms -> 0 of {len(late)} actuators", actuators=tuple(late))]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return delays from 2 to 40 ms."""
        return _delays(self, here)

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Delay commands by a given time, or remove the actuators' delays."""
        subject.command_delay += values.get("delay", 0.0)
        for joint in values.get("actuators", ()):
            actuator = replace(subject.robot.fitted_actuators[joint], delay=0.0)
            subject.robot.set_actuator(actuator, joint)


class ActuatorDifference(Difference):
    """Models of actuators: torque-speed curves, friction, elastic gears, resolutions.

    Other differences guess limits, friction and delays.
    """

    name = "actuator models"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to ideal actuators, as in MuJoCo."""
        fitted = tuple(
            joint
            for joint, actuator in here.robot.fitted_actuators.items()
            if replace(actuator, delay=0.0).acts
        )
        return [self.change(f"none on {len(fitted)} joints", joints=fitted)] if fitted else []

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Remove the actuator models, except for the delays."""
        for joint in values["joints"]:
            delay = subject.robot.fitted_actuators[joint].delay
            subject.robot.set_actuator(Actuator(delay=delay) if delay > 0.0 else None, joint)


class SensingDelay(Difference):
    """Delay of the measurements that the policy receives.

    Neither MuJoCo nor hrpsim's world delays measurements.
    """

    name = "delay of measurements"

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return delays from 2 to 40 ms."""
        return _delays(self, here)

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Delay all measurements."""
        subject.sensing_delay += values["delay"]


class RateFilterDifference(Difference):
    """Low-pass filter of the measured velocities of joints and base.

    MuJoCo does not filter velocities.
    """

    name = "filter of measured rates"

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return first-order filters with several time constants."""
        return [
            self.change(f"time constant {1e3 * time:g} ms", time=time)
            for time in (0.005, 0.02, 0.05)
        ]

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Filter the measured velocities."""
        subject.filter_time = values["time"]


class HistoryOrder(Difference):
    """The order of values in the policy's observation histories.

    Both simulators use the same description, so only a recording may have another order.
    """

    name = "order of observations"

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return the other possible orders, if the policy observes histories."""
        observation = here.policy.observation
        lengths = {term.history for term in observation.terms}
        if max(lengths) == 1:
            return []
        orders = product((False, True) if len(lengths) == 1 else (False,), (False, True))
        return [
            self.change(
                f"history_by_step: {str(by_step).lower()}, "
                f"history_newest_first: {str(newest).lower()}",
                by_step=by_step,
                newest_first=newest,
            )
            for by_step, newest in orders
            if (by_step, newest) != (observation.by_step, observation.newest_first)
        ]

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Use another order of the histories."""
        policy = subject.policy
        subject.policy = replace(policy, observation=replace(policy.observation, **values))
