# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""<surface> of SDF: friction, restitution and compliance, as materials of links.

A contact of two surfaces has the smaller of both friction coefficients, and the smaller
restitution. The springs of both act in series, and the dampings add up, as in Gazebo's engine ODE.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from hrpsim.model.readers.sdf.sdf_file import SdfFile

_RIGID = 1e12  # the default of kp, and what is as stiff or stiffer [N/m]


class Surface(NamedTuple):
    """Contact properties of a collision shape. The defaults come from SDF."""

    friction: float = 1.0
    restitution: float = 0.0
    stiffness: float = math.inf  # [N/m]
    damping: float = 0.0  # [Ns/m], beside a stiffness
    bits: int = 0xFFFF  # two shapes collide if they have a bit in common

    @property
    def name(self) -> str:
        """The name of the material. Surfaces that differ only in `bits` have the same name."""
        words = [f"friction_{self.friction:g}"]
        if self.restitution:
            words.append(f"restitution_{self.restitution:g}")
        if self.stiffness < math.inf:
            words.append(f"kp_{self.stiffness:g}_kd_{self.damping:g}")
        return "_".join(words)

    @property
    def key(self) -> tuple[float, ...]:
        """All properties that the name contains."""
        return self[:4]


def surface_of(file: SdfFile, collision: Any) -> Surface:
    """Return the surface of a <collision>. Raises ModelError for invalid numbers."""
    surface = collision.find("surface")
    if surface is None:
        return Surface()
    at_ode, at_bullet = "friction/ode/mu", "friction/bullet/friction"
    friction = file.value(surface, at_ode, file.value(surface, at_bullet, 1.0))
    restitution = file.value(surface, "bounce/restitution_coefficient", 0.0)
    for path in ("contact/ode", "contact/bullet"):
        stiffness = file.value(surface, f"{path}/kp", _RIGID)
        damping = file.value(surface, f"{path}/kd", 1.0)
        if stiffness < _RIGID:
            break
    bits = file.content(surface, "contact/collide_bitmask", "65535")
    try:
        mask = int(bits, 0)
    except ValueError:
        file.fail(surface, f"<collide_bitmask> {bits!r}: must be a whole number")
    if friction < 0.0 or not 0.0 <= restitution <= 1.0 or stiffness <= 0.0 or damping < 0.0:
        file.fail(surface, "friction and kd must be >= 0, kp > 0, and restitution from 0 to 1")
    if stiffness >= _RIGID:
        return Surface(friction, restitution, bits=mask)
    return Surface(friction, restitution, stiffness, damping, mask)


class PairLaw(NamedTuple):
    """Contact properties of a pair of surfaces."""

    friction: float
    restitution: float
    compliance: float  # [m/N]
    damping_time: float  # [s]


def pair_law(a: Surface, b: Surface) -> PairLaw:
    """Combine the contact properties of two surfaces."""
    compliance = 1.0 / a.stiffness + 1.0 / b.stiffness
    return PairLaw(
        min(a.friction, b.friction),
        min(a.restitution, b.restitution),
        compliance,
        (a.damping + b.damping) * compliance,
    )
