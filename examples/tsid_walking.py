# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Torques by TSID's quadratic program: a slow walk, the centre of mass above a foot that stands."""

import numpy as np

import hrpsim
from hrpsim.bridges.tsid import TsidController
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.resources import share_path

FEET, SOLE = ("l_sole", "r_sole"), ((0.1, 0.08), (0.05, 0.05))  # [m]
SHIFT, SWING = 1.2, 1.0  # [s]
STRIDE, LIFT, STEPS = 0.1, 0.05, 4  # [m]
SMOOTH = np.polynomial.Polynomial([0, 0, 3, -2])  # from 0 to 1, at rest at both ends
HALF_SITTING = {"JOINT2": -0.4538, "JOINT3": 0.8727, "JOINT4": -0.4189}


class SlowWalk(TsidController):
    """Shifts the centre of mass above a foot, then moves the other one forward."""

    def build(self, q, v):
        """Stand on both feet."""
        self.com_task(weight=1.0, kp=30.0)
        self.posture_task(weight=1e-2, kp=10.0)
        self.swing = {foot: self.frame_task(foot, weight=0.1, kp=200.0) for foot in FEET}
        for foot in FEET:
            self.stand_on(foot, *SOLE)
        self.goal, self.step = self.com0.copy(), -1

    def update(self, time):
        """Follow smooth courses of the centre of mass and of the foot that swings."""
        step, t = divmod(min(time, STEPS * (SHIFT + SWING) - 1e-9), SHIFT + SWING)
        swing, stance = FEET if step % 2 == 0 else FEET[::-1]
        if step != self.step:
            self.step, self.begin, self.foot = step, self.goal, self.place(swing)
            self.goal = np.array([*self.place(stance).translation[:2], self.com0[2]])
            if stance not in self.contacts:
                self.stand_on(stance, *SOLE)
        self.move_com(self.begin + SMOOTH(min(t / SHIFT, 1.0)) * (self.goal - self.begin))
        if t > SHIFT:
            if swing in self.contacts:
                self.lift(swing)
            s, place = (t - SHIFT) / SWING, self.foot.copy()
            ahead = (STRIDE if step in (0, STEPS - 1) else 2 * STRIDE) * SMOOTH(s)
            place.translation = self.foot.translation + [ahead, 0, LIFT * np.sin(np.pi * s) ** 2]
            self.move_frame(self.swing[swing], place)


world = hrpsim.World()
world.add_ground()
model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))
q = model.neutral()
for name in model.joint_names:
    q[model.joint(name).q_index] = HALF_SITTING.get(name[5:], 0.0) if "LEG" in name else 0.0
q[2] -= hrpsim.link_pose(model, q, "l_sole")[0][2]
robot = world.add_robot(model, q=q)
ControlLoop(robot, SlowWalk()).run(STEPS * (SHIFT + SWING) + 0.5)
print(f"walked {robot.q[0] - q[0]:.3f} m")
assert robot.q[2] > 0.95 * q[2] and abs(robot.q[0] - q[0] - 0.3) < 0.1
