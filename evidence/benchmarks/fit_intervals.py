# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Coverage of the confidence intervals of fits with coloured noise.

python -m evidence.benchmarks.fit_intervals [SEEDS] prints the table of docs/verification/fits.md.
The angle of a moving servo arm is measured every 20 ms for 4 s. The noise is first-order
autoregressive with a standard deviation of 2 mrad. Each fit estimates gain and damping, with fitted
initial states of windows of 1 s.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import hrpsim
from evidence.benchmarks.coverage import coloured, coverage, number_of_seeds
from hrpsim.fitting import FitResult, Recording

URDF = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.3"/><mass value="1.0"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-6" upper="6" effort="100" velocity="100"/><dynamics damping="0.1"/></joint>
</robot>"""
WORLD = """robots:
  - {name: arm, urdf: arm.urdf, base: fixed, gains: {shoulder: [10.0, 0.0]}}
"""
TRUTH = {"robots.arm.joints.shoulder.kp": 14.0, "robots.arm.joints.shoulder.damping": 0.25}
FIRST = dict(zip(TRUTH, (10.0, 0.1)))
SAMPLES, STEPS = 200, 20
NOISE = 2e-3  # [rad]
COLOURS = (0.0, 0.5, 0.9, 0.95)  # autoregressive coefficient


def moved(world_file: Path) -> np.ndarray:
    """Return time [s], angle [rad] and command [rad] of the true arm (samples, 3)."""
    world = hrpsim.load_world(world_file)
    arm = world.robots["arm"]
    kp, damping = TRUTH.values()
    arm.set_gains(kp, 0.0)
    arm.set_joint_properties(damping=damping)
    rows = []
    for k in range(SAMPLES):
        command = 0.4 * np.sign(np.sin(0.14 * k)) + 0.3 * np.sin(0.09 * k)
        rows.append((world.time, arm.q[0], command))
        arm.command(positions=[command])
        world.step(STEPS)
    return np.array(rows)


def noise(seed: int, colour: float) -> np.ndarray:
    """Return stationary autoregressive noise (samples,) [rad]."""
    return NOISE * coloured(np.random.default_rng(seed), colour, SAMPLES)


def main() -> int:
    """Print the table."""
    seeds = number_of_seeds()
    names = f"intervals of the gain, of {seeds} | of the damping, of {seeds}"
    print(f"| coefficient of the noise | {names} | mean half width |")
    print("| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "arm.urdf").write_text(URDF)
        world_file = Path(folder) / "arm.yaml"
        world_file.write_text(WORLD)
        time, angles, commands = moved(world_file).T

        def fitted(seed: int, colour: float) -> FitResult:
            measured = Recording(
                time,
                ("shoulder",),
                (angles + noise(seed, colour))[:, None],
                command_time=time,
                command_positions=commands[:, None],
            )
            return hrpsim.fit(world_file, [measured], FIRST, window=1.0, start="fitted")

        for colour in COLOURS:
            fits = (fitted(seed, colour) for seed in range(seeds))
            inside, (kp, damping) = coverage(fits, list(TRUTH.values()))
            widths = f"{kp:.3f} Nm/rad, {damping:.4f} Nms/rad"
            print(f"| {colour:g} | {inside[0]} | {inside[1]} | {widths} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
