# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals of contact switches: whether a link touches something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.common.values import POSITIVE
from hrpsim.fitting.signals.signal_kind import Setting, SignalKind, check_link

_THRESHOLD = 10.0  # [N]


class ContactState(SignalKind):
    """The signal of a contact switch: 1 while a link touches something, otherwise 0.

    The prediction is F / (F + threshold), where F is the sum of the normal forces. The prediction
    is smooth and can be differentiated.
    """

    name, quantities, columns, outputs = "contact", {"": ""}, ("state",), None

    def settings(self, columns: Sequence[str]) -> dict[str, Setting]:
        """Return the unknown `threshold`, the force at which the prediction is one half."""
        return {"threshold": Setting(_THRESHOLD, POSITIVE, "N")}

    def check(self, thing: Any, of: str, columns: Sequence[str]) -> None:
        """Raise FitError for an unknown link."""
        check_link(thing, self.name, of)

    def read(self, thing: Any, of: str, columns: Sequence[str]) -> np.ndarray:
        """Return the sum of the normal forces on the link (1,) [N]."""
        contacts = thing.contact_arrays(of)
        return np.array([np.sum(contacts.forces * contacts.normals)])

    def predict(
        self, raw: np.ndarray, settings: Mapping[str, float], columns: Sequence[str]
    ) -> np.ndarray:
        """Return the prediction F / (F + threshold)."""
        return raw / (raw + settings["threshold"])
