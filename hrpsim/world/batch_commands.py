# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands of the robots of one name in all worlds of a batch, written by one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hrpsim.engine.compile.compiled import kernel, prepared
from hrpsim.engine.compile.numba_code import NumbaCode
from hrpsim.engine.compile.reference import Reference
from hrpsim.engine.dynamics.joint_forces import EFFORTS, POSITIONS, VELOCITIES
from hrpsim.world.followed_entities import FollowedEntities, alike
from hrpsim.world.objects.robot import Robot, ramp_steps
from hrpsim.world.objects.robot_access import is_refused, write_commands

reference_at = NumbaCode("hrpsim.engine.compile.intrinsics", "reference_at")

_BITS = {"positions": POSITIONS, "velocities": VELOCITIES, "efforts": EFFORTS}
_NOTHING = np.empty((1, 0))


@kernel
def command_worlds(
    example, addresses, worlds, indices, positions, velocities, efforts, given, named, steps
):  # many parameters: those of `set_commands`, and which robots
    """Command the robots of some worlds by the rows of a batch.

    Return -1 after success. Return the number of the first world that refuses its row, after which
    nothing changes. Return -2 after commands with a target beyond a limit that was not reported
    yet.

    example: a reference to any Actuators; addresses (count,) of all; worlds (m,): numbers. `given`
    says which of the rows (count, k) of positions, velocities and efforts are used. The other
    arguments are passed to `set_commands`.
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        q = positions[k if given & POSITIONS != 0 else 0]
        v = velocities[k if given & VELOCITIES != 0 else 0]
        tau = efforts[k if given & EFFORTS != 0 else 0]
        actuators = reference_at(example, addresses[k])
        if is_refused(actuators, indices, q, v, tau, given, named):
            return k
    beyond = False
    for number in range(worlds.shape[0]):
        k = worlds[number]
        q = positions[k if given & POSITIONS != 0 else 0]
        v = velocities[k if given & VELOCITIES != 0 else 0]
        tau = efforts[k if given & EFFORTS != 0 else 0]
        actuators = reference_at(example, addresses[k])
        beyond = write_commands(actuators, indices, q, v, tau, given, steps) or beyond
    return -2 if beyond else -1


_command_worlds = prepared(command_worlds)


class BatchCommands(FollowedEntities):
    """The actuators of the robots of one name, one robot in each world."""

    def accepts(self, values: Mapping[str, np.ndarray], joints: int) -> bool:
        """Return whether the robots are alike and take these values (count, joints)."""
        self.follow()
        return (
            self._alike
            and 0 < len(values)
            and all(
                what in _BITS and rows.shape[1] == joints and rows.dtype.kind in "biuf"
                for what, rows in values.items()
            )
        )

    def indices(self, names: str | Sequence[str] | None) -> np.ndarray:
        """Return the indices of joints in the first robot."""
        self.follow()
        return self.entities[0].joint_index.indices(names)

    def command(
        self,
        values: Mapping[str, np.ndarray],
        names: str | Sequence[str] | None,
        over: float,
        worlds: list[int] | None,
    ) -> None:
        """Write the rows (count, joints) of the chosen worlds; see `Batch.command`."""
        indices, chosen = self.indices(names), self.chosen(worlds)
        given = sum(_BITS[what] for what in values)
        if names is None and not given & EFFORTS and not self._warned:
            for k in chosen.tolist():
                self.entities[k].warn_of_missing_gains()
            self._warned = worlds is None
        rows = [values.get(what, _NOTHING) for what in _BITS]
        steps = ramp_steps(over, self._worlds[0].time_step)
        how = given, names is not None, steps
        refused = _command_worlds(self.example, self.addresses, chosen, indices, *rows, *how)
        if refused == -2:
            for k in chosen.tolist():
                one = {what: array[k] for what, array in values.items()}
                self.entities[k].report_beyond(indices, one, stacklevel=4)
        if refused >= 0:
            one = {what: array[refused] for what, array in values.items()}
            self.entities[refused].command(**one, names=names, over=over)

    def _reference_to(self, entity: Robot) -> Reference:
        return entity.access.actuators

    def _compare(self) -> None:
        first, time_step = self.entities[0], self._worlds[0].time_step
        self._warned = False
        self._alike = all(
            one.joint_names == first.joint_names and alike(one, first) for one in self.entities
        ) and all(world.time_step == time_step for world in self._worlds)
