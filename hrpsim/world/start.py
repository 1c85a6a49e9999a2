# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The start of a world: warn of an implausible start, and find a state of rest.

Rest is found by dynamic relaxation with kinetic damping. A robot that starts with all joints at the
targets sinks under its weight, because the gains yield, and sways for seconds. During relaxation
the world moves as usual, but all velocities are set to zero at every peak of kinetic energy. At the
peak, an oscillation passes its equilibrium. A few oscillations are then enough.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from hrpsim.common.errors import ModelWarning, WorldError
from hrpsim.engine.compile.compiled import kernel, prepared
from hrpsim.engine.compile.kernel_types import Articulated, Kinematics, Records, Vector
from hrpsim.engine.dynamics.articulated import place_inertias
from hrpsim.engine.dynamics.recursive import kinetic_energy
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.model.model import CollisionShape
from hrpsim.model.shapes.geometry import Plane
from hrpsim.model.system import FREE
from hrpsim.world.fall import FallWatch, clearance
from hrpsim.world.objects.entity import Entity, WorldState
from hrpsim.world.objects.plausibility import (
    STATE_SLACK,
    heights_over_ground,
    listed,
    odd_height,
    odd_motion,
    wrong_scale,
)
from hrpsim.world.objects.robot import Robot

_STEEP = 0.1  # cosine of the largest slope of a plane for placing


class Started(WorldState, Protocol):
    """The members of a world that are used to check its start."""

    @property
    def fixed_shapes(self) -> tuple[CollisionShape, ...]:
        """Fixed shapes, in the order of addition."""


def warn_of_start(
    world: Started, placed: Collection[Entity], reported: dict[str, set[str]], stacklevel: int
) -> None:
    """Warn of robots and bodies inside or far above a plane, beyond limits, or in wrong units.

    Each robot or body with a problem gets a ModelWarning with the amount and the remedy.

    Args:
        world: world of the robots and bodies.
        placed: robots and bodies to check.
        reported: kinds of warnings that are not given again, by name of the robot or body. New
            warnings are added, and also "scale" after its check.
        stacklevel: stack level of the warning.
    """
    planes, apart = _planes(world)
    first, owners = len(world.fixed_shapes), _owners_of_places(world, placed)
    for name, entity in world.entities.items():
        if entity in placed:
            rules = {
                "ground": lambda item=entity, at=first: odd_height(item, at, planes, apart),
                "place": lambda item=entity: _occupied(item, owners),
                "limits": lambda item=entity: _beyond_limits(item),
                "motion": lambda item=entity: odd_motion(item),
                "scale": lambda item=entity: wrong_scale(item, not isinstance(item, Robot)),
            }
            for kind, rule in rules.items():
                if kind in reported.setdefault(name, set()):
                    continue
                text = rule()
                if text or kind == "scale":  # placing does not change the scale
                    reported[name].add(kind)
                if text:
                    warnings.warn(f"{name!r} starts {text}", ModelWarning, stacklevel=stacklevel)
        first += len(entity.shapes)


def _place_of(entity: Entity) -> tuple:
    """Return a key that is equal for robots or bodies with equal shapes at the same place."""
    roots = entity.system.parent < 0
    base = entity.system.placement_p[roots].tobytes(), entity.system.placement_R[roots].tobytes()
    shapes = (
        (shape.geometry.kind, shape.geometry.size, shape.p.tobytes(), shape.R.tobytes())
        for shape in entity.shapes
    )
    return entity.q.tobytes(), base, *shapes


def _owners_of_places(world: Started, placed: Collection[Entity]) -> dict[tuple, str]:
    """Return the names of robots and bodies at the places of `placed`, by `_place_of`.

    If several are at one place, the first has the place.
    """
    q = world.scene.q
    near = {q[entity.first_q] if entity.nq else None for entity in placed}  # equal at equal places
    neighbours = [
        entity
        for entity in world.entities.values()
        if (q[entity.first_q] if entity.nq else None) in near and entity.shapes
    ]
    return {_place_of(entity): entity.name for entity in reversed(neighbours)}


def _occupied(entity: Entity, owners: Mapping[tuple, str]) -> str:
    """Return a warning if a robot or body has the place of an equal one, or ""."""
    owner = owners.get(_place_of(entity), entity.name)
    if owner == entity.name:
        return ""
    return f"at the place of {owner!r} and has the same shapes: give one of them a position"


def _planes(world: Started) -> tuple[dict[int, CollisionShape], set[tuple[int, int]]]:
    """Return the fixed planes by number, and the pairs of shapes that never touch."""
    planes = {k: s for k, s in enumerate(world.fixed_shapes) if isinstance(s.geometry, Plane)}
    return planes, set(map(tuple, world.scene.collision.excluded.tolist()))


def lift_to_floor(world: Started, entity: Entity) -> float:
    """Return the rise [m] that puts an entity on the planes of the world, negative for a fall.

    Raises:
        WorldError: the world has no plane under a shape of the entity.
    """
    planes, apart = _planes(world)
    heights = heights_over_ground(entity, _first_shape(world, entity), planes, apart)
    lifts = [-height / plane.R[2, 2] for height, plane, _ in heights if plane.R[2, 2] > _STEEP]
    if not lifts:
        raise _no_plane(entity)
    return max(lifts)


def shapes_over_floor(
    world: Started, entity: Entity
) -> list[tuple[CollisionShape, CollisionShape]]:
    """Return pairs (plane, shape of the entity that may touch the plane) for `lift_to_floor`.

    Raises:
        WorldError: as `lift_to_floor`.
    """
    planes, apart = _planes(world)
    first = _first_shape(world, entity)
    result = [
        (plane, shape)
        for number, plane in planes.items()
        for k, shape in enumerate(entity.shapes, first)
        if shape.body >= 0 and (number, k) not in apart and plane.R[2, 2] > _STEEP
    ]
    if not result:
        raise _no_plane(entity)
    return result


def _first_shape(world: Started, entity: Entity) -> int:
    """Return the number of the first shape of an entity in the world."""
    names = list(world.entities)
    before = [world.entities[name] for name in names[: names.index(entity.name)]]
    return len(world.fixed_shapes) + sum(len(other.shapes) for other in before)


def _no_plane(entity: Entity) -> WorldError:
    return WorldError(
        f"{entity.name!r} cannot be put on the floor, because no plane is under its shapes. "
        "Add one by `add_ground` (`ground` in a world file)"
    )


def _beyond_limits(entity: Entity) -> str:
    """Return a text about the joints of a robot that are beyond their limits, or ""."""
    if not isinstance(entity, Robot):
        return ""
    state = {"positions": entity.joint_positions, "velocities": entity.joint_velocities}
    text = listed(entity.limits.beyond(entity.joint_names, state, STATE_SLACK))
    cure = "set positions within the limits, as by `joints` in a world file"
    return f"beyond the limits of its joints: {text} [rad or m]: {cure}" if text else ""


class Settled(NamedTuple):
    """The displacement of a robot or body while it came to rest, and its supports."""

    moved: float  # displacement of the base [m]
    turned: float  # rotation of the base [rad]
    joint: str  # joint with the largest displacement, "" without joints
    joint_moved: float  # displacement of that joint [rad or m]
    rests_on: tuple[tuple[str, str], ...]  # loaded contacts: (own link, "entity/link" of the other)
    lies: bool  # whether the base is tilted or low, by the criteria of FallWatch
    fell: bool  # whether it lies now and did not lie before

    def __str__(self) -> str:
        words = [f"base moved by {1e3 * self.moved:.1f} mm and {math.degrees(self.turned):.1f} deg"]
        if self.joint:
            words.append(f"joints moved by at most {self.joint_moved:.3f} rad or m ({self.joint})")
        touching = [", ".join(dict.fromkeys(names)) for names in zip(*self.rests_on)]
        words.append(" on ".join(touching) or "touches nothing")
        return "; ".join(words + ["the base is tilted or low"] * self.lies)


class RestReport:
    """Comparison of entities with their state at the time when this report was made."""

    def __init__(self, entities: Mapping[str, Entity]) -> None:
        self._before = {
            name: (entity, entity.q, _watch(entity)) for name, entity in entities.items()
        }

    def settled(self, link_names) -> dict[str, Settled]:
        """Return the displacement of each entity since this report was made, by name.

        link_names: as `World.link_names`.
        """
        return {name: self._of(*before, link_names) for name, before in self._before.items()}

    def _of(self, entity: Entity, old: np.ndarray, watch: FallWatch | None, names) -> Settled:
        q, moved, turned, joint, joint_moved = entity.q, 0.0, 0.0, "", 0.0
        lay = lies = False
        if entity.system.joint_type[0] == FREE:
            moved = float(np.linalg.norm(q[:3] - old[:3]))
            turned = 2.0 * math.acos(min(abs(float(q[3:7] @ old[3:7])), 1.0))
        if watch is not None:
            lay = watch.fallen
            watch.add(float(q[2]), tuple(q[3:7].tolist()))
            lies = watch.fallen
        if isinstance(entity, Robot) and entity.joint_names:
            ways = np.abs(q - old)[entity.joint_index.q]
            joint, joint_moved = entity.joint_names[int(ways.argmax())], float(ways.max())
        contacts = entity.contact_arrays()
        pressed = np.abs(contacts.forces).max(axis=1, initial=0.0) > 0.0
        pairs = zip(contacts.links[pressed].tolist(), contacts.partners[pressed].tolist())
        rests_on = tuple(dict.fromkeys((names[a][1], "/".join(names[b])) for a, b in pairs))
        return Settled(moved, turned, joint, joint_moved, rests_on, lies, lies and not lay)


def warn_of_falls(settled: Mapping[str, Settled], stacklevel: int) -> None:
    """Warn of each robot that fell on the way to rest."""
    for name, report in settled.items():
        if report.fell:
            warnings.warn(
                f"robot {name!r} fell while the world came to rest: {report}. Use larger gains, or "
                "a posture with the centre of mass over the soles",
                ModelWarning,
                stacklevel=stacklevel,
            )


def _watch(entity: Entity) -> FallWatch | None:
    """Return a detector of falls for a robot with a free base, or None.

    The present posture is the standing posture of the detector.
    """
    if not isinstance(entity, Robot) or entity.model.base != "free":
        return None
    watch = FallWatch(lambda: clearance(entity))
    watch.add(float(entity.q[2]), tuple(entity.q[3:7].tolist()))
    return watch


@kernel
def _energy(
    forest: Forest,
    q: Vector,
    velocity: Vector,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
) -> float:
    """Return the kinetic energy of a forest, computed from its state alone [J]."""
    update_poses(forest, q, kinematics)
    update_velocities(forest, velocity, kinematics)
    place_inertias(forest, kinematics, articulated)
    return kinetic_energy(forest, kinematics, articulated, velocity)


_energy_of = prepared(_energy)  # the arrays of all scenes have the same types


def world_kinetic_energy(world: WorldState) -> float:
    """Return the kinetic energy of all bodies and rotors of a world [J]."""
    s = world.scene
    return float(_energy_of(s.forest, s.q, s.velocity, s.kinematics, s.articulated))


def relax(world: WorldState, step_limit: int, energy_tolerance: float) -> bool:
    """Step until an oscillation has a peak of kinetic energy below a tolerance [J].

    All velocities are zero at the end. An oscillation shorter than three steps is noise and does
    not count.

    Returns:
        Whether such a peak was found within `step_limit` steps.
    """
    previous, peak_age = 0.0, 0
    for _ in range(step_limit):
        world.step()
        kinetic = world_kinetic_energy(world)
        peak_age += 1
        if kinetic < previous and peak_age >= 3:
            _stop(world)
            if previous <= energy_tolerance:
                return True
            previous, peak_age = 0.0, 0
        else:
            previous = kinetic
    _stop(world)
    return False


def _stop(world: WorldState) -> None:
    """Set all velocities to zero and drop the results of earlier steps."""
    scene = world.scene
    scene.velocity[:] = 0.0
    scene.past_accelerations[:] = 0.0
    scene.momentum.trees["is_known"] = 0
