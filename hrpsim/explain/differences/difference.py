# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The base class of differences between two simulators, and the changes that remove a difference.

In this folder, `here` is hrpsim and `there` is the reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.explain.runs.mujoco_reference import mujoco_model, world_of
from hrpsim.explain.runs.subject import Subject
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

_ALIKE = 1e-3  # relative difference of equal values
_SHOWN = 3


@dataclass(frozen=True)
class There:
    """The MJCF, and the PD control period, of a MuJoCo reference."""

    mjcf: Path
    period: float  # [s]

    @property
    def world(self) -> World:
        """The world that hrpsim loads from the MJCF."""
        return world_of(self.mjcf)

    @property
    def mujoco(self) -> Any:
        """MuJoCo's compiled model of the MJCF."""
        return mujoco_model(self.mjcf)

    def robot_like(self, robot: Robot) -> Robot:
        """Return the robot of the reference's world that has the same joints as `robot`."""
        joints = set(robot.joint_names)
        return next(r for r in self.world.robots.values() if joints <= set(r.joint_names))


@dataclass(frozen=True)
class ComparedPair:
    """The two simulators, or a simulator and a recording, whose differences are searched.

    Args:
        here: the policy on the robot in hrpsim, unchanged.
        there: the file of the reference. None for a recording, whose properties are unknown.
        feet: links that press on the surroundings.
    """

    here: Subject
    there: There | None
    feet: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A change that removes one difference. For a recording, the change sets a guessed value.

    Args:
        difference: name in `DIFFERENCES`.
        text: description of the change with the old and the new value.
        values: arguments of `Difference.apply`.
        of_reference: whether the change is made in the reference, because hrpsim cannot simulate
            the property.
    """

    difference: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    of_reference: bool = False


class Difference:
    """A kind of difference between simulators, such as the armature of joints.

    `DIFFERENCES` in this folder's __init__ lists the kinds.
    """

    name: str

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change that sets hrpsim to the reference's value, or [] if already equal."""
        return []

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return changes to values that an unknown reference may have, or [] for no guesses."""
        return []

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Apply the change to the simulated policy in hrpsim."""

    def apply_to_reference(self, model: Any) -> None:
        """Make a change of the reference in MuJoCo's compiled model."""

    def at_load(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `Case.load` that the change needs."""
        return {}

    def changes(self, pair: ComparedPair) -> list[Change]:
        """Return the changes to try: known changes for MuJoCo, guesses for a recording."""
        if pair.there is None:
            return self.guesses(pair.here, pair.feet)
        return self.known(pair.here, pair.there, pair.feet)

    def change(self, text: str, **values: Any) -> Change:
        """Return a change of this kind."""
        return Change(self.name, text, values)


def are_alike(a: np.ndarray, b: np.ndarray, floor: float = 1e-12) -> bool:
    """Return whether values are equal up to rounding. Equal infinities count as equal."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    same = a == b
    bound = _ALIKE * np.maximum(np.abs(a), np.abs(b)) + floor
    with np.errstate(invalid="ignore"):
        return bool((same | (np.abs(a - b) <= bound)).all())


def from_to(names: Sequence[str], old: np.ndarray, new: np.ndarray, unit: str) -> str:
    """Describe changed values by name, such as "all 3: 0 -> 0.01" or "a 0 -> 1, and 4 more"."""
    old, new = np.broadcast_to(old, len(names)), np.broadcast_to(new, len(names))
    unit = f" {unit}" if unit else ""
    pairs = [(float(f"{a:.4g}"), float(f"{b:.4g}")) for a, b in zip(old, new)]
    if len(set(pairs)) == 1 and len(names) > 1:
        (a, b), *_ = pairs
        return f"all {len(names)}: {a:g} -> {b:g}{unit}"
    differing = [k for k, (a, b) in enumerate(pairs) if a != b]
    texts = [f"{names[k]} {pairs[k][0]:g} -> {pairs[k][1]:g}" for k in differing[:_SHOWN]]
    more = len(differing) - len(texts)
    return ", ".join(texts) + unit + (f", and {more} more" if more > 0 else "")
