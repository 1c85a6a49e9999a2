# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's functions that advance, reset, save and evaluate a simulation."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from hrpsim.bridges.mujoco.data import MjData
from hrpsim.bridges.mujoco.forces import inverse_forces
from hrpsim.bridges.mujoco.model import MjModel
from hrpsim.bridges.mujoco.native import native_of, package
from hrpsim.bridges.mujoco.smooth_steps import is_staged
from hrpsim.bridges.mujoco.trials import transition_matrices
from hrpsim.common.errors import ModelWarning

_control: list[Callable[[MjModel, MjData], object] | None] = [None]


def set_mjcb_control(callback: Callable[[MjModel, MjData], object] | None) -> None:
    """Set a function `callback(model, data)` that each step calls before reading the controls.

    None removes the callback. In an rk4 step, MuJoCo calls the callback at each of the four stages.
    hrpsim uses the same controls for the whole step, and calls the callback once.
    """
    _control[0] = callback


def get_mjcb_control() -> Callable[[MjModel, MjData], object] | None:
    """Return the function that was passed to `set_mjcb_control`."""
    return _control[0]


def _call_control(m: MjModel, d: MjData) -> None:
    if _control[0] and not m.opt.disableflags & package().mjtDisableBit.mjDSBL_ACTUATION:
        _control[0](m, d)


def mj_step(m: MjModel, d: MjData, nstep: int = 1) -> None:
    """Advance the simulation by `nstep` steps, with the controls of `d`."""
    for _ in range(nstep):
        if _control[0]:
            d._put()
            _call_control(m, d)
        d._step()


def mj_step1(m: MjModel, d: MjData) -> None:
    """Update kinematics and contacts. The script then sets the controls and calls `mj_step2`."""
    mj_fwdPosition(m, d)
    _call_control(m, d)


def mj_step2(m: MjModel, d: MjData) -> None:
    """Advance by one step, with the controls of `d`.

    The acceleration belongs to the state at the last call of `mj_step1` or `mj_forward`.
    """
    if is_staged(m.native):
        why = "mj_step2 makes a step of RK4, MuJoCo's mj_step2 a step of Euler. Call mj_step"
        warnings.warn(why, ModelWarning, stacklevel=2)
    d.finish_step()


def mj_forward(m: MjModel, d: MjData) -> None:
    """Update all fields for the present qpos and qvel.

    Accelerations, contacts and forces are computed when they are next read, by a step that is then
    undone.
    """
    d._put()
    _call_control(m, d)
    d._grow_stale()


def mj_forwardSkip(m: MjModel, d: MjData, skipstage: int, skipsensor: int) -> None:
    """Update all fields for the present qpos and qvel, as `mj_forward` does.

    The skip arguments have no effect.
    """
    mj_forward(m, d)


def mj_fwdActuation(m: MjModel, d: MjData) -> None:
    """Mark accelerations, contacts and forces for recomputation at the next reading."""
    d._grow_stale()


mj_fwdAcceleration = mj_fwdConstraint = mj_fwdActuation


def mj_resetData(m: MjModel, d: MjData) -> None:
    """Return to qpos0, at rest, at time 0."""
    package().mj_resetData(m.native, d._native)
    _restart(d)


def mj_resetDataKeyframe(m: MjModel, d: MjData, key: int) -> None:
    """Return to a keyframe."""
    package().mj_resetDataKeyframe(m.native, d._native, key)
    _restart(d)


def mj_setKeyframe(m: MjModel, d: MjData, k: int) -> None:
    """Store the present state as a keyframe of the model."""
    package().mj_setKeyframe(m.native, d.for_mujoco(), k)


def mj_setConst(m: MjModel, d: MjData) -> None:
    """Recompute the fields of the model that MuJoCo derives from other fields.

    Reset `d` to qpos0.
    """
    package().mj_setConst(m.native, d._native)
    vars(m.options)["changes"] += 1  # the next step checks the derived values
    d._put()


def mj_kinematics(m: MjModel, d: MjData) -> None:
    """Update kinematics, and the sensors that depend on kinematics, for the present state."""
    d._put()


def mj_fwdPosition(m: MjModel, d: MjData) -> None:
    """Update kinematics and contacts for the present state. `contact` is computed when read."""
    d._put()
    d.locate()


def mj_collision(m: MjModel, d: MjData) -> None:
    """Mark `contact` for recomputation at the next reading, for the last updated state."""
    d.locate()


mj_comPos = mj_comVel = mj_camlight = mj_fwdVelocity = mj_kinematics
mj_sensorPos = mj_sensorVel = mj_subtreeVel = mj_crb = mj_factorM = mj_makeM = mj_kinematics


def mj_energyPos(m: MjModel, d: MjData) -> None:
    """Compute the potential energy, energy[0] [J]."""
    package().mj_energyPos(m.native, d.for_mujoco())


def mj_energyVel(m: MjModel, d: MjData) -> None:
    """Compute the kinetic energy, energy[1] [J]."""
    package().mj_energyVel(m.native, d.for_mujoco())


def mj_contactForce(m: MjModel, d: MjData, id: int, result: np.ndarray) -> None:
    """Write the force (3,) and the torque (3,) of contact `id` on geom2, in the contact frame."""
    result[:3], result[3:] = d.contact[id].force, d.contact[id].torque


def mj_rnePostConstraint(m: MjModel, d: MjData) -> None:
    """Update cfrc_ext, as reading cfrc_ext does. cacc and cfrc_int are not available."""
    _ = d.cfrc_ext


def mj_objectAcceleration(  # MuJoCo's parameters
    m: MjModel, d: MjData, objtype: int, objid: int, res: np.ndarray, flg_local: int
) -> None:
    """Write an object's acceleration (6,), angular before linear, for qacc of the last step."""
    _ = d.qacc
    native = d.for_mujoco()
    package().mj_rnePostConstraint(m.native, native)
    package().mj_objectAcceleration(m.native, native, objtype, objid, res, flg_local)


def mj_rne(m: MjModel, d: MjData, flg_acc: int, result: np.ndarray) -> None:
    """Write the forces (nv,) of the motion, with qacc of the last step if `flg_acc`."""
    if flg_acc:
        _ = d.qacc
    package().mj_rne(m.native, d.for_mujoco(), flg_acc, result)


def mj_setTotalmass(m: MjModel, newmass: float) -> None:
    """Scale masses and inertias to a total mass [kg]."""
    package().mj_setTotalmass(m.native, newmass)


def mj_makeConstraint(m: MjModel, d: MjData) -> None:
    """Compute the constraint fields, such as efc_J and efc_pos, for limits and equalities.

    The fields can be read until the next step. Contacts are left out, with a warning, and
    constraint forces are not available.
    """
    d._constrain()
    if d.ncon:
        why = "mj_makeConstraint: efc_J, nefc and the like leave out the contacts"
        warnings.warn(why, ModelWarning, stacklevel=2)


def mj_inverse(m: MjModel, d: MjData) -> None:
    """Compute qfrc_inverse from qpos, qvel and qacc. Raises StateError if constraints act."""
    acceleration = d.qacc.copy()
    d._put()
    contacts = d.ncon
    native = d.for_mujoco()
    native.qacc[:] = acceleration
    native.qfrc_inverse[:] = inverse_forces(m.native, native, contacts)


def mj_getState(m: MjModel, d: MjData, state: np.ndarray, sig: int) -> None:
    """Write the parts of the state that `sig` (mjtState bits) selects to `state`."""
    d._native.time = d.time
    package().mj_getState(m.native, d._native, state, sig)


def mj_setState(m: MjModel, d: MjData, state: np.ndarray, sig: int) -> None:
    """Set the parts of the state that `sig` (mjtState bits) selects from `state`."""
    d._native.time = d.time
    package().mj_setState(m.native, d._native, state, sig)
    d.time = d._native.time


def mj_copyState(m: MjModel, src: MjData, dst: MjData, sig: int) -> None:
    """Copy the parts of the state that `sig` (mjtState bits) selects."""
    state = np.empty(package().mj_stateSize(m.native, sig))
    mj_getState(m, src, state, sig)
    mj_setState(m, dst, state, sig)


def mj_copyData(dest: MjData, m: MjModel, src: MjData) -> MjData:
    """Copy state, inputs and results from `src` to `dest`."""
    dest.take(src)
    return dest


def mjd_transitionFD(  # MuJoCo's parameters
    m: MjModel,
    d: MjData,
    eps: float,
    flg_centered: int,
    A: np.ndarray | None,
    B: np.ndarray | None,
    C: np.ndarray | None,
    D: np.ndarray | None,
) -> None:
    """Write the derivatives of a step with respect to state and controls, from finite differences.

    Args:
        m: the model.
        d: state and controls, which stay unchanged.
        eps: size of the differences.
        flg_centered: whether to use centred differences.
        A: derivative of the next state with respect to the state (2 nv + na, 2 nv + na), or None.
        B: derivative of the next state with respect to ctrl (2 nv + na, nu), or None.
        C: derivative of sensordata with respect to the state (nsensordata, 2 nv + na), or None.
        D: derivative of sensordata with respect to ctrl (nsensordata, nu), or None.
    """
    d._put()
    matrices = transition_matrices(m, d, eps, bool(flg_centered))
    for out, matrix in zip((A, B, C, D), matrices, strict=True):
        if out is not None:
            out[:] = matrix
    d._put()  # the computed values are of other states
    d._grow_stale()


@functools.cache
def specification() -> type:
    """Return mujoco.MjSpec, with a `recompile` that also accepts models and data of the facade."""
    kind = package().MjSpec
    kind.recompile = _for_facade(kind.recompile)
    return kind


def _for_facade(recompile: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(recompile, assigned=("__name__", "__doc__"), updated=())
    def call(spec: Any, m: Any, d: Any, *rest: Any, **named: Any) -> tuple[Any, Any]:
        compiled = recompile(spec, native_of(m), native_of(d), *rest, **named)
        return _with_state(d, *compiled) if isinstance(d, MjData) else compiled

    return call


def _with_state(old: MjData, m: Any, d: Any) -> tuple[MjModel, MjData]:
    """Wrap a mujoco.MjModel as a facade model, with facade data in the state of a mujoco.MjData."""
    model = MjModel(m, old.model.path, old.model.assets)
    data, sig = MjData(model, old._after), package().mjtState.mjSTATE_INTEGRATION
    state = np.empty(package().mj_stateSize(m, sig))
    package().mj_getState(m, d, state, sig)
    mj_setState(model, data, state, sig)
    return model, data


def _restart(d: MjData) -> None:
    d.world.reset()
    attributes: dict[str, Any] = vars(d)
    attributes["time"] = attributes["_before_time"] = d._native.time
    d._mapping.mark_unread()
    d.clear()
