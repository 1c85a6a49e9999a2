# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A motion in the format of HRP robots: joint angles, zero-moment point and waist against time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.common.typed_values import require_fit
from hrpsim.common.values import as_numbers

CHANNELS = ("pos", "zmp", "waist", "hip", "gsens", "torque", "wrenches", "optionaldata")
# The columns of the channels with a width that does not depend on the robot.
COLUMNS = {
    "zmp": ("x", "y", "z"),
    "waist": ("x", "y", "z", "roll", "pitch", "yaw"),
    "hip": ("roll", "pitch", "yaw"),
    "gsens": ("x", "y", "z"),
}
LARGEST_SAMPLE = 1e9  # largest time [s] and value: derivatives do not overflow
SHORTEST_STEP = 1e-9  # [s]


class SequenceError(HrpsimError, ValueError):
    """Raised for an inconsistent motion sequence or file. The message names file and sample."""


def last_in_order(times: np.ndarray) -> int | None:
    """Return the first sample that is less than SHORTEST_STEP before its successor, or None."""
    late = np.flatnonzero(np.diff(times) < SHORTEST_STEP)
    return int(late[0]) if late.size else None


@dataclass(frozen=True, eq=False)
class Channel:
    """Samples of one quantity, each with its time.

    Quintic polynomials interpolate the samples, continuous in value, first and second derivative.
    At a sample, the slope is the mean of the slopes on both sides. The slope is zero if the
    direction changes at the sample, next to intervals of rest, and at both ends. The quintics never
    leave the interval between two samples (docs/explanation/interpolation.md). Raises SequenceError
    for times that do not ascend, numbers beyond LARGEST_SAMPLE or not finite, or shapes that do not
    fit.
    """

    times: np.ndarray  # ascending (n,) [s]
    values: np.ndarray  # (n, width)

    def __post_init__(self) -> None:
        times = np.ascontiguousarray(as_numbers("times", self.times, SequenceError))
        values = np.ascontiguousarray(as_numbers("values", self.values, SequenceError))
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)
        if times.ndim != 1 or values.ndim != 2 or len(times) != len(values) or not len(times):
            raise SequenceError(
                "a channel needs times (n,) and values (n, width) with n > 0. Got shapes "
                f"{times.shape} and {values.shape}"
            )
        for quantity, array in (("time", times), ("value", values)):
            within = np.abs(array) <= LARGEST_SAMPLE
            if not within.all():
                at = tuple(np.argwhere(~within)[0])
                bad = "not finite" if not np.isfinite(array[at]) else f"over {LARGEST_SAMPLE:g}"
                raise SequenceError(f"sample {at[0]} has a {quantity} that is {bad}: {array[at]}")
        if (k := last_in_order(times)) is not None:
            raise SequenceError(
                f"times must increase, but sample {k} is at {times[k]!s} s and sample {k + 1} at "
                f"{times[k + 1]!s} s"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel):
            return NotImplemented
        return np.array_equal(self.times, other.times) and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]  # as Python's data model requires it

    def at(self, times) -> np.ndarray:
        """Return the values (k, width) at `times` (k,) [s].

        Before the first and after the last sample, the values are constant.
        """
        times = as_numbers("times", times, SequenceError)
        if len(self.times) == 1:
            return self.values[np.zeros(np.shape(times), dtype=np.intp)]
        i, s, h, rise = self._within(times)
        m, c = self._derivatives
        square, to_end = s * s, 1.0 - s
        late, early = square * s, to_end * to_end * to_end
        result = self.values[i] + rise * (late * (10.0 + s * (6.0 * s - 15.0)))
        result += h * (
            s * early * (1.0 + 3.0 * s) * m[i] - late * to_end * (4.0 - 3.0 * s) * m[i + 1]
        )
        result += 0.5 * h * h * (square * early * c[i] + late * to_end * to_end * c[i + 1])
        result[np.asarray(times) >= self.times[-1]] = self.values[-1]
        return result

    def _within(self, times):
        """Return the interval between samples that contains each time.

        Returns:
            (index i of the interval, elapsed fraction s, duration h of the interval [s], change of
            the values over the interval).
        """
        t = np.clip(np.asarray(times, dtype=np.float64), self.times[0], self.times[-1])
        i = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        h = self.times[i + 1] - self.times[i]
        s = (t - self.times[i]) / h
        return i, s[..., None], h[..., None], self.values[i + 1] - self.values[i]

    @cached_property
    def _derivatives(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and second derivatives at the samples, each (n, width)."""
        h = np.diff(self.times)[:, None]
        slopes = np.diff(self.values, axis=0) / h
        before, after = slopes[:-1], slopes[1:]
        central = (h[1:] * before + h[:-1] * after) / (h[1:] + h[:-1])
        limit = 2.0 * _smaller(before, after)
        m, c = np.zeros_like(self.values), np.zeros_like(self.values)
        m[1:-1] = np.where(np.abs(central) < np.abs(limit), central, limit)
        # Second derivatives of the cubics with these rates on both sides.
        arriving = (2.0 * m[:-1] + 4.0 * m[1:] - 6.0 * slopes) / h
        leaving = (6.0 * slopes - 4.0 * m[:-1] - 2.0 * m[1:]) / h
        c[1:-1] = _smaller(arriving[:-1], leaving[1:])
        return m, c


def _smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a or b, whichever has the smaller magnitude, or zero if the signs differ."""
    return np.where(a * b > 0.0, np.where(np.abs(a) < np.abs(b), a, b), 0.0)


@dataclass(frozen=True)
class MotionSequence:
    """The contents of a set of hrpsys SequencePlayer files. An absent channel is None.

    All channels share one clock, which need not start at 0. Each channel has its own rate and
    length. joint_names: the columns of `pos` and `torque`, in the order of the joint ids. Raises
    SequenceError for a channel with a wrong number of columns.
    """

    joint_names: tuple[str, ...]
    pos: Channel  # joint positions [rad]
    zmp: Channel | None = None  # x y z in the waist's frame [m]
    waist: Channel | None = None  # x y z [m], roll pitch yaw [rad] in the world
    hip: Channel | None = None  # roll pitch yaw of the waist in the world [rad], overrides `waist`
    gsens: Channel | None = None  # acceleration of the waist [m/s^2]
    torque: Channel | None = None  # joint torques [Nm]
    wrenches: Channel | None = None  # force [N], torque [Nm] for each force sensor
    optionaldata: Channel | None = None

    def __post_init__(self) -> None:
        require_fit("MotionSequence.joint_names", self.joint_names, Sequence[str], SequenceError)
        object.__setattr__(self, "joint_names", tuple(self.joint_names))
        columns = {**COLUMNS, "pos": self.joint_names, "torque": self.joint_names}
        for name, channel in self.channels():
            require_fit(f"MotionSequence.{name}", channel, Channel, SequenceError)
            width = channel.values.shape[1]
            if name in columns and width != len(columns[name]):
                raise SequenceError(
                    f"{name} must have {len(columns[name])} values in each sample, got {width}"
                )
            if name == "wrenches" and width % 6:
                raise SequenceError(
                    f"wrenches must have a multiple of 6 values in each sample, got {width}"
                )

    def channels(self) -> Iterator[tuple[str, Channel]]:
        """Yield (name, channel) of the channels that are present."""
        for name in CHANNELS:
            channel = getattr(self, name)
            if channel is not None:
                yield name, channel

    @property
    def duration(self) -> float:
        """Time of the last sample of any channel [s]."""
        return max(float(channel.times[-1]) for _, channel in self.channels())

    def waist_pose_at(self, times) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the pose of the waist in the world at `times` (k,) [s].

        A single time gives (3,) and (3, 3). `hip` gives the orientation if present, otherwise
        `waist`. The position is None without `waist`. If an angle jumps by more than half a turn
        between samples, the rotation takes the shorter way. Raises SequenceError if neither `hip`
        nor `waist` is present.

        Returns:
            (position (k, 3) [m], rotation matrix (k, 3, 3)).
        """
        if self._attitude is None:
            raise SequenceError("the sequence has no pose of the waist: give waist or hip")
        position = None if self.waist is None else self.waist.at(times)[..., :3]
        return position, rotations_of(self._attitude.at(times))

    @cached_property
    def _attitude(self) -> Channel | None:
        if self.hip is not None:
            return Channel(self.hip.times, np.unwrap(self.hip.values, axis=0))
        if self.waist is not None:
            return Channel(self.waist.times, np.unwrap(self.waist.values[:, 3:], axis=0))
        return None


def rotations_of(rpy: np.ndarray) -> np.ndarray:
    """Return R_z(yaw) R_y(pitch) R_x(roll) for angles (..., 3)."""
    (cr, cp, cy), (sr, sp, sy) = (np.moveaxis(f(rpy), -1, 0) for f in (np.cos, np.sin))
    rows = (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def smooth_step(s):
    """Return 10 s^3 - 15 s^4 + 6 s^5, a smooth step from 0 at s <= 0 to 1 at s >= 1.

    First and second derivative are 0 at both ends.
    """
    s = np.clip(s, 0.0, 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def through_rests(times, values, at) -> np.ndarray:
    """Interpolate a motion that is at rest at each of `values` (k, ...), at the times `at`.

    times: ascending times of the values (k,) [s]. Before the first and after the last time, the
    result is constant.
    """
    times, values = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    at = np.asarray(at, dtype=np.float64)
    i = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    s = smooth_step((at - times[i]) / (times[i + 1] - times[i]))
    s = s.reshape(s.shape + (1,) * (values.ndim - 1))
    return values[i] + s * (values[i + 1] - values[i])
