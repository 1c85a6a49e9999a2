# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Postures of a description as configurations of its model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hrpsim.model.extension import DescribedKeyframe
from hrpsim.model.model import Model
from hrpsim.model.shapes.placement import quaternion_of


def keyframe_configurations(
    model: Model, keyframes: Iterable[DescribedKeyframe]
) -> dict[str, np.ndarray]:
    """Return q (nq,) of each posture; joints that it does not name are neutral."""
    by_name = {joint.name: joint for joint in model.joints}
    found = {}
    for keyframe in keyframes:
        q = model.neutral()
        if keyframe.base is not None and model.base == "free":
            q[:3], q[3:7] = keyframe.base.p, quaternion_of(keyframe.base.R)
        for name, position in keyframe.joints.items():
            at = by_name[name].q_index
            q[at : at + len(position)] = position
            if len(position) == 7:
                q[at + 3 : at + 7] /= np.linalg.norm(position[3:])
        found[keyframe.name] = q
    return found
