# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Scripts written for MuJoCo's Python package, run by hrpsim: the names that controllers read.

    from hrpsim.bridges import mujoco

    model = mujoco.MjModel.from_xml_path("robot.xml")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    while data.time < 10.0:
        data.ctrl[:] = controller(data.qpos, data.qvel, data.sensordata)
        mujoco.mj_step(model, data)

The model is MuJoCo's own, compiled by the mujoco package, so that ids, names, sizes, keyframes and
options are what the script expects. The physics is hrpsim's: contacts are rigid, and what
`load_world` lists as not simulated is not. Kinematics (xpos, xquat, site_xpos, subtree_com) and
sensors of kinematics are MuJoCo's functions of qpos and qvel; force, torque and accelerometer
sensors are hrpsim's readings. Everything else of the mujoco package is there under its own name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bridges.mujoco_mapping import Mapping, map_world
from hrpsim.errors import HrpsimError, WorldError
from hrpsim.world.file.mjcf_world import load_mjcf_world
from hrpsim.world.world import World


def _package():
    try:
        import mujoco
    except ModuleNotFoundError as error:
        raise HrpsimError(
            "the names of MuJoCo need its package: pip install hrpsim[mjcf]"
        ) from error
    return mujoco


def __getattr__(name: str) -> Any:
    """Give what is not told here, constants and functions of the model, as MuJoCo has it."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_package(), name)


class MjModel:
    """A model from an MJCF file; fields are those of mujoco.MjModel.

    Of changes to it, those of `opt.timestep` and `opt.gravity` have effect.
    """

    def __init__(self, native, path: Path):
        self.native = native
        self.path = path

    @classmethod
    def from_xml_path(cls, filename: str, assets: None = None) -> MjModel:
        """Return the model of a file."""
        if assets is not None:
            raise HrpsimError("assets in memory are not read: give a file, its assets beside it")
        path = Path(filename)
        return cls(_package().MjModel.from_xml_path(str(path)), path)

    def __getattr__(self, name: str) -> Any:
        """Give a field of mujoco.MjModel."""
        if name in ("native", "path"):
            raise AttributeError(name)
        return getattr(self.native, name)


class MjData:
    """State, controls and results of a simulation; fields are those of mujoco.MjData.

    qpos (nq,), qvel (nv,), ctrl (nu,), qfrc_applied (nv,) and xfrc_applied (nbody, 6) are read at
    each step; what else the step writes is MuJoCo's, computed from qpos and qvel. `world` is the
    hrpsim world that steps.
    """

    def __init__(self, model: MjModel):
        self.model = model
        self.native = _package().MjData(model.native)
        self.world: World = load_mjcf_world(model.path, float(model.native.opt.timestep), None)
        self._mapping: Mapping = map_world(model.native, self.world)
        self._known = np.full((2, max(model.native.nq, model.native.nv)), np.nan)
        self._put()
        _forward(model, self)

    def __getattr__(self, name: str) -> Any:
        """Give a field of mujoco.MjData."""
        if name in ("native", "model", "world"):
            raise AttributeError(name)
        return getattr(self.native, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field of mujoco.MjData where it has one: `data.ctrl = 0`."""
        if not name.startswith("_") and hasattr(self.__dict__.get("native"), name):
            setattr(self.native, name, value)
        else:
            super().__setattr__(name, value)

    def _put(self) -> None:
        """Bring the world to qpos and qvel where the script has changed them."""
        qpos, qvel = self.native.qpos, self.native.qvel
        same = np.array_equal(qpos, self._known[0, : len(qpos)])
        if not (same and np.array_equal(qvel, self._known[1, : len(qvel)])):
            self._mapping.put_state(qpos, qvel)
            self._keep()

    def _keep(self) -> None:
        self._known[0, : self.native.qpos.size] = self.native.qpos
        self._known[1, : self.native.qvel.size] = self.native.qvel

    def _step(self) -> None:
        model, native = self.model.native, self.native
        if model.opt.timestep != self.world.time_step:
            raise WorldError(
                f"opt.timestep was {self.world.time_step:g} s when MjData was made and is "
                f"{model.opt.timestep:g} s now; set it before"
            )
        if not np.array_equal(model.opt.gravity, self.world.gravity):
            self.world.gravity = model.opt.gravity
        self._put()
        self._mapping.command(native)
        self.world.step()
        self._mapping.get_state(native.qpos, native.qvel)
        self._keep()
        native.time += model.opt.timestep
        _forward(self.model, self)
        self._mapping.get_sensors(native.sensordata)
        self._mapping.get_efforts(native)


def mj_step(m: MjModel, d: MjData, nstep: int = 1) -> None:
    """Advance by `nstep` steps, with the controls of `d`."""
    for _ in range(nstep):
        d._step()


def mj_forward(m: MjModel, d: MjData) -> None:
    """Bring kinematics and sensors of kinematics up to date with qpos and qvel."""
    d._put()
    _forward(m, d)


def mj_resetData(m: MjModel, d: MjData) -> None:
    """Return to qpos0, at rest, at time 0."""
    _package().mj_resetData(m.native, d.native)
    _begin_anew(m, d)


def mj_resetDataKeyframe(m: MjModel, d: MjData, key: int) -> None:
    """Return to a keyframe."""
    _package().mj_resetDataKeyframe(m.native, d.native, key)
    _begin_anew(m, d)


def mj_name2id(m: MjModel, kind: int, name: str) -> int:
    """Return the id of a thing, -1 for a name that does not exist."""
    return _package().mj_name2id(m.native, kind, name)


def mj_id2name(m: MjModel, kind: int, number: int) -> str | None:
    """Return the name of a thing."""
    return _package().mj_id2name(m.native, kind, number)


def _begin_anew(m: MjModel, d: MjData) -> None:
    d.world.reset()
    d._known[:] = np.nan
    d._put()
    _forward(m, d)


def _forward(m: MjModel, d: MjData) -> None:
    """Let MuJoCo compute positions, velocities and their sensors; no contacts, no forces."""
    mujoco = _package()
    mujoco.mj_kinematics(m.native, d.native)
    mujoco.mj_comPos(m.native, d.native)
    mujoco.mj_tendon(m.native, d.native)
    mujoco.mj_transmission(m.native, d.native)
    mujoco.mj_sensorPos(m.native, d.native)
    mujoco.mj_comVel(m.native, d.native)
    mujoco.mj_subtreeVel(m.native, d.native)
    mujoco.mj_sensorVel(m.native, d.native)
