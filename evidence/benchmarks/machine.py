# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Describe the machine, and pin measurements to processor cores."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("numba", "numpy", "mujoco", "pin", "pybullet", "dartpy", "coal")
ONE_THREAD = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    )
}


def use_cores(count: int) -> None:
    """Pin this process, and threads that it starts later, to the last `count` cores."""
    os.sched_setaffinity(0, _ALLOWED[-count:])


_ALLOWED = sorted(os.sched_getaffinity(0))


def core_count() -> int:
    """Return the number of cores that this process may use."""
    return len(_ALLOWED)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def describe() -> dict:
    """Return processor, number of cores, load and versions."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "processor": _processor(),
        "cores": core_count(),
        "load_average": round(os.getloadavg()[0], 2),
        "niceness": os.nice(0),
        "python": platform.python_version(),
        "versions": versions,
    }
