# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of a world's constants (inertias, gains, friction) with respect to parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import require_name
from hrpsim.engine.step.arrays import Scene

JOINT_FIELDS = ("kp", "kd", "stiffness", "damping", "friction", "rotor_inertia", "delay")
KP, KD, STIFFNESS, DAMPING, FRICTION, ROTOR_INERTIA, DELAY = range(len(JOINT_FIELDS))
STATIC, KINETIC = range(2)

# Table of `Changes`, entries there, and what returns their derivative.
Entry = tuple[str, Any, Callable[[], Any]]


def unit_slope() -> float:
    """Return the derivative of an entry that is the parameter itself."""
    return 1.0


class Changes(NamedTuple):
    """The derivatives of a world's constants with respect to p parameters."""

    bodies: np.ndarray  # (p, n) factor on mass and inertia of each body
    joints: np.ndarray  # (p, 7, nv) constants of the joints, in the order of JOINT_FIELDS
    friction: np.ndarray  # (p, 2, k, k) static and kinetic friction of pairs of materials


def no_changes(scene: Scene, count: int) -> Changes:
    """Return zero derivatives with respect to `count` parameters."""
    n, nv, k = len(scene.forest.bodies), len(scene.velocity), len(scene.materials)
    return Changes(
        np.zeros((count, n)), np.zeros((count, len(JOINT_FIELDS), nv)), np.zeros((count, 2, k, k))
    )


def joined_changes(parts: Sequence[Changes], scene: Scene) -> Changes:
    """Concatenate the derivatives with respect to several groups of parameters."""
    return Changes(*(np.concatenate(own) for own in zip(no_changes(scene, 0), *parts)))


def changes_by_joints(scene: Scene, field: str, joints: np.ndarray) -> Changes:
    """Return the derivatives with respect to one constant of several joints.

    Each joint's constant is one parameter.

    Args:
        scene: scene of the world.
        field: name of the constant, one of JOINT_FIELDS.
        joints: degrees of freedom of the joints (p,).
    """
    result = no_changes(scene, len(joints))
    result.joints[np.arange(len(joints)), JOINT_FIELDS.index(field), joints] = 1.0
    return result


def changes_by_paths(scene: Scene, paths: Sequence[str], known: Mapping[str, Entry]) -> Changes:
    """Return the derivatives with respect to parameters that are named by paths.

    Args:
        scene: scene of the world.
        paths: paths of the parameters (p,).
        known: the possible parameters by path.

    Raises:
        WorldError: A path is not in `known`.
    """
    result = no_changes(scene, len(paths))
    for number, path in enumerate(paths):
        require_name("parameter", path, known)
        table, at, change = known[path]
        getattr(result, table)[number][at] = change()
    return result
