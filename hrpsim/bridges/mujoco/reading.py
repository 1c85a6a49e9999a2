# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Prepare a mujoco.MjModel for the reader of MJCF."""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.bridges.mujoco.actuators import joint_like
from hrpsim.bridges.mujoco.model import MjModel
from hrpsim.bridges.mujoco.native import package
from hrpsim.model.readers.mjcf.compile_child import contents
from hrpsim.model.readers.mjcf.read import MjcfModel, MjcfSource

# Notes of the reader about features that the bridge has, or leaves to MuJoCo.
_HAD = (
    *("sensor ", "keyframe ", "actuator on a site", "actuator, a motor", "actuator, a servo"),
    *("actuator, a velocity", "actuator ctrlrange", "joint damping, poly", "joint stiffness, poly"),
    *("tendon stiffness", "tendon damping", "option density", "option viscosity", "option wind"),
    *("geom fluidshape", "camera (", "light (", "texture (", "custom ", "equality connect, inact"),
    *("equality weld, inact", "equality joint, inact", "equality tendon, inact"),
    *("free joint damping", "free joint stiffness", "option flag clampctrl"),
    *("option flag actuation", "option flag energy", "joint ball range"),
)
_OF_TENDONS = ("armature", "actfrclimited")


def read_model(model: MjModel, active: np.ndarray) -> tuple[MjcfModel, list[int], tuple[str, ...]]:
    """Prepare a model for the reader of MJCF.

    The bridge clips ctrl itself, and computes the forces of the actuators that hrpsim's joints
    cannot represent.

    Args:
        model: the model.
        active: whether each equality is active (neq,).

    Returns:
        The prepared model, the actuators that hrpsim's joints represent, and prefixes of the
        reader's notes that are left out of the warning.
    """
    native, sorts = model.native, package()
    head, arrays = contents(sorts, np, native)
    arrays["actuator_ctrllimited"] = np.zeros_like(arrays["actuator_ctrllimited"])
    if not _are_off(native):
        arrays["eq_active0"] = active.copy()
    if not getattr(native, "flg_gravcomp", getattr(native, "ngravcomp", True)):
        # As in MuJoCo, it takes effect at mj_setConst if the model was compiled without any.
        arrays["body_gravcomp"] = np.zeros_like(arrays["body_gravcomp"])
    read = MjcfModel(str(model.path), head, arrays, MjcfSource("", None))
    taken = joint_like(native, read)
    kinds = arrays["actuator_trntype"] = arrays["actuator_trntype"].copy()
    others = np.setdiff1d(np.arange(len(kinds)), taken)
    others = others[kinds[others] != sorts.mjtTrn.mjTRN_BODY]
    kinds[others] = sorts.mjtTrn.mjTRN_SITE
    is_plain = not any(np.any(getattr(native, f"tendon_{field}")) for field in _OF_TENDONS)
    return read, taken, (*_HAD, "tendon (") if is_plain else _HAD


def integrators_of(native: Any) -> dict[str, str]:
    """Return hrpsim's integrator for each of MuJoCo's integrators, given the flags of a model."""
    is_explicit = native.opt.disableflags & package().mjtDisableBit.mjDSBL_EULERDAMP
    return {
        "RK4": "mujoco_rk4",
        "EULER": "mujoco_explicit" if is_explicit else "mujoco_euler",
        "IMPLICIT": "mujoco_implicitfast",
        "IMPLICITFAST": "mujoco_implicitfast",
    }


def _are_off(native: Any) -> bool:
    """Return whether a flag disables all equalities."""
    bits = package().mjtDisableBit
    off = bits.mjDSBL_EQUALITY | bits.mjDSBL_CONSTRAINT
    return bool(native.opt.disableflags & off)
