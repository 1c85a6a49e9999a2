# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compile kernels in a child process, for a program that must not block.

After `use_compiler_beside`, a step that needs a kernel which is not in the cache ends with
KernelsAbsent, and the child process compiles the kernel. Later steps succeed once the kernel is in
the cache. If the cache cannot be written, or the process fails, kernels are compiled in place.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from hrpsim.common.progress import Progress
from hrpsim.engine.compile.kernel_folders import cache_directory
from hrpsim.engine.compile.lazy_kernels import absent_kernels, let_compile

_COMMAND = (sys.executable, "-m", "hrpsim", "warm-up", "--processes", "1")
_END = 5.0  # [s, wall] that a process has to end
_LOOK_PERIOD = 0.05  # between checks for awaited kernels [s, wall]


class CompilerBeside:
    """A child process that compiles kernels, in advance or when a step waits for a kernel.

    Args:
        say: receives messages on the progress.
        prepare: called in the child process before the compilation, such as
            `hrpsim.common.orphans.signal_at_parent_end`.
        command: command line of the child process, to which names of kernels are appended.

    Attributes:
        names: kernels that a step waits for.
    """

    def __init__(
        self,
        say: Callable[[str], None] = lambda text: None,
        prepare: Callable[[], None] | None = None,
        command: Iterable[str] = _COMMAND,
    ) -> None:
        self._say, self._prepare, self._command = say, prepare, tuple(command)
        self._process: subprocess.Popen | None = None
        self._failed: set[str] = set()
        self._goes_ahead = False
        self.names: tuple[str, ...] = ()

    def compile_ahead(self) -> tuple[str, ...]:
        """Begin to compile all kernels absent from the cache, at low priority. Return the names."""
        self._goes_ahead = True
        names = self._possible(absent_kernels())
        if names and not self.is_busy:
            self._start("--idle", *names)
        return names

    def request(self, names: tuple[str, ...]) -> bool:
        """Begin to compile these kernels in the child process.

        Returns:
            False if the caller must compile the kernels itself.
        """
        self._note_end()
        if self._possible(names) != names:
            return False
        if not set(names) <= set(self.names):
            all_names = tuple(dict.fromkeys((*self.names, *names)))
            self._stop()
            self._say(f"compiling {', '.join(all_names)}: time stands still meanwhile")
            self._start(*all_names)
            self.names = all_names
        return True

    def wait_for(self, names: tuple[str, ...]) -> bool:
        """Wait until the child process has compiled these kernels, or has failed.

        Returns:
            Always False. The result tells the caller of `let_compile`'s callback to load the
            kernels from the cache, or to compile them itself.
        """
        with Progress("compiling in another process", "kernels") as progress:
            while left := set(names) & set(self.names) & set(absent_kernels()):
                progress.show(len(names) - len(left), len(names), ", ".join(sorted(left)))
                self.wait(_LOOK_PERIOD)
        return False

    @property
    def is_busy(self) -> bool:
        """Whether the child process compiles kernels that a step has requested."""
        self._note_end()
        return bool(self.names)

    def wait(self, longest: float) -> None:
        """Wait until the child process ends, at most `longest` seconds of wall time."""
        if self._process is not None:
            try:
                self._process.wait(longest)
            except subprocess.TimeoutExpired:
                return
        self._note_end()

    def close(self) -> None:
        """End the child process."""
        self._goes_ahead = False
        self._stop()

    def _possible(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the named kernels that a child process can compile."""
        if not os.access(cache_directory, os.W_OK):
            return ()
        return tuple(name for name in names if name not in self._failed)

    def _start(self, *arguments: str) -> None:
        package = str(Path(__file__).parents[3])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [*self._command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # a Ctrl-C in the terminal is for the parent, which ends it
            preexec_fn=self._prepare,
        )

    def _note_end(self) -> None:
        """Check whether the process has ended. Kernels that are still missing count as failed."""
        if self._process is None or self._process.poll() is None:
            return
        self._process = None
        if not self.names:
            return
        missing = set(self.names) & set(absent_kernels())
        self._failed |= missing
        outcome = (
            f"the child process could not compile: {', '.join(sorted(missing))}" if missing else ""
        )
        self._say(outcome or f"compiled {', '.join(self.names)}")
        self.names = ()
        if self._goes_ahead:
            self.compile_ahead()

    def _stop(self) -> None:
        self.names = ()
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def use_compiler_beside(beside: CompilerBeside | None) -> None:
    """Let a child process compile the kernels that steps request.

    beside: the child process. None compiles kernels in this process again.
    """
    let_compile(None if beside is None else beside.request)
