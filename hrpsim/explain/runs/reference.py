# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interface of references, with which the runs in hrpsim are compared."""

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
        """Return the run from a start, with samples at evaluations of the policy or more often.

        Args:
            q: configuration at the start, in hrpsim's layout (nq,).
            v: velocity at the start (nv,).
        """

    @property
    def start(self) -> Start | None:
        """The only initial state of a recording. None: any initial state."""
        return None

    @property
    def duration(self) -> float:
        """The longest possible run [s]."""
        return math.inf
