# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A controller plug-in: one joint follows a sine, with the lag of its PD servo."""

import numpy as np

import hrpsim
from hrpsim import share_path
from hrpsim.control import Command, Controller, ControlLoop, controlled_joints

FREQUENCY = 0.5  # [Hz]


class Turn(Controller):
    """Rotates the chest to and fro. The positions are targets of the joint's servo."""

    period = 0.005  # [s]

    def configure(self, model, parameters):
        """Find the joint, and read the amplitude [rad]."""
        self.joint = controlled_joints(model).index("CHEST_JOINT0")
        self.amplitude = parameters["amplitude"]

    def initialize(self, state):
        """Start from the measured posture."""
        self.start, self.posture = state.time, state.joint_positions

    def control(self, state):
        """Return the target positions for the end of the period that begins."""
        t = state.time - self.start + self.period
        target = self.posture.copy()
        target[self.joint] += self.amplitude * np.sin(2 * np.pi * FREQUENCY * t)
        return Command(positions=target)


world = hrpsim.load_world(share_path("config/stand.yaml"))
robot = world.robots["hrp2"]
joint = robot.joint_names.index("CHEST_JOINT0")
times, angles = [], []
with ControlLoop(robot, Turn(), {"amplitude": 0.1}) as loop:
    while world.time < 6.0:
        loop.tick()
        times.append(world.time)
        angles.append(robot.joint_positions[joint])

# Fit A sin + B cos over whole periods. The servo is kp (c - q) - kd q' = I q'', and I w^2 << kp:
# the joint lags by the angle kd w / kp.
t, q, w = np.array(times[400:]), np.array(angles[400:]), 2 * np.pi * FREQUENCY
a, b = np.linalg.lstsq(np.column_stack([np.sin(w * t), np.cos(w * t)]), q, rcond=None)[0]
kp, kd = (gain[joint] for gain in robot.gains)
lag, expected = -np.arctan2(b, a), kd * w / kp
print(f"amplitude {np.hypot(a, b):.4f} rad, lag {lag:.4f} rad, theory {expected:.4f} rad")
assert abs(np.hypot(a, b) - 0.1) < 0.002
assert abs(lag - expected) < 0.1 * expected
