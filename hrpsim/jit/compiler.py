# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Quick compilers of kernels: the same code as numba makes by itself, in a fifth of the time.

A step is hundreds of small functions, each compiled once and linked into its callers. The types of
a scene are long to write down and dear to compare, and what numba leaves for Python's cyclic
collector is looked through again and again; all that is spared here.

They build on parts of numba that are not public: `hrpsim.jit.compiled` does without them where they
do not fit the installed numba.
"""

from __future__ import annotations

import gc
import hashlib
import itertools

from llvmlite.binding import Linkage
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.funcdesc import default_mangler

from hrpsim.jit.spared_work import spared_work


class _QuickFlags(Flags):
    """Flags that are compared quickly: type inference does so for every call and operator."""

    __slots__ = ()

    def __hash__(self):
        return len(self._values)

    def __eq__(self, other):
        if self is other:
            return True
        if isinstance(other, Flags) and self._values.keys() == other._values.keys():
            return self._values == other._values
        return super().__eq__(other)


# For `with`, closures, generators, literals as arguments and inlining by numba: what kernels have
# none of. After each that may change a function, numba looks through all of it again.
_IDLE_PASSES = {
    "with_lifting",
    "inline_closure_likes",
    "inline_inlinables",
    "Rewrite dynamic raises",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "make_function_op_code_to_jit_function",
}


def _short_name(name, types, *, abi_tags=(), uid=None):
    """Return a name that tells types by a digest: those of a scene take 20 000 letters."""
    told = "|".join([*map(str, types), *map(str, abi_tags)])
    digest = hashlib.sha256(told.encode()).hexdigest()[:16]
    return default_mangler(name, (), abi_tags=(digest,), uid=uid)


class KernelCompiler(Compiler):
    """Numba's compiler with quick flags, short names and the cyclic collector at rest."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        flags = _QuickFlags(flags)
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)
        self.state.targetctx.mangler = _short_name  # a copy of numba's context, for one function
        if self.state.library is None:
            self.state.library = self._new_library(self.state.targetctx.codegen())

    def _new_library(self, codegen):
        library = _KernelLibrary(codegen, f"hrpsim_kernel_{next(_library_number)}")
        library.enable_object_caching()
        return library

    def define_pipelines(self):
        """Return numba's passes, but for those that do nothing to a kernel."""
        pipelines = super().define_pipelines()
        for passes in pipelines:
            once = dict.fromkeys(passes.passes)  # those that come again look at what is left out
            passes.passes = [p for p in once if p[0].name() not in _IDLE_PASSES]
        return pipelines

    def compile_extra(self, func):
        """Compile a function."""
        collects = gc.isenabled()
        gc.disable()
        try:
            with spared_work():
                return super().compile_extra(func)
        finally:
            if collects:
                gc.enable()


class _LinkOnlyCodegen:
    """The process's code generator, but functions get no environment: kernels raise nothing."""

    def __init__(self, codegen):
        self._real = codegen

    def __getattr__(self, name):
        return getattr(self._real, name)

    def set_env(self, env_name, env):
        """Leave the environment out, which would ask for machine code."""


class _QuicklyPassed(JITCodeLibrary):
    """Code whose functions are looked through as numba does, but with one manager for them all.

    Declarations are left out. This is about the pass managers that numba has since 0.62.
    """

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


_Library = _QuicklyPassed if hasattr(CPUCodegen, "_pass_builder") else JITCodeLibrary


class _LinkOnlyLibrary(_Library):
    """Code that is only ever linked into kernels: not optimised, no machine code of its own.

    Numba optimises and emits each function with all that it calls, so that a deep call tree is
    compiled once for every level, and links it as often; this way it is once.
    """

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0

    def finalize(self):
        self._raise_if_finalized()
        self._finalized = True

    def _get_module_for_linking(self):
        return self._final_module


class _KernelLibrary(_Library):
    """The code of a kernel, with all that is only linked into it, each once."""

    def finalize(self):
        known = _with_their_own(self._linking_libraries, {})
        # Last what LLVM links only where it is called already.
        self._linking_libraries = sorted(known, key=lambda one: not _is_part(one))
        super().finalize()

    def _optimize_final_module(self):
        for library in filter(_is_part, self._linking_libraries):
            for function in library.get_defined_functions():
                if function.linkage == Linkage.external:  # may go where all calls are inlined
                    self._final_module.get_function(function.name).linkage = "linkonce_odr"
        super()._optimize_final_module()


def _with_their_own(libraries, known: dict) -> dict:
    """Return, as keys, these libraries and those that libraries which are linked only ask for."""
    for library in libraries:
        if library not in known:
            known[library] = None
            if _is_part(library):
                _with_their_own(library._linking_libraries, known)
    return known


def _is_part(library) -> bool:
    return isinstance(library, _LinkOnlyLibrary)


class LinkOnlyCompiler(KernelCompiler):
    """Compiles what is only ever linked into kernels."""

    def _new_library(self, codegen):
        codegen = _LinkOnlyCodegen(codegen)
        return _LinkOnlyLibrary(codegen, f"hrpsim_inner_{next(_library_number)}")


_library_number = itertools.count()
