# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane of the crane game: a hand with limited speed and acceleration, and a grip.

The description is urdf/crane.urdf.xacro. The slides x, y, z and the yaw joint have position servos.
The servo of the claws has only damping. A player sets a `Request`. The controller computes a smooth
reference from the request, and adds feedforward forces for the hand.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.schema import numeric
from hrpsim.common.values import POSITIVE
from hrpsim.control.framework.controller import Command, Controller, ControllerError, State
from hrpsim.control.framework.plugins import PERIOD, checked
from hrpsim.engine.dynamics.functions import inverse_dynamics
from hrpsim.model.model import Model

JOINTS = ("crane_x", "crane_y", "crane_z", "crane_yaw", "left_knuckle")
PARAMETERS = {
    "period": 0.01,  # [s]
    "speed": 0.25,  # largest speed of the hand [m/s]
    "acceleration": 1.5,  # largest acceleration of the hand [m/s^2]
    "turn_speed": 1.2,  # [rad/s]
    "turn_acceleration": 6.0,  # [rad/s^2]
    "grip": 10.0,  # force of each pad [N]
}
_BRAKING = 0.8  # fraction of the acceleration for braking at a goal
_KNUCKLE, _WRIST = JOINTS[4], "left_wrist"


class Request(NamedTuple):
    """A player's request: velocity (x, y, z) [m/s], yaw rate [rad/s], whether claws close."""

    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: float = 0.0
    close: bool = False


class Crane(Controller):
    """Move as `request` demands, until another request is assigned.

    Parameters: see PARAMETERS. `speed`, `acceleration` and `grip` may be assigned at any time.
    `position` (x, y, z, yaw) [m, rad] and `velocity` are the reference for the servos. z is the
    height of the middle of the pads when the arms hang straight down.
    """

    parameter_kinds = {
        name: numeric(PERIOD if name == "period" else POSITIVE) for name in PARAMETERS
    }

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Read the parameters.

        Raises ControllerError for an unknown parameter, an invalid value or a robot that is not the
        crane.
        """
        values = PARAMETERS | checked("crane", self.parameter_kinds, parameters)
        missing = [name for name in (*JOINTS, _WRIST) if name not in model.joint_names]
        if missing or model.base != "fixed":
            raise ControllerError(
                f"crane: {model.name!r} is no crane: it needs a fixed base and the joints "
                f"{', '.join((*JOINTS, _WRIST))}"
            )
        self.period = values["period"]
        self.speed, self.acceleration = values["speed"], values["acceleration"]
        self.turn_speed = values["turn_speed"]
        self.turn_acceleration = values["turn_acceleration"]
        self.grip = values["grip"]
        self.request = Request()
        system = model.system
        self._model = model
        self._v_indices = [model.joint(name).v_index for name in JOINTS]
        self._followers = _followers(model, self._v_indices)
        self._damping = model.gains[_KNUCKLE][1]
        self._arm = float(np.linalg.norm(system.placement_p[model.joint(_WRIST).body]))
        self._lowest = system.lower[self._v_indices[:4]]
        self._highest = system.upper[self._v_indices[:4]]

    @property
    def range(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest position (x, y, z, yaw) [m, rad]."""
        return self._lowest, self._highest

    def initialize(self, state: State) -> None:
        """Start at rest at the present position, with open claws."""
        self.position = state.joint_positions[:4].copy()
        self.velocity = np.zeros(4)
        self.request = Request()

    def control(self, state: State) -> Command:
        """Advance the reference by one period."""
        before = self.velocity
        self.velocity = self._next_velocity()
        self.position = self.position + 0.5 * self.period * (before + self.velocity)
        beyond = (self.position < self._lowest) | (self.position > self._highest)
        self.position = np.clip(self.position, self._lowest, self._highest)
        self.velocity = np.where(beyond, 0.0, self.velocity)
        angle = state.joint_positions[4]
        own = self._own_forces(angle, (self.velocity - before) / self.period)
        torque = own[4] + self.torque_of_grip(angle) * (1.0 if self.request.close else -1.0)
        return Command(
            positions=np.append(self.position, 0.0),
            velocities=np.append(self.velocity, torque / self._damping),
            efforts=np.append(own[:4], 0.0),
        )

    def torque_of_grip(self, angle: float) -> float:
        """Return the claw torque with which each pad exerts the force `grip` [Nm].

        angle: angle of the arms [rad]. By virtual work, a pad moves by arm cos(angle) per radian.
        """
        return 2.0 * self.grip * self._arm * math.cos(angle)

    def motion_along(self, way: np.ndarray) -> tuple[tuple[float, float, float], float]:
        """Return velocity and yaw rate in the next period for a motion that ends at rest.

        way: remaining displacement (4,) [m, rad].
        """
        velocity = self._approach(way[:3], self.velocity[:3], self.acceleration)
        turn = self._approach(way[3:], self.velocity[3:], self.turn_acceleration)
        return tuple(velocity), float(turn[0])

    def _approach(self, way: np.ndarray, velocity: np.ndarray, acceleration: float) -> np.ndarray:
        distance = float(np.linalg.norm(way))
        if distance == 0.0:
            return np.zeros_like(way)
        ahead = way / distance
        braking = _BRAKING * acceleration
        return ahead * stopping_speed(distance, ahead @ velocity, braking, self.period)

    def _next_velocity(self) -> np.ndarray:
        """Return the requested velocity for the next period.

        The velocity is limited so that the crane can stop before the ends of the slides.
        """
        requested = np.append(
            np.asarray(self.request.velocity, dtype=np.float64), self.request.turn
        )
        requested[:3] = _bounded(requested[:3], self.speed)
        requested[3:] = _bounded(requested[3:], self.turn_speed)
        change = requested - self.velocity
        change[:3] = _bounded(change[:3], self.acceleration * self.period)
        change[3:] = _bounded(change[3:], self.turn_acceleration * self.period)
        braking = np.append(np.full(3, self.acceleration), self.turn_acceleration)
        above, below = self._highest - self.position, self.position - self._lowest
        up = stopping_speed(above, self.velocity, braking, self.period)
        down = stopping_speed(below, -self.velocity, braking, self.period)
        return np.clip(self.velocity + change, -down, up)

    def _own_forces(self, angle: float, acceleration: np.ndarray) -> np.ndarray:
        """Return the efforts of the empty crane at JOINTS (5,) [N, Nm] along the reference."""
        full = self._followers @ np.stack(
            [
                np.append(self.position, angle),
                np.append(self.velocity, 0.0),
                np.append(acceleration, 0.0),
            ],
            axis=1,
        )
        return self._followers.T @ inverse_dynamics(self._model, *np.ascontiguousarray(full.T))


def stopping_speed(way, speed, acceleration, period):
    """Return the largest speed v after the next period that still allows to stop in time.

    The speed changes linearly within the period, and by at most `acceleration` per second. v
    satisfies period (speed + v) / 2 + v^2 / (2 acceleration) + v period / 2 = way.

    Args:
        way: remaining distance [m or rad], a number or array.
        speed: speed at the start of the period.
        acceleration: largest acceleration.
        period: control period [s].
    """
    left = np.maximum(way - 0.5 * period * speed, 0.0)
    return acceleration * (np.sqrt(period**2 + 2.0 * left / acceleration) - period)


def _followers(model: Model, v_indices: list[int]) -> np.ndarray:
    """Return all joint rates for unit rates of the commanded joints (nv, len(v_indices))."""
    rates = np.zeros((model.nv, len(v_indices)))
    for k in range(model.nv):
        leader = model.system.mimic_dof[k]
        if leader >= 0:
            rates[k, v_indices.index(leader)] = model.system.mimic_ratio[k]
        elif k in v_indices:
            rates[k, v_indices.index(k)] = 1.0
    return rates


def _bounded(vector: np.ndarray, most: float) -> np.ndarray:
    """Scale a vector down to the length `most` if the vector is longer."""
    length = float(np.linalg.norm(vector))
    return vector if length <= most else vector * (most / length)
