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
expects. hrpsim computes the physics. Contacts are rigid, and a warning lists the features that are
not simulated.

| computed by MuJoCo from qpos and qvel | computed by hrpsim |
| --- | --- |
| kinematics (xpos, xquat, site_xpos, subtree_com) | contacts and qacc |
| qfrc_bias and the mass matrix | force and torque sensors |
| sensors of kinematics | accelerometers |
| forces of fluids, tendons and actuators with states | |

`viewer.launch_passive` shows the robot in a browser. The mujoco package provides `Renderer`,
constants, and functions of the state alone. Reading or writing any other field raises an error.
docs/reference/mujoco_fields.md lists all fields. After `stand_in()`, installed packages that import
mujoco use this facade.
"""

from __future__ import annotations

import importlib
import re
import sys
import types
from typing import Any

from hrpsim.bridges.mujoco import functions
from hrpsim.bridges.mujoco.data import MjData
from hrpsim.bridges.mujoco.model import MjModel
from hrpsim.bridges.mujoco.native import (
    FACADE,
    is_passed_on,
    missing,
    on_natives,
    package,
    with_natives,
)

_OURS = {
    name: found for name, found in vars(functions).items() if re.match(r"(set_|get_)?mj", name)
}
_OURS |= {"MjModel": MjModel, "MjData": MjData}
_TAKING_NATIVES = ("Renderer", "MjrContext", "MjvScene")
_REFUSED = ("mj_", "mjd_", "set_mjcb_", "get_mjcb_")
_MODULES = ("egl", "glfw", "osmesa", "gl_context", "renderer", "rendering", "usd", "cgl")


def __getattr__(name: str) -> Any:
    """Return a name of the facade, or else a constant or function of the mujoco package."""
    if name == "__all__":
        return _names()
    if name == "__version__":
        return package().__version__
    if name.startswith("__"):
        raise AttributeError(name)
    result = globals()[name] = _find(name)  # later accesses find it directly
    return result


def _find(name: str) -> Any:
    if name in _OURS:
        return _OURS[name]
    if name == "MjSpec":
        return functions.specification()
    if name == "viewer":
        return importlib.import_module(f"{FACADE}.viewer")
    result = getattr(package(), name)
    if is_passed_on(name):
        return on_natives(result)
    if name in _TAKING_NATIVES:
        return with_natives(name)
    if name.startswith(_REFUSED):
        raise missing(name, f"there are {', '.join(_functions())}")
    if isinstance(result, types.ModuleType) and name not in _MODULES and not name.startswith("_"):
        raise missing(name, "hrpsim.bridges.mujoco has MuJoCo's main module, viewer and renderers")
    return result


def __dir__() -> list[str]:
    return _names()


def _functions() -> list[str]:
    """Return the names of MuJoCo's functions that the facade offers."""
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
    """Make `import mujoco` return this facade from now on, also within installed packages.

    Call the function before importing packages that use mujoco. Packages that were imported before
    keep MuJoCo.
    """
    for folder in package().__path__:  # so that `import mujoco.egl` finds the rendering contexts
        if folder not in __path__:
            __path__.append(folder)
    sys.modules["mujoco"] = sys.modules[FACADE]
    sys.modules["mujoco.viewer"] = importlib.import_module(f"{FACADE}.viewer")
