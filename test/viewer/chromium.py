# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A headless chromium, which renders by software without a graphics card."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from hrpsim.common.errors import HrpsimError
from hrpsim.common.orphans import signal_at_parent_end

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = (
    "--headless=new",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-dev-shm-usage",  # /dev/shm is small in containers
    "--hide-scrollbars",
    "--mute-audio",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-gpu-watchdog",  # slow rendering by software on a busy machine is no hang
    "--disable-hang-monitor",
    "--remote-debugging-port=0",
)


def find_chromium() -> str:
    """Return the path of a chromium; HrpsimError where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise HrpsimError(f"no browser on the PATH: {', '.join(NAMES)} (apt install chromium)")
    return found


def _end_with_parent() -> None:
    signal_at_parent_end(signal.SIGKILL)


class Chromium:
    """A separate browser with `url` open, in a window of `size` pixels; ends with the `with`.

    devtools_port: port of its DevTools protocol on 127.0.0.1; None until it has started.
    """

    def __init__(self, url: str, size: tuple[int, int] = (1280, 800)):
        self._profile = tempfile.TemporaryDirectory(
            prefix="hrpsim-chromium-", ignore_cleanup_errors=True
        )
        options = [*_OPTIONS, f"--user-data-dir={self._profile.name}"]
        options.append(f"--window-size={size[0]},{size[1]}")
        if os.geteuid() == 0:
            options.append("--no-sandbox")  # chromium refuses to sandbox the superuser's
        self._process = subprocess.Popen(
            [find_chromium(), *options, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    @property
    def devtools_port(self) -> int | None:
        """Port of the DevTools protocol."""
        file = Path(self._profile.name, "DevToolsActivePort")
        lines = file.read_text().splitlines() if file.is_file() else []
        return int(lines[0]) if lines else None

    @property
    def is_running(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the browser and its children, and remove its profile."""
        if self.is_running:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=10)
        self._profile.cleanup()
