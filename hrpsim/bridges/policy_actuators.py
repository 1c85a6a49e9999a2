# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators between a policy's targets and the torques: delays, torque-speed curves, networks.

The laws are from Isaac Lab: DelayedPDActuator, DCMotor, ActuatorNetMLP and ActuatorNetLSTM.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges.torque_network import open_torques
from hrpsim.common import schema
from hrpsim.common.resources import user_path
from hrpsim.common.values import POSITIVE
from hrpsim.world.objects.plausibility import JointLimits

_MOST = 1000  # largest number of periods and of joints
_POSITIVE = schema.numeric(POSITIVE)
_POSITION, _VELOCITY = "position", "velocity"
ACTUATORS = schema.listing(
    schema.mapping(
        {
            "joints": schema.listing(schema.name, 1, _MOST),
            "delay": schema.integer(0, _MOST),
            "effort_limit": _POSITIVE,
            "saturation_effort": _POSITIVE,
            "velocity_limit": _POSITIVE,
            "network": schema.name,
            "history": schema.listing(schema.integer(0, _MOST), 1, _MOST),
            "position_scale": schema.numeric(),
            "velocity_scale": schema.numeric(),
            "torque_scale": schema.numeric(),
            "first": schema.one_of("first", (_POSITION, _VELOCITY)),
        }
    ),
    1,
    _MOST,
)
_LIMITS = ("effort_limit", "saturation_effort", "velocity_limit")
_SCALES = ("position_scale", "velocity_scale", "torque_scale")
_OF_NETWORKS = ("history", *_SCALES, "first")


@dataclass(frozen=True)
class ActuatorModel:
    """The actuators of some joints of a policy.

    Attributes:
        joints: indices (k,) of the joints in the policy's order.
        delay: delay of the targets [periods of the PD control].
        effort_limit: largest torque [Nm].
        saturation_effort: torque at standstill [Nm]. Infinite without a torque-speed curve.
        velocity_limit: no-load speed [rad/s].
        network: file of a learned actuator, or None for PD control.
        history: ages of the inputs of a network without memory [periods].
        position_scale, velocity_scale, torque_scale: factors of inputs and output of the network.
        velocity_first: whether velocities precede position errors in the input.
    """

    joints: np.ndarray
    delay: int = 0
    effort_limit: float = math.inf
    saturation_effort: float = math.inf
    velocity_limit: float = math.inf
    network: Path | None = None
    history: tuple[int, ...] = (0,)
    position_scale: float = 1.0
    velocity_scale: float = 1.0
    torque_scale: float = 1.0
    velocity_first: bool = False


def model_of(entry: Mapping[str, Any], joints: np.ndarray, folder: Path) -> ActuatorModel:
    """Make the actuator model of joints (k,) from an entry that has been checked.

    The entry's network paths are relative to `folder`.
    """
    numbers = {key: float(entry[key]) for key in (*_LIMITS, *_SCALES) if key in entry}
    network = entry.get("network")
    return ActuatorModel(
        joints,
        delay=entry.get("delay", 0),
        network=None if network is None else folder / user_path(network),
        history=tuple(entry.get("history", (0,))),
        velocity_first=entry.get("first") == _VELOCITY,
        **numbers,
    )


def mistake_in(entry: Mapping[str, Any]) -> str:
    """Return an error text if an entry requires another entry that is missing, or ""."""
    if ("saturation_effort" in entry) != ("velocity_limit" in entry):
        return "give both saturation_effort and velocity_limit, or neither"
    alone = [key for key in _OF_NETWORKS if key in entry]
    if alone and "network" not in entry:
        return f"{alone[0]} needs a network"
    return ""


def beyond_limits(
    models: Sequence[ActuatorModel],
    joints: Sequence[str],
    known: Sequence[str],
    limits: JointLimits,
) -> Iterator[str]:
    """Yield a line for each actuator whose effort limit exceeds the limit of the robot's joint.

    Args:
        models: models of the joints.
        joints: joints of the policy, in order.
        known: joints that the robot has.
        limits: limits of the robot's joints.
    """
    for model in models:
        names = [joints[k] for k in model.joints if joints[k] in known]
        efforts = np.full(len(names), model.effort_limit)
        efforts[~np.isfinite(efforts)] = np.nan
        for text in limits.beyond(names, {"efforts": efforts}):
            yield f"actuators: {text}"


class PolicyActuators:
    """The state of the actuators of n joints: delays and histories.

    Args:
        models: actuator models. A joint without a model has ideal PD control.
    """

    def __init__(self, models: Sequence[ActuatorModel]) -> None:
        self._models = models
        self._delays = [(model, _Delay(model.delay)) for model in models if model.delay]
        self._networks = [(model, _Learned(model)) for model in models if model.network is not None]
        self._limited = [model for model in models if math.isfinite(model.effort_limit)]
        self._limited += [
            model for model in models if _has_curve(model) and model not in self._limited
        ]

    def reset(self) -> None:
        """Clear the stored targets and readings."""
        for _, model in (*self._delays, *self._networks):
            model.reset()

    def delayed(self, targets: np.ndarray) -> np.ndarray:
        """Delay the targets, and return the targets (n,) that act in this period.

        The first target acts immediately.
        """
        result = targets.copy()
        for model, delay in self._delays:
            result[model.joints] = delay.shift(targets[model.joints])
        return result

    def efforts(self, ideal: np.ndarray, errors: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return the torques that the actuators deliver (n,) [Nm].

        Args:
            ideal: torques of the PD control (n,) [Nm].
            errors: target positions minus positions (n,) [rad].
            rates: velocities (n,) [rad/s].
        """
        result = ideal.copy()
        for model, network in self._networks:
            result[model.joints] = network.torques(errors[model.joints], rates[model.joints])
        for model in self._limited:
            result[model.joints] = bounded(model, result[model.joints], rates[model.joints])
        return result


def _has_curve(model: ActuatorModel) -> bool:
    return math.isfinite(model.saturation_effort)


def bounded(model: ActuatorModel, efforts: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Clip torques to the effort limit and to the torque-speed curve of a DC motor (k,) [Nm].

    The curve is a straight line from the saturation effort at standstill through zero at the
    velocity limit. Beyond the velocity limit, the line continues. Source: DCMotor of Isaac Lab.
    """
    most = np.full(len(efforts), model.effort_limit)
    least = -most
    if _has_curve(model):
        fastest = model.velocity_limit * (1.0 + model.effort_limit / model.saturation_effort)
        fraction = np.clip(rates, -fastest, fastest) / model.velocity_limit
        most = np.minimum(most, model.saturation_effort * (1.0 - fraction))
        least = np.maximum(least, model.saturation_effort * (-1.0 - fraction))
    return np.clip(efforts, least, most)


class _Delay:
    """Delays values by a number of periods."""

    def __init__(self, periods: int) -> None:
        self._past: deque[np.ndarray] = deque(maxlen=periods + 1)

    def reset(self) -> None:
        self._past.clear()

    def shift(self, values: np.ndarray) -> np.ndarray:
        self._past.append(values)
        while len(self._past) < (self._past.maxlen or 1):
            self._past.append(values)
        return self._past[0]


class _Learned:
    """A learned actuator: a network, and the histories of its inputs."""

    def __init__(self, model: ActuatorModel) -> None:
        assert model.network is not None
        self._model = model
        self._network = open_torques(model.network, len(model.joints))
        self._ages = list(model.history)
        self._past: deque[np.ndarray] = deque(maxlen=max(self._ages) + 1)

    def reset(self) -> None:
        self._past.clear()
        self._network.reset()

    def torques(self, errors: np.ndarray, rates: np.ndarray) -> np.ndarray:
        model = self._model
        inputs = [model.position_scale * errors, model.velocity_scale * rates]
        self._past.appendleft(np.array(inputs))
        past = [*self._past, *[np.zeros_like(self._past[0])] * (self._past.maxlen or 1)]
        rows = np.array([past[age] for age in self._ages])  # (ages, 2, k)
        parts = rows[:, 1], rows[:, 0]
        ordered = parts if model.velocity_first else parts[::-1]
        return model.torque_scale * self._network.torques(np.concatenate(ordered).T)
