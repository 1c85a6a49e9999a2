# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The motion of the waist that gives the whole multibody model the desired ZMP.

Kajita et al., ICRA 2003: preview control on the cart-table model finds a first centre of mass
(section 3); the ZMP error of the multibody model, from inverse dynamics, is the input of preview
control again, and the result is added (section 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.control.motion.motion_sequence import smooth_step
from hrpsim.control.pattern.preview_control import PreviewControl
from hrpsim.control.pattern.whole_body_zmp import (
    WalkingBody,
    floor_wrenches,
    turned,
    zero_moment_points,
)

_CORRECTIONS = 2
_ARRIVAL = 0.8  # the last part of the way, into the last posture [s]


class Ground(NamedTuple):
    """Heights over the floor on which the walk begins [m]."""

    waist: np.ndarray  # of the waist above its height in half-sitting (n,)
    zmp: np.ndarray  # of the ZMP (n,)


class Corrected(NamedTuple):
    """A motion with the forces of the floor."""

    waist: np.ndarray  # x y z yaw (n, 4) [m, rad]
    motion: np.ndarray  # configurations (n, nq)
    wrenches: np.ndarray  # of the floor, as floor_wrenches gives them (n, 6)
    zmp: np.ndarray  # of the multibody model, on the floor (n, 2) [m]
    errors: tuple[float, ...]  # largest |zmp - reference|, before corrections and after [m]


def corrected_motion(
    body: WalkingBody, soles, reference, ground: Ground, last_waist, period
) -> Corrected:
    """Return the motion of `body` whose ZMP follows `reference` (n, 2) [m].

    soles: x y z yaw of the left and the right sole (n, 2, 4). The waist starts over the world's
    origin and ends over `last_waist` (2,) [m], exactly and at rest; it is as high as `ground` says,
    and its yaw is the mean of the soles'. Samples are `period` [s] apart.
    """
    count = len(reference)
    times = np.arange(count) * period
    arriving = smooth_step((times - times[-1]) / _ARRIVAL + 1.0)[:, None]
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
