# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rules that choose the solver of each constraint by kind, names of bodies, and materials."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from hrpsim.common.errors import WorldError, require_name, require_names
from hrpsim.common.values import several
from hrpsim.engine.constraints.friction_laws import LAWS
from hrpsim.engine.constraints.joint_rows import JOINT_KINDS
from hrpsim.engine.constraints.solver_table import CONTACTS, RIGID, SOLVERS, solvers_of
from hrpsim.engine.step.scene.integrators import INTEGRATORS

KINDS = (CONTACTS, "connection", *JOINT_KINDS)
NAMES = tuple(name for name in SOLVERS if any(name in solvers_of(kind) for kind in KINDS))

_RULE_KEYS = ("solver", "kind", "bodies", "materials")


def solver_code(name, kind: str | None = None) -> int:
    """Return the code of a solver for a kind of constraint.

    Raises WorldError if the solver is unknown or does not fit the kind.
    """
    require_name("solver", name, NAMES)
    if kind is None:
        return SOLVERS[name].code
    if name not in solvers_of(kind):
        raise WorldError(
            f"solver {name!r} is for contacts only. Solvers for a {kind}: "
            f"{', '.join(solvers_of(kind))}"
        )
    return _for_kind(name, kind)


def _for_kind(name: str, kind: str) -> int:
    """Return the code of a solver for a kind of constraint that the solver accepts.

    For the kinds in RIGID, this is the solver's `rigid_rows`.
    """
    solver = SOLVERS[name]
    return solver.rigid_rows if kind in RIGID else solver.code


def _kinds_of(name: str) -> tuple[str, ...]:
    return tuple(kind for kind in KINDS if name in solvers_of(kind))


def solver_name(code: int) -> str:
    """Return the public name of a solver, given its code."""
    return next(name for name, solver in SOLVERS.items() if solver.code == code)


@dataclass(frozen=True)
class SolverRule:
    """A solver for matching constraints. Empty `bodies` or `materials` match everything."""

    solver: str
    kinds: frozenset[str]
    bodies: tuple[str, ...]
    materials: tuple[str, ...]


class SolverRules:
    """An ordered list of rules. The first matching rule decides, or else the default solvers.

    Args:
        given: None, a solver's name, or a list of mappings with the arguments of `add`. A named
            solver becomes the default for all constraints that it accepts.
        integrator: integrator of the world.
        friction_model: friction model of the world. A solver of contacts must accept this model and
            the integrator.

    Raises:
        WorldError: a solver or a rule is invalid.
    """

    def __init__(
        self, given=None, integrator: str = "semi_implicit", friction_model: int = LAWS["cone"]
    ) -> None:
        self.rules: list[SolverRule] = []
        self._unchecked: list[SolverRule] = []  # since the last `take_new`
        self._integrator, self._friction_model = integrator, friction_model
        self.usual = {kind: _for_kind("auto", kind) for kind in KINDS}
        if isinstance(given, str):
            solver_code(given)
            self._refuse_for_contacts(given)
            self.usual.update((kind, _for_kind(given, kind)) for kind in _kinds_of(given))
            return
        if not (given is None or isinstance(given, Sequence)):
            raise WorldError(f"solver must be a name or a list of rules, got {given!r}")
        for k, entry in enumerate(given or ()):
            if not isinstance(entry, Mapping):
                raise WorldError(
                    f"solver rule {k} must be a mapping with keys from {', '.join(_RULE_KEYS)}, "
                    f"got {entry!r}"
                )
            if "solver" not in entry:
                raise WorldError(f"solver rule {k} has no entry 'solver', got {entry!r}")
            require_names(f"in solver rule {k}, entry", entry, _RULE_KEYS)
            self.add(**entry)

    def add(self, solver: str, kind=None, bodies=None, materials=None) -> None:
        """Append a rule (see `World.add_solver_rule`)."""
        if kind is not None:
            require_name("kind of constraint", kind, KINDS)
        solver_code(solver, kind)
        materials = _one_or_two("materials", materials)
        if materials and kind not in (None, "contact"):
            raise WorldError(f"a rule with materials is for contacts, not for a {kind}")
        kinds = (kind,) if kind else (CONTACTS,) if materials else _kinds_of(solver)
        bodies = _one_or_two("bodies", bodies)
        if CONTACTS in kinds:
            self._refuse_for_contacts(solver)
        self.rules.append(SolverRule(solver, frozenset(kinds), bodies, materials))
        self._unchecked.append(self.rules[-1])

    def take_new(self) -> list[SolverRule]:
        """Return the rules that were added since the last call."""
        new, self._unchecked = self._unchecked, []
        return new

    def _refuse_for_contacts(self, name: str) -> None:
        """Raise WorldError if a solver does not accept contacts in the world of these rules."""
        if SOLVERS[name].explicit and not INTEGRATORS[self._integrator].is_implicit:
            raise WorldError(
                f"{name} contacts need the integrator 'semi_implicit'. Their explicit springs "
                f"gain energy with {self._integrator!r}"
            )
        law = self._friction_model
        if law not in SOLVERS[name].laws:
            model = next(key for key, value in LAWS.items() if value == law)
            others = [other for other in solvers_of(CONTACTS) if law in SOLVERS[other].laws]
            raise WorldError(
                f"solver {name!r} does not solve contacts with friction_model {model!r}. Use "
                f"{' or '.join(others)}"
            )

    @property
    def any_of_contacts(self) -> bool:
        """Whether any rule applies to contacts."""
        return any(CONTACTS in rule.kinds for rule in self.rules)

    def of_connection(self, a: tuple[str, str], b: tuple[str, str]) -> int:
        """Return the solver for a connection between two bodies, each given as (entity, link)."""
        for rule in self.rules:
            ends = (tuple(is_named(end, pattern) for pattern in rule.bodies) for end in (a, b))
            if "connection" in rule.kinds and _fits(*ends):
                return _for_kind(rule.solver, "connection")
        return self.usual["connection"]

    def of_joint(self, kind: str, robot: str, joint: str) -> int:
        """Return the solver of a joint's constraint.

        Rules with two bodies do not apply to joints.
        """
        for rule in self.rules:
            if kind not in rule.kinds or len(rule.bodies) == 2:
                continue
            if all(is_named((robot, joint), pattern) for pattern in rule.bodies):
                return _for_kind(rule.solver, kind)
        return self.usual[kind]

    def of_contacts(
        self, owners: Sequence[tuple[str, str]], materials: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Group shapes into classes that all rules treat alike.

        owners: (entity, link) of each shape. materials: material of each shape.

        Returns:
            (class of each shape (n,), solver of contacts for each pair of classes (c, c)).
        """
        rules = [rule for rule in self.rules if "contact" in rule.kinds]
        seen: dict[tuple, int] = {}
        classes = np.zeros(len(owners), dtype=np.int64)
        for k, (owner, material) in enumerate(zip(owners, materials, strict=True)):
            signature = tuple(
                (
                    tuple(is_named(owner, pattern) for pattern in rule.bodies),
                    tuple(material == name for name in rule.materials),
                )
                for rule in rules
            )
            classes[k] = seen.setdefault(signature, len(seen))
        table = np.full((max(len(seen), 1),) * 2, self.usual["contact"], dtype=np.int64)
        for (a, i), (b, j) in itertools.product(seen.items(), repeat=2):
            fitting = (rule for rule, *both in zip(rules, a, b) if all(map(_fits, *both)))
            if rule := next(fitting, None):
                table[i, j] = SOLVERS[rule.solver].code
        return classes, table


def _one_or_two(what: str, given) -> tuple[str, ...]:
    """Return an argument with at most two names or patterns as a tuple. None gives ()."""
    if given is None:
        return ()
    names: tuple = ()
    if isinstance(given, Iterable):
        names = several(given)
    if len(names) not in (1, 2) or not all(isinstance(name, str) for name in names):
        raise WorldError(f"{what} of a solver rule must be one or two names, got {given!r}")
    return names


def is_named(owner: tuple[str, str], pattern: str) -> bool:
    """Return whether (entity, link) matches a pattern "entity/link" or "entity"."""
    return fnmatchcase("/".join(owner) if "/" in pattern else owner[0], pattern)


def _fits(a: tuple[bool, ...], b: tuple[bool, ...]) -> bool:
    """Return whether two owners match the patterns of a rule. a and b: matches of each owner.

    Without a pattern any pair matches. One pattern must match at least one owner. Two patterns must
    match one owner each, in either order.
    """
    if len(a) == 2:
        return (a[0] and b[1]) or (a[1] and b[0])
    return all(x or y for x, y in zip(a, b, strict=True))
