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
expects. hrpsim computes the physics: contacts are rigid, and a warning lists what is not simulated.

| computed by MuJoCo from qpos and qvel | computed by hrpsim |
| --- | --- |
| kinematics (xpos, xquat, site_xpos, subtree_com) | contacts and qacc |
| qfrc_bias and the mass matrix | force and torque sensors |
| sensors of kinematics | accelerometers |
| forces of fluids, tendons and actuators with states | |

`viewer.launch_passive` shows the robot in a browser. `Renderer`, and constants and functions of the
state alone come from the mujoco package. Every field is simulated or raises an error, which
docs/reference/mujoco_fields.md lists. `stand_in` lets installed packages that import mujoco run by
hrpsim.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from hrpsim.bridges.mujoco.data import MjData
from hrpsim.bridges.mujoco.functions import (
    get_mjcb_control,
    mj_camlight,
    mj_comPos,
    mj_comVel,
    mj_contactForce,
    mj_copyData,
    mj_copyState,
    mj_crb,
    mj_energyPos,
    mj_energyVel,
    mj_factorM,
    mj_forward,
    mj_forwardSkip,
    mj_fwdAcceleration,
    mj_fwdActuation,
    mj_fwdConstraint,
    mj_fwdPosition,
    mj_fwdVelocity,
    mj_getState,
    mj_inverse,
    mj_kinematics,
    mj_makeM,
    mj_resetData,
    mj_resetDataKeyframe,
    mj_rnePostConstraint,
    mj_sensorPos,
    mj_sensorVel,
    mj_setConst,
    mj_setKeyframe,
    mj_setState,
    mj_step,
    mj_step1,
    mj_step2,
    mj_subtreeVel,
    mjd_transitionFD,
    set_mjcb_control,
)
from hrpsim.bridges.mujoco.model import MjModel
from hrpsim.bridges.mujoco.native import (
    FACADE,
    is_passed_on,
    missing,
    on_natives,
    package,
    with_natives,
)

_OURS = tuple(name for name in globals() if name.startswith(("mj", "Mj", "set_mj", "get_mj")))
_TAKING_NATIVES = ("Renderer", "MjrContext", "MjvScene")
_REFUSED = ("mj_", "mjd_", "set_mjcb_", "get_mjcb_")
_MODULES = ("egl", "glfw", "osmesa", "gl_context", "renderer", "rendering", "usd", "cgl")


def __getattr__(name: str) -> Any:
    """Return other names, constants and functions of the model, from the mujoco package."""
    if name == "__all__":
        return _names()
    if name == "__version__":
        return package().__version__
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "viewer":
        from hrpsim.bridges.mujoco import viewer

        return viewer
    found = getattr(package(), name)
    if is_passed_on(name):
        return on_natives(found)
    if name in _TAKING_NATIVES:
        return with_natives(name)
    if name.startswith(_REFUSED):
        raise missing(name, f"there are {', '.join(_functions())}")
    if isinstance(found, types.ModuleType) and name not in _MODULES and not name.startswith("_"):
        raise missing(name, "hrpsim.bridges.mujoco has MuJoCo's main module, viewer and renderers")
    return found


def __dir__() -> list[str]:
    return _names()


def _functions() -> list[str]:
    """Return the names of functions that start like refused functions."""
    known = {name for name in dir(package()) if is_passed_on(name)}
    return sorted(known.union(_OURS))


def _names() -> list[str]:
    """Return the names that the facade has."""
    others = [
        name
        for name in dir(package())
        if not name.startswith((*_REFUSED, "_"))
        and not isinstance(getattr(package(), name), types.ModuleType)
    ]
    return sorted({*others, *_functions(), "viewer", "stand_in"})


def stand_in() -> None:
    """Let `import mujoco` return this facade from now on, also within installed packages.

    Call the function before such a package is imported. Packages that were imported before keep
    MuJoCo.
    """
    package()
    sys.modules["mujoco"] = sys.modules[FACADE]
    from hrpsim.bridges.mujoco import viewer

    sys.modules["mujoco.viewer"] = viewer
