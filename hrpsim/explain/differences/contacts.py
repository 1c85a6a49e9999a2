# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts with the surroundings: friction, restitution, softness, shapes of the feet.

Surroundings are the fixed shapes of the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hrpsim.engine.constraints.friction_laws import LAWS
from hrpsim.explain.differences.difference import Change, Difference, There, are_alike
from hrpsim.explain.differences.soft_contacts import Soft, harden, soft_contact
from hrpsim.explain.differences.surfaces import change_surfaces, surfaces
from hrpsim.explain.runs.subject import Subject
from hrpsim.model.model import CollisionShape
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Mesh, Sphere
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

_SOFT = 0.2  # relative difference of equal compliances


def _pairs(subject: Subject, feet: Sequence[str]) -> tuple[tuple[str, str], ...]:
    foot_surfaces = surfaces(subject.world, subject.robot, feet)
    return tuple(dict.fromkeys((surface.material, surface.floor) for surface in foot_surfaces))


def _static(world: World, robot: Robot, feet: Sequence[str]) -> list[float]:
    return [float(surface.properties["static"]) for surface in surfaces(world, robot, feet)]


def _lengths(world: World, robot: Robot, feet: Sequence[str]) -> np.ndarray:
    """Return the torsional and rolling friction coefficients of feet (n, 2) [m]."""
    properties = [surface.properties for surface in surfaces(world, robot, feet)]
    return np.array([[lengths["torsional"], lengths["rolling"]] for lengths in properties])


class Friction(Difference):
    """Coefficient of friction between feet and floor."""

    name = "friction of the ground"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the smallest friction coefficient of the reference's feet."""
        old = _static(here.world, here.robot, feet)
        other = _static(there.world, there.robot_like(here.robot), feet)
        if not (old and other) or are_alike(np.array(old), np.array(min(other))):
            return []
        return [self._to(here, feet, min(other))]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return several lower and higher coefficients of friction."""
        old = _static(here.world, here.robot, feet)
        factors = (0.2, 0.35, 0.5, 0.7, 1.5, 2.5) if old else ()
        return [self._to(here, feet, factor * min(old)) for factor in factors]

    def _to(self, here: Subject, feet: Sequence[str], value: float) -> Change:
        old = sorted(set(_static(here.world, here.robot, feet)))
        text = ", ".join(f"{coefficient:.3g}" for coefficient in old)
        return self.change(f"{text} -> {value:.3g}", pairs=_pairs(here, feet), value=value)

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Set the static and kinetic friction of feet and floor."""
        value = values["value"]
        change_surfaces(subject.world, values["pairs"], {"static": value, "kinetic": value})


class Restitution(Difference):
    """Restitution of feet on the floor. MuJoCo's contacts have no coefficient of restitution."""

    name = "restitution"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to restitution 0."""
        foot_surfaces = surfaces(here.world, here.robot, feet)
        return [self._to(here, feet, 0.0)] if self._bounces(foot_surfaces) else []

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return the coefficients of restitution of hard rubber and of soft rubber."""
        values: tuple[float, ...] = (0.2, 0.5)
        if self._bounces(surfaces(here.world, here.robot, feet)):
            values = (0.0, *values)
        return [self._to(here, feet, value) for value in values]

    @staticmethod
    def _bounces(found: Sequence[Any]) -> bool:
        return any(surface.properties["restitution"] > 0.0 for surface in found)

    def _to(self, here: Subject, feet: Sequence[str], value: float) -> Change:
        return self.change(f"-> {value:g}", pairs=_pairs(here, feet), value=value)

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Set the coefficient of restitution."""
        change_surfaces(subject.world, values["pairs"], {"restitution": values["value"]})


class Softness(Difference):
    """Compliance and damping of contacts. In MuJoCo, solref, solimp and the masses define both."""

    name = "contact softness"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the spring and damper that approximate the reference's contacts."""
        soft = soft_contact(there.mujoco, feet)
        foot_surfaces = surfaces(here.world, here.robot, feet)
        if soft is None or not foot_surfaces:
            return []
        old = float(foot_surfaces[0].properties["compliance"])
        if abs(old - soft.compliance) <= _SOFT * soft.compliance:
            return []
        return [self._to(here, feet, old, soft)]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return compliances at which the robot, standing on one point, sinks by 0.5 to 10 mm."""
        foot_surfaces = surfaces(here.world, here.robot, feet)
        if not foot_surfaces:
            return []
        old = float(foot_surfaces[0].properties["compliance"])
        weight = 9.8 * here.robot.model.mass
        guesses = [Soft(sink / weight, 0.02) for sink in (0.0005, 0.002, 0.005, 0.01)]
        return [self._to(here, feet, old, soft) for soft in guesses]

    def _to(self, here: Subject, feet: Sequence[str], old: float, soft: Soft) -> Change:
        text = f"{old:.3g} -> {soft.compliance:.3g} m/N, damping time {soft.damping_time:.3g} s"
        return self.change(text, pairs=_pairs(here, feet), soft=tuple(soft))

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Set compliance and damping time."""
        compliance, time = values["soft"]
        for a, b in values["pairs"]:
            subject.world.set_contact(a, b, compliance, max(time, subject.world.time_step))


class Rigidity(Difference):
    """The effect of soft contacts that `Softness` does not remove.

    This change makes the contacts of the reference as stiff as possible.
    """

    name = "contact softness of the reference"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to stiff contacts in the reference."""
        if soft_contact(there.mujoco, feet) is None:
            return []
        return [Change(self.name, "hard contacts in the reference", of_reference=True)]

    def apply_to_reference(self, model: Any) -> None:
        """Set the smallest time constant and the smallest softness for all contacts."""
        harden(model)


class RollingFriction(Difference):
    """Coefficients of torsional and rolling friction [m]."""

    name = "rolling and spinning friction"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the smallest coefficients of the reference's feet."""
        old = _lengths(here.world, here.robot, feet)
        other = _lengths(there.world, there.robot_like(here.robot), feet)
        if not (len(old) and len(other)) or are_alike(old, other.min(axis=0)):
            return []
        torsional, rolling = map(float, other.min(axis=0))
        text = f"-> spin {torsional:.3g} m, rolling {rolling:.3g} m"
        values = {"torsional": torsional, "rolling": rolling}
        return [self.change(text, pairs=_pairs(here, feet), lengths=values)]

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Set torsional and rolling friction between feet and floor."""
        change_surfaces(subject.world, values["pairs"], values["lengths"])


class Cone(Difference):
    """The friction model: a circular cone, or a pyramid with two axes."""

    name = "friction cone"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the friction model of the reference."""
        model = "cone" if int(there.mujoco.opt.cone) == 1 else "pyramid"
        if not feet:
            return []
        return [change for change in self.guesses(here, feet) if change.values["model"] == model]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return the other friction model: a pyramid for a cone, a cone for a pyramid."""
        old = int(here.world.scene.settings["friction_model"][0])
        return [
            self.change(f"-> {model}", model=model)
            for model in ("cone", "pyramid")
            if LAWS[model] != old
        ]

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Set the friction model of the world."""
        subject.world.scene.settings["friction_model"] = LAWS[values["model"]]


class FootShapes(Difference):
    """Collision shapes of the links that touch the ground."""

    name = "contact geometry of the feet"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the shapes of the reference's feet."""
        other = there.robot_like(here.robot)
        differing = [
            link
            for link in feet
            if not _same_shapes(_shapes_of(here.robot, link), _shapes_of(other, link))
        ]
        if not differing:
            return []
        return [self.change(f"as in the reference: {', '.join(differing)}", links=tuple(differing))]

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return larger and smaller shapes of the feet."""
        shapes = [shape for link in feet for shape in _shapes_of(here.robot, link)]
        if not shapes:
            return []
        return [
            self.change(f"grown by {1e3 * more:g} mm", links=tuple(feet), grown=more)
            for more in (-0.003, 0.003, 0.01)
            if all(_grown(shape, more) is not shape for shape in shapes)
        ]

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Replace the collision shapes of the links in `values`.

        The new shapes are the reference's shapes. With `values["grown"]` [m], the new shapes are
        the robot's own shapes, grown by this distance.

        Args:
            subject: the policy in hrpsim, whose robot and world are changed.
            values: `links`, and `grown` for a guess.
            there: the reference. Needed without `grown`.
        """
        robot, links = subject.robot, set(values["links"])
        others = [shape for shape in robot.shapes if shape.link not in links]
        if "grown" in values:
            own = [shape for shape in robot.shapes if shape.link in links]
            new = [_grown(shape, values["grown"]) for shape in own]
        else:
            assert there is not None  # changes by `known` have a reference
            new = _like(robot, there.robot_like(robot), links)
        robot.shapes = (*others, *new)
        subject.world.rebuild_scene()


class ContactMargin(Difference):
    """Distance at which contacts begin to press. The margin has the effect of larger shapes.

    There are no guesses, because the guesses of `FootShapes` include larger shapes.
    """

    name = "contact margin"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return a change that enlarges shapes by the contact margin of the reference."""
        model = there.mujoco
        bodies = {model.body(k).name: k for k in range(model.nbody)}
        margins = [
            float(model.geom_margin[k] - model.geom_gap[k])
            for link in feet
            if link in bodies
            for k in np.flatnonzero(model.geom_bodyid == bodies[link])
            if model.geom_contype[k] or model.geom_conaffinity[k]
        ]
        more = max(margins, default=0.0)
        if more <= 0.0:
            return []
        return [self.change(f"0 -> {1e3 * more:g} mm", links=tuple(feet), grown=more)]

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Enlarge the shapes of the links."""
        FootShapes().apply(subject, values, there)


class SelfCollision(Difference):
    """Collisions between the robot's own links."""

    name = "self-collision"

    def known(self, here: Subject, there: There, feet: Sequence[str]) -> list[Change]:
        """Return the change to the self-collision setting of the reference."""
        other = there.robot_like(here.robot)
        same = other.self_collision == here.robot.self_collision
        return [] if same else self.guesses(here, feet)

    def guesses(self, here: Subject, feet: Sequence[str]) -> list[Change]:
        """Return the opposite setting of self-collision."""
        new = not here.robot.self_collision
        return [self.change("on" if new else "off", on=new)]

    def apply(self, subject: Subject, values: Mapping[str, Any], there: There | None) -> None:
        """Turn self-collision on or off."""
        subject.robot.self_collision = bool(values["on"])
        subject.world.rebuild_scene()


def _shapes_of(robot: Any, link: str) -> list[CollisionShape]:
    return [shape for shape in robot.shapes if shape.link == link]


def _same_shapes(a: list[CollisionShape], b: list[CollisionShape]) -> bool:
    return len(a) == len(b) and all(map(_is_like, a, b))


def _is_like(one: CollisionShape, other: CollisionShape) -> bool:
    if one.geometry.kind != other.geometry.kind or not np.allclose(one.p, other.p, atol=1e-5):
        return False
    if isinstance(one.geometry, Mesh) and isinstance(other.geometry, Mesh):
        a, b = one.geometry.vertices, other.geometry.vertices
        return a.shape == b.shape and bool(np.allclose(a, b, atol=1e-5))
    same_size = np.allclose(one.geometry.size, other.geometry.size, atol=1e-6)
    is_turned = one.geometry.kind != Sphere.kind and not np.allclose(one.R, other.R, atol=1e-4)
    return bool(same_size) and not is_turned


def _like(robot: Any, other: Any, links: set[str]) -> list[CollisionShape]:
    """Return the shapes of another robot's links, with this robot's bodies and materials."""
    result = []
    for shape in (s for s in other.shapes if s.link in links):
        frame, there = robot.model.frame(shape.link), other.model.frame(shape.link)
        R = frame.R @ there.R.T
        own = _shapes_of(robot, shape.link)
        material = own[0].material if own else robot.shapes[0].material
        place = {"R": R @ shape.R, "p": frame.p + R @ (shape.p - there.p)}
        result.append(replace(shape, body=frame.body, material=material, **place))
    return result


def _grown(shape: CollisionShape, more: float) -> CollisionShape:
    """Return a shape whose surface is moved outward by `more` [m], if the geometry allows."""
    geometry = shape.geometry
    if isinstance(geometry, Sphere) and geometry.radius + more > 0.0:
        return replace(shape, geometry=Sphere(geometry.radius + more))
    if isinstance(geometry, Box) and min(geometry.lengths) + 2.0 * more > 0.0:
        x, y, z = (length + 2.0 * more for length in geometry.lengths)
        return replace(shape, geometry=Box((x, y, z)))
    if isinstance(geometry, Capsule) and geometry.radius + more > 0.0:
        return replace(shape, geometry=Capsule(geometry.radius + more, geometry.length))
    if isinstance(geometry, Cylinder) and min(geometry.radius, 0.5 * geometry.length) + more > 0.0:
        longer = geometry.length + 2.0 * more
        return replace(shape, geometry=Cylinder(geometry.radius + more, longer))
    return shape
