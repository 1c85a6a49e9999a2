# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Caching of repeated work in numba while kernels are compiled.

The result types of operators, checks for new declarations, sizes of types, variable lifetimes
(after each pass, though only the last is used), and a log of events without readers: without this
module, `solve_rows` takes 1.4 times the processor time. All of it is restored after a kernel is
compiled.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from numba.core import base, event, interpreter, ir
from numba.core.base import BaseContext
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg
from numba.core.types import Record
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import BaseContext as BaseTypingContext

_get_call_type = BaseFunction.get_call_type
_refresh, _refresh_typing = BaseContext.refresh, BaseTypingContext.refresh
_start_event, _end_event = event.start_event, event.end_event
_process = PostProcessor.run
_drop_exits_of_with = interpreter.peep_hole_delete_with_exit
_EXIT_OF_WITH = "$setup_with_exitfn"


@contextlib.contextmanager
def spared_work() -> Iterator[None]:
    """Make numba compile with less work; a nested block changes nothing."""
    if event.start_event is _start_where_heard:
        yield
        return
    signatures: dict = {}  # of functions, by the types of their arguments
    looked: dict = {}  # the declarations at the last refresh

    def get_call_type(self, context, args, kws):
        if kws:
            return _get_call_type(self, context, args, kws)
        key = (id(self), args)
        if key not in signatures:
            signatures[key] = _get_call_type(self, context, args, kws), self
        return signatures[key][0]

    def unless_same(refresh):
        """Refresh a context's declarations only where modules or declarations were added."""

        def look(self):
            if looked.get((refresh, id(self._registries))) != _declared(self):
                refresh(self)
                looked[refresh, id(self._registries)] = _declared(self)

        return look

    replaced = [
        (BaseFunction, "get_call_type", get_call_type),
        (BaseContext, "refresh", unless_same(_refresh)),
        (BaseTypingContext, "refresh", unless_same(_refresh_typing)),
        (BaseContext, "get_abi_sizeof", _once(BaseContext.get_abi_sizeof, _text_of_type)),
        (base, "_has_loc", _once(base._has_loc, id)),
        (Record, "__repr__", _once(Record.__repr__, id)),
        (PostProcessor, "run", _process_lazily),
        (interpreter, "peep_hole_delete_with_exit", _drop_exits_where_with),
        (ir.Inst, "_rec_list_vars", _variables_of),
        (event, "start_event", _start_where_heard),
        (event, "end_event", _end_where_heard),
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


def _once(function, key):
    """Return a function that caches its result for each `key` of its arguments."""
    known: dict = {}

    def ask(*arguments):
        which = key(*arguments)
        if which not in known:
            known[which] = function(*arguments), arguments
        return known[which][0]

    return ask


def _text_of_type(_, llvm_type) -> str:
    return str(llvm_type)  # types of one text are equal, but hash(type) is the same for all structs


def _process_lazily(self, emit_dels=False, extend_lifetimes=False):
    """Run PostProcessor without the parts for generators and Python objects."""
    function = self.func_ir
    if function.is_generator:
        _process(self, emit_dels, extend_lifetimes)
        return
    function.blocks = canonicalize_cfg(function.blocks)
    function.variable_lifetime = VariableLifetime(function.blocks)
    function.generator_info = None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _drop_exits_where_with(func_ir):
    """Drop what remains of `with`, where a function has any."""
    scopes = {id(block.scope): block.scope for block in func_ir.blocks.values()}
    names = (name for scope in scopes.values() for name in scope.localvars._con)
    if any(name.startswith(_EXIT_OF_WITH) for name in names):
        return _drop_exits_of_with(func_ir)
    return func_ir


def _start_where_heard(kind, data=None) -> None:
    if _is_heard(kind):
        _start_event(kind, data)


def _end_where_heard(kind, data=None, exc_details=None) -> None:
    if _is_heard(kind):
        _end_event(kind, data, exc_details)


def _is_heard(kind) -> bool:
    """Return whether an event has listeners other than numba's own timers."""
    return any(type(one) is not event.TimingListener for one in event._registered[kind])


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
