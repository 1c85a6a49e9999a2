"""A motion as HRP robots keep it: joint angles, zero-moment point and waist against time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Channel:
    """Samples of one quantity, each with its time; between them it changes linearly."""

    times: np.ndarray  # ascending (n,) [s]
    values: np.ndarray  # (n, width)

    def at(self, times) -> np.ndarray:
        """Return the values at `times` (k,) [s], (k, width); beyond the ends they are held."""
        columns = [np.interp(times, self.times, column) for column in self.values.T]
        return np.stack(columns, axis=-1)


@dataclass(frozen=True)
class MotionSequence:
    """What a set of hrpsys SequencePlayer files holds; a channel that is absent is None.

    joint_names: what the columns of `pos` and `torque` are, in the order of the joint ids.
    """

    joint_names: tuple[str, ...]
    pos: Channel  # joint positions [rad]
    zmp: Channel | None = None  # x y z in the waist's frame [m]
    waist: Channel | None = None  # x y z [m], roll pitch yaw [rad] in the world
    hip: Channel | None = None  # roll pitch yaw of the waist in the world [rad]; beats `waist`
    gsens: Channel | None = None  # acceleration of the waist [m/s^2]
    torque: Channel | None = None  # joint torques [Nm]
    wrenches: Channel | None = None  # force [N], torque [Nm] for each force sensor
    optionaldata: Channel | None = None

    @property
    def duration(self) -> float:
        """Time of the last sample of any channel [s]."""
        channels = (self.pos, self.zmp, self.waist, self.hip, self.gsens, self.torque)
        channels += (self.wrenches, self.optionaldata)
        return max(float(channel.times[-1]) for channel in channels if channel is not None)
