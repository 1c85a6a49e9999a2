# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interface of references, against which the runs in hrpsim are compared."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from hrpsim.explain.runs.case import Start
from hrpsim.explain.runs.trace import Trace


class Reference(ABC):
    """Another simulator, or a recording. `label` names the reference in reports."""

    label: str

    @abstractmethod
    def trace(self, q: np.ndarray, v: np.ndarray) -> Trace:
        """Return the run from an initial state, with samples at each evaluation of the policy.

        A run may have more samples.

        Args:
            q: initial configuration, in hrpsim's layout (nq,).
            v: initial velocity (nv,).
        """

    @property
    def start(self) -> Start | None:
        """The only initial state of a recording, or None if any initial state is possible."""
        return None

    @property
    def duration(self) -> float:
        """The longest possible duration of a run [s]."""
        return math.inf
