# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run a controller with mc_rtc's interface: set sensors, run, read joint positions."""

from types import SimpleNamespace

import numpy as np

import hrpsim
from hrpsim import share_path
from hrpsim.bridges import McRtc
from hrpsim.control import ControlLoop, controlled_joints


class Squat:
    """Bends the knees by a sine. Has the needed methods of MCGlobalController."""

    def __init__(self, model):
        self.order = [name for name in controlled_joints(model) if "LEG" in name]
        self.loads = []

    def timestep(self):
        """Return the period [s]."""
        return 0.005

    def ref_joint_order(self):
        """Return the joint names, in the order of all joint arrays."""
        return self.order

    def init(self, q):
        """Start from joint positions q."""
        self.q = self.start = np.array(q)
        self.time = 0.0

    def run(self):
        """Move hips, knees and ankles, with level soles."""
        self.time += self.timestep()
        bend = 0.1 * (1.0 - np.cos(np.pi * self.time))
        by_joint = {"JOINT2": -bend, "JOINT3": 2.0 * bend, "JOINT4": -bend}
        self.q = self.start + [by_joint.get(name[5:], 0.0) for name in self.order]
        return self.time < 4.0

    def robot(self):
        """Return an object whose mbc.q has the coordinates of the base, then of each joint."""
        return SimpleNamespace(mbc=SimpleNamespace(q=[[], *([angle] for angle in self.q)]))

    def setWrenches(self, wrenches):
        """Store the left foot's vertical force. A wrench has the torque, then the force."""
        self.loads.append(wrenches["lfsensor"][5])

    def __getattr__(self, name):
        """Accept all other sensors, and ignore their values."""
        return lambda *values: None


robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
controller, height = Squat(robot.model), robot.q[2]
ControlLoop(robot, McRtc(controller)).run()
print(f"down and up again within {1e3 * abs(robot.q[2] - height):.1f} mm")
assert abs(robot.q[2] - height) < 0.005 and abs(np.mean(controller.loads) - 284.4) < 15.0
