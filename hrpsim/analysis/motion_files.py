# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read motions from files of any kind that the analysis supports.

Motions as keyframes in YAML: joint angles at times, and how to go from one to the next.

interpolation: quintic        # linear, cubic or quintic
keyframes:
- {time: 0.0, joints: {RLEG_JOINT3: 0.8727}, fixed_link: r_sole}
- {time: 1.0, joints: {RLEG_JOINT3: 1.2}}
- {time: 2.0, joints: {RLEG_JOINT3: 0.8727}, fixed_link: [l_sole, r_sole]}
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from hrpsim.analysis.csv_motion import read_csv
from hrpsim.analysis.motion import FixedFrom, Motion, even_times, motion_of, motion_of_sequence
from hrpsim.control.motion.motion_sequence import LARGEST_SAMPLE, SHORTEST_STEP, SequenceError
from hrpsim.control.motion.sequence_files import read_sequence
from hrpsim.model.model import Model
from hrpsim.schema import Kind, listing, mapping, numeric, one_of
from hrpsim.values import Range
from hrpsim.world.file.file_reader import checked_content
from hrpsim.yaml_text import read_yaml

INTERPOLATIONS = ("linear", "cubic", "quintic")
_PERIOD = 0.005  # [s]


def read_motion(
    path,
    model: Model,
    *,
    period: float | None = None,
    smoothing: float = 0.0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Motion:
    """Return the motion in a CSV file, YAML keyframes, or a set of hrpsys's SequencePlayer.

    They are distinguished by their names: .csv, .yaml or .yml, else a set by its basename or one of
    its files. period [s]: resample; smoothing [s]: window of the differentiation, which keyframes
    do not need; progress: called with the task, the number of samples done, and of all. Raises
    SequenceError with file and line for invalid contents, OSError for files that cannot be read.
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


def interpolated(times, values, interpolation: str) -> PPoly:
    """Return the curve through `values` (k, n) at ascending `times` (k,) [s], k >= 2.

    "linear": constant rates between keyframes, whose acceleration is zero all the same.
    "cubic": the cubic spline that rests at both ends, continuous up to the acceleration, which
    jumps from and to rest at the ends. "quintic": at rest in every keyframe, of least jerk.
    """
    times, values = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if interpolation == "cubic":
        return CubicSpline(times, values, bc_type="clamped")
    h, rise = np.diff(times)[:, None], np.diff(values, axis=0)
    if interpolation == "linear":
        return PPoly(np.array([rise / h, values[:-1]]), times)
    zero = np.zeros_like(rise)
    return PPoly(
        np.array([6 * rise / h**5, -15 * rise / h**4, 10 * rise / h**3, zero, zero, values[:-1]]),
        times,
    )


def read_keyframes(path, model: Model, *, period: float | None = None) -> Motion:
    """Return the motion in a YAML file of keyframes, every `period` [s], by default 5 ms.

    Joints that a keyframe leaves out keep the value of the one before, those of the first are
    zero; a `fixed_link`, one or a list, holds until the next. Rates and accelerations are the
    derivatives of the interpolation (`interpolated`). Raises SequenceError with file, line and
    name for anything that does not fit.
    """
    text = read_yaml(Path(path), SequenceError)
    file = checked_content(text, _kind(model), SequenceError)
    interpolation, frames = file.get("interpolation", "quintic"), file["keyframes"]
    lines = np.array([text.line(["keyframes", k]) for k in range(len(frames))])
    times = np.array([frame["time"] for frame in frames], dtype=np.float64)
    late = np.flatnonzero(np.diff(times) < SHORTEST_STEP)
    if late.size:
        k = int(late[0]) + 1
        raise SequenceError(
            f"{path}:{lines[k]}: time {times[k]:g} s is not after {times[k - 1]:g} s of "
            "the keyframe before"
        )
    values: list[dict[str, float]] = []
    for frame in frames:
        values.append({**(values[-1] if values else {}), **frame.get("joints", {})})
    fixed = [
        FixedFrom(float(frame["time"]), frame["fixed_link"], int(line))
        for frame, line in zip(frames, lines)
        if "fixed_link" in frame
    ]
    if fixed and fixed[0].time > times[0]:
        raise SequenceError(
            f"{path}:{lines[0]}: the first keyframe names no fixed_link, a later one does"
        )
    names = tuple(values[-1])
    table = np.array([[at.get(name, 0.0) for name in names] for at in values])
    curve = interpolated(times, table, interpolation)
    at = even_times(str(path), times[0], times[-1], period or _PERIOD, model)
    accelerations = np.zeros((len(at), len(names))) if interpolation == "linear" else curve(at, 2)
    motion = motion_of(
        model, str(path), at, names, curve(at), rates=curve(at, 1), accelerations=accelerations
    )
    return replace(motion, fixed=tuple(fixed), line_times=times, lines=lines)


def _kind(model: Model) -> Kind:
    """Return the kind of files of keyframes for this model."""
    number = numeric(Range(-LARGEST_SAMPLE, LARGEST_SAMPLE))
    link = one_of("link", model.frames)

    def links(value) -> tuple[str, ...]:
        if isinstance(value, list):
            return tuple(listing(link, 1, what="a link or a list of links")(value))
        return (link(value),)

    joints = mapping({name: number for name in model.joint_names})
    frame = mapping({"joints": joints, "fixed_link": links}, {"time": number})
    interpolation = one_of("interpolation", INTERPOLATIONS)
    frames = listing(frame, 2, what="a list of two or more keyframes")
    return mapping({"interpolation": interpolation}, {"keyframes": frames})
