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

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml
from scipy.interpolate import CubicSpline, PPoly

from hrpsim.analysis.csv_motion import read_csv
from hrpsim.analysis.motion import FixedFrom, Motion, even_times, motion_of, motion_of_sequence
from hrpsim.control.motion.motion_sequence import LARGEST_SAMPLE, SHORTEST_STEP, SequenceError
from hrpsim.control.motion.sequence_files import read_sequence
from hrpsim.errors import unknown_name
from hrpsim.model.model import Model
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
    """Return the course through `values` (k, n) at ascending `times` (k,) [s], k >= 2.

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
    path = Path(path)
    interpolation, frames = _read_document(path)
    times = np.array([_time(path, frame) for frame in frames])
    late = np.flatnonzero(np.diff(times) < SHORTEST_STEP)
    if late.size:
        k = int(late[0]) + 1
        raise SequenceError(
            f"{path}:{_line(frames[k])}: time {times[k]:g} s is not after {times[k - 1]:g} s of "
            "the keyframe before"
        )
    values: list[dict[str, float]] = []
    fixed: list[FixedFrom] = []
    posture: dict[str, float] = {}
    for time, frame in zip(times, frames):
        fields = _fields(path, frame)
        posture = {**posture, **_joints(path, fields.get("joints"), model)}
        values.append(posture)
        if "fixed_link" in fields:
            node = fields["fixed_link"]
            fixed.append(FixedFrom(float(time), _links(path, node, model), _line(node)))
    names = tuple(posture)
    table = np.array([[at.get(name, 0.0) for name in names] for at in values])
    if fixed and fixed[0].time > times[0]:
        raise SequenceError(
            f"{path}:{_line(frames[0])}: the first keyframe names no fixed_link, a later one does"
        )
    course = interpolated(times, table, interpolation)
    at = even_times(str(path), times[0], times[-1], period or _PERIOD, model)
    accelerations = np.zeros((len(at), len(names))) if interpolation == "linear" else course(at, 2)
    motion = motion_of(
        model, str(path), at, names, course(at), rates=course(at, 1), accelerations=accelerations
    )
    lines = np.array([_line(frame) for frame in frames])
    return replace(motion, fixed=tuple(fixed), line_times=times, lines=lines)


def _read_document(path: Path):
    """Return the interpolation and the nodes of the keyframes."""
    root = read_yaml(path, SequenceError).root
    fields = _mapping(path, root, ("interpolation", "keyframes"))
    node = fields.get("interpolation")
    interpolation = "quintic" if node is None else str(node.value)
    if interpolation not in INTERPOLATIONS:
        raise SequenceError(
            f"{path}:{_line(node)}: "
            f"{unknown_name('interpolation', str(interpolation), INTERPOLATIONS)}"
        )
    frames = fields.get("keyframes")
    if not isinstance(frames, yaml.SequenceNode) or len(frames.value) < 2:
        raise SequenceError(f"{path}: keyframes must be a list of two or more")
    return interpolation, frames.value


def _fields(path: Path, frame):
    return _mapping(path, frame, ("time", "joints", "fixed_link"))


def _mapping(path: Path, node, known: tuple[str, ...] | None = None) -> dict:
    """Return the nodes of a mapping by key; SequenceError for another kind or unknown keys."""
    if not isinstance(node, yaml.MappingNode):
        where = f"{path}:{_line(node)}" if node is not None else str(path)
        raise SequenceError(f"{where}: a mapping is needed here, with {', '.join(known or ())}")
    fields = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise SequenceError(f"{path}:{_line(key)}: a key must be one value")
        if known is not None and key.value not in known:
            raise SequenceError(f"{path}:{_line(key)}: {unknown_name('key', key.value, known)}")
        if key.value in fields:
            raise SequenceError(f"{path}:{_line(key)}: {key.value!r} appears more than once")
        fields[key.value] = value
    return fields


def _time(path: Path, frame) -> float:
    node = _fields(path, frame).get("time")
    if node is None:
        raise SequenceError(f"{path}:{_line(frame)}: the keyframe has no time")
    return _number(path, "time", node)


def _joints(path: Path, node, model: Model) -> dict[str, float]:
    if node is None:
        return {}
    found = {}
    for name, value in _mapping(path, node).items():
        if name not in model.joint_names:
            names = model.joint_names
            raise SequenceError(f"{path}:{_line(value)}: {unknown_name('joint', name, names, 60)}")
        found[name] = _number(path, name, value)
    return found


def _links(path: Path, node, model: Model) -> tuple[str, ...]:
    nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
    for item in nodes:
        if not isinstance(item, yaml.ScalarNode):
            raise SequenceError(f"{path}:{_line(item)}: fixed_link takes a link, or a list of them")
        if item.value not in model.frames:
            text = unknown_name("link", str(item.value), model.frames, 60)
            raise SequenceError(f"{path}:{_line(item)}: {text}")
    if not nodes:
        raise SequenceError(f"{path}:{_line(node)}: fixed_link names no link")
    return tuple(item.value for item in nodes)


def _number(path: Path, name: str, node) -> float:
    try:
        value = float(node.value)
    except (TypeError, ValueError):
        value = np.nan
    if not abs(value) <= LARGEST_SAMPLE:
        raise SequenceError(
            f"{path}:{_line(node)}: {name}: {node.value!s:.24} is no finite number "
            f"up to {LARGEST_SAMPLE:g}"
        )
    return value


def _line(node) -> int:
    return node.start_mark.line + 1
