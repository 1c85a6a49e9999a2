# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Scenarios that tests sweep: found by name in other processes, quick."""

import os
import signal
import time
from pathlib import Path

from hrpsim.sweeps import Design
from hrpsim.sweeps.framework.scenario import FunctionScenario

SOURCE = Path(__file__).resolve()
BOX_WORLD = """
world: {time_step: 0.001}
ground: {material: floor}
friction:
  - {between: [box, floor], static: 0.5}
bodies:
  - name: box
    shape: {box: [0.2, 0.2, 0.1]}
    mass: 1
    position: [0, 0, 0.05]
    velocity: [1, 0, 0]
    material: box
"""


_begun = 0


def wait_at_the_gate():
    """Wait, where a test says so: cells after the first few of a process, for a file to be there.

    So that a sweep is not at its end before the test does to it what it has to.
    """
    global _begun
    _begun += 1
    if _begun > int(os.environ.get("CELLS_BEFORE_THE_GATE", _begun)):
        while not os.path.exists(os.environ["GATE"]):
            time.sleep(0.01)


def fall(height=1.0, gravity=9.81, pause=0.0, seed=0):
    """Time and speed of a fall, with a little of the seed in them."""
    if height > 3.0:
        raise ValueError(f"{height} is too high")
    wait_at_the_gate()
    time.sleep(pause)
    speed = (2.0 * gravity * height) ** 0.5
    return {"time": speed / gravity, "speed": speed, "noise": seed / 2.0**63}


fall.outcomes = {"time": "s", "speed": "m/s", "noise": ""}


def leaves(mode="exit"):
    """Ends as users' code may: by what is no Exception, or with a number that no float holds."""
    if mode == "exit":
        raise SystemExit(4)
    if mode == "stop":
        raise GeneratorExit
    return {"size": 10**400}


leaves.outcomes = {"size": ""}


def endless(height=1.0):
    """Ends with numbers that are none, and with infinite ones."""
    return {"size": {2.0: float("nan"), 3.0: float("inf")}.get(height, height)}


endless.outcomes = {"size": "m"}


def deadly(number=0):
    """Ends its process in cell 5."""
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"twice": 2.0 * number}


deadly.outcomes = {"twice": ""}


def named(function):
    """Return the scenario of a function of this file, as workers can find it."""
    return FunctionScenario(f"{SOURCE}:{function.__name__}")


HEIGHTS = Design({"height": {"uniform": [0.1, 3.5]}}, "sobol", count=32)
SLOW = Design({"height": {"uniform": [0.1, 3.5]}, "pause": 0.02}, "sobol", count=64)
