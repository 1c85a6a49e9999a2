# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""<pose> of Gazebo, in a URDF and in SDF."""

from __future__ import annotations

import math

import numpy as np
from lxml.etree import _Element

from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.sensors.gazebo_values import numbers_of
from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin, rotation_matrix


def pose_of(document: Document, owner: _Element) -> Placement:
    """Return the placement of an element from its <pose>, or the identity without a <pose>.

    ModelError for invalid numbers names the owner.
    """
    pose = owner.find("pose")
    text = "" if pose is None else (pose.text or "").strip()
    if not text:
        return IDENTITY
    if pose.get("rotation_format") == "quat_xyzw":
        values = np.array(numbers_of(document, owner, text, 7))
        length = float(np.linalg.norm(values[3:]))
        if length == 0.0:
            document.fail(owner, f"<pose> {text!r}: the quaternion is zero")
        return Placement(rotation_matrix(values[3:] / length), values[:3])
    numbers = numbers_of(document, owner, text, 6)
    turn = [math.radians(a) for a in numbers[3:]] if in_degrees(pose) else numbers[3:]
    return from_origin(numbers[:3], turn)


def in_degrees(pose: _Element) -> bool:
    """Return whether the angles of a <pose> are in degrees."""
    return pose.get("degrees", "false").strip().lower() in ("true", "1")
