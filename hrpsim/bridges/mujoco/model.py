# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MjModel: the fields of mujoco.MjModel. Fields that hrpsim simulates can be written."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping as Assets
from pathlib import Path
from typing import Any

import numpy as np

import hrpsim.bridges.mujoco.fields as fields
from hrpsim.bridges.mujoco.fields import Use
from hrpsim.bridges.mujoco.native import (
    NamesOf,
    bound,
    fixed,
    missing,
    native_of,
    package,
    refuse_change,
)
from hrpsim.common.errors import HrpsimError, ModelWarning
from hrpsim.model.readers.mjcf.read import MjcfSource

_OWN = ("native", "path", "assets", "options", "read_only")
# Methods of MjModel that return one element, with the begin of the names of its fields.
_ELEMENTS = {
    **{"actuator": ("actuator_",), "body": ("body_",), "cam": ("cam_",), "camera": ("cam_",)},
    **{"eq": ("eq_",), "equality": ("eq_",), "exclude": ("exclude_",), "geom": ("geom_",)},
    **{"hfield": ("hfield_",), "jnt": ("jnt_", "dof_", ""), "joint": ("jnt_", "dof_", "")},
    **{"key": ("key_",), "keyframe": ("key_",), "light": ("light_",), "mat": ("mat_",)},
    **{"material": ("mat_",), "mesh": ("mesh_",), "numeric": ("numeric_",), "pair": ("pair_",)},
    **{"sensor": ("sensor_",), "site": ("site_",), "skin": ("skin_",), "tendon": ("tendon_",)},
    **{"tex": ("tex_",), "texture": ("tex_",), "tuple": ("tuple_",)},
}


class Option:
    """The fields of mujoco.MjOption. `changes` counts writes of scalars."""

    def __init__(self, native: Any) -> None:
        self._native = native
        vars(self)["changes"] = 0

    def for_mujoco(self) -> Any:
        """Return the mujoco.MjOption, which the caller may write to."""
        vars(self)["changes"] += 1
        return self._native

    def __dir__(self) -> list[str]:
        """Return the names of mujoco.MjOption."""
        return dir(self._native)

    def __getattr__(self, name: str) -> Any:
        """Return a field."""
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._native, name)
        is_followed = fields.use_in_option(name) is Use.FOLLOWED
        return value if is_followed else fixed(value, f"MjOption.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field."""
        if name.startswith("_"):
            super().__setattr__(name, value)
            return
        use, old = fields.use_in_option(name), getattr(self._native, name)
        if use is Use.ACCURACY:
            if not np.array_equal(old, value):
                why = f"MjOption.{name} has no effect: hrpsim's solver has its own accuracy"
                warnings.warn(why, ModelWarning, stacklevel=2)
        elif use is not Use.FOLLOWED:
            refuse_change(f"MjOption.{name}", old, value)
        if name in ("disableflags", "enableflags"):
            _refuse_flags(name, int(old) ^ int(value))
        setattr(self._native, name, value)
        vars(self)["changes"] += 1


def _refuse_flags(name: str, changed: int) -> None:
    """Raise if changed flags are not simulated. Warn about flags of MuJoCo's algorithms."""
    known = {*fields.FLAGS_FOLLOWED.split(), *fields.FLAGS_OF_ACCURACY.split()}
    enum = package().mjtDisableBit if name == "disableflags" else package().mjtEnableBit
    for label, bit in enum.__members__.items():
        flag = label.partition("_")[2]
        if not label.startswith("mjN") and changed & int(bit) and flag not in known:
            refuse_change(f"MjOption.{name}, the flag {label},", 0, 1)


class MjModel(metaclass=NamesOf):
    """A model, with the fields of mujoco.MjModel.

    Fields that hrpsim simulates can be written. A write takes effect in the next step. Each step
    compares the fields with the values of the previous step. If the model has changed, the step
    makes a new world with the same state, which takes as long as loading. Masses, inertias,
    properties of joints and `opt.gravity` can change without a new world. All other fields are read
    only. docs/reference/mujoco_fields.md lists all fields.
    """

    def __init__(
        self, native, path: Path = Path("model.xml"), assets: Assets[str, bytes] | None = None
    ) -> None:
        self.native = native
        self.path = path
        self.assets = assets
        self.options = Option(native.opt)
        self.read_only: dict[str, Any] = {}  # views of fields, one for each field as in MuJoCo

    def for_mujoco(self) -> Any:
        """Return the mujoco.MjModel."""
        return self.native

    @classmethod
    def from_xml_path(cls, filename: str, assets: Assets[str, bytes] | None = None) -> MjModel:
        """Load an MJCF file.

        assets: contents of the files to which the MJCF refers, by name.
        """
        path = Path(filename)
        native = package().MjModel.from_xml_path(str(path), assets)
        MjcfSource("", path, assets).refuse_no_numbers()
        return cls(native, path, assets)

    @classmethod
    def from_xml_string(cls, xml: str, assets: Assets[str, bytes] | None = None) -> MjModel:
        """Load MJCF text.

        assets: contents of the files to which the MJCF refers, by name.
        """
        if isinstance(xml, bytes):
            xml = xml.decode()
        native = package().MjModel.from_xml_string(xml, assets)
        MjcfSource(xml, None, assets).refuse_no_numbers()
        return cls(native, assets=assets)

    @classmethod
    def from_binary_path(cls, filename: str, assets: Assets[str, bytes] | None = None) -> MjModel:
        """Load a binary file written by `mj_saveModel`."""
        return cls(package().MjModel.from_binary_path(str(filename), assets), Path(filename))

    @property
    def opt(self) -> Option:
        """The options."""
        return self.options

    @opt.setter
    def opt(self, value: Any) -> None:
        for name in dir(native_of(value)):
            if not name.startswith("_") and not np.array_equal(
                new := getattr(native_of(value), name), getattr(self.native.opt, name)
            ):
                setattr(self.options, name, new)

    def __dir__(self) -> list[str]:
        """Return the names of mujoco.MjModel."""
        return dir(type(self))

    def __copy__(self) -> MjModel:
        return MjModel(copy.copy(self.native), self.path, self.assets)

    def __deepcopy__(self, memo: dict) -> MjModel:
        return self.__copy__()

    def __reduce__(self) -> tuple:
        return MjModel, (self.native, self.path, self.assets)

    def __getattr__(self, name: str) -> Any:
        """Return a field of mujoco.MjModel."""
        if name in _OWN or name.startswith("_"):
            if name in ("_address", "_sizes"):
                return getattr(self.native, name)
            raise AttributeError(name)
        if name in self.read_only:
            return self.read_only[name]
        result = getattr(self.native, name)
        if name in _ELEMENTS:
            return lambda *which, **named: Element(result(*which, **named), _ELEMENTS[name])
        if name == "bind":
            return self._bound
        if name == "bind_scalar":
            raise missing(f"MjModel.{name}", "bind one element, or index the fields by its id")
        if _is_written(name):
            return result
        self.read_only[name] = view = fixed(result, f"MjModel.{name}")
        return view

    def _bound(self, element: Any) -> Element:
        """Return the fields of an element of the MjSpec from which the model was compiled."""
        view = bound(self.native, element)
        kind = type(view).__name__.removeprefix("_MjModel").removesuffix("Views").lower()
        return Element(view, _ELEMENTS.get(kind, ("",)))

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field. Fields that hrpsim does not simulate raise an error."""
        if name in _OWN or name == "opt":
            super().__setattr__(name, value)
            return
        old = getattr(self.native, name)  # AttributeError for names unknown to MuJoCo
        if not _is_written(name):
            refuse_change(f"MjModel.{name}", old, value)
            return
        setattr(self.native, name, value)


def _is_written(name: str) -> bool:
    return fields.use_in_model(name) in (Use.FOLLOWED, Use.SHOWN)


class Element:
    """The fields of one element of a model, returned by `model.body(name)`."""

    def __init__(self, view: Any, heads: tuple[str, ...]) -> None:
        self._view, self._heads = view, heads

    def _field(self, name: str) -> str:
        """Return MjModel's name for a field of the element."""
        candidates = [head + name for head in self._heads]
        return next((field for field in candidates if hasattr(package().MjModel, field)), name)

    def __dir__(self) -> list[str]:
        return dir(self._view)

    def __getattr__(self, name: str) -> Any:
        """Return a field of the element."""
        if name.startswith("_"):
            raise AttributeError(name)
        value, field = getattr(self._view, name), self._field(name)
        return value if _is_written(field) else fixed(value, f"MjModel.{field}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field of the element."""
        if name.startswith("_"):
            super().__setattr__(name, value)
            return
        old, field = getattr(self._view, name), self._field(name)
        if not _is_written(field):
            refuse_change(f"MjModel.{field}", old, value)
        setattr(self._view, name, value)

    def __repr__(self) -> str:
        return repr(self._view)


def model_for_data(model: Any) -> MjModel:
    """Return the model as a facade model.

    A mujoco.MjModel, as from MjSpec.compile(), is wrapped.
    """
    if isinstance(model, MjModel):
        return model
    if isinstance(model, package().MjModel):
        return MjModel(model)
    raise HrpsimError(f"MjData needs an MjModel, not a {type(model).__name__}")
