# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Members of a class that a part of the object does, with that part's signature and docstring."""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


class delegated(Generic[P, R]):
    """A method of the class, done by the method of a part of the object.

    part: name of the attribute that holds the part; method: that of the part's class.
    """

    def __init__(self, part: str, method: Callable[Concatenate[Any, P], R]):
        self._of = attrgetter(f"{part}.{method.__name__}")

        @functools.wraps(method)
        def call(whole, *arguments, **named):
            return self._of(whole)(*arguments, **named)

        self._unbound = call
        self.__doc__ = method.__doc__

    def __get__(self, whole, owner=None) -> Callable[P, R]:
        return self._unbound if whole is None else self._of(whole)


def delegated_property(part: str, of_part: Callable[[Any], R]) -> R:
    """Return a property of the class that is one of a part of the object; assigned if that may be.

    Type checkers take a property of a class for a function, and what is returned for its value.
    """
    given = cast(property, of_part)
    name, setter = given.fget.__name__, None
    if given.fset is not None:

        def setter(whole, value) -> None:
            setattr(getattr(whole, part), name, value)

    return cast(R, property(attrgetter(f"{part}.{name}"), setter, doc=given.__doc__))


def delegated_attribute(part: str, name: str, doc: str) -> Any:
    """Return a property of the class that is an attribute of a part of the object, read only."""
    return property(attrgetter(f"{part}.{name}"), doc=doc)
