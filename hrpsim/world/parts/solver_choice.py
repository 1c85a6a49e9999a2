# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The solver of every constraint, chosen by rules."""

from __future__ import annotations

from collections.abc import Sequence

from hrpsim.common.errors import unknown_name
from hrpsim.engine.step.scene.features import use_features
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import is_named
from hrpsim.world.parts.part import Part


class SolverChoice(Part):
    """Mixin of World: the rules that choose solvers, and the chosen solvers."""

    def add_solver_rule(
        self,
        solver: str,
        kind: str | None = None,
        bodies: str | Sequence[str] | None = None,
        materials: str | Sequence[str] | None = None,
    ) -> None:
        """Choose the solver of constraints. The first rule that matches decides.

        If no rule matches, connections, locks and motors are direct and everything else is "auto".
        The solver of a connection or of `set_constraint` has priority over all rules.

        A "penalty" contact is a spring and damper with stick-slip friction (see `set_penalty`). Its
        force is computed at the start of a step, before all other constraints are solved. Only
        penetration beyond the spring's maximum extension is a constraint, which is solved
        iteratively. "penalty" needs the integrator "semi_implicit". A step that begins with a
        contact too stiff for the time step raises WorldError.

        Args:
            solver: "auto", "iterative", "newton", "direct", or for contacts only "split" and
                "penalty". "newton" accepts only contacts of the friction model "cone".
            kind: "contact", "connection", "limit", "friction", "mimic", "lock" or "motor". The
                default is any kind.
            bodies: one or two patterns "entity/link", or "entity/joint" for joints, with the
                wildcards * and ?. A pattern without "/" matches entities. Fixed shapes and the
                ground are "world/name". A single pattern must match one of both bodies. Two
                patterns match in either order, and never match a joint.
            materials: one or two names of materials, for contacts, by the same rules.
        """
        self._contents.solver_rules.add(solver, kind, bodies, materials)
        self._sleep.wake()
        self._choose_solvers()

    def _idle_patterns(self) -> list[str]:
        """Return a text for each pattern of a new rule that matches nothing in the world.

        Patterns of a world without entities are checked later.
        """
        contents = self._contents
        if not contents.entities:
            return []
        new = contents.solver_rules.take_new()
        patterns = dict.fromkeys(pattern for rule in new for pattern in rule.bodies)
        if not patterns:
            return []
        known = [("world", shape.name) for shape in contents.fixed]
        for entity in contents.entities:
            known += [(entity.name, shape.link) for shape in entity.shapes]
            if isinstance(entity, Robot):
                known += [(entity.name, name) for name in entity.joint_names]
                known += [(entity.name, name) for name in entity.model.link_names]
        names = [*dict.fromkeys(one for one, _ in known), *map("/".join, known)]
        return [
            f"a solver rule has no effect: {unknown_name('body or joint', pattern, names)}"
            for pattern in patterns
            if not any(is_named(owner, pattern) for owner in known)
        ]

    def _choose_solvers(self, added: Sequence[Entity] | None = None) -> None:
        """Choose the solvers of all constraints, or of the constraints of `added` entities."""
        contents, rules = self._contents, self._contents.solver_rules
        if added is None:
            for connection in contents.connections.values():
                connection.choose_solver(rules)
        if self._scenes.present is None:
            return
        if added is None or rules.any_of_contacts:
            shapes = self._scenes.present.collision.shapes
            names = list(contents.materials.index)
            classes, table = rules.of_contacts(
                self._scenes.owners, [names[k] for k in shapes["material"]]
            )
            shapes["solver_class"] = classes
            self._scenes.present = self._scenes.present._replace(solver_choice=table)
        for robot in contents.entities if added is None else added:
            if isinstance(robot, Robot):
                robot.choose_solvers(rules, self._scenes.present.joint_parameters)
        use_features(self._scenes.present)
