# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Masses, centres of mass and inertias of links, and gravity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.explain.differences.difference import Change, Difference, There, are_alike
from hrpsim.explain.runs.subject import Subject
from hrpsim.world.objects.robot import Robot

_SHIFT = 0.03  # shift of the base's centre of mass [m]


class Inertia(Difference):
    """Masses, centres of mass and inertias of links."""

    name = "inertia"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the inertias of the reference's links."""
        other = there.robot_like(here.robot)
        pairs = _bodies(here.robot, other)
        a, b = here.robot.system, other.system
        differing = [
            link
            for link, (k, j) in pairs.items()
            if not are_alike(a.mass[k], b.mass[j])
            or not np.allclose(a.com[k], b.com[j], atol=1e-4)
            or not are_alike(a.inertia[k], b.inertia[j], 1e-3 * np.trace(b.inertia[j]))
        ]
        if not differing:
            return []
        old, new = (sum(s.mass[list(at)]) for s, at in zip((a, b), zip(*pairs.values())))
        names = ", ".join(differing[:3]) + (", ..." if len(differing) > 3 else "")
        return [self.change(f"of {names}: {old:.4g} -> {new:.4g} kg in all", like="reference")]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return guesses of the robot's total mass, and of mass and centre of mass of the base."""
        result = [
            self.change(f"all masses times {factor:g}", factor=factor) for factor in (0.85, 1.15)
        ]
        base = here.robot.model.base_link
        result += [
            self.change(f"mass of {base} times {factor:g}", factor=factor, link=base)
            for factor in (0.7, 1.3, 1.6)
        ]
        for axis in range(3):
            for sign in (-1.0, 1.0):
                shift = tuple((sign * _SHIFT * np.eye(3)[axis]).tolist())
                text = f"centre of mass of {base} {sign * 1e3 * _SHIFT:+g} mm along {'xyz'[axis]}"
                result.append(self.change(text, factor=1.0, link=base, shift=shift))
        return result

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Set mass, centre of mass and inertia of links."""
        system = subject.robot.system
        mass, com, inertia = system.mass.copy(), system.com.copy(), system.inertia.copy()
        if "like" in values:
            assert there is not None  # changes by `known` have a reference
            other = there.robot_like(subject.robot)
            for k, j in _bodies(subject.robot, other).values():
                mass[k], com[k] = other.system.mass[j], other.system.com[j]
                inertia[k] = other.system.inertia[j]
        else:
            link = values.get("link")
            body = slice(None) if link is None else subject.robot.model.frame(link).body
            mass[body] *= values["factor"]
            inertia[body] *= values["factor"]
            if "shift" in values:
                com[body] += subject.robot.model.frame(str(link)).R @ np.array(values["shift"])
        subject.use_system(mass=mass, com=com, inertia=inertia)


def _bodies(robot: Robot, other: Robot) -> dict[str, tuple[int, int]]:
    """Return pairs of body indices, one of each robot, matched by the names of the links."""
    there = {f.name: f for f in other.model.frames.values() if f.body >= 0 and not f.p.any()}
    return {
        frame.name: (frame.body, there[frame.name].body)
        for frame in robot.model.frames.values()
        if frame.body >= 0 and not frame.p.any() and frame.name in there
    }


class Gravity(Difference):
    """The gravity vector.

    Gravity is assumed to be known for recordings.
    """

    name = "gravity"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the reference's gravity vector."""
        old, new = here.world.gravity, np.array(there.mujoco.opt.gravity)
        if np.allclose(old, new, atol=5e-3):
            return []
        return [self.change(f"{old.tolist()} -> {new.tolist()} m/s^2", vector=tuple(new.tolist()))]

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Set gravity."""
        subject.world.gravity = values["vector"]
