# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A variant of numba's compiler that optimises, and makes machine code, once for each kernel.

A step is hundreds of small functions. Numba optimises each function together with all callees, and
makes machine code of each. In a deep call tree, a function is thus compiled again at every level.
Here an inner kernel stays in LLVM's intermediate language until a kernel links all its callees,
each once.

The overridden methods and these names of numba are private: `engine.compile.numba_compiler` uses
numba's own compiler if the installed numba lacks them. `solve_rows` compiles in 3.2 s of processor
time. Each change saves time. Without the following names, the compilation takes:
- JITCodeLibrary's _finalized, _ensure_finalized, _final_module, _linking_libraries,
  _get_module_for_linking and _optimize_final_module, which `_InnerCode` and `KernelCode` override:
  8.5 s
- BaseFunction.get_call_type, which `spared_work` replaces: 3.7 s
- the passes that `define_pipelines` leaves out: 3.3 instead of 3.1 s (`prepare_rows` 5.0 instead of
  4.3 s)
- event.broadcast, which `spared_work` replaces: 3.2 instead of 3.1 s
"""

import contextlib
import itertools
from collections.abc import Iterator

from llvmlite.binding import Linkage, ModuleRef
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.types.functions import BaseFunction

from hrpsim.engine.compile.compile_progress import note_function

_number = itertools.count()

# Passes for what kernels do not contain: closures, comprehensions, `with`, expressions of arrays.
# LLVM inlines what numba would inline.
_UNUSED_PASSES = {"inline_closure_likes", "inline_overloads", "nopython_rewrites", "with_lifting"}


class _InnerCode(JITCodeLibrary):
    """Code of an inner kernel as numba lowers it, without optimisation and machine code."""

    def finalize(self) -> None:
        """Mark the code as final without optimisation."""
        self._finalized = True

    def get_pointer_to_function(self, name):
        """Return 0, because there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        """Return the object on which numba calls `set_env`."""
        return self

    def set_env(self, env_name, env):
        """Ignore the environment of a function, because kernels raise nothing."""


class KernelCode(_InnerCode):
    """Optimised code of a kernel with all callees, in LLVM's intermediate language."""

    @property
    def module(self) -> ModuleRef:
        """The LLVM module of the kernel."""
        return self._final_module

    def finalize(self) -> None:
        """Link all callees of the kernel, each once, and optimise the result as a whole."""
        super().finalize()
        own = [function.name for function in self.get_defined_functions()]
        libraries = _callees(self, {})
        for part in filter(_is_part, libraries):
            self._final_module.link_in(part._final_module, preserve=True)
        for function in self.get_defined_functions():
            if function.linkage == Linkage.external and function.name not in own:
                function.linkage = "linkonce_odr"  # removable where all calls are inlined
        for library in itertools.filterfalse(_is_part, libraries):
            # Last, as LLVM links of them only what is called already.
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()


def _callees(library, known: dict) -> dict:
    """Return the callees of a library, and of its inner kernels, as the keys of a dict."""
    for callee in library._linking_libraries:
        if callee not in known:
            known[callee] = None
            if _is_part(callee):
                _callees(callee, known)
    return known


def _is_part(library) -> bool:
    return type(library) is _InnerCode


class KernelCompiler(Compiler):
    """Numba's compiler for kernels, with the pipeline `pipeline_class`."""

    _library = KernelCode

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals) -> None:
        name = f"hrpsim_{next(_number)}"
        library = library or self._library(targetctx.codegen(), name)
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def compile_extra(self, func):
        """Compile a function, and count the function in the progress line of the terminal."""
        note_function(func)
        return super().compile_extra(func)

    def define_pipelines(self) -> list[PassManager]:
        """Return numba's pipeline without the passes that kernels do not need."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [p for p in pipeline.passes if p[0].name() not in _UNUSED_PASSES]
        pipeline.finalize()
        return [pipeline]


class InnerKernelCompiler(KernelCompiler):
    """Numba's compiler of inner kernels, which are only linked into kernels."""

    _library = _InnerCode


@contextlib.contextmanager
def spared_work() -> Iterator[None]:
    """Avoid repeated and unused work of numba while a kernel is compiled (a context manager).

    Types of call results are cached, in a separate cache for each nested block. Events about the
    duration of passes, which nobody receives, are not sent.
    """
    find = BaseFunction.get_call_type
    known: dict = {}  # by function and the types of its arguments

    def get_call_type(self, context, args, kws):
        if kws:
            return find(self, context, args, kws)
        key = (id(self), args)
        if key not in known:
            known[key] = find(self, context, args, kws), self  # whose id stays its own
        return known[key][0]

    with (
        _replaced(BaseFunction, "get_call_type", get_call_type),
        _replaced(event, "broadcast", lambda event: None),
    ):
        yield


@contextlib.contextmanager
def _replaced(owner, name: str, value) -> Iterator[None]:
    """Replace an attribute of `owner` within a block."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
