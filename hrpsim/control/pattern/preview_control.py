# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Preview control: the waist motion that gives the multibody model a desired ZMP.

Kajita et al., "Biped walking pattern generation by using preview control of zero-moment point",
ICRA 2003, section 3. The state of each horizontal axis is x = (position, velocity, acceleration) of
the centre of mass. The input u is the jerk of the centre of mass, which is constant over a period.
The output p = C x is the ZMP. The ZMP error of the multibody model, from inverse dynamics, is the
input of a second preview control. The resulting correction is added to the motion (section 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_discrete_are

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.control.motion.motion_sequence import smooth_step
from hrpsim.control.pattern.whole_body_zmp import (
    WalkingBody,
    floor_wrenches,
    turned,
    zero_moment_points,
)

_CORRECTIONS = 2
ARRIVAL = 0.8  # duration of the change to the last posture [s]


class PreviewControl:
    """Optimal tracking of a ZMP reference.

    The reference is known for the next `horizon` [s], and is then assumed constant. The tracking
    minimises the sum of  e^2 + jerk_weight du^2  over all time. e is the ZMP error, and du is the
    change of the jerk from one period to the next (Kajita 2003, eq. 10). A larger jerk_weight gives
    a smoother motion and larger ZMP errors. height: height of the centre of mass above the floor
    [m].

    Attributes:
        A, B, C: the cart-table model, x(k+1) = A x(k) + B u(k), p(k) = C x(k). Shapes (3, 3), (3,),
            (3,).
        integral_gain, state_gain, preview_gains: gains, scalar, (3,) and (count,). The change of
            the jerk is -integral_gain e(k) - state_gain (x(k) - x(k - 1)) + sum preview_gains(j)
            (reference(k + j) - reference(k + j - 1)), j >= 1.
    """

    def __init__(
        self, period: float, height: float, *, horizon: float = 3.2, jerk_weight: float = 1e-6
    ) -> None:
        h = period
        self.A = np.array([[1.0, h, h * h / 2.0], [0.0, 1.0, h], [0.0, 0.0, 1.0]])
        self.B = np.array([h**3 / 6.0, h * h / 2.0, h])
        self.C = np.array([1.0, 0.0, -height / STANDARD_GRAVITY])
        # State: sum of the error, and change of the state, as in Kajita 2003, eq. 12.
        A = np.zeros((4, 4))
        A[0, 0], A[0, 1:], A[1:, 1:] = 1.0, self.C @ self.A, self.A
        B = np.concatenate([[self.C @ self.B], self.B])
        Q = np.diag([1.0, 0.0, 0.0, 0.0])
        P = solve_discrete_are(A, B[:, None], Q, np.array([[jerk_weight]]))
        weight = jerk_weight + B @ P @ B
        gain = B @ P @ A / weight
        self.integral_gain, self.state_gain = float(gain[0]), gain[1:]
        closed = A - np.outer(B, gain)
        X = P[:, 0]
        self.preview_gains = np.empty(round(horizon / period))
        for j in range(len(self.preview_gains)):
            self.preview_gains[j] = B @ X / weight
            X = closed.T @ X
        # The sum of all gains is the gain of the position: the control is invariant to translation.
        self.preview_gains[-1] += self.state_gain[0] - self.preview_gains.sum()

    def follow(self, reference, start=0.0) -> tuple[np.ndarray, np.ndarray]:
        """Compute the motion of the centre of mass that tracks a ZMP reference (n, axes) [m].

        The centre of mass rests at `start` (axes,) before the motion. The reference keeps its last
        value after its last sample.

        Returns:
            (centre of mass (n, axes) [m], ZMP (n, axes) [m]).
        """
        reference = np.asarray(reference, dtype=np.float64)
        state = PreviewState.at_rest(np.broadcast_to(start, reference.shape[1:]))
        return self.resume(reference, state, len(reference), 0)[:2]

    def resume(self, reference, state: PreviewState, count: int, stop: int):
        """Continue to track a ZMP reference from a state of preview control.

        The reference may differ from the previous reference. The motion is then optimal for the new
        reference.

        Args:
            reference: the ZMP reference from now on (n, axes), constant after the last sample.
            state: state of preview control now.
            count: number of samples to compute.
            stop: sample at which the state is returned.

        Returns:
            (centre of mass (count, axes) [m], ZMP (count, axes) [m], state at sample `stop`).
        """
        extension = np.repeat(reference[-1:], len(self.preview_gains), axis=0)
        changes = np.diff(np.concatenate([reference, extension]), axis=0)
        previewed = [np.correlate(axis, self.preview_gains, "valid") for axis in changes.T]
        com, zmp = np.empty((count, reference.shape[1])), np.empty((count, reference.shape[1]))
        (motion, before, jerk), then = state, state
        for k, change in enumerate(np.transpose(previewed)[:count]):
            if k == stop:
                then = PreviewState(motion, before, jerk)
            com[k], zmp[k] = motion[0], self.C @ motion
            feedback = self.state_gain @ (motion - before)
            jerk = jerk + change - feedback - self.integral_gain * (zmp[k] - reference[k])
            before, motion = motion, self.A @ motion + np.outer(self.B, jerk)
        return com, zmp, then


class PreviewState(NamedTuple):
    """State of preview control between two samples, for each horizontal axis."""

    motion: np.ndarray  # position, velocity, acceleration of the centre of mass (3, axes)
    before: np.ndarray  # the same at the sample before (3, axes)
    jerk: np.ndarray  # jerk since the sample before (axes,) [m/s^3]

    @classmethod
    def at_rest(cls, position) -> PreviewState:
        """Return the state with the ZMP below the centre of mass at `position` (axes,) [m]."""
        motion = np.zeros((3, len(position)))
        motion[0] = position
        return cls(motion, motion, np.zeros(len(position)))


class Ground(NamedTuple):
    """Heights [m] of the waist relative to half-sitting, and of the ZMP above the first floor."""

    waist: np.ndarray  # height of the waist relative to half-sitting (n,)
    zmp: np.ndarray  # height of the ZMP (n,)


class Corrected(NamedTuple):
    """A motion of the robot, with the forces of the floor."""

    waist: np.ndarray  # x y z yaw (n, 4) [m, rad]
    motion: np.ndarray  # configurations (n, nq)
    wrenches: np.ndarray  # wrenches of the floor, as by floor_wrenches (n, 6)
    zmp: np.ndarray  # ZMP of the multibody model on the floor (n, 2) [m]
    errors: tuple[float, ...]  # largest |zmp - reference| before each correction and at the end [m]


def corrected_motion(
    body: WalkingBody, soles, reference, ground: Ground, last_waist, period
) -> Corrected:
    """Return the motion of `body` whose ZMP follows `reference`.

    The waist starts above the world's origin, and ends exactly above `last_waist`, at rest. The
    waist's yaw is the mean yaw of the soles.

    Args:
        body: the robot in half-sitting.
        soles: x, y, z, yaw of the left and the right sole (n, 2, 4).
        reference: ZMP reference (n, 2) [m].
        ground: heights of the waist and the ZMP.
        last_waist: (2,) [m].
        period: time between samples [s].
    """
    count = len(reference)
    times = np.arange(count) * period
    arriving = smooth_step((times - times[-1]) / ARRIVAL + 1.0)[:, None]
    preview = PreviewControl(period, body.com[2])
    com, _ = preview.follow(reference, reference[0])
    waist = np.empty((count, 4))
    waist[:, 2], waist[:, 3] = body.waist_height + ground.waist, soles[:, :, 3].mean(axis=1)
    waist[:, :2] = com - turned(body.com[:2], waist[:, 3])
    motion = body.motion(waist, soles)
    errors = []
    while True:
        waist[:, :2] += com - body.center_of_mass(motion)[:, :2]
        waist[:, :2] += arriving * (last_waist - waist[:, :2])
        motion = body.motion(waist, soles)
        wrenches = floor_wrenches(body.model, motion, period)
        zmp = zero_moment_points(wrenches, ground.zmp)
        errors.append(float(np.linalg.norm(zmp - reference, axis=1).max()))
        if len(errors) > _CORRECTIONS:
            return Corrected(waist, motion, wrenches, zmp, tuple(errors))
        com = com + preview.follow((1.0 - arriving) * (reference - zmp))[0]
