# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The results that SimBenchmark published for the engines, on an i7-7700HQ, 2018 to 2021.

Source: data/*/sample.csv of leggedrobotics/SimBenchmark. For each step size, the table has the
settings with the smallest error. If runs with and without error reduction (erp) exist, the runs
without error reduction are used. The times belong to the same runs. Engines without an entry were
not run or gave no result.
"""

from __future__ import annotations

MACHINE = "i7 of 2018"
ENGINES = ("RaiSim", "MuJoCo", "Bullet", "ODE", "DART")
_STEPS = (4e-4, 1e-3, 4e-3, 1e-2, 4e-2, 1e-1)

# by scene and engine, in the order of _STEPS, and for rolling only at 1 ms
_ERRORS = {
    "rolling": {
        "RaiSim": (None, 4.1e-7),
        "MuJoCo": (None, 2.0e-3),
        "Bullet": (None, 3.9e-27),
        "ODE": (None, 3.1),
        "DART": (None, 3.1),
    },
    "bouncing": {
        "RaiSim": (4.8e-4, 0.019, 4.8, 190.0, 4.7e4, 1.8e6),
        "Bullet": (1.2e4, 7.5e4, 1.2e6, 7.4e6, 1.2e8, 7.7e8),
        "ODE": (30.0, 190.0, 3.0e3, 1.9e4, 3.1e5, 2.0e6),
        "DART": (1.1e4, 7.2e4, 1.2e6, 7.4e6, 1.2e8, 7.7e8),
    },
    "666": {
        "RaiSim": (2.4e-5, 1.4e-4, 2.1e-3, 0.015, 0.25, 0.96),
        "MuJoCo": (0.039, 0.095, 0.37, 0.93, 3.8, 11.0),
        "Bullet": (0.063, 0.38, 5.8, 37.0, 730.0, 2.8e5),
        "ODE": (2.4e-5, 1.5e-4, 2.1e-3, 0.016, 0.24, 3.1),
        "DART": (7.2e-3, 2.8e-4, 9.3e3, 210.0, 1.4e3, 6.8),
    },
    "elastic 666": {
        "RaiSim": (0.25, 8.4, 260.0, 5.2e6, 2.7e9, 1.2e8),
        "Bullet": (3.6e3, 4.1e4, 8.4e5, 9.9e6, None, 1.7e9),
        "ODE": (18.0, 110.0, 1.6e3, 8.6e6, None, 1.9e7),
        "DART": (5.2e4, 3.5e5, 6.6e6, 1.3e10, 6.0e9, 1.2e12),
    },
    "anymal momentum": {
        "RaiSim": (6.2e-6, 4.7e-5, 9.1e-4, 5.4e-3),
        "MuJoCo": (7.3e-13, 3.0e-13, 3.3e-7, 2.4e-5),
        "Bullet": (4.2e-5, 2.7e-4, 4.3e-3, 0.023),
        "ODE": (1.3e-26, 1.3e-27, 5.4e-28, 4.0e-28),
        "DART": (180.0, 160.0, 150.0, 100.0),
    },
    "anymal energy": {
        "RaiSim": (1.8e-3, 0.012, 0.21, 1.4),
        "MuJoCo": (3.6e-19, 1.6e-17, 4.5e-14, 5.6e-11),
        "Bullet": (0.64, 3.7, 56.0, 340.0),
        "ODE": (0.62, 3.9, 62.0, 380.0),
        "DART": (210.0, 240.0, 390.0, 920.0),
    },
}

# seconds of a complete run at 1 ms, and microseconds of a step of the standing robots
_TIMES = {
    "rolling": {"RaiSim": 1.1, "MuJoCo": 3.2, "Bullet": 1.8, "ODE": 0.53, "DART": 2.7},
    "bouncing": {"RaiSim": 0.24, "Bullet": 0.85, "ODE": 1.9, "DART": 3.2},
    "666": {"RaiSim": 1.5, "MuJoCo": 13.2, "Bullet": 12.0, "ODE": 10.6, "DART": 22.9},
    "elastic 666": {"RaiSim": 0.66, "Bullet": 2.3, "ODE": 5.6, "DART": 8.7},
}
STEP_MICROSECONDS = {
    "anymal pd": {"RaiSim": 8.2, "MuJoCo": 34.8, "Bullet": 73.7, "ODE": 462.0, "DART": 117.0},
    "atlas pd": {"RaiSim": 40.1, "MuJoCo": 88.2, "Bullet": 151.0, "DART": 238.0},
}
# aims for the ratio of hrpsim's step to MuJoCo's step, from RaiSim's published times
RATIOS = {"anymal pd": 0.24, "atlas pd": 0.45}
# number of steps of 10 ms until the tower falls, at most 60 000
KAPLA = {
    "RaiSim": "5265 at 400 iterations, stands at 1000",
    "MuJoCo": "3297 (Newton)",
    "Bullet": "147, 55 058 with erp at 1000 iterations",
    "ODE": "124, 6453 with erp at 1000 iterations",
    "DART": "19",
}


def error(scene: str, engine: str, time_step: float) -> float | None:
    """Return the published error, or None if there is none."""
    values = _ERRORS.get(scene, {}).get(engine, ())
    if time_step not in _STEPS or _STEPS.index(time_step) >= len(values):
        return None
    return values[_STEPS.index(time_step)]


def seconds(scene: str, engine: str) -> float | None:
    """Return the published time of a run at 1 ms [s], or None if there is none."""
    return _TIMES.get(scene, {}).get(engine)
