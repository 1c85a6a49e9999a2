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

from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.funcdesc import default_mangler


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
    """Code that is only ever linked into its callers: not optimised, no machine code of its own.

    Numba optimises and emits each function with all that it calls, so that a deep call tree is
    compiled once for every level; this way it is once.
    """

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class LinkOnlyCompiler(KernelCompiler):
    """Compiles what is only ever linked into kernels."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)
        if library is None:
            codegen = _LinkOnlyCodegen(self.state.targetctx.codegen())
            name = f"hrpsim_inner_{next(_library_number)}"
            self.state.library = _LinkOnlyLibrary(codegen, name)


_library_number = itertools.count()
