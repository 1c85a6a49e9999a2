# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Hinges of four constrained springs between loose bodies (Kuroda, ch. 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hrpsim.constraints.solver_table import SOLVERS, SPRINGS, solvers_of
from hrpsim.constraints.spring_rows import AT_LIMIT, CREEPING, FREE, SPRING_HINGE, STUCK
from hrpsim.values import finite_vector
from hrpsim.world.objects.ends import BetweenEnds, End, recorded

if TYPE_CHECKING:
    from hrpsim.world.objects.entity import WorldState

SPRING_SOLVERS = {name: SOLVERS[name].code for name in solvers_of(SPRINGS)}
_PHASES = {FREE: "free", STUCK: "held", CREEPING: "creeping", AT_LIMIT: "at limit"}


class SpringHinge(BetweenEnds):
    """Two springs on an axis and two that carry torque; `World.add_spring_hinge` makes them."""

    what = "spring hinge"

    angle = recorded(
        "angle", "Angle of b from a at the start of the last step [rad], turns counted."
    )
    rate = recorded("rate", "Rate of the angle at the start of the last step [rad/s].")
    max_extension = recorded("max_extension", "Extension that no spring exceeds [m].")
    stiffness = recorded("stiffness", "Stiffness of each spring [N/m].")
    damping = recorded("damping", "Viscous damping of each spring [Ns/m].")

    def __init__(
        self, world: WorldState, name: str, ends: tuple[End, End], collide: bool, number: int
    ):
        super().__init__(world, name, ends, collide, number, SPRING_HINGE)
        self.enabled = True

    def __repr__(self) -> str:
        a, b = (end.owner[0] for end in self.ends)
        return f"<SpringHinge {self.name!r} of {a} and {b}>"

    def _records(self) -> np.ndarray:
        return self.world.spring_hinge_records

    @property
    def phase(self) -> str:
        """What holds its angle: nothing ("free"), friction ("held", "creeping"), or "at limit"."""
        return _PHASES[int(self._record()["phase"])]

    @property
    def extension(self) -> np.ndarray:
        """Extension of both axis springs, then both torque springs (4,) [m], as `angle`."""
        return self._record()["extension"].copy()

    @property
    def tension(self) -> np.ndarray:
        """What each spring pulled with in the last step, constraint force included (4,) [N]."""
        return self._record()["impulse"][:4] / self.world.time_step

    @property
    def axis_torque(self) -> float:
        """Torque of motor and sliding friction on b about the axis in the last step [Nm]."""
        return -float(self._record()["impulse"][4]) / self.world.time_step

    @property
    def torque(self) -> float:
        """Torque of the motor on b about the axis [Nm]; assign to change it."""
        return float(self._record()["torque"])

    @torque.setter
    def torque(self, value: float) -> None:
        self._record()["torque"] = finite_vector("torque", [value], 1)[0]

    def keep_as_initial(self) -> None:
        """Make the present state that which a reset returns to."""
        self._initial[0] = self._record()
