# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Whether shank and ankle of a leg stay off the floor that its foot stands on."""

from __future__ import annotations

import numpy as np

from hrpsim.control.pattern.footsteps import WalkError
from hrpsim.control.pattern.support_polygon import lowest_points
from hrpsim.dynamics.functions import link_pose
from hrpsim.model.model import Model

_LEAST = 1e-4  # [m]


def check_floor_clearance(model: Model, soles, legs, motion, on_floor) -> None:
    """Raise WalkError for a walk that takes a shank or an ankle's link to the floor.

    Looked at are the postures in which an ankle's joint turns farthest while its foot stands.
    soles, legs: the left and the right one; motion (n, nq); on_floor: which soles stand (n, 2).
    """
    for sole, leg, stands in zip(soles, legs, on_floor.T):
        standing = motion[stands]
        knee, *ankle = (model.joint(name) for name in leg.joint_names[-3:])
        bodies = knee.body, ankle[0].body
        for joint in ankle:
            angles = standing[:, joint.q_index]
            for q in standing[[int(angles.argmin()), int(angles.argmax())]]:
                for body in bodies:
                    height = _height_over_sole(model, q, sole, body)
                    if height < _LEAST:
                        name = next(n for n, frame in model.frames.items() if frame.body == body)
                        raise WalkError(
                            f"{model.source}: the walk takes link {name!r} down to the floor "
                            f"({1e3 * height:.1f} mm), with joint {joint.name!r} at "
                            f"{q[joint.q_index]:.3f} rad"
                        )


def _height_over_sole(model: Model, q, sole: str, body: int) -> float:
    """Return how high a body is above the plane of a sole [m]; infinite without shapes."""
    p_sole, R_sole = link_pose(model, q, sole)
    name = next(n for n, frame in model.frames.items() if frame.body == body)
    p, R = link_pose(model, q, name)
    frame = model.frames[name]
    R = R @ frame.R.T
    points = lowest_points(model, body, R.T @ R_sole[:, 2])
    if not len(points):
        return np.inf
    return float(((p - R @ frame.p + points @ R.T - p_sole) @ R_sole[:, 2]).min())
