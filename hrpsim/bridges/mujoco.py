# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run scripts written for MuJoCo's Python package: a facade of the names that controllers read.

    from hrpsim.bridges import mujoco

    model = mujoco.MjModel.from_xml_path("robot.xml")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    while data.time < 10.0:
        data.ctrl[:] = controller(data.qpos, data.qvel, data.sensordata)
        mujoco.mj_step(model, data)

The mujoco package compiles the model, so ids, names, sizes, keyframes and options are as the script
expects. hrpsim computes the physics: contacts are rigid, and everything that `load_world` lists as
not simulated is missing.

| computed by MuJoCo from qpos and qvel | computed by hrpsim |
| --- | --- |
| kinematics (xpos, xquat, site_xpos, subtree_com) | contacts and qacc |
| qfrc_bias and the mass matrix | force and torque sensors |
| sensors of kinematics | accelerometers |

`viewer.launch_passive` shows the robot in a browser. Constants and functions of the state alone
come from the mujoco package. Other names raise an error that lists the existing names, instead of
returning zeros.
"""

from __future__ import annotations

import sys
import tempfile
import types
import warnings
from collections.abc import Callable
from collections.abc import Mapping as Assets
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges import mujoco_contacts
from hrpsim.bridges.mujoco_mapping import Mapping, map_world
from hrpsim.bridges.mujoco_sensing import forward, sensing
from hrpsim.common.errors import HrpsimError, ModelWarning
from hrpsim.world.file.mjcf_world import load_mjcf_world
from hrpsim.world.world import World

_PICTURES = "viewer.launch_passive shows the robot; MuJoCo itself draws model.native, data.native"
_OF_NATIVES = ("Renderer", "GLContext", "MjrContext", "MjvScene")
_OWN = ("native", "path", "assets")  # of MjModel


def _package():
    try:
        import mujoco
    except ModuleNotFoundError as error:
        raise HrpsimError(
            "the names of MuJoCo need its package: pip install hrpsim[mjcf]"
        ) from error
    return mujoco


def __getattr__(name: str) -> Any:
    """Return other names, constants and functions of the model, from the mujoco package."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "viewer":
        from hrpsim.bridges import mujoco_viewer

        return mujoco_viewer
    found = getattr(_package(), name)
    if name in mujoco_contacts.FUNCTIONS:
        return mujoco_contacts.on_natives(found)
    if name.startswith(("mj_", "set_mjcb_", "get_mjcb_")):
        ours = [known for known in globals() if known.startswith(("mj_", "set_mjcb_"))]
        raise mujoco_contacts.missing(
            name, f"there are {', '.join(sorted([*ours, *mujoco_contacts.FUNCTIONS]))}"
        )
    if name in _OF_NATIVES or isinstance(found, types.ModuleType):
        raise mujoco_contacts.missing(name, _PICTURES)
    return found


class MjModel:
    """A model from an MJCF file or text, with the fields of mujoco.MjModel.

    `opt.timestep` and `opt.gravity` can be changed. The arrays of the model are read-only, because
    the world is made from the file.
    """

    def __init__(self, native, path: Path, assets: Assets[str, bytes] | None = None):
        self.native = native
        self.path = path
        self.assets = assets

    def for_mujoco(self) -> Any:
        """Return the mujoco.MjModel."""
        return self.native

    @classmethod
    def from_xml_path(cls, filename: str, assets: Assets[str, bytes] | None = None) -> MjModel:
        """Return the model of a file. assets: contents of files named in the model, by name."""
        path = Path(filename)
        return cls(_package().MjModel.from_xml_path(str(path), assets), path, assets)

    @classmethod
    def from_xml_string(cls, xml: str, assets: Assets[str, bytes] | None = None) -> MjModel:
        """Return the model of a text. assets: contents of files named in the text, by name."""
        folder = tempfile.TemporaryDirectory(prefix="hrpsim-mjcf-")
        path = Path(folder.name, "model.xml")
        path.write_text(xml, encoding="utf-8")
        model = cls.from_xml_path(str(path), assets)
        vars(model)["_folder"] = folder  # goes with the model
        return model

    @classmethod
    def from_binary_path(cls, filename: str, assets: None = None) -> MjModel:
        """Raise an error: no world can be made from a compiled model."""
        raise HrpsimError(f"{filename}: a compiled model is not read: give the .xml")

    def __getattr__(self, name: str) -> Any:
        """Return a field of mujoco.MjModel."""
        if name in _OWN or name.startswith("_"):
            raise AttributeError(name)
        return mujoco_contacts.fixed(getattr(self.native, name))

    def __setattr__(self, name: str, value: Any) -> None:
        """Raise for writing a field of mujoco.MjModel."""
        if name not in _OWN and hasattr(self.native, name):
            mujoco_contacts.fixed(np.zeros(1))[:] = value
        super().__setattr__(name, value)


class MjData:
    """State, controls and results of a simulation, with the fields of mujoco.MjData.

    Each step reads qpos (nq,), qvel (nv,), ctrl (nu,), qfrc_applied (nv,) and xfrc_applied (nbody,
    6). hrpsim computes qacc (the mean over the step), `contact`, actuator_force, and the sensors of
    forces and accelerations. Such a sensor reads NaN if hrpsim does not have it. MuJoCo computes
    all other results from qpos and qvel, when the script reads them. As long as the script holds an
    array or a part of it, each step updates the array. `world` is the hrpsim world that steps.
    """

    def __init__(self, model: MjModel):
        if not isinstance(model, MjModel):
            raise HrpsimError(
                "MjData needs a model of hrpsim.bridges.mujoco: MjModel.from_xml_path(file), or of"
                " a text, MjSpec.to_xml() say, MjModel.from_xml_string(text)"
            )
        self.model = model
        self._now = vars(self)  # to write to without __setattr__
        self._native = native = _package().MjData(model.native)
        self._options = model.native.opt
        self._contact: mujoco_contacts.Contacts | None = mujoco_contacts.Contacts()
        self._sensing = sensing(model.native)
        self._lent: list[tuple[int, np.ndarray]] = []  # fields that were read, what they need
        self._least = mujoco_contacts.STATE  # computed in each step in any case
        self._alone = _references([(mujoco_contacts.POSES, native.xpos)])[
            0
        ]  # to what the script does not have
        self._current = mujoco_contacts.STATE  # computed for the present state
        for name in mujoco_contacts.NEEDS:
            if mujoco_contacts.NEEDS[name] == mujoco_contacts.STATE:
                self._now[name] = getattr(native, name)
        self._make_world()
        self._put()

    def __getattr__(self, name: str) -> Any:
        """Return a field of mujoco.MjData."""
        if name in ("model", "world") or name.startswith("_"):
            raise AttributeError(name)
        if name in mujoco_contacts.OBJECTS:
            find = getattr(self._native, name)
            return lambda *which, **named: mujoco_contacts.NamedObject(
                find(*which, **named), self._lend
            )
        if name not in mujoco_contacts.FIELDS and hasattr(self._native, name):
            raise mujoco_contacts.missing(
                f"MjData.{name}",
                f"there are contact, ncon, {', '.join(sorted(mujoco_contacts.FIELDS))}",
            )
        value = self._lend(mujoco_contacts.NEEDS[name], getattr(self._native, name))
        if name == "cfrc_ext":
            value[:] = self._geoms.external_wrenches(self.contact, self._native)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Write to the field of mujoco.MjData if the field exists there: `data.ctrl = 0`."""
        if name in mujoco_contacts.FIELDS and hasattr(self._native, name):
            setattr(self._native, name, value)
            if name == "time":
                self._now[name] = self._native.time
        else:
            super().__setattr__(name, value)

    @property
    def native(self) -> Any:
        """The mujoco.MjData. The fields that this class also has are up to date after each step."""
        self._least = mujoco_contacts.DYNAMICS
        return self.for_mujoco()

    def for_mujoco(self) -> Any:
        """Return the mujoco.MjData for a function of mujoco, with the fields of the last step."""
        self._compute(mujoco_contacts.DYNAMICS)
        return self._native

    @property
    def contact(self) -> mujoco_contacts.Contacts:
        """Contacts of the last step, read from the world at first use."""
        if self._contact is None:
            self._contact = self._geoms.contacts(self.world)
        return self._contact

    @property
    def ncon(self) -> int:
        """Number of contacts in the last step."""
        return len(self.contact)

    def _make_world(self) -> None:
        """Make the world, with the time step and gravity that the model has now."""
        model, self._time_step = self.model, float(self._options.timestep)
        self.world: World = load_mjcf_world(
            model.path, self._time_step, None, model.assets, for_mujoco=True
        )
        self.world.sleeping = False
        self._mapping: Mapping = map_world(model.native, self._native, self.world)
        if unread := self._mapping.unread:
            why = f"{model.path}: NaN for sensors that hrpsim does not have: {', '.join(unread)}"
            warnings.warn(why, ModelWarning, stacklevel=4)
        self._geoms = mujoco_contacts.ContactGeoms(model.native, self.world)
        self._mapping.mark_unread()

    def _put(self) -> None:
        """Set the world to qpos and qvel if the script has changed them."""
        if self._mapping.is_changed():
            self._mapping.put_state()
            self._renew()

    def _renew(self) -> None:
        """Update the fields that the script holds to the new state, others when they are read."""
        now, need, sensors = self._now, self._least, mujoco_contacts.SENSORS
        now["_current"] = mujoco_contacts.STATE
        if self._lent:
            counts, alone = _references(self._lent), self._alone
            kept = [one for one, count in zip(self._lent, counts) if count > alone]
            now["_lent"] = kept
            needs = [need, *[one[0] for one in kept]]
            need = max(needs)
            if need == mujoco_contacts.POSES and sensors in needs:
                need = mujoco_contacts.VELOCITIES
        if need:
            self._forward(need)

    def _lend(self, need: int, value: Any) -> Any:
        """Return a field of MuJoCo's, computed."""
        self._compute(need)
        if need and isinstance(value, np.ndarray) and all(value is not a for _, a in self._lent):
            self._lent.append((need, value))
        return value

    def _compute(self, need: int) -> None:
        """Compute fields from the world's state, even if the script has changed qpos or qvel."""
        if need == mujoco_contacts.SENSORS and self._current == mujoco_contacts.POSES:
            need = mujoco_contacts.VELOCITIES
        if need <= self._current:
            return
        written = None
        if self._mapping.is_changed():
            written = self.qpos.copy(), self.qvel.copy()
            self.qpos[:], self.qvel[:] = self._mapping.known
        self._forward(need)
        if written is not None:
            self.qpos[:], self.qvel[:] = written

    def _forward(self, need: int) -> None:
        """Compute fields of the world's state, which qpos and qvel have."""
        native, model = self._native, self.model.native
        native.time = self.time
        if need == mujoco_contacts.SENSORS:
            for compute in self._sensing:
                compute(model, native)
        else:
            forward(model, native, self._current, need)
        self._now["_current"] = need

    def _advance(self) -> None:
        if _control[0]:
            self._put()
            _call_control(self.model, self)
        self._step()

    def _step(self) -> None:
        step, now = self._options.timestep, self._now
        if step != self._time_step:
            self._make_world()
        self._mapping.step()
        now["time"] += step
        now["_contact"] = None
        self._renew()


def _references(lent: list[tuple[int, np.ndarray]]) -> list[int]:
    """Return the number of references to each array. Each view of an array holds a reference."""
    return [sys.getrefcount(array) for _, array in lent]


_control: list[Callable[[MjModel, MjData], object] | None] = [None]


def set_mjcb_control(callback: Callable[[MjModel, MjData], object] | None) -> None:
    """Set a function `callback(model, data)` that each step calls before reading the controls.

    None removes the callback. MuJoCo calls the callback at each of the four stages of an rk4 step.
    hrpsim has one control per rk4 step, and calls the callback once.
    """
    _control[0] = callback


def get_mjcb_control() -> Callable[[MjModel, MjData], object] | None:
    """Return the function that was passed to `set_mjcb_control`."""
    return _control[0]


def _call_control(m: MjModel, d: MjData) -> None:
    if _control[0] and not m.opt.disableflags & _package().mjtDisableBit.mjDSBL_ACTUATION:
        _control[0](m, d)


def mj_step(m: MjModel, d: MjData, nstep: int = 1) -> None:
    """Advance by `nstep` steps, with the controls of `d`."""
    for _ in range(nstep):
        d._advance()


def mj_step1(m: MjModel, d: MjData) -> None:
    """Update kinematics. Set the controls afterwards, then call `mj_step2` to make the step."""
    mj_forward(m, d)


def mj_step2(m: MjModel, d: MjData) -> None:
    """Advance by one step, with the controls of `d`."""
    d._step()


def mj_forward(m: MjModel, d: MjData) -> None:
    """Update kinematics, and the sensors that depend on kinematics, to qpos and qvel."""
    mj_kinematics(m, d)
    _call_control(m, d)


def mj_resetData(m: MjModel, d: MjData) -> None:
    """Return to qpos0, at rest, at time 0."""
    _package().mj_resetData(m.native, d._native)
    _restart(m, d)


def mj_resetDataKeyframe(m: MjModel, d: MjData, key: int) -> None:
    """Return to a keyframe."""
    _package().mj_resetDataKeyframe(m.native, d._native, key)
    _restart(m, d)


def mj_kinematics(m: MjModel, d: MjData) -> None:
    """Update kinematics, and the sensors that depend on kinematics, to qpos and qvel."""
    d._put()


mj_comPos = mj_comVel = mj_camlight = mj_fwdPosition = mj_fwdVelocity = mj_kinematics
mj_sensorPos = mj_sensorVel = mj_subtreeVel = mj_crb = mj_factorM = mj_makeM = mj_kinematics


def mj_contactForce(m: MjModel, d: MjData, id: int, result: np.ndarray) -> None:
    """Write force (3,) and torque, which is zero, on geom2 in the contact's frame (6,)."""
    result[:3], result[3:] = d.contact[id].force, 0.0


def mj_rnePostConstraint(m: MjModel, d: MjData) -> None:
    """Update cfrc_ext, as reading cfrc_ext does. cacc and cfrc_int do not exist."""
    _ = d.cfrc_ext


def _restart(m: MjModel, d: MjData) -> None:
    d.world.reset()
    d.time = d._native.time
    d._mapping.known[0][:] = np.nan
    d._mapping.mark_unread()
    d._contact = mujoco_contacts.Contacts()
    d._put()
