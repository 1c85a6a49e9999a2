# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A controller with the interface of mc_rtc: sensors are set, it runs, joint positions are read."""

from types import SimpleNamespace

import numpy as np

import hrpsim
from hrpsim import share_path
from hrpsim.bridges import McRtc
from hrpsim.control import ControlLoop, controlled_joints


class Squat:
    """Bends the knees by a sine; what mc_rtc's MCGlobalController offers, as far as it is used."""

    def __init__(self, model):
        self.order = [name for name in controlled_joints(model) if "LEG" in name]
        self.loads = []

    def timestep(self):
        """Return the period [s]."""
        return 0.005

    def ref_joint_order(self):
        """Return the joints, in the order of what is set and read."""
        return self.order

    def init(self, q):
        """Begin with joints at q."""
        self.q = self.start = np.array(q)
        self.time = 0.0

    def run(self):
        """Move the hips, knees and ankles so that the soles stay level."""
        self.time += self.timestep()
        bend = 0.1 * (1.0 - np.cos(np.pi * self.time))
        by_joint = {"JOINT2": -bend, "JOINT3": 2.0 * bend, "JOINT4": -bend}
        self.q = self.start + [by_joint.get(name[5:], 0.0) for name in self.order]
        return self.time < 4.0

    def robot(self):
        """Return the robot that is controlled: mbc.q begins with the base's."""
        return SimpleNamespace(mbc=SimpleNamespace(q=[[], *([angle] for angle in self.q)]))

    def setWrenches(self, wrenches):
        """Keep the vertical force on the left foot: couple first, then force."""
        self.loads.append(wrenches["lfsensor"][5])

    def __getattr__(self, name):
        """Take the other sensors, and forget them."""
        return lambda *values: None


robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
controller, height = Squat(robot.model), robot.q[2]
ControlLoop(robot, McRtc(controller)).run()
print(f"down and up again within {1e3 * abs(robot.q[2] - height):.1f} mm")
assert abs(robot.q[2] - height) < 0.005 and abs(np.mean(controller.loads) - 284.4) < 15.0
