# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compile all kernels for common processors, for inclusion in a wheel.

    python tools/ship_kernels.py FOLDER TARGET ...      x86-64-v3, x86-64-v4, or all

all: the targets that this processor can run. Skipped targets are printed.

setup.py includes FOLDER, given by HRPSIM_KERNELS, in the wheel as hrpsim/kernels. Kernels run
during compilation, so this processor must support each target.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from hrpsim.engine.compile.kernel_folders import cache_directory, shipped_directory
from hrpsim.engine.compile.machine_code import COMMON_TARGETS, runs

_WARM_UP = (sys.executable, "-m", "hrpsim", "warm-up")


def main(arguments: list[str]) -> int:
    """Compile for each target. Return the exit status."""
    if len(arguments) < 2:
        sys.exit(__doc__)
    folder, *targets = arguments
    if targets == ["all"]:
        targets = runnable()
    for target in targets:
        if target not in COMMON_TARGETS:
            sys.exit(f"target {target!r} does not exist. Available: {', '.join(COMMON_TARGETS)}")
        if not runs(target):
            sys.exit(f"this processor cannot run kernels that are compiled for {target}")
    shutil.rmtree(folder, ignore_errors=True)
    for target in targets:
        print(f"compiling all kernels for {target}", flush=True)
        cache = Path(folder).with_name(f"kernels-{target}")
        subprocess.run(_WARM_UP, env=environment(target, cache), check=True)
        gather(cache, Path(folder), target)
    return 0


def runnable() -> list[str]:
    """Return the targets that this processor can run. Print the other targets."""
    targets = [target for target in COMMON_TARGETS if runs(target)]
    for target in COMMON_TARGETS:
        if target not in targets:
            print(f"no kernels for {target}: this processor cannot run them", flush=True)
    return targets


def environment(target: str, cache: Path) -> dict[str, str]:
    """Return the environment variables of a process that compiles for a target into a cache."""
    settings = {"NUMBA_CPU_NAME": target, "NUMBA_CPU_FEATURES": "", "HRPSIM_CACHE_DIR": str(cache)}
    return {**os.environ, **settings}


def gather(cache: Path, folder: Path, target: str) -> None:
    """Copy the compiled kernels of a target from a cache to the layout that hrpsim expects."""
    compiled = cache / cache_directory.name
    for file in sorted(compiled.rglob("*.nbc")):
        to = shipped_directory(folder, target) / file.relative_to(compiled)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, to)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
