# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Torques by TSID's quadratic program: a slow walk of hrp2_like, or of the biped in a file."""

import sys

import numpy as np

import hrpsim
from hrpsim.bridges.tsid import TsidController
from hrpsim.control.biped.prepare import Options, prepare
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.resources import share_path

SHIFT, SWING, STEPS = 1.2, 1.0, 4  # [s]
SMOOTH = np.polynomial.Polynomial([0, 0, 3, -2])  # from 0 to 1, at rest at both ends
FILE = sys.argv[1] if len(sys.argv) > 1 else share_path("urdf/hrp2_like.urdf.xacro")
biped = prepare(FILE, Options(accept_nonphysical_inertia=True))
FEET, STRIDE, LIFT = biped.soles, 0.1 * biped.start[2], 0.07 * biped.start[2]  # [m]
SOLE = sole_outline(biped.model, FEET[0])  # bears up to 80 % of the way to its edges
LENGTHS, WIDTHS = ((0.8 * side.max(), -0.8 * side.min()) for side in SOLE.T)
MIDDLE = np.append(SOLE.mean(axis=0), hrpsim.center_of_mass(biped.model, biped.start)[2])


class SlowWalk(TsidController):
    """Shifts the centre of mass above a foot, then moves the other one forward."""

    def build(self, q, v):
        """Stand on both feet."""
        self.com_task(weight=1.0, kp=30.0)
        self.posture_task(weight=1e-2, kp=10.0)
        self.swing = {foot: self.frame_task(foot, weight=0.1, kp=200.0) for foot in FEET}
        for foot in FEET:
            self.stand_on(foot, LENGTHS, WIDTHS)
        self.goal, self.step = self.com0.copy(), -1

    def update(self, time):
        """Follow smooth courses of the centre of mass and of the foot that swings."""
        step, t = divmod(min(time, STEPS * (SHIFT + SWING) - 1e-9), SHIFT + SWING)
        swing, stance = FEET if step % 2 == 0 else FEET[::-1]
        if step != self.step:
            self.step, self.begin, self.foot = step, self.goal, self.place(swing)
            self.goal = self.place(stance).translation + MIDDLE
            if stance not in self.contacts:
                self.stand_on(stance, LENGTHS, WIDTHS)
        self.move_com(self.begin + SMOOTH(min(t / SHIFT, 1.0)) * (self.goal - self.begin))
        if t > SHIFT and swing in self.contacts:
            self.lift(swing)
        s, place = max(t - SHIFT, 0.0) / SWING, self.foot.copy()
        ahead = (STRIDE if step in (0, STEPS - 1) else 2 * STRIDE) * SMOOTH(s)
        place.translation = self.foot.translation + [ahead, 0, LIFT * np.sin(np.pi * s) ** 2]
        self.move_frame(self.swing[swing], place)


world = hrpsim.World()
world.add_ground()
robot = world.add_robot(biped.model, q=biped.start)
ControlLoop(robot, SlowWalk()).run(STEPS * (SHIFT + SWING) + 0.5)
print(f"{biped.model.name} walked {robot.q[0]:.3f} m")
assert robot.q[2] > 0.95 * biped.start[2] and abs(robot.q[0] - 3 * STRIDE) < STRIDE
