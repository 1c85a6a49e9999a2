# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Objects with a fixed set of attributes. Setting a misspelt attribute raises an error."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from hrpsim.common.errors import ArgumentError, UnknownAttributeError, suggestion

_Object = TypeVar("_Object")


class Checked(type):
    """Metaclass of public classes: arguments that do not fit raise ArgumentError."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        """Make an object of the class. Raises ArgumentError for arguments that do not fit."""
        try:
            return super().__call__(*arguments, **named)
        except TypeError:
            _refuse_unfit(cls, arguments, named)
            raise


class _Closing(Checked):
    """Metaclass that closes an object after its `__init__`."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        return closed(super().__call__(*arguments, **named))


def _refuse_unfit(kind: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Raise ArgumentError if arguments do not fit the `__init__` of a class."""
    signature = inspect.signature(kind.__init__)
    try:
        signature.bind(None, *arguments, **named)
    except TypeError as cause:
        known = [name for name in signature.parameters if name != "self"]
        unknown = next((name for name in named if name not in known), "")
        raise ArgumentError(
            f"{kind.__name__}: {cause}{suggestion(unknown, known) or '.'} "
            f"Arguments: {', '.join(known)}"
        ) from None


def closed(made: _Object) -> _Object:
    """Close an object of a Closed class that was made without `__init__`. Return the object."""
    made.__dict__["_is_closed_to_names"] = True
    return made


class Closed(metaclass=_Closing):
    """Base of public objects.

    Reading a public name that the object does not have raises UnknownAttributeError. After
    `__init__`, assigning such a name raises the same error. The error names similar attributes.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        known = name.startswith("_") or name in self.__dict__ or hasattr(type(self), name)
        if not known and "_is_closed_to_names" in self.__dict__:
            raise UnknownAttributeError(unknown_attribute(self, name))
        attribute = getattr(type(self), name, None)
        if isinstance(attribute, property) and attribute.fset is None:
            raise UnknownAttributeError(unknown_attribute(self, name, "cannot be assigned"))
        object.__setattr__(self, name, value)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:  # only called for a name that is not there
            if name.startswith("_"):
                raise AttributeError(name)
            kind = type(self)
            if isinstance(attribute := getattr(kind, name, None), property):
                return attribute.fget(self)  # which raises again what it has raised
            known = [key for key in (*self.__dict__, *dir(kind)) if not key.startswith("_")]
            raise UnknownAttributeError(
                f"{kind.__name__} has no attribute {name!r}{suggestion(name, known) or '.'} "
                f"Attributes: {', '.join(known)}"
            )


def unknown_attribute(owner: object, name: str, fault: str = "") -> str:
    """Return the error text for an unknown attribute, with similar names and the properties.

    fault: why a known attribute cannot be set, or "" for an unknown attribute.
    """
    kind = type(owner)
    known = [*owner.__dict__, *dir(kind)]
    properties = [k for k in dir(kind) if getattr(getattr(kind, k), "fset", None) is not None]
    similar = suggestion(name, [key for key in known if not key.startswith("_")])
    assignable = ", ".join(properties) or "none"
    if fault:
        text = f"{name!r} of a {kind.__name__} {fault}."
    else:
        text = f"{kind.__name__} has no attribute {name!r}{similar or '.'}"
    return f"{text} Attributes that can be assigned: {assignable}"
