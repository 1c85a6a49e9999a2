# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Work of numba that comes out the same each time, done once while kernels are compiled.

What operators make of types, whether new declarations were imported, and a log of events that
nobody reads take a third of numba's own time. All that is put back when a kernel is compiled.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from numba.core import event, ir
from numba.core.base import BaseContext
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import BaseContext as BaseTypingContext

_get_call_type = BaseFunction.get_call_type
_refresh, _refresh_typing = BaseContext.refresh, BaseTypingContext.refresh
_broadcast = event.broadcast


@contextlib.contextmanager
def spared_work() -> Iterator[None]:
    """Let numba compile with less work; within another such block, nothing changes."""
    if event.broadcast is _tell_users:
        yield
        return
    signatures: dict = {}  # of functions, by the types of their arguments
    looked: dict = {}  # what there was when declarations were last looked for

    def get_call_type(self, context, args, kws):
        if kws:
            return _get_call_type(self, context, args, kws)
        key = (id(self), args)
        if key not in signatures:
            signatures[key] = _get_call_type(self, context, args, kws), self
        return signatures[key][0]

    def unless_same(refresh):
        """Let a context look for new declarations where modules or declarations were added."""

        def look(self):
            if looked.get((refresh, id(self._registries))) != _declared(self):
                refresh(self)
                looked[refresh, id(self._registries)] = _declared(self)

        return look

    replaced = [
        (BaseFunction, "get_call_type", get_call_type),
        (BaseContext, "refresh", unless_same(_refresh)),
        (BaseTypingContext, "refresh", unless_same(_refresh_typing)),
        (ir.Inst, "_rec_list_vars", _variables_of),
        (event, "broadcast", _tell_users),
    ]
    before = [getattr(owner, name) for owner, name, _ in replaced]
    for owner, name, value in replaced:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for (owner, name, _), value in zip(replaced, before, strict=True):
            setattr(owner, name, value)


def _declared(context) -> tuple[int, int]:
    """Return how many modules were imported, and how many declarations a context knows of."""
    count = 0
    for registry, loader in context._registries.items():
        for kind in loader.registry_items:
            count += len(getattr(registry, kind))
    return len(sys.modules), count


def _tell_users(told) -> None:
    """Tell of an event those who listen, but numba's own stopwatches."""
    for listener in event._registered[told.kind]:
        if type(listener) is not event.TimingListener:
            listener.notify(told)


def _variables_of(self, value) -> list:
    """Return the variables in a part of an instruction."""
    found: list = []
    _add_variables(value, found)
    return found


def _add_variables(value, found: list) -> None:
    kind = type(value)
    if kind is ir.Var:
        found.append(value)
    elif kind is list or kind is tuple:
        for part in value:
            _add_variables(part, found)
    elif kind is dict:
        for part in value.values():
            _add_variables(part, found)
    elif isinstance(value, ir.Inst):
        found += value.list_vars()
