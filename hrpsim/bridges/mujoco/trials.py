# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Trial steps, which are undone: results without advancing the state, and finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import hrpsim.bridges.mujoco.fields as fields
from hrpsim.bridges.mujoco.computed import ComputedFields, references
from hrpsim.bridges.mujoco.contacts import ContactGeoms, Contacts
from hrpsim.bridges.mujoco.model import MjModel
from hrpsim.bridges.mujoco.native import package
from hrpsim.world.checkpoint import Checkpoint
from hrpsim.world.world import World

_INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "act", "mocap_pos", "mocap_quat")
RESULTS = tuple(fields.DATA[fields.Need.RESULT].split())
OF_RESULTS = frozenset((*RESULTS, "cfrc_ext", "sensordata", "qacc_warmstart"))
OF_RESULTS |= {"qacc", "qfrc_constraint", "qfrc_smooth", "qacc_smooth"}


class TrialSteps(ComputedFields):
    """Computes the results of a state by a trial step when the results are read.

    The trial step uses the inputs at the call that requested the results, even if a script has
    changed the inputs since.
    """

    world: World
    _geoms: ContactGeoms
    _contact: Contacts | None

    def _begin_trials(self) -> None:
        native = self._native
        self._inputs: dict[str, np.ndarray] = {}  # of results that are not computed yet
        # qfrc_applied and xfrc_applied of the results
        self._applied = native.qfrc_applied.copy(), native.xfrc_applied.copy()
        self._is_located = True  # whether `contact` is of the last step, not of a later state

    @property
    def contact(self) -> Contacts:
        """Contacts of the last step, or of the present state after `mj_step1` or `mj_collision`."""
        if self._inputs:
            self._try()
        if self._contact is None:
            self._now["_contact"] = (
                self._geoms.contacts(self.world) if self._is_located else self._contacts_of_state()
            )
        return self._contact or Contacts()

    def locate(self) -> None:
        """Mark `contact` for recomputation at the present state. Other results stay."""
        self._now["_contact"], self._now["_is_located"] = None, False

    def _contacts_of_state(self) -> Contacts:
        self._accelerate()
        native = self._native
        saved = {n: getattr(native, n).copy() for n in (*RESULTS, "qacc", "sensordata")}
        with self.trial():
            self._mapping.step()
            contacts = self._geoms.contacts(self.world)
        for name, values in saved.items():
            getattr(native, name)[:] = values
        return contacts

    def _refresh(self) -> None:
        """Make the stored results readable without a trial step."""
        self._now["_inputs"] = {}
        for name in RESULTS:
            self._now[name] = getattr(self._native, name)

    def _grow_stale(self) -> None:
        """Discard the results. The next reading computes results from the present inputs."""
        self._now["_inputs"] = {name: getattr(self._native, name).copy() for name in _INPUTS}
        self._forget_results()
        results = [(fields.STATE, getattr(self._native, name)) for name in OF_RESULTS]
        if max(references(results)) > self._alone:  # the script refers to results
            self._try()
            self._accelerate()

    def _forget_results(self) -> None:
        for name in RESULTS:
            self._now.pop(name, None)

    def _try(self) -> None:
        """Compute the requested results by a trial step with the inputs at the request."""
        inputs, native = self._inputs, self._native
        present = {name: getattr(native, name).copy() for name in inputs}
        self._refresh()
        self._write(inputs)
        try:
            self._applied[0][:], self._applied[1][:] = native.qfrc_applied, native.xfrc_applied
            with self.trial():
                self._mapping.step()
                self._now["_contact"] = self._geoms.contacts(self.world)
            with self._watch.known_values(), self._at(self._mapping.known):
                self._mapping.put_start()
        finally:
            self._write(present)
        self._now["_is_mean"] = self._now["_is_located"] = True
        if self._is_felt:
            self._feel()

    def _write(self, values: dict[str, np.ndarray]) -> None:
        for name, array in values.items():
            getattr(self._native, name)[:] = array

    def sense_trial(self) -> np.ndarray:
        """Return sensordata of a step made within the context `trial`."""
        self._refresh()
        self._now["_contact"] = self._geoms.contacts(self.world)
        self._now.update(_current=fields.STATE, _is_behind=True, _is_mean=True)
        with self._at(self._mapping.before):
            self._sense()
        self._feel()
        return self._native.sensordata.copy()

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Restore the state at the end of the context. Results of steps in the context remain."""
        mapping, native = self._mapping, self._native
        arrays = (native.qpos, native.qvel, native.act, *mapping.known, *mapping.before)
        saved, checkpoint = [array.copy() for array in arrays], Checkpoint(self.world)
        native.qpos[:], native.qvel[:] = mapping.known
        try:
            yield
        finally:
            checkpoint.restore()
            mapping.forget_frames()
            for array, values in zip(arrays, saved, strict=True):
                array[:] = values


def transition_matrices(m: MjModel, d: Any, eps: float, centered: bool) -> tuple[np.ndarray, ...]:
    """Return the matrices A, B, C and D of `mjd_transitionFD` by finite differences.

    Args:
        m: the model.
        d: an MjData, which stays unchanged.
        eps: size of the differences.
        centered: whether to use centred differences.
    """
    native, count = m.native, 2 * m.nv + m.na
    unchanged = _outcome(d, np.zeros(count + m.nu))
    columns = []
    for k in range(count + m.nu):
        step = np.zeros(count + m.nu)
        step[k] = eps
        after = _outcome(d, step)
        before = _outcome(d, -step) if centered else unchanged
        change = np.zeros(m.nv)
        package().mj_differentiatePos(native, change, 1.0, before[0], after[0])
        differences = [a - b for a, b in zip(after[1:], before[1:], strict=True)]
        columns.append(np.concatenate([change, *differences]) / (2.0 * eps if centered else eps))
    matrix = np.array(columns).T.reshape(-1, count + m.nu)
    state, sensors = matrix[:count], matrix[count:]
    return state[:, :count], state[:, count:], sensors[:, :count], sensors[:, count:]


def _outcome(d: Any, step: np.ndarray) -> list[np.ndarray]:
    """Return qpos, qvel, act and sensordata after one step from a displaced state.

    step: displacement of qpos (nv,), qvel (nv,), act (na,) and ctrl (nu,), in one array.
    """
    m, nv = d.model.native, d.model.nv
    native, ctrl = d._native, d.ctrl.copy()
    with d.trial():
        package().mj_integratePos(m, native.qpos, step[:nv], 1.0)
        native.qvel[:] += step[nv : 2 * nv]
        native.act[:] += step[2 * nv : 2 * nv + m.na]
        native.ctrl[:] += step[2 * nv + m.na :]
        d._mapping.put_state()
        d._mapping.step()
        result = [native.qpos.copy(), native.qvel.copy(), native.act.copy(), d.sense_trial()]
    native.ctrl[:] = ctrl
    return result
