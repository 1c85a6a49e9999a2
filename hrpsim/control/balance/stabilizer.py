# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The stabiliser, which controls the forces on the feet to keep a robot on its reference.

The module `stabilizing` has the computations of one period.
"""

import math
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hrpsim.common.schema import numeric
from hrpsim.common.values import NOT_NEGATIVE, POSITIVE
from hrpsim.control.balance.dcm_feedback import new_feedback
from hrpsim.control.balance.foot import new_admittance
from hrpsim.control.balance.stabilizing import SIGNALS, STABILIZER, Balance, Signals, stabilize
from hrpsim.control.balance.state_estimation import (
    Estimation,
    another,
    forget,
    new_estimation,
    waist_imu,
)
from hrpsim.control.balance.walk_reference import RollingReference, WalkReference
from hrpsim.control.framework.controller import Command, State, controlled_joints
from hrpsim.control.motion.numerical_leg import legs_of
from hrpsim.engine.compile.compiled import entry_point
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.model.model import Model

_ANKLE = 4  # index of the first ankle joint in a leg

# New arrays of the estimation, for the next stabiliser of the same model and reference.
_estimations: WeakKeyDictionary[
    WalkReference | RollingReference, tuple[weakref.ref[Model], Estimation]
] = WeakKeyDictionary()
_MAY_BE_ZERO = ("servo_lag", "integral_rate", "integral_limit", "support_margin")


@dataclass(frozen=True)
class Gains:
    """Gains of the stabiliser. config/walk_controller.yaml explains the choice of the values."""

    dcm_rate: float  # decay rate of errors of the divergent component [1/s]
    servo_lag: float  # delay from the end of a control period to the floor's ZMP [s]
    integral_rate: float  # decay rate of constant errors of the divergent component [1/s]
    integral_limit: float  # largest shift of the ZMP by the integral [m]
    support_margin: float  # least distance of the desired ZMP from the support's edge [m]
    torque_time: float  # decay time of errors of the feet's torques [s]
    force_time: float  # decay time of errors of the load distribution [s]
    swing_time: float  # decay time of these corrections in the air [s]
    engage_time: float  # time in which the stabiliser is turned on at the start [s]


GAIN_KINDS = {
    field.name: numeric(NOT_NEGATIVE if field.name in _MAY_BE_ZERO else POSITIVE)
    for field in fields(Gains)
}


class Stabilizer:
    """The stabiliser: computes joint positions for the end of a control period from measurements.

    Attributes:
        signals: results of the last call of `update` by name (docs/explanation/stabiliser.md has a
            list).
        integral: shift of the ZMP that compensates constant errors (2,) [m].
        estimate: state_estimation.ESTIMATE record of the last call.
    """

    def __init__(
        self, model: Model, reference: WalkReference | RollingReference, gains: Gains, period: float
    ) -> None:
        joints, feet = controlled_joints(model), reference.feet
        estimation = _estimation_of(model, reference)
        columns = estimation.feet["joints"]
        stiffness = [model.gains.get(name, (0.0, 0.0))[0] or math.inf for name in joints]
        joint_yields = 1.0 / np.array(stiffness)
        admittances = [
            new_admittance(
                foot,
                foot.ankle_turns**2 @ joint_yields[indices[_ANKLE:]],
                period,
                gains.torque_time,
                gains.swing_time,
            )
            for foot, indices in zip(feet, columns)
        ]
        # Vertical compliance of a leg [m/N].
        yields = reference.leg_reach**2 @ joint_yields[columns[0]] + 1.0 / feet[0].slide_stiffness
        own = np.zeros(1, dtype=STABILIZER)
        own["period"], own["margin"] = period, gains.support_margin
        own["rising"] = 2.0 * yields * period / gains.force_time
        own["fading"] = math.exp(-period / gains.swing_time)
        own["engaging"] = period / gains.engage_time
        self._balance = Balance(
            estimation,
            reference.trajectory(gains.support_margin),
            legs_of([foot.leg for foot in feet]),
            new_feedback(reference.natural_frequencies, period + gains.servo_lag, period, gains),
            np.concatenate(admittances),
            own,
            joint_yields,
            np.zeros(len(joints)),
            np.zeros(1, dtype=SIGNALS),
        )
        self._sources = TupleReference(self._balance)
        self._command = np.empty((2, len(joints)))
        self._stabilize = entry_point(stabilize, self._sources, 0, self._command)
        self._signals = self._balance.signals.view(np.float64)
        self._imu = waist_imu(model).name
        self._force_names = tuple(foot.sensor.name for foot in feet)
        self._wrenches = tuple(estimation.measured["wrenches"][0])
        self._orientation = estimation.measured["orientation"][0]
        self._angular_velocity = estimation.measured["angular_velocity"][0]
        self.integral = self._balance.feedback["integral"][0]
        self.reset()

    def reset(self) -> None:
        """Return to the state before the first call of `update`."""
        balance = self._balance
        forget(balance.estimation)
        balance.feedback["integral"] = balance.feedback["dcm_error"] = 0.0
        balance.admittances["yielded"] = balance.admittances["answer"] = 0.0
        balance.own["difference"] = balance.own["engaged"] = 0.0
        balance.last_positions[:] = balance.trajectory.joint_positions[0]
        self.signals: Mapping[str, Any] = {}

    @property
    def estimate(self) -> np.recarray:
        """The state estimated by the last call of `update`."""
        return self._balance.estimation.estimate.copy().view(np.recarray)[0]

    def update(self, state: State, k: int) -> Command:
        """Return joint positions for the end of this period, and mean velocities over the period.

        The positions compensate the servos' deflection under load.

        Args:
            state: measurements.
            k: number of the reference sample for `state`.
        """
        estimation = self._balance.estimation
        estimation.joint_positions[...] = state.joint_positions  # takes half the time of [:]
        estimation.joint_velocities[...] = state.joint_velocities
        for name, wrench in zip(self._force_names, self._wrenches):
            wrench[...] = state.wrenches[name]
        self._orientation[...], self._angular_velocity[...], _ = state.imus[self._imu]
        command = np.empty(self._command.shape)
        self._stabilize(self._sources, k, command)
        self.signals = Signals(self._signals.copy())
        return Command(positions=command[0], velocities=command[1])


def _estimation_of(model: Model, reference: WalkReference | RollingReference) -> Estimation:
    """Return new estimation arrays for one stabiliser."""
    known = _estimations.get(reference)
    if known is None or known[0]() is not model:
        known = weakref.ref(model), new_estimation(model, reference.feet)
        _estimations[reference] = known
    return another(known[1])
