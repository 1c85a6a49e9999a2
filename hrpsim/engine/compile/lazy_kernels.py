# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lazily compiled kernels: compiled, and stored on disk, when a world first uses them.

Kernels of features that only some worlds use (meshes, the stages of rk4, the direct solver) are
decorated with `lazy_kernel`. A call goes through an address in the scene, which is 0 until the
kernel is first needed. A call of an absent kernel requests the kernel and returns NEEDS_KERNEL. The
step is then repeated. A scene's `lazy_kernels` are two records with a field for each kernel:
addresses, and requests. The field `awaited` means that no step is possible before the requested
kernels are present.

A kernel that is not on disk is compiled in place, or by the callback of `let_compile`.
"""

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import (
    Kernel,
    address_of,
    inlined_kernel,
    is_cached,
    uncalled_kernel,
)
from hrpsim.engine.compile.kernel_types import Scene
from hrpsim.engine.compile.numba_code import NumbaCode
from hrpsim.engine.compile.reference import TupleReference

call_address = NumbaCode("hrpsim.engine.compile.intrinsics", "call_address")

NEEDS_KERNEL = -1  # what the call of an absent kernel returns; kernels return no negative integers


class OnDemand(NamedTuple):
    """A kernel that is compiled when a world first needs it."""

    kernel: Kernel
    arguments: Callable[[Any], tuple]  # of a scene
    feature: str  # flag of a scene's settings: whether it is certain to call it; "": unknown
    brings: tuple[str, ...]  # kernels that are needed where it is


class KernelsAbsent(Exception):
    """Raised when a step needs kernels that another process compiles. The state is unchanged."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(f"being compiled: {', '.join(names)}")
        self.names = names


_declared: dict[str, OnDemand] = {}
_addresses: dict[str, int] = {}
_ask_elsewhere: Callable[[tuple[str, ...]], bool] | None = None


def lazy_kernel(*more, feature: str = "", brings: tuple[str, ...] = ()):
    """Decorate a lazily compiled kernel `function(s, ...)` of a scene `s`, with a result >= 0.

    Args:
        more: numpy's scalar types of the arguments after `s`.
        feature: flag of the scene's settings. While the flag is set, the kernel is loaded before
            the first step. "": the kernel is loaded when a step requests it.
        brings: names of lazily compiled kernels that this kernel calls.
    """

    def _decorate(function):
        name = function.__name__
        _declare(
            function, lambda s: (TupleReference(s), *(kind() for kind in more)), feature, brings
        )

        @inlined_kernel
        def call(s: Scene, *others: Any) -> int:
            if s.lazy_kernels[0][name] == 0:
                s.lazy_kernels[1][name] = 1
                return NEEDS_KERNEL
            return call_address(s.lazy_kernels[0][name], (s, *others))

        return call

    return _decorate


def lazy_kernel_of_parts(parts: Callable[[Any], tuple]):
    """Decorate a lazily compiled kernel whose arguments are parts of a scene, not the scene.

    Calls pass the scene's `lazy_kernels` before the arguments. The kernel returns an integer >= 0.

    parts: function that takes a scene and returns example arguments, which define the types.
    """

    def _decorate(function):
        name = function.__name__
        _declare(function, parts, "", ())

        @inlined_kernel
        def call(lazy_kernels, *arguments: Any) -> int:
            if lazy_kernels[0][name] == 0:
                lazy_kernels[1][name] = 1
                return NEEDS_KERNEL
            return call_address(lazy_kernels[0][name], arguments)

        return call

    return _decorate


def _declare(function, arguments, feature, brings) -> None:
    name = function.__name__
    if name in _declared:
        raise NameError(f"a lazily compiled kernel with the name {name!r} exists already")
    _declared[name] = OnDemand(uncalled_kernel(function), arguments, feature, brings)


def declared_lazy_kernels() -> tuple[str, ...]:
    """Return the sorted names of all lazily compiled kernels that the step imports."""
    return tuple(sorted(_declared))


def absent_kernels() -> tuple[str, ...]:
    """Return the sorted names of the lazy kernels that are neither loaded nor in the cache."""
    return _absent(declared_lazy_kernels())


def let_compile(ask: Callable[[tuple[str, ...]], bool] | None) -> None:
    """Set the callback `ask(names)` for kernels that are absent.

    If the callback returns False, the kernels are compiled in this process.
    """
    global _ask_elsewhere
    _ask_elsewhere = ask


def compiles_elsewhere() -> bool:
    """Return whether `let_compile` has set a callback."""
    return _ask_elsewhere is not None


def new_lazy_kernels() -> np.ndarray:
    """Return the records (2,) of a new scene: no kernel is present or requested."""
    return np.zeros(2, dtype=[(name, "i8") for name in (*declared_lazy_kernels(), "awaited")])


def provide_requested(scene) -> None:
    """Load the kernels that a step of the scene has requested.

    Raises KernelsAbsent if another process compiles these kernels.
    """
    requests = scene.lazy_kernels[1]
    names = tuple(name for name in declared_lazy_kernels() if requests[name])
    absent = asked_elsewhere(names)
    if absent:
        raise KernelsAbsent(absent)
    for name in names:
        requests[name] = 0
        _provide(scene, name)
    requests["awaited"] = 0


def provide_used(scene) -> None:
    """Load the kernels of the features that a scene uses.

    The step itself requests kernels whose need depends on the motion (pairs of shapes in contact,
    speeds) or on commands (locks). If another process compiles a kernel, the next step waits for
    it.
    """
    addresses, requests = scene.lazy_kernels
    requests["awaited"] = 0
    for name, declared in _declared.items():
        if not declared.feature:
            continue
        requests[name] = 0
        if not scene.settings[declared.feature][0]:
            addresses[name] = 0
        elif asked_elsewhere((name,)):
            addresses[name] = 0
            requests[name] = requests["awaited"] = 1
        else:
            _provide(scene, name)


def compile_ahead(scene, name: str) -> None:
    """Compile a kernel for the types of a scene, if the cache does not have it."""
    _load(scene, name)


def asked_elsewhere(names: tuple[str, ...]) -> tuple[str, ...]:
    """Ask the callback of `let_compile` to compile absent kernels.

    names: kernels to ask for. Their lazily compiled callees are included.

    Returns:
        The names of the kernels that another process now compiles.
    """
    if _ask_elsewhere is None:
        return ()
    absent = _absent(_with_brought(names))
    return absent if absent and _ask_elsewhere(absent) else ()


def _absent(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        name for name in names if name not in _addresses and not is_cached(_declared[name].kernel)
    )


def _with_brought(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for n in names for name in (n, *_declared[n].brings)))


def _provide(scene, name: str) -> None:
    for kernel_name in _with_brought((name,)):
        if kernel_name not in _addresses:
            _addresses[kernel_name] = _load(scene, kernel_name)
        scene.lazy_kernels[kernel_name][0] = _addresses[kernel_name]


def _load(scene, name: str) -> int:
    """Return the address of a kernel for the types of a scene, compiled if necessary."""
    declared = _declared[name]
    arguments = declared.arguments(scene)
    if is_cached(declared.kernel):
        return address_of(declared.kernel, *arguments)
    begin = time.perf_counter()
    address = address_of(declared.kernel, *arguments)
    took = time.perf_counter() - begin
    print(f"hrpsim: compiled {name} in {took:.1f} s", file=sys.stderr, flush=True)
    return address
