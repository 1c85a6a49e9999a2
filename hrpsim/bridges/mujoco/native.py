# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Access to the mujoco package: functions for the facade's models and data, and refused names."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hrpsim.common.errors import HrpsimError

FACADE = "hrpsim.bridges.mujoco"
# Functions of the state alone. MuJoCo computes them from the data that the facade updates.
FUNCTIONS = frozenset(
    (
        *("mj_jac", "mj_jacBody", "mj_jacBodyCom", "mj_jacDot", "mj_jacGeom", "mj_jacPointAxis"),
        *("mj_jacSite", "mj_jacSubtreeCom", "mj_fullM", "mj_mulM", "mj_mulM2", "mj_addM"),
        *("mj_solveM", "mj_solveM2", "mj_angmomMat", "mj_applyFT", "mj_geomDistance"),
        *("mj_objectVelocity", "mj_differentiatePos", "mj_integratePos", "mj_normalizeQuat"),
        *("mj_local2Global", "mj_getTotalmass", "mj_ray", "mj_multiRay", "mj_insideSite"),
        *("mj_name2id", "mj_id2name", "mj_stateSize", "mj_extractState", "mj_versionString"),
        *("mj_printModel", "mj_printFormattedModel", "mj_saveLastXML", "mj_saveModel"),
        *("mj_sizeModel", "mj_version", "mj_loadAllPluginLibraries", "mj_printSchema"),
        *("mj_loadPluginLibrary", "mj_defaultOption", "mj_defaultVisual", "mj_defaultSolRefImp"),
        *("mj_setLengthRange", "mj_printData", "mj_printFormattedData"),
    )
)
_PICTURES = ("mjv_", "mjr_")


class MissingNameError(HrpsimError, AttributeError):
    """Raised for a name of MuJoCo that the facade does not have."""


def missing(name: str, cure: str) -> MissingNameError:
    """Return the error for a name that the facade does not have. cure: what to use instead."""
    return MissingNameError(f"{name} is not in {FACADE}: {cure}")


@functools.cache
def package() -> Any:
    """Return the mujoco package, even while the facade replaces the package in `import mujoco`."""
    facade = sys.modules["mujoco"] if is_stand_in() else None
    try:
        if facade is not None:
            del sys.modules["mujoco"]
        return importlib.import_module("mujoco")
    except ModuleNotFoundError as error:
        raise HrpsimError(
            "MuJoCo's own names need the package mujoco: pip install hrpsim[mjcf]"
        ) from error
    finally:
        if facade is not None:
            sys.modules["mujoco"] = facade


def is_passed_on(name: str) -> bool:
    """Return whether the facade forwards a function to MuJoCo, with MuJoCo's model and data."""
    return name in FUNCTIONS or name.startswith(_PICTURES)


def native_of(value: Any) -> Any:
    """Return MuJoCo's object for a model or data of the facade. Other values are unchanged."""
    return value.for_mujoco() if hasattr(value, "for_mujoco") else value


def bound(owner: Any, element: Any) -> Any:
    """Return MuJoCo's view of an element of an MjSpec.

    Args:
        owner: a mujoco.MjModel or MjData.
        element: the element.

    Raises:
        MissingNameError: `element` is a list of several elements.
    """
    if isinstance(element, Iterable):
        raise missing("bind of several elements", "bind the elements one by one")
    return owner.bind(element)


def on_natives(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of MuJoCo to also accept the facade's models and data."""

    @functools.wraps(function, assigned=("__name__", "__doc__"), updated=())
    def call(*arguments, **named):
        return function(
            *map(native_of, arguments), **{key: native_of(value) for key, value in named.items()}
        )

    return call


@functools.cache
def with_natives(name: str) -> type:
    """Return a MuJoCo class whose methods also accept the facade's models and data."""
    return type(name, (getattr(package(), name),), _taking_natives(getattr(package(), name)))


def _taking_natives(kind: type) -> dict[str, Any]:
    methods = {"__init__": kind.__init__}  # type: ignore[misc]
    if hasattr(kind, "update_scene"):
        methods["update_scene"] = kind.update_scene
    return {key: on_natives(method) for key, method in methods.items()}


class FixedArray(np.ndarray):
    """A read-only array of a model. Writing raises an error that names the field."""

    def __setitem__(self, index, value) -> None:
        if not self.flags.writeable:
            raise _unfollowed(self.field or "the field")
        super().__setitem__(index, value)  # a copy

    def __array_finalize__(self, whole) -> None:
        """Keep the name of the field in views of an array."""
        self.field = getattr(whole, "field", "")


def _unfollowed(field: str) -> HrpsimError:
    return HrpsimError(
        f"{field} cannot be written to: hrpsim does not simulate changes. Edit the file or the text"
        " (MjModel.from_xml_string). docs/reference/mujoco_fields.md lists what is simulated"
    )


def fixed(value: Any, field: str) -> Any:
    """Return a scalar unchanged, or a read-only view of an array.

    field: name of the field for errors.
    """
    if not isinstance(value, np.ndarray):
        return value
    view = value.view(FixedArray)
    view.field = field
    view.flags.writeable = False
    return view


class RefusedArray(np.ndarray):
    """A placeholder for an array that hrpsim does not compute. Only shape and dtype can be read."""

    def __getattribute__(self, name: str) -> Any:
        """Return the attributes `shape` and `dtype`. All other attributes raise an error."""
        if name in _OF_SHAPE:
            return super().__getattribute__(name)
        raise missing(_REFUSED_ARRAY, _ASK)

    def _raise(self, *arguments: Any, **named: Any) -> Any:
        raise missing(_REFUSED_ARRAY, _ASK)

    __getitem__ = __setitem__ = __iter__ = __array_ufunc__ = __array_function__ = _raise
    __float__ = __int__ = __bool__ = __contains__ = __copy__ = __deepcopy__ = __repr__ = _raise


_OF_SHAPE = ("dtype", "shape", "ndim", "size", "flags", "__class__", "__array_finalize__", "_raise")
_REFUSED_ARRAY = "An array of MjData that hrpsim does not compute"
_ASK = "read the field by its name from MjData, which lists the existing fields"


def is_stand_in() -> bool:
    """Return whether `import mujoco` returns the facade."""
    return getattr(sys.modules.get("mujoco"), "__name__", "") == FACADE


def refused_like(array: np.ndarray) -> np.ndarray:
    """Return an array of the same shape and type that raises an error when it is used."""
    empty = np.zeros_like(array)
    if empty.dtype.kind == "f":
        empty[...] = np.nan  # numpy.asarray does not call methods of an array class
    return empty.view(RefusedArray)


def refuse_change(field: str, old: Any, new: Any) -> None:
    """Raise an error if `new` differs from `old`, for a field that cannot be written."""
    if not np.array_equal(old, new):
        raise _unfollowed(field)


class NamesOf(type):
    """Metaclass of the facade's classes. `dir` also lists the names of MuJoCo's class."""

    def __dir__(cls) -> list[str]:
        """Return the names of this class and of MuJoCo's."""
        return sorted({*super().__dir__(), *dir(getattr(package(), cls.__name__))})
