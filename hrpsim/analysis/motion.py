# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A motion for the analysis: joint positions with given or numerical derivatives."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hrpsim.common import limits
from hrpsim.control.motion.motion_sequence import MotionSequence, SequenceError
from hrpsim.model.model import Model
from hrpsim.model.shapes.placement import quaternion_of

_ORDER = 4  # order of the polynomial in a window
_UNEVEN = 1e-6  # largest deviation of samples from uniform times, relative to the period


def differentiated(times, values, smoothing: float = 0.0):
    """Return (values, rates, accelerations), each (T, n), at ascending `times` (T,) [s].

    Without smoothing, a quintic spline through the samples is differentiated, and the values do not
    change. The spline has a lower order if there are fewer than six samples.

    With smoothing, a quartic polynomial is fitted by least squares to the samples in a sliding
    window of width `smoothing` [s] (Savitzky and Golay 1964). The polynomial gives value and
    derivatives in the middle of the window. The first and last polynomials also give the first and
    last half window. The times must be evenly spaced. Larger windows remove more noise, but also
    flatten fast motions.

    Raises SequenceError for a window of less than seven samples, which would not smooth, for a
    window longer than the motion, and for times that are too uneven for a spline.
    """
    times, values = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if smoothing > 0.0:
        return _fitted(times, values, smoothing)
    order = min(5, len(times) - 1)
    if order < 1:
        return values.copy(), np.zeros_like(values), np.zeros_like(values)
    order -= order % 2 == 0
    from scipy.interpolate import make_interp_spline  # importing takes longer than using it

    try:
        spline = make_interp_spline(times, values, k=order)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise SequenceError(f"the times are too uneven for a spline: {error}") from error
    second = spline(times, 2) if order > 1 else np.zeros_like(values)
    return values.copy(), spline(times, 1), second


def _fitted(times, values, smoothing: float):
    period = (times[-1] - times[0]) / max(len(times) - 1, 1)
    if len(times) < 2 or np.abs(np.diff(times) - period).max() > _UNEVEN * period:
        raise SequenceError("smoothing needs evenly spaced samples: resample with a period")
    window = 2 * int(0.5 * smoothing / period) + 1
    if window < _ORDER + 3:
        raise SequenceError(
            f"smoothing over {smoothing:g} s is {window} samples of {period:g} s. "
            f"At least {_ORDER + 3} samples are needed. Give a longer time, or 0 for none"
        )
    if window > len(times):
        raise SequenceError(
            f"smoothing over {smoothing:g} s needs {window} samples, but the motion has "
            f"{len(times)}. Give a shorter time"
        )
    from scipy.signal import savgol_filter  # as above

    return tuple(
        savgol_filter(values, window, _ORDER, deriv=k, delta=period, axis=0) for k in range(3)
    )


class FixedFrom(NamedTuple):
    """Links that are fixed to the world, beginning at `time` [s].

    The first link determines the base's motion.
    """

    time: float
    links: tuple[str, ...]
    line: int = 0  # of the motion's file, 0 if not from there


@dataclass(frozen=True, eq=False)
class Motion:
    """Samples of a motion. Joints without data stay at zero.

    If `base_known`, the base's entries of q are the waist pose from the file. Otherwise they are
    neutral. v and dv have no data of the base. `source`, `line_times` and `lines` tell from which
    file and line each sample comes.
    """

    source: str
    times: np.ndarray  # ascending (T,) [s]
    q: np.ndarray  # (T, nq)
    v: np.ndarray  # (T, nv)
    dv: np.ndarray  # (T, nv)
    fixed: tuple[FixedFrom, ...] = ()  # from the file, empty without any
    base_known: bool = False
    line_times: np.ndarray | None = None  # times of the file's samples [s]
    lines: np.ndarray | None = None  # line numbers of these samples

    def place_of(self, sample: int) -> str:
        """Return "walk.csv:12": file and line of a sample."""
        if self.lines is None or self.line_times is None:
            return self.source
        k = np.searchsorted(self.line_times, self.times[sample] + 1e-9, side="right") - 1
        return f"{self.source}:{int(self.lines[max(k, 0)])}"


def motion_of(
    model: Model,
    source: str,
    times,
    joint_names: Sequence[str],
    positions,
    *,
    rates=None,
    accelerations=None,
    smoothing: float = 0.0,
) -> Motion:
    """Create the motion of joints through `positions` (T, n) [rad or m] at `times` (T,) [s].

    rates, accelerations (T, n): derivatives, if known. Otherwise `positions` are differentiated
    with the given smoothing [s] (`differentiated`). Raises SequenceError for an unknown joint.
    """
    times = np.asarray(times, dtype=np.float64)
    _refuse_more_values(source, len(times), model)
    if rates is None:
        try:
            positions, rates, accelerations = differentiated(times, positions, smoothing)
        except SequenceError as cause:
            raise SequenceError(f"{source}: {cause}") from None
    q = np.tile(model.neutral(), (len(times), 1))
    v, dv = np.zeros((len(times), model.nv)), np.zeros((len(times), model.nv))
    joints = [model.joint(name) for name in joint_names]
    at_q, at_v = [joint.q_index for joint in joints], [joint.v_index for joint in joints]
    q[:, at_q], v[:, at_v], dv[:, at_v] = positions, rates, accelerations
    return Motion(source, times, q, v, dv)


def motion_of_sequence(
    model: Model,
    source: str,
    sequence: MotionSequence,
    *,
    period: float | None = None,
    smoothing: float = 0.0,
) -> Motion:
    """Create the motion of a sequence, at the samples of `pos` or every `period` [s].

    Values between samples are interpolated as described in Channel. If the sequence has a waist,
    the waist is the base.
    """
    times = sequence.pos.times
    positions = sequence.pos.values
    if period is not None:
        times = even_times(source, times[0], times[-1], period, model)
        positions = sequence.pos.at(times)
    motion = motion_of(model, source, times, sequence.joint_names, positions, smoothing=smoothing)
    if sequence.waist is None:
        return motion
    p, R = sequence.waist_pose_at(times)
    motion.q[:, :3] = p
    motion.q[:, 3:7] = [quaternion_of(turn) for turn in R]
    return replace(motion, base_known=True)


def _refuse_more_values(source: str, samples: float, model: Model) -> None:
    if samples * (model.nq + 2 * model.nv) > limits.SEQUENCE_VALUES:
        raise SequenceError(
            f"{source}: {samples:.0f} samples of {model.name} are "
            f"{limits.excess('SEQUENCE_VALUES', 'positions, rates and accelerations')}"
        )


def even_times(source: str, begin: float, end: float, period: float, model: Model) -> np.ndarray:
    """Return times from begin to end, `period` [s] apart.

    Raises SequenceError for an invalid period, and if the motion would have more samples or more
    numbers than the limits allow.
    """
    if not (np.isfinite(period) and 0.0 < period <= max(end - begin, 0.0)):
        raise SequenceError(
            f"{source}: the period of {period:g} s must be positive and at most the motion's "
            f"duration of {end - begin:g} s"
        )
    if (end - begin) / period > limits.SEQUENCE_SAMPLES:
        raise SequenceError(
            f"{source}: {end - begin:g} s at a period of {period:g} s are "
            f"{limits.excess('SEQUENCE_SAMPLES', 'samples')}"
        )
    _refuse_more_values(source, (end - begin) / period, model)
    return begin + np.arange(int((end - begin) / period + 1e-6) + 1) * period
