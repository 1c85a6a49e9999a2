# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Show the progress of compiling one kernel, as a count of the functions in the kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import FunctionType

from hrpsim.common.progress import Progress
from hrpsim.engine.compile.numba_code import KernelFunction

_STEP = "advance"  # the kernel of the step
_present: list[CompileProgress] = []  # of the kernels that are being compiled, the innermost last


class CompileProgress:
    """A progress line, such as "compiling the step [##---] 120 of 340 functions"."""

    def __init__(self, kernel: KernelFunction) -> None:
        name = kernel.__name__.strip("_").replace("_", " ")
        subject = "the step" if kernel.__name__ == _STEP else f"the kernel {name!r}"
        self._left = functions_of(kernel)
        self._total = len(self._left)
        self._progress = Progress(f"compiling {subject}", "functions")

    def note(self, function: FunctionType) -> None:
        """Count a function when numba begins to compile the function, but only the first time."""
        self._left.discard(f"{function.__module__}.{function.__qualname__}")
        note = "" if self._left else "then machine code"
        self._progress.show(self._total - len(self._left), self._total, note)

    def end(self) -> None:
        """Clear the line."""
        self._progress.end()


def functions_of(kernel: KernelFunction) -> set[str]:
    """Return the names of a kernel's function and of all functions compiled into the kernel."""
    function_names: dict[KernelFunction, str] = {}
    left = [kernel]
    while left:
        function = left.pop()
        if function not in function_names:
            function_names[function] = f"{function.__module__}.{function.__qualname__}"
            left += _callees(function)
    return set(function_names.values())


def note_function(function: FunctionType) -> None:
    """Count a function of the kernel whose progress is shown, if there is one."""
    if _present:
        _present[-1].note(function)


@contextlib.contextmanager
def progress_of(kernel: KernelFunction) -> Iterator[None]:
    """Show the progress of a kernel that is compiled within the block."""
    progress = CompileProgress(kernel)
    _present.append(progress)
    try:
        yield
    finally:
        _present.remove(progress)
        progress.end()


def _callees(kernel: KernelFunction) -> list[KernelFunction]:
    function = kernel.py_func
    values = [function.__globals__.get(name) for name in function.__code__.co_names]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    return [value for value in values if isinstance(value, KernelFunction)]
