# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands of the robots of one name in all worlds of a batch, written by one kernel."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from hrpsim.common.errors import ModelWarning, StateError
from hrpsim.engine.compile.compiled import inlined_kernel, kernel, prepared
from hrpsim.engine.compile.kernel_types import Index, Indices, Matrix, Vector
from hrpsim.engine.compile.numba_code import NumbaCode
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.dynamics.joint_forces import EFFORTS, OWN_GAINS, POSITIONS, VELOCITIES
from hrpsim.world.followed_entities import FollowedEntities, alike, array_for
from hrpsim.world.objects.plausibility import slow_rows
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.robot_access import (
    BEYOND,
    TARGETS,
    WRITTEN,
    ActuatorArrays,
    find_refusal,
    ramp_steps,
    write_commands,
)

reference_at = NumbaCode("hrpsim.engine.compile.intrinsics", "reference_at")

_NOTHING = np.empty((1, 0))


@kernel
def command_worlds(
    example: ActuatorArrays,
    addresses: Indices,
    worlds: Indices,
    indices: Indices,
    positions: Matrix,
    velocities: Matrix,
    efforts: Matrix,
    given: int,
    named: bool,
    steps: int,
) -> tuple[int, int, int, float]:  # many parameters: those of `set_commands`, and the robots
    """Command the robots of some worlds by the rows of a batch, or refuse a row.

    Args:
        example: the actuators of any world. Only the type of this argument is used.
        addresses: addresses of the actuators of all worlds (count,).
        worlds: numbers of the worlds to command (m,).
        indices: joints (k,), as in `set_commands`.
        positions: targets (count, k) [rad or m].
        velocities: targets (count, k) [rad/s or m/s].
        efforts: (count, k) [Nm or N].
        given: bits of the used arrays among positions, velocities and efforts, as in
            `set_commands`.
        named: whether joints without gains refuse positions and velocities.
        steps: number of steps over which position targets change.

    Returns:
        The number of the world that refuses its row, or -1. Nothing changes after a refusal. The
        three return values of `set_commands` follow.
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        q, v, tau = _rows(k, positions, velocities, efforts, given)
        actuators = reference_at(example, addresses[k])
        why, place, value = find_refusal(actuators, indices, q, v, tau, given, named)
        if why != WRITTEN:
            return k, why, place, value
    became = WRITTEN
    for number in range(worlds.shape[0]):
        k = worlds[number]
        q, v, tau = _rows(k, positions, velocities, efforts, given)
        actuators = reference_at(example, addresses[k])
        if write_commands(actuators, indices, q, v, tau, given, steps):
            became = BEYOND
    return -1, became, -1, 0.0


@inlined_kernel
def _rows(
    k: Index, positions: Matrix, velocities: Matrix, efforts: Matrix, given: int
) -> tuple[Vector, Vector, Vector]:
    """Return the rows of world k in positions, velocities and efforts.

    An array that is not given has one placeholder row, which is returned.
    """
    q = positions[k if given & POSITIONS != 0 else 0]
    v = velocities[k if given & VELOCITIES != 0 else 0]
    return q, v, efforts[k if given & EFFORTS != 0 else 0]


@kernel
def give_gains(
    example: ActuatorArrays,
    addresses: Indices,
    worlds: Indices,
    indices: Indices,
    kp: Matrix,
    kd: Matrix,
) -> None:
    """Set gains of the robots of some worlds by the rows of a batch, as `Robot.set_gains` does.

    example: the actuators of any world, used for the type. addresses (count,): addresses of the
    actuators of all worlds. worlds (m,): numbers of worlds. indices (k,): joints. kp and kd:
    (count, k).
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        actuators = reference_at(example, addresses[k])
        for column in range(indices.shape[0]):
            at = indices[column]
            actuators.kp[at], actuators.kd[at] = kp[k, column], kd[k, column]
            command = actuators.control[actuators.joint_v[at]]
            command.given &= ~OWN_GAINS
            command.kp = kp[k, column] if command.given & POSITIONS != 0 else 0.0
            command.kd = kd[k, column] if command.given & (POSITIONS | VELOCITIES) != 0 else 0.0


@kernel
def gather_efforts(
    example: ActuatorArrays, addresses: Indices, worlds: Indices, out: Matrix
) -> None:
    """Write the actuators' efforts in the last step (count, joints) for robots of some worlds.

    example: the actuators of any world, used for the type. addresses (count,): addresses of the
    actuators of all worlds. worlds (m,): numbers of worlds.
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        actuators = reference_at(example, addresses[k])
        for j in range(out.shape[1]):
            out[k, j] = actuators.control[actuators.joint_v[j]].applied


_command_worlds, _give_gains = prepared(command_worlds), prepared(give_gains)
_gather_efforts = prepared(gather_efforts)


def _all_rows(values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    return [values.get(target, _NOTHING) for target in TARGETS]


def _row(values: Mapping[str, np.ndarray], k: int) -> dict[str, np.ndarray]:
    return {target: rows[k] for target, rows in values.items()}


class BatchCommands(FollowedEntities):
    """The actuators of the robots of one name, one robot in each world."""

    def accepts(self, values: Mapping[str, np.ndarray], joints: int) -> bool:
        """Return whether the fast kernel can write these values (count, joints).

        The robots must have the same joints.
        """
        self.follow()
        return (
            self._alike
            and 0 < len(values)
            and all(
                target in TARGETS and rows.shape[1] == joints and rows.dtype.kind in "biuf"
                for target, rows in values.items()
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
        """Write the rows (count, joints) of the chosen worlds. See `Batch.command`."""
        indices, chosen = self.indices(names), self.chosen(worlds)
        flags = sum(map(TARGETS.__getitem__, values))
        if names is None and not flags & EFFORTS and not self._warned:
            for k in chosen.tolist():
                self.entities[k].warn_of_missing_gains()
            self._warned = worlds is None
        steps = ramp_steps(over, self._worlds[0].time_step)
        how = flags, names is not None, steps
        refusing, became, place, value = _command_worlds(
            self.example, self.addresses, chosen, indices, *_all_rows(values), *how
        )
        if refusing >= 0:
            raise self.entities[refusing].refusal(became, indices[place], value)
        if flags == VELOCITIES:
            for k in chosen.tolist():
                self.entities[k].report_unreached(indices, values["velocities"][k])
        if became == BEYOND:
            for k in chosen.tolist():
                self.entities[k].report_beyond(indices, _row(values, k), stacklevel=4)

    def set_gains(
        self,
        kp: np.ndarray,
        kd: np.ndarray,
        names: str | Sequence[str] | None,
        worlds: list[int] | None,
    ) -> None:
        """Set the gains of the chosen worlds by rows (count, joints). See `Batch.set_gains`.

        No gain changes if a row is refused.
        """
        indices, chosen = self.indices(names), self.chosen(worlds)
        if not self._alike:
            for k in chosen.tolist():
                self.entities[k].set_gains(kp[k], kd[k], names)
            return
        rows = []
        for name, gains in (("kp", kp), ("kd", kd)):
            for k in self._doubtful(gains, len(indices), chosen):
                self.entities[k].joint_index.gains(name, gains[k], indices)
            rows.append(np.ascontiguousarray(gains, dtype=np.float64))
        joints = [self.entities[0].joint_names[k] for k in indices.tolist()]
        if text := slow_rows(joints, *(row[chosen] for row in rows)):
            warnings.warn(f"robot {self._name!r}: {text}", ModelWarning, stacklevel=3)
        _give_gains(self.example, self.addresses, chosen, indices, *rows)
        given_to = set(indices.tolist())
        for k in chosen.tolist():
            self.entities[k].know_gains_of(given_to)

    def efforts(self, out: np.ndarray | None, worlds: list[int] | None) -> np.ndarray:
        """Return the efforts in the last step (count, joints), written to `out` if given."""
        self.follow()
        if not self._alike:
            raise StateError(
                f"robot {self._name!r} has different joints in different worlds. Read the efforts"
                " in each of `worlds`"
            )
        out = array_for(out, (len(self.entities), len(self.entities[0].joint_names)), worlds)
        _gather_efforts(self.example, self.addresses, self.chosen(worlds), out)
        return out

    @staticmethod
    def _doubtful(rows: np.ndarray, width: int, chosen: np.ndarray) -> list[int]:
        """Return the chosen worlds with a negative or non-finite gain.

        All chosen worlds are returned if the number of columns is not `width`.
        """
        if rows.shape[1] != width or rows.dtype.kind not in "biuf":
            return chosen.tolist()
        values = rows[chosen]
        bad = ~(np.isfinite(values) & (values >= 0.0)).all(axis=1)
        return chosen[bad].tolist()

    def _reference_to(self, entity: Robot) -> TupleReference:
        return entity.access.actuators

    def _compare(self) -> None:
        first, time_step = self.entities[0], self._worlds[0].time_step
        self._warned = False
        self._alike = all(
            entity.joint_names == first.joint_names and alike(entity, first)
            for entity in self.entities
        ) and all(world.time_step == time_step for world in self._worlds)
