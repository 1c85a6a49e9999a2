# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The names of MuJoCo that the facade has; others raise an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hrpsim.errors import HrpsimError

# Functions of the state alone, which MuJoCo computes from what the facade keeps up to date.
FUNCTIONS = frozenset(
    (
        *("mj_jac", "mj_jacBody", "mj_jacBodyCom", "mj_jacDot", "mj_jacGeom", "mj_jacPointAxis"),
        *("mj_jacSite", "mj_jacSubtreeCom", "mj_fullM", "mj_mulM", "mj_mulM2", "mj_addM"),
        *("mj_solveM", "mj_solveM2", "mj_rne", "mj_angmomMat", "mj_applyFT", "mj_geomDistance"),
        *("mj_objectVelocity", "mj_differentiatePos", "mj_integratePos", "mj_normalizeQuat"),
        *("mj_local2Global", "mj_getTotalmass", "mj_ray", "mj_multiRay", "mj_insideSite"),
        *("mj_name2id", "mj_id2name"),
        *("mj_printModel", "mj_printFormattedModel", "mj_saveLastXML", "mj_saveModel"),
        *("mj_sizeModel", "mj_version", "mj_versionString", "mj_loadAllPluginLibraries"),
        *("mj_loadPluginLibrary", "mj_defaultOption", "mj_defaultVisual", "mj_defaultSolRefImp"),
    )
)
# What a field of MjData needs computed of qpos and qvel; what needs more includes what needs less.
STATE, POSES, VELOCITIES, DYNAMICS = 0, 1, 2, 3
_BY_NEED = {
    STATE: (
        *("time", "qpos", "qvel", "qacc", "ctrl", "qfrc_applied", "xfrc_applied", "userdata"),
        *("actuator_force", "qfrc_actuator"),
    ),
    POSES: (
        *("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xmat"),
        *("site_xpos", "site_xmat", "cam_xpos", "cam_xmat", "light_xpos", "light_xdir"),
        *("subtree_com", "cdof", "cinert", "ten_length", "ten_J", "ten_wrapadr", "ten_wrapnum"),
        *("wrap_xpos", "actuator_length", "actuator_moment", "moment_colind", "moment_rowadr"),
        *("moment_rownnz", "cfrc_ext"),
    ),
    VELOCITIES: ("subtree_linvel", "subtree_angmom", "cdof_dot", "cvel", "sensordata"),
    DYNAMICS: (
        *("crb", "qM", "M", "qfrc_bias", "qfrc_passive", "qfrc_spring", "qfrc_damper"),
        "qfrc_gravcomp",
    ),
}
NEEDS = {name: need for need, names in _BY_NEED.items() for name in names}
# Methods of MjData that return the fields of an object of a name or number.
OBJECTS = frozenset(
    (
        *("actuator", "body", "cam", "camera", "geom", "jnt", "joint", "light", "sensor", "site"),
        *("ten", "tendon"),
    )
)
FIELDS = OBJECTS.union(NEEDS)  # of MjData, valid after each step


class MissingNameError(HrpsimError, AttributeError):
    """A name of MuJoCo that the facade does not have."""


def missing(name: str, cure: str) -> MissingNameError:
    """Return the error of a missing name."""
    return MissingNameError(f"{name} is not in hrpsim.bridges.mujoco: {cure}")


def on_natives(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of MuJoCo that also takes the facade's models and data."""

    def native(value):
        return value.for_mujoco() if hasattr(value, "for_mujoco") else value

    def call(*arguments, **named):
        return function(
            *map(native, arguments), **{name: native(value) for name, value in named.items()}
        )

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


class NamedObject:
    """The fields of one object, as `data.body(name)` returns them, computed when they are read."""

    def __init__(self, view: Any, lend: Callable[[int, Any], Any]):
        self._view, self._lend = view, lend

    def __getattr__(self, name: str) -> Any:
        """Return a field of the object; `data` is a sensor's."""
        need = NEEDS.get(name, VELOCITIES if name == "data" else STATE)
        return self._lend(need, getattr(self._view, name))

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field of the object."""
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            setattr(self._view, name, value)

    def __repr__(self) -> str:
        self._lend(DYNAMICS, None)
        return repr(self._view)


class FixedArray(np.ndarray):
    """An array of a model: writing raises an error, as it would have no effect."""

    def __setitem__(self, index, value) -> None:
        raise HrpsimError(
            "a field of MjModel cannot be written to: hrpsim's world was made of the file; change "
            "the file or the text (MjModel.from_xml_string), and opt.timestep, opt.gravity here"
        )


def fixed(value: Any) -> Any:
    """Return a value of a model; of an array a read-only view."""
    if not isinstance(value, np.ndarray):
        return value
    view = value.view(FixedArray)
    view.flags.writeable = False
    return view
