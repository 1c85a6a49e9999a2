# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tables of materials of Choreonoid: friction and restitution of pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hrpsim.common.errors import WorldError, shown_value
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.model.readers.openhrp.body_values import Values
from hrpsim.model.readers.robot_data import Notes

DEFAULT = "default"  # material of links without one, Choreonoid's "Default"
_MATERIAL = {"name", "roughness", "viscosity"}, "a material"  # keys that are read
_PAIR = (
    {"materials", "friction", "static_friction", "dynamic_friction", "restitution"},
    "a pair of materials",
)


class PairFriction(NamedTuple):
    """Contact properties of two materials."""

    static: float
    kinetic: float
    restitution: float


class CnoidMaterials:
    """The materials of a file, and the declared pairs of materials."""

    def __init__(self) -> None:
        self._roughness: dict[str, tuple[float, float]] = {}  # roughness, viscosity
        self._pairs: dict[frozenset[str], PairFriction] = {}
        self._entries: list[tuple[frozenset[str], str, Values]] = []  # of which materials, label

    def pairs(self, names: Iterable[str]) -> list[tuple[str, str, PairFriction]]:
        """Return friction and restitution of all pairs of some materials.

        For a pair that is missing in the table, friction and restitution follow from the geometric
        means of both roughnesses and viscosities, as in Choreonoid. An unknown material has the
        properties of the default material.
        """
        result = []
        for a, b in itertools.combinations_with_replacement(sorted(names), 2):
            law = self._pairs.get(frozenset((a, b)))
            result.append((a, b, law or self._mean(a, b)))
        return result

    def _mean(self, a: str, b: str) -> PairFriction:
        usual = self._roughness.get(DEFAULT, (0.5, 1.0))
        (rough_a, viscous_a), (rough_b, viscous_b) = (
            self._roughness.get(name, usual) for name in (a, b)
        )
        friction = math.sqrt(rough_a * rough_b)
        return PairFriction(friction, friction, math.sqrt((1.0 - viscous_a) * (1.0 - viscous_b)))

    def note_unread(self, names: Iterable[str], notes: Notes) -> None:
        """Add a note for each key without effect, in the entries of the materials `names`."""
        used = frozenset(names)
        for of_entry, label, values in self._entries:
            if of_entry <= used:
                known, kind = _PAIR if values.given("materials") else _MATERIAL
                values.note_unread(known, notes, kind, label)

    def read(self, path: Path) -> None:
        """Add the materials of a file. WorldError names an invalid entry."""
        content = read_yaml(path, WorldError, "table of materials").data
        if not isinstance(content, dict):
            raise WorldError(f"{path}: must be a mapping with the key `materials`")

        def fail(cause: str):
            raise WorldError(f"{path}: {cause}")

        top = Values(content, fail)
        for entry in top.items("materials"):
            material = _mapping(entry, fail)
            name = _named(material.text("name", default=""))
            self._entries.append((frozenset((name,)), name, material))
            values = material.number("roughness", 0.5), material.number("viscosity", 0.0)
            if values[0] < 0.0 or not 0.0 <= values[1] <= 1.0:
                fail(
                    f"material {shown_value(name)}: roughness must be >= 0, and viscosity from 0 "
                    "to 1"
                )
            self._roughness[name] = values
        for entry in top.items("contact_materials"):
            self._add_pair(_mapping(entry, fail))

    def _add_pair(self, pair: Values) -> None:
        names = [_named(str(name)) for name in pair.items("materials")]
        if len(names) != 2:
            pair.fail(f"materials: must be two names, got {len(names)}")
        label = " - ".join(names)
        self._entries.append((frozenset(names), label, pair))
        friction = pair.number("friction", 0.5)
        static = pair.number("static_friction", friction)
        kinetic = pair.number("dynamic_friction", friction)
        restitution = pair.number("restitution", 0.0)
        if min(static, kinetic) < 0.0 or not 0.0 <= restitution <= 1.0:
            pair.fail(f"{label}: friction must be >= 0, and restitution from 0 to 1")
        self._pairs[frozenset(names)] = PairFriction(static, kinetic, restitution)


def _named(name: str) -> str:
    return DEFAULT if name == "Default" else name


def _mapping(entry: object, fail) -> Values:
    if not isinstance(entry, dict):
        fail(f"must be a mapping, got {shown_value(entry)}")
    return Values(entry, fail)  # type: ignore[arg-type]
