# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Several shapes that form one body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Checked
from hrpsim.common.errors import ModelError, shown_value
from hrpsim.common.typed_values import require_fit
from hrpsim.common.values import LARGEST, as_numbers
from hrpsim.model.shapes.geometry import Geometry, Mesh
from hrpsim.model.shapes.placement import Placement, rotation_matrix


@dataclass(frozen=True, eq=False)
class Compound(metaclass=Checked):
    """Shapes that move together: `parts` are (geometry, position [m], quaternion x y z w).

    Position and orientation are in the compound's frame and may be left out. A compound within a
    compound is flattened. If parts overlap, the intersection counts twice in the mass.
    """

    parts: Sequence

    def __post_init__(self) -> None:
        require_fit("Compound: the parts", self.parts, Sequence[Any], ModelError)
        flattened: list[tuple[Geometry, Placement]] = []
        for number, part in enumerate(self.parts):
            geometry, placement = _part(number, part)
            if isinstance(geometry, Compound):
                flattened += [(inner, placement.then(at)) for inner, at in geometry.parts]
            else:
                flattened.append((geometry, placement))
        if not flattened:
            raise ModelError("Compound: must have at least one shape")
        object.__setattr__(self, "parts", tuple(flattened))


def require_shape(given: Any, owner: str = "a body") -> None:
    """Raise ModelError if a value is no shape."""
    if not isinstance(given, (Geometry, Compound)):
        text = shown_value(given)
        raise ModelError(f"{owner} needs a shape, such as Box((1, 1, 1)), got {text}")


def centered_shape(geometry: Geometry, placement: Placement) -> tuple[Geometry, Placement]:
    """Move the origin of a mesh to the middle of its bounding box. Other shapes stay unchanged.

    The moved shape describes the same solid, and has a smaller bounding ball about the origin.

    Returns:
        (shape, changed placement).
    """
    if not isinstance(geometry, Mesh):
        return geometry, placement
    mesh, middle = geometry.centered
    return mesh, Placement(placement.R, placement.R @ middle + placement.p)


# Position and quaternion.
_AT_ORIGIN: tuple[ArrayLike, ...] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def _part(number: int, part) -> tuple[Geometry | Compound, Placement]:
    where = f"Compound: part {number}"
    items = tuple(part) if isinstance(part, (tuple, list)) else (part,)
    if not 1 <= len(items) <= 3 or not isinstance(items[0], (Geometry, Compound)):
        raise ModelError(f"{where} must be (geometry, position, orientation), got {part!r}")
    if len(items) == 2 and isinstance(items[1], Placement):
        return items
    return items[0], _placement(where, *items[1:], *_AT_ORIGIN[len(items) - 1 :])


def _placement(where: str, position, orientation) -> Placement:
    p = as_numbers(f"{where}: the position", position, ModelError)
    q = as_numbers(f"{where}: the orientation", orientation, ModelError)
    if p.shape != (3,) or not (np.abs(p) <= LARGEST).all():
        raise ModelError(f"{where}: the position must be three finite numbers, got {position!r}")
    length = np.linalg.norm(q)
    if q.shape != (4,) or not np.isfinite(length) or length < 1e-6:
        raise ModelError(f"{where}: the orientation must be a quaternion, got {orientation!r}")
    return Placement(rotation_matrix(q / length), p)
