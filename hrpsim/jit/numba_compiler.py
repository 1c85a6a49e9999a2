# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels compiled by numba; imported only where something is compiled.

What it makes of a kernel is taken from it as machine code (hrpsim.jit.machine_code), with a door
for Python (hrpsim.jit.python_door) that needs nothing of numba. With HRPSIM_PLAIN_COMPILER=1, and
where the installed numba does not fit the quick compilers, all is left to numba: its own compiler,
its own door and the cache that it documents.
"""

from __future__ import annotations

import inspect
from types import CellType, FunctionType

import numba

from hrpsim.jit.compiler_choice import OPTIONS, PLAIN, choose_compilers
from hrpsim.jit.kernel_folders import cache_of
from hrpsim.jit.kernel_function import KernelFunction
from hrpsim.jit.machine_code import Loaded, MachineCode, assemble
from hrpsim.jit.numba_code import NumbaCode
from hrpsim.jit.python_door import door

_compilers = choose_compilers()
_dispatchers: dict[KernelFunction, object] = {}


def compile_kernel(kernel: KernelFunction, arguments: tuple) -> MachineCode | Loaded:
    """Compile a kernel for such arguments: machine code to keep, or what numba keeps by itself."""
    dispatcher = dispatcher_of(kernel)
    types = tuple(map(numba.typeof, arguments))
    dispatcher.compile(types)
    compiled = dispatcher.overloads[types]
    function = compiled.fndesc.llvm_func_name
    if _compilers is PLAIN:
        address = compiled.library.get_pointer_to_function(function)
        return Loaded(address, compiled.entry_point)
    objects = (_object_of(dispatcher, types),)
    if not kernel.called:
        return MachineCode(objects, function, "")
    text, call = door(dispatcher.targetctx, compiled.fndesc, arguments)
    return MachineCode((*objects, assemble(text)), function, call)


def _object_of(dispatcher, types: tuple) -> bytes:
    """Return the object file that numba has made of a function."""
    try:
        return dispatcher.overloads[types].library._get_compiled_object()
    except (AttributeError, RuntimeError, ValueError):  # no part of numba that is public
        return assemble(dispatcher.inspect_llvm(types))


def dispatcher_of(kernel: KernelFunction):
    """Return numba's dispatcher of a kernel."""
    if kernel not in _dispatchers:
        _dispatchers[kernel] = _new_dispatcher(kernel)
    return _dispatchers[kernel]


def _new_dispatcher(kernel: KernelFunction):
    names: dict = {}
    function = _with_names(kernel.py_func, names)
    if kernel.inner:
        compiler, options = _compilers.inner_kernels, {**OPTIONS, "forceinline": kernel.inline}
    else:
        compiler, options = _compilers.kernels, OPTIONS
    dispatcher = numba.njit(function, pipeline_class=compiler, **options)
    dispatcher.targetoptions["_nrt"] = False
    if kernel.inner or _compilers is not PLAIN:
        dispatcher.targetoptions["no_cpython_wrapper"] = True
        dispatcher.targetoptions["no_cfunc_wrapper"] = True
    else:
        _let_numba_cache(dispatcher, kernel)
    _dispatchers[kernel] = dispatcher  # before what it calls, which may call it
    names.update(_names_of(kernel.py_func))
    return dispatcher


def _let_numba_cache(dispatcher, kernel: KernelFunction) -> None:
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_of(kernel.py_func))
    try:
        dispatcher.enable_caching()
    finally:
        numba.config.CACHE_DIR = previous


def _with_names(function, names: dict) -> FunctionType:
    """Return a function that looks up its globals in `names`."""
    cells = tuple(CellType(_for_numba(cell.cell_contents)) for cell in function.__closure__ or ())
    code = function.__code__
    names["__name__"] = function.__module__
    made = FunctionType(code, names, function.__name__, function.__defaults__, cells)
    made.__qualname__ = function.__qualname__
    _give_signature(made)
    return made


def _names_of(function) -> dict:
    """Return the globals that a function uses, with kernels as numba takes them."""
    known = function.__globals__
    return {n: _for_numba(known[n]) for n in function.__code__.co_names if n in known}


def _for_numba(value):
    if isinstance(value, KernelFunction):
        return dispatcher_of(value)
    return value.load() if isinstance(value, NumbaCode) else value


def _give_signature(function) -> None:
    """Give a function the signature that numba looks for, twice, in a tenth of inspect's time.

    There are nine hundred kernels, so that it is 0.05 s of compiling the step.
    """
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    values = (inspect.Parameter.empty,) * (len(names) - len(defaults)) + defaults
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature(
        [inspect.Parameter(n, kind, default=v) for n, v in zip(names, values, strict=True)],
        __validate_parameters__=False,
    )
