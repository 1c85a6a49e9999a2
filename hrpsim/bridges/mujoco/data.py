# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MjData: the data of MuJoCo's API, with a state that hrpsim's world advances."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import hrpsim.bridges.mujoco.fields as fields
from hrpsim.bridges.mujoco.contacts import ContactGeoms, Contacts
from hrpsim.bridges.mujoco.forces import constraint_forces, do_constraints_act, smooth_forces
from hrpsim.bridges.mujoco.mapping import map_world
from hrpsim.bridges.mujoco.model import MjModel, model_for_data
from hrpsim.bridges.mujoco.named_objects import OBJECTS, NamedObject
from hrpsim.bridges.mujoco.native import NamesOf, bound, is_stand_in, missing, package, refused_like
from hrpsim.bridges.mujoco.reading import integrators_of, read_model
from hrpsim.bridges.mujoco.sensing import delayed_sensors
from hrpsim.bridges.mujoco.trials import OF_RESULTS, RESULTS, TrialSteps
from hrpsim.bridges.mujoco.watch import Watch
from hrpsim.common.errors import HrpsimError, ModelWarning
from hrpsim.world.file.mjcf_world import update_properties, world_of_mjcf
from hrpsim.world.world import World

_STATES = tuple(fields.DATA[fields.Need.STATE].split())
# Fields that MuJoCo computes, and that are readable without further conditions, with their levels.
_COMPUTED = {
    name: level
    for name, level in fields.LEVELS.items()
    if level and name not in ("qacc", "cfrc_ext")
}
# Attributes of MjData that a copy has too.
_KEPT = (
    *("time", "_contact", "_current", "_is_behind", "_before_time", "_is_sensed_before"),
    *("_inputs", "_is_located"),
)


class MjData(TrialSteps, metaclass=NamesOf):
    """State, controls and results of a simulation, with the fields of mujoco.MjData.

    Each step reads qpos (nq,), qvel (nv,), ctrl (nu,), qfrc_applied (nv,), xfrc_applied (nbody, 6),
    mocap_pos, mocap_quat, eq_active and act. hrpsim computes qacc (the mean over the step),
    `contact`, actuator_force, and the sensors of forces and accelerations. A force or acceleration
    sensor that hrpsim lacks reads NaN. MuJoCo computes all other results from qpos and qvel.

    After `mj_step` the computed fields and the sensors belong to the state before the step, as in
    MuJoCo. With the integrator rk4, only the sensors belong to that state, and the forces of
    actuators belong to the last stage. `mj_forward` computes all fields for the present state.
    After a reset the computed fields are zero, as in MuJoCo. An array stays up to date as long as
    the script holds the array or a view. `world` is the hrpsim world.

    Args:
        model: the model.
        new_state: whether `mj_step` leaves the computed fields of the state after the step.
    """

    def __init__(self, model: MjModel, new_state: bool = False) -> None:
        vars(self)["model"] = model_for_data(model)
        self._compute_for(package().MjData(self.model.native))
        self._after = new_state
        self._contact: Contacts | None = Contacts()
        self._refused: dict[str, np.ndarray] = {}
        self._is_constrained = False  # whether mj_makeConstraint was called for this state
        self._begin_trials()
        for name in (*_STATES, *RESULTS):
            self._now[name] = getattr(self._native, name)
        self._make_world()
        self.clear()

    def clear(self) -> None:
        """Start from qpos and qvel of a mujoco.MjData that MuJoCo has reset.

        All computed fields are zero until a step or a function computes them, as in MuJoCo.
        """
        self._mapping.put_state()
        self._contact, self._is_mean, self._is_located = Contacts(), False, True
        self._refresh()
        if self._after:
            self._arrive()
            return
        self._current, self._is_behind = fields.CLEAR, False
        self._is_sensed_before, self._is_constrained = None, False

    def __dir__(self) -> list[str]:
        """Return the names of mujoco.MjData."""
        return sorted({*vars(self), *dir(type(self))})

    def __getattr__(self, name: str) -> Any:
        """Return a field of mujoco.MjData."""
        if name in _COMPUTED and not self._inputs:
            return self._lend(_COMPUTED[name], getattr(self._native, name))
        if name.startswith("_") or name in ("model", "world"):
            raise AttributeError(name)
        if name in OBJECTS:
            find = getattr(self._native, name)
            return lambda *which, **named: NamedObject(find(*which, **named), self)
        if name == "bind":
            return lambda element: NamedObject(bound(self._native, element), self)
        if is_stand_in() and fields.is_refused_of_data(name):  # some packages list all fields
            array = self._refused_array(name)
            if array is not None:
                return array
        if not (self._is_constrained and name in fields.CONSTRAINED):
            self._refuse(name)
        return self._field(name)

    def _field(self, name: str) -> Any:
        """Return a field, computed for the state to which the field belongs."""
        if self._inputs and name in OF_RESULTS:
            self._try()
        if name in fields.OWN:
            return self._own(name)
        value = self._lend(fields.LEVELS.get(name, fields.STATE), getattr(self._native, name))
        if name == "qacc":
            self._accelerate()
        if name == "cfrc_ext" and self._current != fields.CLEAR:
            value[:] = self._geoms.external_wrenches(self.contact, self._native, self._applied[1])
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Write to the field of mujoco.MjData: `data.ctrl = 0`."""
        if name.startswith("_") or name == "world":
            super().__setattr__(name, value)
            return
        self._refuse(name)
        if name in OF_RESULTS:
            getattr(self, name)  # computed now, not after the write
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
    def ncon(self) -> int:
        """Number of contacts in the last step."""
        return len(self.contact)

    def _own(self, name: str) -> Any:
        """Return a field, such as `energy`, that is recomputed at each reading."""
        if self._current != fields.CLEAR:
            with self._watch.known_values():
                self._compute_own(name)
        return getattr(self._native, name)

    def _compute_own(self, name: str) -> None:
        native, m = self.for_mujoco(), self.model.native
        if name == "energy":
            if m.opt.enableflags & package().mjtEnableBit.mjENBL_ENERGY:
                with self._at(self._mapping.before if self._is_behind else self._mapping.known):
                    package().mj_energyPos(m, native)
                    package().mj_energyVel(m, native)
            return
        self._accelerate()
        if name == "qacc_warmstart":
            native.qacc_warmstart[:] = native.qacc
        elif name == "qfrc_constraint":
            native.qfrc_constraint[:] = 0.0
            if do_constraints_act(m, native, self.ncon):
                native.qfrc_constraint[:] = constraint_forces(m, native, *self._applied)
        else:
            native.qfrc_smooth[:] = smooth_forces(m, native, *self._applied)
            package().mj_solveM(m, native, native.qacc_smooth[None], native.qfrc_smooth[None])

    def __copy__(self) -> MjData:
        twin = MjData(self.model, self._after)
        twin.take(self)
        return twin

    def __deepcopy__(self, memo: dict) -> MjData:
        return self.__copy__()

    def __reduce__(self) -> tuple:
        return _restored, (self.model, self._after, self._native, self._saved())

    def take(self, other: MjData) -> None:
        """Copy state, inputs and results of another MjData of the same model."""
        self._take(other._native, other._saved())

    def _saved(self) -> dict[str, Any]:
        """Compute all fields. Return the data that are not part of the mujoco.MjData."""
        self._accelerate()
        self.for_mujoco()
        mapping = self._mapping
        saved = {name: vars(self).get(name) for name in _KEPT}
        saved["_contact"] = None if self._inputs else self.contact
        return saved | {"known": mapping.known, "before": mapping.before, "applied": self._applied}

    def _take(self, native: Any, kept: dict[str, Any]) -> None:
        package().mj_copyData(self._native, self.model.native, native)
        if self._watch.is_changed() or self._is_other_active():
            self._follow()
        with self._at(kept["known"]):
            self._mapping.put_state()
        mine = (*self._mapping.before, *self._applied)
        for array, values in zip(mine, (*kept["before"], *kept["applied"]), strict=True):
            array[:] = values
        self._refresh()
        self._now.update({name: kept[name] for name in _KEPT})
        if self._inputs:
            self._forget_results()

    def _make_world(self) -> None:
        """Make an hrpsim world from the present model.

        Only the first world warns about elements that are not simulated.
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
        if self._acceleration_sensors.size:  # which need this state after the step
            self._least_in_step = fields.VELOCITIES if self._is_staged else fields.DYNAMICS
        mapping = map_world(model.native, native, world, sources, taken)
        self._use(mapping, Watch(model))
        if mapping.unread and is_first:
            why = f"{model.path}: NaN for sensors that hrpsim does not have: "
            warnings.warn(why + ", ".join(mapping.unread), ModelWarning, stacklevel=4)
        late = delayed_sensors(model.native)
        if late and is_first:
            why = f"{model.path}: sensors are read without delay or interval: "
            warnings.warn(why + ", ".join(late), ModelWarning, stacklevel=4)
        self._geoms = ContactGeoms(model.native, world)
        mapping.mark_unread()
        self._active = native.eq_active.tobytes()

    def _follow_changes(self) -> None:
        """Apply the changes that a script has made to the model since the last step."""
        if self._watch.is_changed() or (self._active and self._is_other_active()):
            self._follow()

    def _follow(self) -> None:
        """Apply changes of the model to the present world, or make a new world if necessary."""
        changed = self._watch.changed()
        if changed or self._is_other_active():
            try:
                self._follow_fields(changed)
            except HrpsimError:
                self._watch.forget()  # the next step raises the error again
                raise

    def _follow_fields(self, changed: list[str]) -> None:
        followed = set(changed) - {"opt.gravity", "opt.magnetic", "geom_rbound"}
        needs_copy = bool(followed) and self._mapping.needs_copy(self.model.native)
        followed -= fields.DERIVED
        needs_world = self._is_other_active() or not followed <= fields.OF_BODIES_AND_JOINTS
        needs_world |= bool(self.model.native.body_gravcomp.any())  # by the first masses
        if needs_world or needs_copy:
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
        """Return whether eq_active has changed since the world was made."""
        return self._active != self._native.eq_active.tobytes()

    def _put(self) -> None:
        """Update the world after the script has changed the model, qpos or qvel."""
        if self._watch.is_changed() or self._is_other_active():
            self._follow()
        if self._mapping.is_changed():
            self._mapping.put_state()
        self._arrive()

    def _step(self) -> None:
        """Make one step."""
        values = self._now
        self._follow_changes()
        values["_current"], values["_is_behind"] = fields.STATE, False
        values["_is_sensed_before"] = None
        need = max(fields.STATE if self._after else self._need(), self._least_in_step)
        if need:
            self._forward(need)
        forces, wrenches = self._applied
        forces[:], wrenches[:] = values["qfrc_applied"], values["xfrc_applied"]
        self._mapping.step()
        values["_before_time"] = self.time
        values["time"] += self._time_step
        values["_contact"], values["_is_behind"], values["_is_mean"] = None, True, True
        if (need == fields.DYNAMICS or self._after) and self._is_lent(self._native.qacc):
            self._accelerate()
        if self._inputs:
            self._refresh()
        values["_is_constrained"], values["_is_located"] = False, True
        if self._is_felt:
            self._feel()
        if self._after:
            self._arrive()
        elif self._is_staged:
            self._leave_poses(need)

    def finish_step(self) -> None:
        """Advance by one step with the acceleration of an earlier state, as in MuJoCo's mj_step2.

        The acceleration belongs to the state at the last `mj_step1` or `mj_forward`. A script may
        have changed the state since. The changed state is advanced.
        """
        mapping, native, m = self._mapping, self._native, self.model.native
        if not mapping.is_changed():
            self._step()
            return
        written = native.qpos.copy(), native.qvel.copy()
        native.qpos[:], native.qvel[:] = mapping.known
        self._step()
        change = native.qvel - mapping.before[1]
        native.qpos[:], native.qvel[:] = written[0], written[1] + change
        package().mj_integratePos(m, native.qpos, native.qvel, self._time_step)
        mapping.put_state()


def _restored(model: MjModel, new_state: bool, native: Any, kept: dict[str, Any]) -> MjData:
    """Return the MjData that a pickle describes."""
    result = MjData(model, new_state)
    result._take(native, kept)
    return result
