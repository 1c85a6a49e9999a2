# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Coverage of the confidence intervals of fitted gear and contact parameters.

python -m evidence.benchmarks.fit_mechanics [SEEDS] prints the table of
docs/verification/fits_sensors.md. scipy integrates three systems. In the first two, a motor with an
encoder drives an arm through an elastic gear with backlash, or with losses. In the third, a foot on
two rails slides and bounces on a compliant floor with dry friction. The noise is white, or
first-order autoregressive.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

import hrpsim
from evidence.benchmarks.coverage import (
    COLOURS,
    coloured,
    coverage,
    number_of_seeds,
    print_head,
    print_rows,
)
from hrpsim.common.constants import STANDARD_GRAVITY as G
from hrpsim.fitting import FitResult, Recording, Signal

ARM = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.3"/><mass value="1.0"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-6" upper="6" effort="1000" velocity="100"/><dynamics damping="0.1"/></joint>
<hrpsim reference="shoulder"><rotor inertia="0.05"/></hrpsim></robot>"""
GEARED = """world: {time_step: 0.0005}
robots:
  - name: arm
    urdf: model.urdf
    base: fixed
    gains: {shoulder: [14.0, 0.4]}
    actuators:
      shoulder: {encoder: motor, stiffness: 90.0, damping: 0.5, backlash: 0.0, efficiency: 1.0,
                 backdriving_efficiency: 1.0}
"""
FOOT = """<robot name="foot"><link name="base"/><link name="carriage"/>
<link name="foot"><inertial><mass value="2.0"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="along" type="prismatic"><parent link="base"/><child link="carriage"/>
<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1000" velocity="100"/></joint>
<joint name="up" type="prismatic"><parent link="carriage"/><child link="foot"/><axis xyz="0 0 1"/>
<origin xyz="0 0 0.05"/><limit lower="-9" upper="9" effort="1000" velocity="100"/></joint>
</robot>"""
FLOORED = """world: {time_step: 0.0002}
ground: {material: floor}
friction:
  - {between: [default, floor], static: 0.3, kinetic: 0.3}
contacts:
  - {between: [default, floor], compliance: 2.0e-4, damping_time: 0.004}
robots:
  - {name: foot, urdf: model.urdf, base: fixed, gains: {along: [0, 0], up: [0, 0]}}
"""
STIFFNESS, DAMPING, BACKLASH, ROTOR, INERTIA, WEIGHT = 60.0, 0.5, 0.03, 0.05, 0.11, 0.3 * G
LOSSES, SLOW = (0.8, 0.7), 1e-4  # efficiencies; velocity below which friction falls [rad/s]
MASS, FRICTION, COMPLIANCE, DAMPING_TIME = 2.0, 0.4, 1e-4, 0.006  # of foot and floor
SPEED, HEIGHTS = 2.0, (0.0, 1e-4, -4e-4)  # at the start of each recording [m/s, m]
GEAR_NOISE, FOOT_NOISE = 2e-4, 1e-4  # [rad, m]
GEAR, PAIR = "robots.arm.actuators.shoulder", "default-floor"


class System(NamedTuple):
    """A system with known parameters."""

    urdf: str
    world: str
    window: float  # [s]
    first: dict[str, object]  # parameters of the fit
    truth: dict[str, float]
    record: Callable[[int, float], list[Recording]]  # takes a seed and the colour of the noise


def geared(
    backlash: float, seed: int | None = 0, colour: float = 0.0, losses: tuple[float, float] = (1, 1)
) -> Recording:
    """Return the recording of an arm behind an elastic gear.

    Args:
        backlash: backlash of the gear [rad].
        seed: random seed, or None for no noise.
        colour: autoregressive coefficient of the noise.
        losses: efficiencies of the gear, driven forward and driven backward.
    """
    time, command_time = np.arange(0.0, 2.0, 0.01), np.arange(0.0, 2.0, 0.05)
    commands = 0.5 * np.sin(5.0 * command_time) * (command_time > 0.0)
    mean, loss = 0.5 * (1.0 / losses[0] + losses[1]), 0.5 * (1.0 / losses[0] - losses[1])

    def rate(t, x):
        command = commands[max(np.searchsorted(command_time, t, side="right") - 1, 0)]
        gap = np.clip(x[4], -0.5 * backlash, 0.5 * backlash)
        torque, relaxing = STIFFNESS * (x[2] - x[0] - gap) + DAMPING * (x[3] - x[1]), 0.0
        if 2.0 * gap * np.sign(torque) < backlash:  # no flank pulls (Nordin, Galic, Gutman 1997)
            torque, relaxing = 0.0, torque / DAMPING
        motor = 14.0 * (command - x[2]) - 0.4 * x[3] - mean * torque
        motor -= loss * abs(torque) * np.tanh(x[3] / SLOW)
        link = torque - 0.1 * x[1] - WEIGHT * np.sin(x[0])
        return [x[1], link / INERTIA, x[3], motor / ROTOR, relaxing]

    ends = {"t_eval": time, "max_step": 1e-3, "rtol": 1e-8, "atol": 1e-10}
    x = solve_ivp(rate, (0.0, time[-1]), np.zeros(5), "LSODA" if loss else "RK45", **ends).y
    noise = GEAR_NOISE * coloured(np.random.default_rng(seed), colour, len(time), 2, 1)
    noise *= seed is not None
    noise[:2] = 0.0  # the arm hangs still: the first velocity is a difference of positions
    joints = ("shoulder",)
    motor = (x[2][:, None] + noise[:, 1])[1:]
    return Recording(
        time,
        joints,
        x[0][:, None] + noise[:, 0],
        command_time=command_time,
        command_positions=commands[:, None],
        signals=(Signal("motor_position", "motor", time[1:], motor, joints),),
    )


def sliding(seed: int = 0, colour: float = 0.0) -> list[Recording]:
    """Return recordings of a foot that slides and bounces, but never leaves the floor."""
    random, time = np.random.default_rng(seed), np.arange(0.0, 0.35, 0.004)

    def rate(t, x):
        force = -(x[1] + DAMPING_TIME * x[3]) / COMPLIANCE
        return [x[2], x[3], -FRICTION * force / MASS, force / MASS - G]

    recordings = []
    for k, height in enumerate(HEIGHTS):
        start = [0.0, height - MASS * G * COMPLIANCE, SPEED, 0.0]
        ends = {"t_eval": time, "max_step": 1e-3, "rtol": 1e-9, "atol": 1e-12}
        x = solve_ivp(rate, (0.0, time[-1]), start, **ends).y
        noise = FOOT_NOISE * coloured(random, colour, len(time), 2)
        recordings.append(Recording(time, ("along", "up"), x[:2].T + noise, name=f"slide {k}"))
    return recordings


def systems() -> tuple[System, ...]:
    """Return the systems."""
    gear: dict[str, object] = {
        f"{GEAR}.stiffness": {"start": 90.0, "between": [10, 500]},
        f"{GEAR}.damping": {"start": 0.3, "between": [0.0, 5.0]},
        f"{GEAR}.backlash": {"start": 0.02, "between": [0.0, 0.1]},
    }
    contact: dict[str, object] = {
        f"friction.{PAIR}.coefficient": 0.3,
        f"contacts.{PAIR}.compliance": {"start": 2e-4, "between": [1e-5, 1e-3], "scale": "log"},
        f"contacts.{PAIR}.damping_time": {"start": 0.004, "between": [0.0, 0.05]},
    }
    lossy: dict[str, object] = {
        f"{GEAR}.stiffness": {"start": 90.0, "between": [10, 500]},
        f"{GEAR}.efficiency": {"start": 0.95, "between": [0.3, 1.0]},
        f"{GEAR}.backdriving_efficiency": {"start": 0.95, "between": [0.3, 1.0]},
    }
    true_gear = dict(zip(gear, (STIFFNESS, DAMPING, BACKLASH)))
    true_lossy = dict(zip(lossy, (STIFFNESS, *LOSSES)))
    true_contact = dict(zip(contact, (FRICTION, COMPLIANCE, DAMPING_TIME)))

    def geared_only(seed: int, colour: float) -> list[Recording]:
        return [geared(BACKLASH, seed, colour)]

    def with_losses(seed: int, colour: float) -> list[Recording]:
        return [geared(0.0, seed, colour, LOSSES)]

    return (
        System(ARM, GEARED, 1.99, gear, true_gear, geared_only),
        System(ARM, GEARED, 1.99, lossy, true_lossy, with_losses),
        System(FOOT, FLOORED, 0.4, contact, true_contact, sliding),
    )


def fitted(one: System, folder: Path, seed: int, colour: float) -> FitResult:
    """Fit a system. The gear starts at rest, so its initial state is known."""
    (folder / "model.urdf").write_text(one.urdf)
    world = folder / "world.yaml"
    world.write_text(one.world)
    start = "measured" if one.urdf == ARM else "fitted"
    recordings = one.record(seed, colour)
    return hrpsim.fit(world, recordings, one.first, window=one.window, start=start)  # type: ignore[arg-type]


def main() -> int:
    """Print the table."""
    seeds = number_of_seeds()
    print_head(seeds)
    with tempfile.TemporaryDirectory() as folder:
        for system in systems():
            fits = (
                (fitted(system, Path(folder), seed, colour) for seed in range(seeds))
                for colour in COLOURS
            )
            print_rows(system.truth, *(coverage(own, list(system.truth.values())) for own in fits))
    return 0


if __name__ == "__main__":
    sys.exit(main())
