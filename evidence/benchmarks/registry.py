# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The cases by name, in the order in which they run."""

from __future__ import annotations

from importlib import import_module

from evidence.benchmarks.results import Case

_FILES = {
    "algorithms": "rigid_body_algorithms",
    "standing": "standing_step",
    "swaying": "swaying_step",
    "friction": "joint_friction",
    "actuators": "actuators",
    "humanoids": "humanoids",
    "makers": "makers",
    "trees": "trees",
    "linearization": "linearization",
    "piles": "piles",
    "heaps": "falling_heaps",
    "convergence": "convergence",
    "everystep": "every_step",
    "oracles": "oracles",
    "contact_problems": "contact_problem_set",
    "bin": "bin",
    "beam": "beam",
    "walking": "walking",
    "batch": "batch",
    "learning": "learning",
    "pairs": "collision_pairs",
    "factorisation": "factorisation",
    "reading": "reading",
    "rays": "rays",
    "cameras": "cameras",
    "startup": "startup",
    "ros": "ros_node_script",
}
NAMES = tuple(_FILES)
LONG = (
    "actuators",
    "heaps",
    "learning",
    "friction",
    "linearization",
    "humanoids",
    "makers",
    "ros",
    "reading",
    "rays",
    "cameras",
    "convergence",
    "everystep",
    "oracles",
    "contact_problems",
)  # run only when they are named


def case(name: str) -> Case:
    """Return the case called `name`. Raises KeyError for an unknown name."""
    return import_module(f"evidence.benchmarks.cases.{_FILES[name]}").CASE
