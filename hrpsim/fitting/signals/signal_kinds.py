# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The kinds of signals by name."""

from __future__ import annotations

from hrpsim.fitting.signals.contact_state import ContactState
from hrpsim.fitting.signals.imu import ImuSignal
from hrpsim.fitting.signals.joint_signals import Current, MotorPosition, Torque
from hrpsim.fitting.signals.point import Point
from hrpsim.fitting.signals.signal_kind import SignalKind
from hrpsim.fitting.signals.wrench import Wrench

_CLASSES = (Torque, Current, MotorPosition, Wrench, ImuSignal, ContactState, Point)
SIGNAL_KINDS: dict[str, SignalKind] = {one.name: one() for one in _CLASSES}
