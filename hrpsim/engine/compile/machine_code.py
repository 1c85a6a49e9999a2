# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load the machine code of kernels with LLVM alone: without numba, in milliseconds."""

import ctypes
import functools
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import llvmlite.binding as llvm

# Settings that select numba's machine code, apart from the processor.
_VARIABLES = ("OPT", "ENABLE_AVX", "LOOP_VECTORIZE", "SLP_VECTORIZE")

# Common processor levels of LLVM (of the x86-64 ABI), best first, with their features beyond
# x86-64.
_V3 = "cx16 sahf popcnt sse3 ssse3 sse4.1 sse4.2 avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"
_V4 = f"{_V3} avx512f avx512bw avx512cd avx512dq avx512vl"
COMMON_TARGETS = {"x86-64-v4": _V4, "x86-64-v3": _V3}
_ONE_OF_MATHEMATICS = "hypot"
_FASTCALL = 0x80  # Python's METH_FASTCALL


class MachineCode(NamedTuple):
    """The stored code of a compiled kernel."""

    objects: tuple[bytes, ...]  # object files
    function: str  # symbol of the kernel, as other kernels call it
    call: str  # symbol of the same for Python, as METH_FASTCALL; "" for none


class Loaded(NamedTuple):
    """A kernel in memory: address for other kernels, and callable for Python."""

    address: int
    call: Any


class _Definition(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_new_function = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.POINTER(_Definition), ctypes.c_void_p, ctypes.c_void_p
)(("PyCFunction_NewEx", ctypes.pythonapi))
_code_owners: list = []  # owners of the loaded machine code


def load(code: MachineCode, name: str) -> Loaded:
    """Load machine code into memory, permanently."""
    # By itself: functions of one name may have become different code in different kernels.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_target_machine())
    for content in code.objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    call, address = None, engine.get_function_address(code.function)
    definition = None
    if code.call:
        entry = engine.get_function_address(code.call)
        definition = _Definition(name.encode(), entry, _FASTCALL, None)
        call = _new_function(ctypes.byref(definition), None, None)
    _code_owners.append((engine, definition))
    return Loaded(address, call)


def assemble(module: str) -> bytes:
    """Return the object file of a module in LLVM's assembly language."""
    parsed = llvm.parse_assembly(module)
    parsed.verify()
    return object_file(parsed)


def object_file(module: llvm.ModuleRef) -> bytes:
    """Return the object file of an LLVM module."""
    return _new_target_machine().emit_object(module)


@functools.cache
def target(common: str = "") -> str:
    """Return the name of the target of machine code: processor, and the user's settings of numba.

    common: one of COMMON_TARGETS, which replaces this processor. "": this processor.
    """
    user_settings = (os.environ.get(f"NUMBA_{name}", "") for name in _VARIABLES)
    processor = (common, "") if common else _processor()
    return " ".join([llvm.get_process_triple(), *processor, *user_settings])


def common_target(names: Iterable[str]) -> str:
    """Return the best common target of `names` whose code this processor can run, "" for none.

    The result is also "" if the user sets numba's processor.
    """
    if "NUMBA_CPU_NAME" in os.environ:
        return ""
    return next((t for t in COMMON_TARGETS if t in names and runs(t)), "")


def runs(common: str) -> bool:
    """Return whether this processor has all features of a common target."""
    features = llvm.get_host_cpu_features()
    return all(features.get(feature, False) for feature in COMMON_TARGETS[common].split())


@functools.cache
def _processor() -> tuple[str, str]:
    """Return name and features of the processor that numba compiles for."""
    name, features = (os.environ.get(f"NUMBA_CPU_{suffix}") for suffix in ("NAME", "FEATURES"))
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    return name or llvm.get_host_cpu_name(), features


def _new_target_machine():
    """Return an LLVM target machine with the same settings as numba's."""
    cpu, features = _processor()
    reloc = "static" if _native_target().name.startswith("x86") else "default"
    return _native_target().create_target_machine(
        cpu=cpu, features=features, opt=3, reloc=reloc, codemodel="jitdefault", jit=True
    )


@functools.cache
def _native_target():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if llvm.address_of_symbol(_ONE_OF_MATHEMATICS) is None:
        llvm.load_library_permanently("libm.so.6")
    return llvm.Target.from_triple(llvm.get_process_triple())
