# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The unknowns of signals and encoders, by path."""

from __future__ import annotations

from collections.abc import Iterable

from hrpsim.common.errors import FitError
from hrpsim.common.schema import numeric
from hrpsim.fitting.signals.encoders import encoder_paths
from hrpsim.fitting.signals.signal import Signal
from hrpsim.sweeps.framework.scenario import Parameter


def signal_parameters(
    signals: Iterable[Signal], joints: Iterable[tuple[str, ...]]
) -> dict[str, Parameter]:
    """Return the unknowns of signals, and the offsets of encoders, by path.

    Args:
        signals: signals of all recordings. Signals with equal names share their unknowns.
        joints: measured joints of each recording.

    Raises:
        FitError: two signals have the same name and different kinds.
    """
    paths = [path for own in joints for path in encoder_paths(own)]
    result = {path: Parameter(numeric(), "rad or m") for path in paths}
    kinds: dict[str, str] = {}
    for signal in signals:
        if kinds.setdefault(signal.name, signal.kind) != signal.kind:
            raise FitError(
                f"signal {signal.name} has different kinds in two recordings. Use one kind"
            )
        for name, setting in signal.settings.items():
            result[signal.path(name)] = Parameter(numeric(setting.bounds), setting.unit)
    return result
