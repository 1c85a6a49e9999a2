# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MjData: MuJoCo's data, whose state hrpsim's world advances."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from weakref import getweakrefcount

import numpy as np

import hrpsim.bridges.mujoco.fields as fields
from hrpsim.bridges.mujoco.contacts import ContactGeoms, Contacts, touch_forces, touch_sensors
from hrpsim.bridges.mujoco.forces import constraint_forces, do_constraints_act, smooth_forces
from hrpsim.bridges.mujoco.mapping import map_world
from hrpsim.bridges.mujoco.model import MjModel, model_for_data
from hrpsim.bridges.mujoco.native import NamesOf, is_stand_in, missing, package, refused_like
from hrpsim.bridges.mujoco.reading import integrators_of, read_model
from hrpsim.bridges.mujoco.sensing import (
    acceleration_sensors,
    forward,
    sense_accelerations,
    sensing,
)
from hrpsim.bridges.mujoco.watch import Watch
from hrpsim.common.errors import HrpsimError, ModelWarning
from hrpsim.world.checkpoint import Checkpoint
from hrpsim.world.file.mjcf_world import update_properties, world_of_mjcf
from hrpsim.world.world import World

# Methods of MjData that return the fields of an object by name or number.
_OBJECTS = frozenset(
    (
        *("actuator", "body", "cam", "camera", "geom", "jnt", "joint", "light", "sensor", "site"),
        *("ten", "tendon"),
    )
)
_STATES = tuple(fields.DATA[fields.Need.STATE].split())
_RESULTS = tuple(fields.DATA[fields.Need.RESULT].split())
_OF_RESULTS = frozenset((*_RESULTS, "cfrc_ext", "sensordata", "qacc_warmstart"))
_OF_RESULTS |= {"qacc", "qfrc_constraint", "qfrc_smooth", "qacc_smooth"}


class MjData(metaclass=NamesOf):
    """State, controls and results of a simulation, with the fields of mujoco.MjData.

    Each step reads qpos (nq,), qvel (nv,), ctrl (nu,), qfrc_applied (nv,), xfrc_applied (nbody, 6),
    mocap_pos, mocap_quat, eq_active and act. hrpsim computes qacc (the mean over the step),
    `contact`, actuator_force, and the sensors of forces and accelerations. Such a sensor reads NaN
    if hrpsim does not have it. MuJoCo computes all other results from qpos and qvel.

    After `mj_step` the computed fields and the sensors belong to the state before the step, as in
    MuJoCo. With the integrator rk4, this holds for the sensors alone. `mj_forward` computes all
    fields for the present state. An array stays up to date as long as the script holds
    the array or a part of the array. `world` is the hrpsim world that steps.

    Args:
        model: the model.
        new_state: after `mj_step`, compute the fields for the state after the step instead.
    """

    def __init__(self, model: MjModel, new_state: bool = False) -> None:
        self._now = vars(self)  # for writing without __setattr__
        self._now["model"] = model_for_data(model)
        native = package().MjData(self.model.native)
        self._native, self._after = native, new_state
        self._contact: Contacts | None = Contacts()
        self._sensing, self._touch = sensing(self.model.native), touch_sensors(self.model.native)
        self._acceleration_sensors = acceleration_sensors(self.model.native)
        self._is_felt = bool(self._touch) or self._acceleration_sensors.size > 0
        self._refused: dict[str, np.ndarray] = {}
        self._lent: list[tuple[int, np.ndarray]] = []  # fields read by the script, and their needs
        self._least = fields.STATE  # computed in each step
        # references to an array without references of the script
        self._alone = _references([(fields.POSES, native.xpos)])[0]
        self._current = fields.STATE  # computed for the present state, or for the state before
        self._is_behind = False  # whether it is for the state before the last step
        self._before_time = native.time
        # whether sensordata is of the state before, None without such a state
        self._is_sensed_before: bool | None = None
        self._is_mean = False  # whether qacc is the mean over the step
        self._is_constrained = False  # whether mj_makeConstraint was called for this state
        self._is_stale = False  # whether results are of an earlier state
        for name in (*_STATES, *_RESULTS):
            self._now[name] = getattr(native, name)
        self._make_world()
        self._put()

    def __dir__(self) -> list[str]:
        """Return the names of mujoco.MjData."""
        return sorted({*vars(self), *dir(type(self))})

    def __getattr__(self, name: str) -> Any:
        """Return a field of mujoco.MjData."""
        if name.startswith("_") or name in ("model", "world"):
            raise AttributeError(name)
        if name in _OBJECTS:
            find = getattr(self._native, name)
            return lambda *which, **named: NamedObject(find(*which, **named), self)
        if is_stand_in() and fields.is_refused_of_data(name):  # some packages list all fields
            array = self._refused_array(name)
            if array is not None:
                return array
        if not (self._is_constrained and name in fields.CONSTRAINED):
            self._refuse(name)
        return self._field(name)

    def _field(self, name: str) -> Any:
        """Return a field, computed for the state to which the field belongs."""
        if self._is_stale and name in _OF_RESULTS:
            self._try()
        if name in fields.OWN:
            return self._own(name)
        value = self._lend(fields.LEVELS.get(name, fields.STATE), getattr(self._native, name))
        if name == "qacc":
            self._accelerate()
        if name == "cfrc_ext":
            value[:] = self._geoms.external_wrenches(self.contact, self._native)
        return value

    def _accelerate(self) -> None:
        """Let qacc be the acceleration of the forces at the start of the step, as in MuJoCo."""
        if not self._is_mean:
            return
        self._now["_is_mean"] = False
        m, native = self.model.native, self._native
        late = self._mapping.late_forces(m, native.qacc)
        if late.any():
            self._compute(fields.DYNAMICS)
            change = np.zeros((1, m.nv))
            package().mj_solveM(m, native, change, late[None])
            native.qacc[:] += change[0]

    def __setattr__(self, name: str, value: Any) -> None:
        """Write to the field of mujoco.MjData: `data.ctrl = 0`."""
        if name.startswith("_") or name == "world":
            super().__setattr__(name, value)
            return
        self._refuse(name)
        setattr(self._native, name, value)
        if name == "time":
            self._now[name] = self._native.time

    def _refused_array(self, name: str) -> np.ndarray | None:
        """Return an array that raises when it is used, or None for a field that is not an array."""
        if name not in self._refused and isinstance(getattr(self._native, name), np.ndarray):
            self._refused[name] = refused_like(getattr(self._native, name))
        return self._refused.get(name)

    def _refuse(self, name: str) -> None:
        """Raise an error for a field that the facade does not have."""
        if name in fields.NEEDS:
            return
        if fields.is_refused_of_data(name) or hasattr(self._native, name):
            raise missing(f"MjData.{name}", f"there are {', '.join(sorted(fields.NEEDS))}")
        raise AttributeError(f"MjData has no field {name!r}")

    @property
    def native(self) -> Any:
        """The mujoco.MjData. The fields that this class also has are up to date after each step."""
        self._now["_least"] = fields.DYNAMICS
        return self.for_mujoco()

    def for_mujoco(self) -> Any:
        """Return a mujoco.MjData with the fields of the last step, for MuJoCo's own functions."""
        self._compute(fields.DYNAMICS)
        self._native.time = self.time
        return self._native

    @property
    def contact(self) -> Contacts:
        """Contacts of the last step, read from the world at first use."""
        if self._is_stale:
            self._try()
        if self._contact is None:
            self._now["_contact"] = self._geoms.contacts(self.world)
        return self._contact

    @property
    def ncon(self) -> int:
        """Number of contacts in the last step."""
        return len(self.contact)

    def _own(self, name: str) -> Any:
        """Return a field that is computed anew at each reading, such as `energy`."""
        native, m = self.for_mujoco(), self.model.native
        if name == "energy":
            if m.opt.enableflags & package().mjtEnableBit.mjENBL_ENERGY:
                package().mj_energyPos(m, native)
                package().mj_energyVel(m, native)
            return native.energy
        self._accelerate()
        if name == "qacc_warmstart":
            native.qacc_warmstart[:] = native.qacc
            return native.qacc_warmstart
        if name == "qfrc_constraint":
            acts = do_constraints_act(m, native, self.ncon)
            native.qfrc_constraint[:] = constraint_forces(m, native) if acts else 0.0
            return native.qfrc_constraint
        native.qfrc_smooth[:] = smooth_forces(m, native)
        package().mj_solveM(m, native, native.qacc_smooth[None], native.qfrc_smooth[None])
        return getattr(native, name)

    def __copy__(self) -> MjData:
        twin = MjData(self.model, self._after)
        package().mj_copyData(twin._native, self.model.native, self.for_mujoco())
        twin.time = self.time
        twin._put()
        return twin

    def __deepcopy__(self, memo: dict) -> MjData:
        return self.__copy__()

    def _make_world(self) -> None:
        """Make the world of the present model.

        Only the first world warns of elements that are not simulated.
        """
        model, native = self.model, self._native
        read, taken, unlisted = read_model(model, native.eq_active)
        is_first = "_mapping" not in vars(self)
        if not is_first:
            unlisted = ("",)
        world, sources = world_of_mjcf(
            read,
            model.path,
            unlisted=unlisted,
            stacklevel=5,
            integrators=integrators_of(model.native),
        )
        world.sleeping = False
        self.world: World = world
        self._time_step, self._is_staged = world.time_step, world.integrator == "mujoco_rk4"
        mapping = map_world(model.native, native, world, sources, taken)
        self._mapping = mapping
        if mapping.unread and is_first:
            why = f"{model.path}: NaN for sensors that hrpsim does not have: "
            warnings.warn(why + ", ".join(mapping.unread), ModelWarning, stacklevel=4)
        self._geoms = ContactGeoms(model.native, world)
        mapping.mark_unread()
        self._watch, self._active = Watch(model), native.eq_active.tobytes()

    def _follow_changes(self) -> None:
        """Apply the changes that a script has made to the model since the last step."""
        if self._watch.is_changed() or (self._active and self._is_other_active()):
            self._follow()

    def _follow(self) -> None:
        """Apply changes of the model: some fields in the present world, others by a new world."""
        changed = self._watch.changed()
        if changed or self._is_other_active():
            try:
                self._follow_fields(changed)
            except HrpsimError:
                self._watch.forget()  # the next step raises the error again
                raise

    def _follow_fields(self, changed: list[str]) -> None:
        followed = {name for name in changed if name not in ("opt.gravity", "opt.magnetic")}
        needs_world = self._is_other_active() or not followed <= fields.OF_BODIES_AND_JOINTS
        needs_world |= bool(self.model.native.body_gravcomp.any())  # by the first masses
        if needs_world or self._mapping.needs_copy(self.model.native):
            self._make_world()
            return
        if followed:
            read, *_ = read_model(self.model, self._native.eq_active)
            update_properties(read, self.world, self.model.path)
        if "opt.gravity" in changed:
            off = package().mjtDisableBit.mjDSBL_GRAVITY
            opt = self.model.native.opt
            self.world.gravity = np.zeros(3) if opt.disableflags & off else opt.gravity

    def _constrain(self) -> None:
        """Compute MuJoCo's list of constraints for the present state."""
        self._put()
        package().mj_makeConstraint(self.model.native, self.for_mujoco())
        self._now["_is_constrained"] = True

    def _is_other_active(self) -> bool:
        """Return whether the active equalities have changed since the world was made."""
        return self._active != self._native.eq_active.tobytes()

    def _put(self) -> None:
        """Bring the world up to date after the script has changed the model, qpos or qvel."""
        if self._watch.is_changed() or self._is_other_active():
            self._follow()
        if self._mapping.is_changed():
            self._mapping.put_state()
        self._arrive()

    def _arrive(self) -> None:
        """Mark computed fields as out of date.

        Recompute the fields that the script still refers to.
        """
        now = self._now
        now["_current"], now["_is_behind"] = fields.STATE, False
        now["_is_sensed_before"] = None
        if need := self._need():
            self._forward(need)

    def _need(self) -> int:
        """Return the level (STATE to DYNAMICS) of the fields that the script refers to.

        Fields without references are removed from the list.
        """
        need, sensors = self._least, fields.SENSORS
        if self._lent:
            counts, alone = _references(self._lent), self._alone
            kept = [one for one, count in zip(self._lent, counts) if count > alone]
            needs = [need, *[one[0] for one in self._lent]]
            self._now["_lent"] = kept
            need = max(needs)
            if need == fields.POSES and sensors in needs:
                need = fields.VELOCITIES
        return need

    def _lend(self, need: int, value: Any) -> Any:
        """Compute a field of MuJoCo up to a level. Record that the script refers to the array."""
        self._compute(need)
        if need and isinstance(value, np.ndarray) and all(value is not a for _, a in self._lent):
            self._lent.append((need, value))
        return value

    def _compute(self, need: int) -> None:
        """Compute fields of the present or the previous state, regardless of qpos and qvel."""
        if need == fields.SENSORS and self._is_sensed_before is not None:
            if not self._is_sensed_before:
                self._sense_before()
            return
        if need == fields.SENSORS and self._current == fields.POSES:
            need = fields.VELOCITIES
        if need <= self._current:
            return
        mapping = self._mapping
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
        """Compute sensordata for the state before the last step, then other fields in use again.

        After a step with rk4, MuJoCo's sensors are of the first stage, and its poses of the last
        stage.
        """
        with self._at(self._mapping.before):
            self._native.time = self._before_time
            self._sense()
        self._now["_current"], self._now["_is_sensed_before"] = fields.STATE, True
        held = [need for need, _ in self._lent if need != fields.SENSORS]
        if held:
            self._compute(max(held))

    def _sense(self) -> None:
        for compute in self._sensing:
            compute(self.model.native, self._native)

    def _forward(self, need: int) -> None:
        """Compute fields for the present qpos and qvel, up to the level `need`."""
        native, model = self._native, self.model.native
        native.time = self._before_time if self._is_behind else self.time
        if need == fields.SENSORS:
            self._sense()
        elif self._is_sensed_before:
            kept = native.sensordata.copy()
            forward(model, native, self._current, need)
            native.sensordata[:] = kept
        else:
            forward(model, native, self._current, need)
        self._now["_current"] = need

    def _step(self) -> None:
        """Make one step."""
        now = self._now
        self._follow_changes()
        now["_current"], now["_is_behind"], now["_is_sensed_before"] = fields.STATE, False, None
        need = fields.STATE if self._after else self._need()
        if need:
            self._forward(need)
        self._mapping.step()
        now["_before_time"] = self.time
        now["time"] += self._time_step
        now["_contact"], now["_is_behind"], now["_is_mean"] = None, True, True
        if any(array is self._native.qacc for _, array in self._lent):
            self._accelerate()
        if self._is_stale:
            self._refresh()
        if self._is_constrained:
            now["_is_constrained"] = False
        if self._is_felt:
            self._feel()
        if self._after:
            self._arrive()
        elif self._is_staged:
            self._leave_poses(need)

    def _feel(self) -> None:
        """Read sensors of touch from the contacts of the step, and sensors of accelerations."""
        if self._touch:
            self._compute(fields.POSES)
            touch_forces(self.model.native, self._native, self._touch, self.contact)
        if self._acceleration_sensors.size:
            self._compute(fields.VELOCITIES)
            self._accelerate()
            behind = self._at(self._mapping.before) if self._is_behind else nullcontext()
            with behind:
                sense_accelerations(self.model.native, self._native, self._acceleration_sensors)

    def _leave_poses(self, need: int) -> None:
        """Mark sensors as of the state before the step, other fields as of the present state."""
        is_sensed = need in (fields.SENSORS, fields.VELOCITIES, fields.DYNAMICS)
        self._now.update(_current=fields.STATE, _is_behind=False, _is_sensed_before=is_sensed)
        if need > fields.SENSORS:
            self._forward(need)

    def _refresh(self) -> None:
        """Make the stored results readable without a trial step."""
        self._now["_is_stale"] = False
        for name in _RESULTS:
            self._now[name] = getattr(self._native, name)

    def _grow_stale(self) -> None:
        """Discard the results. The next reading computes them by a trial step."""
        self._now["_is_stale"] = True
        for name in _RESULTS:
            self._now.pop(name, None)

    def _try(self) -> None:
        """Compute the results of the present state and controls by a step that is undone."""
        self._refresh()
        with self.trial():
            self._mapping.step()
            self._now["_contact"] = self._geoms.contacts(self.world)
        self._now["_is_mean"] = True
        if self._is_felt:
            self._feel()

    def sense_trial(self) -> np.ndarray:
        """Return sensordata of a step of the world within `trial`."""
        self._refresh()
        self._now["_contact"] = self._geoms.contacts(self.world)
        self._now.update(_current=fields.STATE, _is_behind=True, _is_mean=True)
        with self._at(self._mapping.before):
            self._sense()
        self._feel()
        return self._native.sensordata.copy()

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Restore the state at the end of the context. Results stay."""
        mapping, native = self._mapping, self._native
        arrays = (native.qpos, native.qvel, native.act, *mapping.known, *mapping.before)
        saved, checkpoint = [array.copy() for array in arrays], Checkpoint(self.world)
        native.qpos[:], native.qvel[:] = mapping.known
        try:
            yield
        finally:
            checkpoint.restore()
            for array, values in zip(arrays, saved, strict=True):
                array[:] = values


class NamedObject:
    """The fields of one object, returned by `data.body(name)`. Each reading computes the field."""

    def __init__(self, view: Any, data: MjData) -> None:
        self._view, self._data = view, data

    def __dir__(self) -> list[str]:
        return dir(self._view)

    def __getattr__(self, name: str) -> Any:
        """Return a field of the object. The name `data` means the sensor's part of sensordata."""
        if name.startswith("_"):
            raise AttributeError(name)
        value, data = getattr(self._view, name), self._data
        field = "sensordata" if name == "data" else name
        if field in ("id", "name"):
            return value
        field = _FIELDS_OF_OBJECTS.get((type(self._view).__name__, name), field)
        getattr(data, field)  # computes the field or raises an error
        return data._lend(fields.LEVELS.get(field, fields.STATE), value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field of the object."""
        if name.startswith("_"):
            super().__setattr__(name, value)
            return
        field = _FIELDS_OF_OBJECTS.get((type(self._view).__name__, name), name)
        self._data._refuse("sensordata" if name == "data" else field)
        setattr(self._view, name, value)

    def __repr__(self) -> str:
        self._data._lend(fields.DYNAMICS, None)
        return repr(self._view)


def _fields_of_objects() -> dict[tuple[str, str], str]:
    """Return MjData's name of each field whose name in an object's view is shorter."""
    kinds = {"Actuator": "actuator_", "Camera": "cam_", "Geom": "geom_", "Light": "light_"}
    kinds |= {"Site": "site_", "Tendon": "ten_"}
    names = {*fields.NEEDS}
    return {
        (f"_MjData{kind}Views", name.removeprefix(head)): name
        for kind, head in kinds.items()
        for name in names
        if name.startswith(head)
    }


_FIELDS_OF_OBJECTS = _fields_of_objects()


def _references(lent: list[tuple[int, np.ndarray]]) -> list[int]:
    """Return the number of references to each array. A view counts as a reference to its array."""
    return [sys.getrefcount(array) + getweakrefcount(array) for _, array in lent]
