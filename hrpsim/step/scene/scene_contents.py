# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The contents of a scene, which decide the lazily compiled kernels loaded at the start."""

from typing import Any

import numpy as np

from hrpsim.model.system import FREE
from hrpsim.step.scene.records import RK4


def is_rk4(scene: Any) -> bool:
    """Return whether the integrator is rk4."""
    return bool(scene.settings["integrator"][0] == RK4)


def has_anticipated_contacts(scene: Any) -> bool:
    """Return whether rows need the motion without constraints: of restitution or compliance."""
    materials = scene.materials
    return bool(np.any((materials["restitution"] > 0.0) | (materials["damping_time"] >= 0.0)))


def has_connections(scene: Any) -> bool:
    """Return whether anything is connected."""
    return len(scene.connections) > 0


def has_joint_friction(scene: Any) -> bool:
    """Return whether a joint has dry friction."""
    return bool((scene.forest.dofs["friction"] > 0.0).any())


def has_tendons(scene: Any) -> bool:
    """Return whether an actuator drives a tendon."""
    return len(scene.tendons.joints) > 0


def has_free_bodies(scene: Any) -> bool:
    """Return whether there is a body that may sleep."""
    return bool(scene.rests["may_sleep"].any())


def has_floating_tree(scene: Any) -> bool:
    """Return whether a free body carries others."""
    bodies = scene.forest.bodies
    sizes = np.bincount(bodies["root"], minlength=len(bodies))
    return bool(np.any((bodies["joint_type"] == FREE) & (sizes[bodies["root"]] > 1)))
