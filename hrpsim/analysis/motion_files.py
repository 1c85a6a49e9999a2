# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motions out of files of any kind that the analysis reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from hrpsim.analysis.csv_motion import read_csv
from hrpsim.analysis.keyframes import read_keyframes
from hrpsim.analysis.motion import Motion, motion_of_sequence
from hrpsim.control.motion.motion_sequence import SequenceError
from hrpsim.control.motion.sequence_files import read_sequence
from hrpsim.model.model import Model


def read_motion(
    path,
    model: Model,
    *,
    period: float | None = None,
    smoothing: float = 0.0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Motion:
    """Return the motion in a CSV file, YAML keyframes, or a set of hrpsys's SequencePlayer.

    They are told apart by their names: .csv, .yaml or .yml, else a set by its basename or one of
    its files. period [s]: resample; smoothing [s]: window of the differentiation, which keyframes
    do not need; progress: called with what is done, how many samples, and of how many. Raises
    SequenceError with file and line for what does not fit, OSError for files that cannot be read.
    """
    suffix = Path(path).suffix.lower()
    if suffix in (".yaml", ".yml"):
        if smoothing > 0.0:
            raise SequenceError(f"{path}: keyframes are interpolated, not smoothed")
        return read_keyframes(path, model, period=period)
    if suffix == ".csv":
        source = path
        sequence, fixed, lines = read_csv(path, model, progress)
    else:
        source = path if suffix == ".pos" else f"{path}.pos"
        sequence, fixed = read_sequence(path, model), ()
        lines = _sample_lines(source)
    motion = motion_of_sequence(model, str(source), sequence, period=period, smoothing=smoothing)
    return replace(motion, fixed=fixed, line_times=sequence.pos.times, lines=lines)


def _sample_lines(path) -> np.ndarray:
    """Return the line numbers of the samples in a file of a set."""
    lines = Path(path).expanduser().read_text(encoding="utf-8-sig", errors="replace").split("\n")
    used = [k + 1 for k, line in enumerate(lines) if line.strip() and line.strip()[0] not in "#%"]
    return np.array(used)
