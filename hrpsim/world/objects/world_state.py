# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What robots, bodies and connections ask of the world that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from hrpsim.step.scene.scene import Scene
    from hrpsim.world.objects.contact_arrays import ContactArrays
    from hrpsim.world.objects.entity import Entity
    from hrpsim.world.objects.solver_rules import SolverRules


class WorldState(Protocol):
    """The part of `World` that its objects know, so that they need not import it."""

    @property
    def connection_records(self) -> np.ndarray:
        """Records of the connections, by Connection.index."""

    @property
    def spring_hinge_records(self) -> np.ndarray:
        """Records of the spring hinges, by SpringHinge.index."""

    @property
    def solver_rules(self) -> SolverRules:
        """The rules by which solvers are chosen."""

    @property
    def time(self) -> float:
        """Simulated time [s]."""

    def step(self, n: int = 1) -> None:
        """Advance by `n` steps."""

    @property
    def time_step(self) -> float:
        """Length of a step [s]."""

    @property
    def scene(self) -> Scene:
        """The arrays that steps work on, laid out now if they were not."""

    @property
    def present_scene(self) -> Scene | None:
        """The same, None if they are to be laid out anew."""

    @property
    def entities(self) -> Mapping[str, Entity]:
        """Robots and bodies by name."""

    def present_q(self, entity: Entity) -> np.ndarray:
        """Return the positions of an entity."""

    def first_sensor(self, entity: Entity) -> int:
        """Return the place of an entity's first sensor."""

    def contacts_of(self, entity: Entity, link: str | None = None) -> ContactArrays:
        """Return the contacts of an entity, or of a link."""

    def forget_contacts(self) -> None:
        """Let the next step begin without the impulses of the last."""

    def add_wrench(self, body: int, point, force, torque) -> None:
        """Apply a wrench to a body during the next call of step."""

    def wake(self, *entities: Entity) -> None:
        """End the sleep of entities, of all without any."""

    def sleeps(self, entity: Entity) -> bool:
        """Return whether an entity sleeps."""

    def refresh_exclusions(self) -> None:
        """Find anew which pairs of shapes connections keep apart."""
