# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compilation of kernels by numba. This module is imported only to compile kernels.

Numba lowers a kernel to LLVM's language (compiler.py). LLVM makes machine code of the kernel and of
its wrapper, through which Python calls the kernel (hrpsim.engine.compile.python_wrapper). With
HRPSIM_PLAIN_COMPILER=1, or if compiler.py does not fit the installed numba, numba's own compiler,
wrapper and cache are used, which need only documented interfaces. The results are the same to the
last bit.
"""

import contextlib
import functools
import gc
import logging
from collections.abc import Iterator
from types import CellType, FunctionType

import numba

from hrpsim.engine.compile.compile_progress import progress_of
from hrpsim.engine.compile.kernel_folders import PLAIN_COMPILER, cache_of
from hrpsim.engine.compile.machine_code import Loaded, MachineCode, assemble, load, object_file
from hrpsim.engine.compile.numba_code import KernelFunction, NumbaCode
from hrpsim.engine.compile.python_wrapper import python_wrapper

# Options of every kernel: additions and multiplications may be fused, nothing else may change.
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}

_dispatchers: dict[KernelFunction, object] = {}


def compile_kernel(kernel: KernelFunction, arguments: tuple) -> MachineCode | Loaded:
    """Compile a kernel for the types of `arguments`.

    Returns:
        Machine code that the caller stores, or loaded code that numba has stored.
    """
    if PLAIN_COMPILER or not fits_numba():
        return _compile_plainly(kernel, arguments)
    return _compile(kernel, arguments)


@functools.cache
def fits_numba() -> bool:
    """Return whether `engine.compile.compiler` fits the installed numba, and warn if not."""
    try:
        code = _compile(KernelFunction(_sum_of_squares), (3.0, 4.0))
        result = load(code, "sum_of_squares").call(3.0, 4.0)
        if result != 25.0:
            raise ValueError(f"a test kernel returned {result} for 3^2 + 4^2")
    except Exception as error:
        logging.getLogger("hrpsim").warning(
            "numba %s does not fit hrpsim.engine.compile.compiler (%s: %s): compiling takes longer",
            numba.__version__,
            type(error).__name__,
            error,
        )
        _dispatchers.clear()
        return False
    return True


def _compile(kernel: KernelFunction, arguments: tuple) -> MachineCode:
    from hrpsim.engine.compile.compiler import spared_work

    dispatcher = dispatcher_of(kernel)
    with _no_cyclic_collection(), spared_work(), progress_of(kernel):
        compiled = _compiled(dispatcher, arguments)
        module = compiled.library.module
        objects = (object_file(module),)
    helpers = [f.name for f in module.functions if f.is_declaration and f.name[:6] == "numba_"]
    if helpers:  # absent where stored code is loaded without numba: the process would end
        name = kernel.py_func.__qualname__
        raise TypeError(f"{name} calls {', '.join(helpers)}: kernels may not call numba's runtime")
    function = compiled.fndesc.llvm_func_name
    if not kernel.called:
        return MachineCode(objects, function, "")
    text, call = python_wrapper(dispatcher.targetctx, compiled.fndesc)
    return MachineCode((*objects, assemble(text)), function, call)


def _compile_plainly(kernel: KernelFunction, arguments: tuple) -> Loaded:
    compiled = _compiled(dispatcher_of(kernel, plain=True), arguments)
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return Loaded(address, compiled.entry_point)


def _compiled(dispatcher, arguments: tuple):
    types = tuple(map(numba.typeof, arguments))
    dispatcher.compile(types)
    return dispatcher.overloads[types]


@contextlib.contextmanager
def _no_cyclic_collection() -> Iterator[None]:
    """Suspend Python's cyclic garbage collection, because compilation makes few cycles."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def dispatcher_of(kernel: KernelFunction, plain: bool = False):
    """Return numba's dispatcher of a kernel.

    plain: use numba's own compiler and cache.
    """
    if kernel in _dispatchers:
        return _dispatchers[kernel]
    names: dict = {}
    options: dict = dict(_OPTIONS)
    if kernel.inner:
        options["forceinline"] = kernel.inline  # always: else the caller's is taken
    if not plain:
        from hrpsim.engine.compile.compiler import InnerKernelCompiler, KernelCompiler

        options["pipeline_class"] = InnerKernelCompiler if kernel.inner else KernelCompiler
    dispatcher = numba.njit(_with_names(kernel.py_func, names, plain), **options)
    # Private names of numba. Without counts of references `solve_rows` compiles in 3.2 instead of
    # 3.6 s. The wrappers need machine code, which an inner kernel has not.
    dispatcher.targetoptions["_nrt"] = False
    if kernel.inner or not plain:
        dispatcher.targetoptions["no_cpython_wrapper"] = True
        dispatcher.targetoptions["no_cfunc_wrapper"] = True
    else:
        _let_numba_cache(dispatcher, kernel)
    _dispatchers[kernel] = dispatcher  # before its callees, which may call it
    known = kernel.py_func.__globals__
    used = (name for name in kernel.py_func.__code__.co_names if name in known)
    names.update({name: _for_numba(known[name], plain) for name in used})
    return dispatcher


def _let_numba_cache(dispatcher, kernel: KernelFunction) -> None:
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_of(kernel.py_func))
    try:
        dispatcher.enable_caching()
    finally:
        numba.config.CACHE_DIR = previous


def _with_names(function, names: dict, plain: bool) -> FunctionType:
    """Return a copy of a function that looks up its globals in `names`.

    plain: whether the function is compiled with numba's own compiler.
    """
    cells = function.__closure__ or ()
    closure = tuple(CellType(_for_numba(cell.cell_contents, plain)) for cell in cells)
    code = function.__code__
    names["__name__"] = function.__module__
    made = FunctionType(code, names, function.__name__, function.__defaults__, closure)
    made.__qualname__ = function.__qualname__
    return made


def _for_numba(value, plain: bool):
    if isinstance(value, KernelFunction):
        return dispatcher_of(value, plain)
    return value.load() if isinstance(value, NumbaCode) else value


def _square_of(x):
    return x * x


_square = KernelFunction(_square_of, inner=True)


def _sum_of_squares(x, y):
    return _square(x) + _square(y)
