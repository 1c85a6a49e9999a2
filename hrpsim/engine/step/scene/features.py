# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The optional features of a step that the contents of a world need.

A step reads the flags of the features in SETTINGS. The lazy kernels of a feature are present while
its flag is set.
"""

from typing import Any

import numpy as np

from hrpsim.engine.compile.lazy_kernels import provide_used
from hrpsim.engine.constraints.solver_table import PENALTY
from hrpsim.engine.dynamics.first_order_forces import SYMMETRIC
from hrpsim.model.system import FREE

# Fields of SETTINGS: whether a step has each of these.
FEATURES = (
    ("restitution", "i8"),  # a pair of materials has restitution
    ("free_motion", "i8"),  # rows need the motion without constraints
    ("penalty_contacts", "i8"),  # a contact may be a spring and damper
    ("connections", "i8"),  # there are connections
    ("tendons", "i8"),  # an actuator drives a tendon
    ("actuators", "i8"),  # a joint has an actuator with a model
    ("joint_friction", "i8"),  # a joint has dry friction
    ("sleep", "i8"),  # a body may sleep
    ("free_rotation", "i8"),  # a tree is a single body with the origin at the centre of mass
    ("half_turns", "i8"),  # single bodies rotate before and after the moments of the step
    ("stage_turns", "i8"),  # single bodies rotate at the stages of a step
    ("floating_trees", "i8"),  # a free body has child bodies
    ("first_order", "i8"),  # joints have a rule of first order
    ("turning_friction", "i8"),  # a pair of materials resists spin or rolling
)


def use_features(scene: Any) -> None:
    """Write the flags of a scene's features, and load the lazy kernels of these features.

    The function must be called after every change of the contents on which the flags depend.
    """
    settings, materials, dofs = scene.settings[0], scene.materials, scene.forest.dofs
    bounces, rotates = materials["restitution"] > 0.0, dofs["turns_freely"].any()
    features = {
        "restitution": bounces.any(),
        "free_motion": (bounces | (materials["damping_time"] >= 0.0)).any(),
        "penalty_contacts": (scene.solver_choice == PENALTY).any(),
        "connections": len(scene.connections) > 0,
        "tendons": len(scene.tendons.joints) > 0,
        "actuators": len(scene.actuators.units) > 0,
        "joint_friction": (dofs["friction"] > 0.0).any(),
        "sleep": scene.rests["may_sleep"].any(),
        "free_rotation": rotates,
        "half_turns": rotates and settings["drift"] > 0.0,
        "stage_turns": rotates and settings["staged"],
        "floating_trees": not settings["as_mujoco"] and _any_floating_tree(scene.forest.bodies),
        "first_order": settings["damping"] != SYMMETRIC,
        "turning_friction": ((materials["torsional"] > 0.0) | (materials["rolling"] > 0.0)).any(),
    }
    for name, is_on in features.items():
        settings[name] = is_on
    provide_used(scene)


def _any_floating_tree(bodies: np.ndarray) -> bool:
    """Return whether a free body has child bodies."""
    sizes = np.bincount(bodies["root"], minlength=len(bodies))
    return bool(np.any((bodies["joint_type"] == FREE) & (sizes[bodies["root"]] > 1)))
