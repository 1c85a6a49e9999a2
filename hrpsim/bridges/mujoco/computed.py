# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fields of MjData that MuJoCo computes from qpos and qvel when a script reads the fields.

A script keeps references to arrays that it has read. The arrays of these fields, called lent, are
recomputed after each step. Fields have levels from STATE to DYNAMICS. A level includes all lower
levels.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import getweakrefcount

import numpy as np

import hrpsim.bridges.mujoco.fields as fields
from hrpsim.bridges.mujoco.contacts import Contacts, touch_forces, touch_sensors
from hrpsim.bridges.mujoco.mapping import Mapping
from hrpsim.bridges.mujoco.model import MjModel
from hrpsim.bridges.mujoco.native import package
from hrpsim.bridges.mujoco.sensing import (
    acceleration_sensors,
    forward,
    levels_of,
    sense_accelerations,
    sensing,
)
from hrpsim.bridges.mujoco.watch import Watch


class ComputedFields:
    """Computes fields of a mujoco.MjData for the state to which the fields belong.

    A field is computed at the first reading. After a step, the fields to which the script still
    refers are computed again.
    """

    model: MjModel
    time: float
    qpos: np.ndarray
    qvel: np.ndarray

    def _compute_for(self, native: Any) -> None:
        """Prepare to compute the fields of a mujoco.MjData."""
        self._now = vars(self)  # for writing without __setattr__
        m = self.model.native
        self._native = native
        self._sensing, self._levels, self._touch = sensing(m), levels_of(m), touch_sensors(m)
        self._acceleration_sensors = acceleration_sensors(m)
        self._is_felt = bool(self._touch) or self._acceleration_sensors.size > 0
        self._lent: list[tuple[int, np.ndarray]] = []  # fields read by the script, and their needs
        self._least = fields.STATE  # computed in each step
        self._least_in_step = fields.STATE  # computed for the state before each step
        # references to an array without references of the script
        self._alone = references([(fields.POSES, native.xpos)])[0]
        self._current = fields.STATE  # computed for the present state, or for the state before
        self._is_behind = False  # whether it is for the state before the last step
        self._before_time = native.time
        # whether sensordata is of the state before, None without such a state
        self._is_sensed_before: bool | None = None
        self._is_mean = False  # whether qacc is the mean over the step

    def _use(self, mapping: Mapping, watch: Watch) -> None:
        """Use the mapping to a new world, and the watch of the model of that world."""
        self._mapping, self._watch = mapping, watch

    @property
    def contact(self) -> Contacts:
        """The contacts."""
        raise NotImplementedError

    def _accelerate(self) -> None:
        """Convert qacc from the mean of the step to the acceleration at its start, as in MuJoCo."""
        if not self._is_mean:
            return
        self._now["_is_mean"] = False
        m, native = self.model.native, self._native
        late = self._mapping.late_forces(native.qacc)
        if np.count_nonzero(late):
            self._compute(fields.DYNAMICS)
            change = np.zeros((1, m.nv))
            package().mj_solveM(m, native, change, late[None])
            qacc = native.qacc
            qacc += change[0]

    def _arrive(self) -> None:
        """Mark computed fields as out of date.

        Recompute the fields that the script still refers to.
        """
        values = self._now
        values["_current"], values["_is_behind"] = fields.STATE, False
        values["_is_sensed_before"] = None
        if need := self._need():
            self._forward(need)

    def _need(self) -> int:
        """Return the highest level (STATE to DYNAMICS) of the fields to which the script refers.

        Fields without references are removed from the list.
        """
        need, lent, alone, is_sensed = self._least, self._lent, self._alone, False
        if lent:
            still_lent = []
            for field, count in zip(lent, references(lent)):
                need = field[0] if field[0] > need else need
                is_sensed = is_sensed or field[0] == fields.SENSORS
                if count > alone:
                    still_lent.append(field)
            self._now["_lent"] = still_lent
            if need == fields.POSES and is_sensed:
                need = fields.VELOCITIES
        return need

    def _lend(self, need: int, value: Any) -> Any:
        """Compute a field up to a level. Record that the script refers to the array `value`."""
        self._compute(need)
        if need and isinstance(value, np.ndarray) and not self._is_lent(value):
            self._lent.append((need, value))
        return value

    def _is_lent(self, array: np.ndarray) -> bool:
        """Return whether the script has read an array and still refers to it."""
        for _, lent in self._lent:  # a loop takes half the time of any()
            if lent is array:
                return True
        return False

    def _compute(self, need: int) -> None:
        """Compute fields up to level `need`, for the state to which the fields belong.

        The script may have changed qpos and qvel since. The changed values are kept.
        """
        if need == fields.SENSORS and self._is_sensed_before is not None:
            if not self._is_sensed_before:
                self._sense_before()
            return
        if need == fields.SENSORS and self._current == fields.POSES:
            need = fields.VELOCITIES
        if need <= self._current:
            return
        mapping = self._mapping
        with self._watch.known_values():
            if self._is_behind or mapping.is_changed():
                with self._at(mapping.before if self._is_behind else mapping.known):
                    self._forward(need)
            else:
                self._forward(need)

    @contextmanager
    def _at(self, state: tuple[np.ndarray, np.ndarray]) -> Iterator[None]:
        """Set qpos and qvel to another state within the context."""
        written = self.qpos.copy(), self.qvel.copy()
        self.qpos[:], self.qvel[:] = state
        yield
        self.qpos[:], self.qvel[:] = written

    def _sense_before(self) -> None:
        """Compute sensordata for the state before the last step.

        Then recompute the other lent fields.

        After an rk4 step, MuJoCo's sensors belong to the first stage, and its poses to the last
        stage.
        """
        with self._at(self._mapping.before):
            self._native.time = self._before_time
            self._sense()
        self._now["_current"], self._now["_is_sensed_before"] = fields.STATE, True
        levels = [need for need, _ in self._lent if need != fields.SENSORS]
        if levels:
            self._compute(max(levels))

    def _sense(self) -> None:
        m, native = self.model.native, self._native
        for compute in self._sensing:
            compute(m, native)

    def _forward(self, need: int) -> None:
        """Compute fields for the present qpos and qvel, up to the level `need`."""
        native, model = self._native, self.model.native
        native.time = self._before_time if self._is_behind else self.time
        if need == fields.SENSORS:
            self._sense()
        elif self._is_sensed_before:
            sensordata = native.sensordata.copy()
            forward(model, native, self._levels, self._current, need)
            native.sensordata[:] = sensordata
        else:
            forward(model, native, self._levels, self._current, need)
        self._now["_current"] = need

    def _feel(self) -> None:
        """Compute touch sensors from contacts of the step, and acceleration sensors from qacc."""
        if self._touch:
            self._compute(fields.POSES)
            touch_forces(self.model.native, self._native, self._touch, self.contact)
        if self._acceleration_sensors.size:
            self._compute(fields.VELOCITIES)
            self._accelerate()
            qvel, qacc = self._native.qvel, self._native.qacc
            written, mean = qvel.copy(), qacc.copy()
            if self._is_behind:
                qvel[:] = self._mapping.before[1]
            qacc += self._mapping.start_change
            sense_accelerations(self.model.native, self._native, self._acceleration_sensors)
            qvel[:], qacc[:] = written, mean

    def _leave_poses(self, need: int) -> None:
        """Mark sensors as of the state before the step, and other fields as of the present state.

        need: level up to which fields were computed before the step.
        """
        is_sensed = need in (fields.SENSORS, fields.VELOCITIES, fields.DYNAMICS)
        self._now.update(_current=fields.STATE, _is_behind=False, _is_sensed_before=is_sensed)
        if need > fields.SENSORS:
            self._forward(need)


def references(lent: list[tuple[int, np.ndarray]]) -> list[int]:
    """Return the number of references to each array, including references by views."""
    return [sys.getrefcount(array) + getweakrefcount(array) for _, array in lent]
