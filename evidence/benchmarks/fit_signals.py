# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Coverage of the confidence intervals of fitted sensor unknowns.

python -m evidence.benchmarks.fit_signals [SEEDS] prints the table of
docs/verification/fits_sensors.md. scipy integrates the equation of motion of a servo arm. The
encoder has an offset. Current, torque, wrench, IMU and a motion-capture marker follow from the
motion, with gains, offsets and delays. The noise is white, or first-order autoregressive.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import interp1d

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

URDF = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.3"/><mass value="1.0"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-6" upper="6" effort="1000" velocity="100"/><dynamics damping="0.1"/></joint>
<hrpsim reference="rod"><sensor name="force" type="force_torque"/>
<sensor name="imu" type="imu"><origin xyz="0 0 -0.4"/></sensor></hrpsim></robot>"""
WORLD = """world: {time_step: 0.0005}
robots:
  - {name: arm, urdf: arm.urdf, base: fixed, gains: {shoulder: [10.0, 0.0]}}
"""
MASS, LENGTH, INERTIA, IMU = 1.0, 0.3, 0.02, 0.4  # rod, and position of the IMU [kg, m, kg m^2, m]
MARKER = np.array([0.02, -0.01, -0.5])  # position on the rod [m]
TRUTH = {
    "robots.arm.joints.shoulder.kp": 14.0,
    "robots.arm.joints.shoulder.damping": 0.25,
    "encoders.shoulder.offset": 0.02,
    "signals.current.shoulder.constant": 0.8,
    "signals.current.shoulder.offset": 0.3,
    "signals.current.delay": 0.004,
    "signals.torque.shoulder.gain": 1.1,
    "signals.torque.shoulder.offset": -0.2,
    "signals.force.gain": 0.95,
    "signals.force.tare_fx": 2.0,
    "signals.force.tare_fz": -1.0,
    "signals.force.tare_ty": 0.3,
    "signals.force.delay": 0.006,
    "signals.imu.bias_wy": 0.02,
    "signals.imu.bias_ax": 0.2,
    "signals.imu.turn_x": 0.03,
    "signals.imu.turn_z": -0.02,
    "signals.imu.delay": 0.003,
    "signals.rod.at_x": MARKER[0],
    "signals.rod.at_z": MARKER[2],
}
DELAYS = (0.0, 0.012)  # bounds of delays [s]
FIRST = {"kp": 10.0, "damping": 0.1, "constant": 0.5, "gain": 1.0}  # initial values, others 0
DURATION, INTERVAL = 2.4, 0.02  # [s]
NOISE = {"encoder": 1e-3, "current": 0.05, "torque": 0.05, "force": 0.1, "gyro": 0.01}
NOISE |= {"accelerometer": 0.05, "marker": 1e-3}


class Arm:
    """The true arm: angle, velocity and acceleration as functions of time."""

    def __init__(self) -> None:
        self.command_time = np.arange(0.0, DURATION, 0.1)
        wave = np.sin(3.0 * self.command_time), np.sign(np.sin(7.0 * self.command_time))
        self.commands = 0.5 * wave[0] + 0.4 * wave[1]
        time = np.arange(0.0, DURATION + 0.1, 5e-4)
        ends = {"rtol": 1e-9, "atol": 1e-11, "max_step": 0.005, "t_eval": time}
        solution = solve_ivp(self._rate, (0.0, time[-1]), [0.3, 0.0], **ends)
        self.state = interp1d(time, solution.y, kind="cubic")

    def torque(self, time: np.ndarray, angle: np.ndarray) -> np.ndarray:
        """Return the torque of the servo at the measured angle [Nm]."""
        at = np.searchsorted(self.command_time, time, side="right") - 1
        return TRUTH["robots.arm.joints.shoulder.kp"] * (self.commands[np.maximum(at, 0)] - angle)

    def _rate(self, time, x):
        damping = TRUTH["robots.arm.joints.shoulder.damping"]
        torque = self.torque(time, x[0]) - damping * x[1] - MASS * LENGTH * G * np.sin(x[0])
        return [x[1], torque / (INERTIA + MASS * LENGTH**2)]

    def motion(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return angle, velocity and acceleration (n,)."""
        x = self.state(time)
        return x[0], x[1], self._rate(time, x)[1]

    def force(self, time: np.ndarray) -> np.ndarray:
        """Return the wrench of the rod on the base (n, 6), in the frame of the rod."""
        angle, speed, change = self.motion(time)
        wrenches = np.zeros((len(time), 6))
        wrenches[:, 0] = MASS * (LENGTH * change + G * np.sin(angle))
        wrenches[:, 2] = -MASS * (LENGTH * speed**2 + G * np.cos(angle))
        moment = (INERTIA + MASS * LENGTH**2) * change + MASS * G * LENGTH * np.sin(angle)
        wrenches[:, 4] = -moment
        return wrenches

    def imu(self, time: np.ndarray) -> np.ndarray:
        """Return angular velocity and specific force (n, 6) in the frame of the rod."""
        angle, speed, change = self.motion(time)
        zero = np.zeros(len(time))
        force = -IMU * change - G * np.sin(angle), zero, IMU * speed**2 + G * np.cos(angle)
        return np.transpose([zero, speed, zero, *force])

    def marker(self, time: np.ndarray) -> np.ndarray:
        """Return the position of the marker (n, 3) in the world."""
        angle = self.motion(time)[0]
        c, s = np.cos(angle), np.sin(angle)
        x, y, z = MARKER
        return np.transpose([c * x + s * z, np.full(len(time), y), c * z - s * x])


def _noise(random, kind: str, colour: float, count: int, columns: int = 1) -> np.ndarray:
    return NOISE[kind] * coloured(random, colour, count, columns)


def recording(arm: Arm, seed: int, colour: float) -> Recording:
    """Return the recording of the sensors."""
    from scipy.spatial.transform import Rotation

    random, true = np.random.default_rng(seed), TRUTH
    time = np.arange(0.0, DURATION - 0.1, INTERVAL)
    count, late = len(time), time[1:] + 0.007  # sensors have other times
    angle = arm.motion(time)[0]
    offset = true["encoders.shoulder.offset"]

    def delayed(name: str) -> np.ndarray:
        return late - true.get(f"signals.{name}.delay", 0.0)

    times = {name: delayed(name) for name in ("current", "torque")}
    own = {name: arm.torque(at, arm.motion(at)[0])[:, None] for name, at in times.items()}
    current = own["current"] / true["signals.current.shoulder.constant"]
    current += true["signals.current.shoulder.offset"]
    torque = true["signals.torque.shoulder.gain"] * own["torque"]
    torque += true["signals.torque.shoulder.offset"]
    tare = [true["signals.force.tare_fx"], 0.0, true["signals.force.tare_fz"]]
    tare += [0.0, true["signals.force.tare_ty"], 0.0]
    force = true["signals.force.gain"] * arm.force(delayed("force")) + tare
    turn = [true["signals.imu.turn_x"], 0.0, true["signals.imu.turn_z"]]
    R = Rotation.from_rotvec(turn).as_matrix()
    imu = arm.imu(delayed("imu"))
    imu = np.hstack([imu[:, :3] @ R, imu[:, 3:] @ R])
    imu += [0.0, true["signals.imu.bias_wy"], 0.0, true["signals.imu.bias_ax"], 0.0, 0.0]
    n = count - 1
    of_imu = [_noise(random, kind, colour, n, 3) for kind in ("gyro", "accelerometer")]
    joints = ("shoulder",)
    signals = (
        Signal("current", "current", late, current + _noise(random, "current", colour, n), joints),
        Signal("torque", "torque", late, torque + _noise(random, "torque", colour, n), joints),
        Signal("wrench", "force", late, force + _noise(random, "force", colour, n, 6)),
        Signal("imu", "imu", late, imu + np.hstack(of_imu)),
        Signal(
            "point",
            "rod",
            late,
            arm.marker(late) + _noise(random, "marker", colour, n, 3),
            known={"at_y": MARKER[1]},
        ),
    )
    return Recording(
        time,
        joints,
        angle[:, None] + offset + _noise(random, "encoder", colour, count),
        command_time=arm.command_time,
        command_positions=arm.commands[:, None] + offset,
        signals=signals,
    )


def unknowns() -> dict[str, object]:
    """Return the parameters of the fit."""
    settings: dict[str, object] = {}
    for path in TRUTH:
        last = path.rpartition(".")[2]
        start = FIRST.get(last, 0.0)
        settings[path] = {"start": start, "between": DELAYS} if last == "delay" else start
    return settings


def fitted(arm: Arm, folder: Path, seed: int, colour: float) -> FitResult:
    """Fit to one recording. Return the result of the fit."""
    (folder / "arm.urdf").write_text(URDF)
    (folder / "arm.yaml").write_text(WORLD)
    measured = recording(arm, seed, colour)
    return hrpsim.fit(folder / "arm.yaml", [measured], unknowns(), window=1.1, start="fitted")  # type: ignore[arg-type]


def main() -> int:
    """Print the table."""
    seeds, arm = number_of_seeds(), Arm()
    with tempfile.TemporaryDirectory() as folder:
        fits = (
            (fitted(arm, Path(folder), seed, colour) for seed in range(seeds)) for colour in COLOURS
        )
        columns = [coverage(own, list(TRUTH.values())) for own in fits]
    print_head(seeds)
    print_rows(TRUTH, *columns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
