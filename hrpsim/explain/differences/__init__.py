# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The kinds of differences between simulators.

To add a kind, write a subclass of `Difference` and an entry in `KINDS`.
"""

from hrpsim.explain.differences.bodies import Gravity, Inertia
from hrpsim.explain.differences.contacts import (
    Cone,
    ContactMargin,
    FootShapes,
    Friction,
    Restitution,
    Rigidity,
    RollingFriction,
    SelfCollision,
    Softness,
)
from hrpsim.explain.differences.difference import Difference
from hrpsim.explain.differences.joints import JOINT_VALUES
from hrpsim.explain.differences.signals import (
    ActuatorDifference,
    CommandDelay,
    HistoryOrder,
    RateFilterDifference,
    SensingDelay,
)
from hrpsim.explain.differences.stepping import IntegratorDifference, PdPeriod, TimeStep

KINDS: tuple[Difference, ...] = (
    Friction(),
    Softness(),
    Rigidity(),
    RollingFriction(),
    ContactMargin(),
    Restitution(),
    Cone(),
    FootShapes(),
    SelfCollision(),
    *JOINT_VALUES,
    ActuatorDifference(),
    CommandDelay(),
    SensingDelay(),
    RateFilterDifference(),
    HistoryOrder(),
    PdPeriod(),
    Inertia(),
    Gravity(),
    TimeStep(),
    IntegratorDifference(),
)
DIFFERENCES: dict[str, Difference] = {kind.name: kind for kind in KINDS}
