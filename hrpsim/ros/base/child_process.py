# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Child processes with log files, time limits and complete cleanup."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hrpsim.common.orphans import VARIABLE, signal_at_parent_end

_FOLDER = Path("/dev/shm")
_SHARED_MEMORY = re.compile(r"/dev/shm/(fast(?:rtps|dds)_\w+)")  # Fast DDS 2 and 3
_PORT = "_port"
_LAST_WORDS = 10.0  # wait for output after the end [s], other processes may keep the pipe open


class ChildProcess:
    """A child process that runs `command` and writes its output to the file `log`.

    The child process ends when the parent ends, at the latest.
    """

    def __init__(
        self, name: str, command: Sequence[str], log: Path, environment: Mapping[str, str]
    ) -> None:
        self.name = name
        self.log = log
        self._lines: list[str] = []
        self._news = threading.Condition()
        self._process = self._start(
            command, {**environment, "PYTHONUNBUFFERED": "1", VARIABLE: str(os.getpid())}
        )
        self._reader = threading.Thread(target=self._read, name=f"{name} log", daemon=True)
        self._reader.start()

    def _start(self, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            text=True,
            errors="replace",
            start_new_session=True,  # a Ctrl-C in the terminal reaches the parent only
            preexec_fn=signal_at_parent_end,
        )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal, or None while the process runs."""
        return self._process.poll()

    @property
    def lines(self) -> list[str]:
        """The lines printed so far, and all lines after the end of the process."""
        if self.exit_code is not None:
            self._reader.join(_LAST_WORDS)
        with self._news:
            return list(self._lines)

    def wait_for_line(self, text: str, timeout: float) -> bool:
        """Wait for a printed line with `text`. Return False at the end or at `timeout` [s]."""
        deadline = time.monotonic() + timeout
        looked_at = 0
        with self._news:
            while True:
                if any(text in line for line in self._lines[looked_at:]):
                    return True
                looked_at = len(self._lines)
                remaining = deadline - time.monotonic()
                if self.exit_code is not None:
                    remaining += _LAST_WORDS
                if remaining <= 0 or not self._reader.is_alive():
                    return False
                self._news.wait(min(remaining, 0.2))

    def wait(self, timeout: float) -> int | None:
        """Wait for the end of the process. Return the exit code, or None after `timeout`."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout)
        return self.exit_code

    def send_signal(self, number: int) -> None:
        """Send a signal to the process if the process still runs."""
        self._process.send_signal(number)

    def stop(self, timeout: float = 60.0) -> int:
        """Send SIGINT, after `timeout` [s] SIGTERM, then kill the process. Return the exit code."""
        for number, limit in ((signal.SIGINT, timeout), (signal.SIGTERM, timeout / 2)):
            if self.exit_code is None:
                self.send_signal(number)
                self.wait(limit)
        if self.exit_code is None:
            segments = own_shared_memory(self.pid)
            self._process.kill()
            self._process.wait()
            for segment in segments:
                segment.unlink(missing_ok=True)
        self._reader.join(_LAST_WORDS)
        return self._process.returncode

    def _read(self) -> None:
        with self.log.open("w") as log:
            for line in self._process.stdout:
                log.write(line)
                log.flush()
                with self._news:
                    self._lines.append(line.rstrip("\n"))
                    self._news.notify_all()
        with self._news:
            self._news.notify_all()


class Processes:
    """Starter of programs with log files in one folder. All programs are ended together."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.all: list[ChildProcess] = []
        self._folder, self._environment = folder, environment

    def start(self, name: str, *command: str) -> ChildProcess:
        """Start a program."""
        log = self._folder / f"{name}.log"
        self.all.append(ChildProcess(name, command, log, self._environment))
        return self.all[-1]

    def start_module(self, name: str, module: str, *arguments: str) -> ChildProcess:
        """Start a module in a separate Python process."""
        return self.start(name, sys.executable, "-m", module, *arguments)

    def stop(self, timeout: float) -> list[tuple[ChildProcess, int]]:
        """End the programs in reverse order of their starts.

        Return exit codes (see ChildProcess.stop).
        """
        used = set().union(*(mapped_shared_memory(child.pid) for child in self.all))
        ended = [(child, child.stop(timeout)) for child in reversed(self.all)]
        remove_abandoned_memory(used)  # shared memory of a killed process
        return ended


def own_shared_memory(pid: int) -> list[Path]:
    """Return the DDS shared-memory files used only by this process.

    A killed process does not remove these files.
    """
    own = mapped_shared_memory(pid)
    for entry in Path("/proc").glob("[0-9]*"):
        if own and entry.name != str(pid):
            own -= mapped_shared_memory(int(entry.name))
    return _files(own)


def mapped_shared_memory(pid: int) -> set[str]:
    """Return the names of the DDS shared-memory files that a process uses, of any owner."""
    try:
        return set(_SHARED_MEMORY.findall(Path(f"/proc/{pid}/maps").read_text()))
    except OSError:
        return set()


def remove_abandoned_memory(names: Iterable[str]) -> None:
    """Remove shared-memory files whose owners have ended without cleanup.

    Files of ports stay, because the next process of the domain uses the ports.
    """
    for name in names:
        lock = _FOLDER / f"{name}_el"
        if _PORT not in name and lock.exists() and not _is_locked(lock):
            for file in _files({name}):
                file.unlink(missing_ok=True)


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _files(names: set[str]) -> list[Path]:
    forms = ("{}", "{}_el", "sem.{}_mutex")  # data, lock and semaphore
    return [_FOLDER / form.format(name) for name in sorted(names) for form in forms]
