# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A recording of the states of a real robot, or of any simulator, as the reference."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from hrpsim.common.errors import FitWarning
from hrpsim.explain.runs.case import Case, ExplainError, Start
from hrpsim.explain.runs.reference import Reference
from hrpsim.explain.runs.trace import Trace, TraceWriter
from hrpsim.fitting.recordings.measured_motion import BoundRecording
from hrpsim.fitting.recordings.readers import read_recording

_ARRAYS = (".npz", ".csv")


class RecordedReference(Reference):
    """A recorded run of the policy, starting at the policy's first evaluation.

    Args:
        case: the policy and its runs.
        path: .npz, .csv or bag, in the formats of `hrpsim fit`.

    Raises:
        FitError: the file is not a recording of the robot.
        ExplainError: a joint or the base was not recorded.
    """

    def __init__(self, case: Case, path: Path) -> None:
        self.label = path.name
        world = case.load()
        robot = case.robot_in(world)
        options = {} if path.suffix in _ARRAYS else {"commands": None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # about joints without measurements
            bound = BoundRecording(read_recording(path, **options), world, robot.name)
        missing = [
            name
            for name, k in zip(robot.joint_names, robot.joint_index.q)
            if np.isnan(bound.q[0, k])
        ]
        if missing:
            raise ExplainError(f"{path}: joints were not recorded: {', '.join(missing[:4])}")
        self._free, self._links = robot.model.base == "free", len(robot.model.frames)
        self._time = bound.time - bound.time[0]
        self._q, self._v = bound.q, bound.v

    @property
    def start(self) -> Start:
        """The first recorded state."""
        return self._q[0].copy(), self._v[0].copy()

    @property
    def duration(self) -> float:
        """Length of the recording [s]."""
        return float(self._time[-1])

    def trace(self, q: np.ndarray, v: np.ndarray) -> Trace:
        """Return the recording. The arguments are ignored. Contact forces are unknown."""
        writer = TraceWriter(self._free)
        forces = np.full(self._links, np.nan)
        for time, position, rate in zip(self._time.tolist(), self._q, self._v):
            if writer.add(time, position, rate, forces):
                break
        return writer.trace()
