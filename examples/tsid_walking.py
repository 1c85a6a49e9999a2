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

SHIFT, SWING, STEPS, SINK = 2.0, 1.0, 4, 0.02  # [s], [s], steps, [m/s] of a foot that is late
SMOOTH = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])  # from 0 to 1, at rest at both ends
BUMP = np.polynomial.Polynomial([0, 0, 0, 64, -192, 192, -64])  # up to 1 and down again
FILE = sys.argv[1] if len(sys.argv) > 1 else share_path("urdf/hrp2_like.urdf.xacro")
biped = prepare(FILE, Options(accept_nonphysical_inertia=True))
FEET, STRIDE, LIFT = biped.soles, 0.1 * biped.start[2], 0.07 * biped.start[2]  # [m]
SOLE = sole_outline(biped.model, FEET[0])  # to bear up to 60 % of the way to its edges, for
LENGTHS, WIDTHS = ((0.6 * side.max(), -0.6 * side.min()) for side in SOLE.T)  # corners are round
MIDDLE = np.append(SOLE.mean(axis=0), hrpsim.center_of_mass(biped.model, biped.start)[2])


def course(shape, t, over):
    """Return where a course from 0 to `over` [s] is, its rate and its acceleration."""
    s = np.clip(t / over, 0.0, 1.0)
    return np.array([shape(s), shape.deriv()(s) / over, shape.deriv(2)(s) / over**2])


class SlowWalk(TsidController):
    """Shifts the centre of mass above a foot, then moves the other one forward."""

    def configure(self, model, parameters):
        """Ask for the contacts of the feet."""
        self.needs = {"base": "true", "contacts": list(FEET)}
        super().configure(model, parameters)

    def build(self, q, v):
        """Stand on both feet."""
        self.com_task(weight=1.0, kp=30.0)
        self.posture_task(weight=1e-3, kp=10.0)
        self.swing = {foot: self.frame_task(foot, weight=1.0, kp=200.0) for foot in FEET}
        for foot in FEET:
            self.stand_on(foot, LENGTHS, WIDTHS)
        self.step, self.goal, self.creep = -1, self.com0, 0.0
        self.begin_step(0.0)

    def begin_step(self, time):
        """Plan the next step from where the feet are now."""
        self.step, self.begun, self.begin = self.step + 1, time, self.goal
        self.feet = FEET if self.step % 2 == 0 else FEET[::-1]
        self.foot = self.place(self.feet[0])
        self.goal = self.place(self.feet[1]).translation + MIDDLE

    def update(self, time):
        """Follow smooth courses; a step ends when its foot touches the floor."""
        (swing, stance), t = self.feet, time - self.begun
        lifted, way = swing not in self.contacts, self.goal - self.begin
        if lifted and t > SHIFT + 0.5 * SWING and self.state.contacts[swing].touches:
            self.stand_on(swing, LENGTHS, WIDTHS)
            self.finished = self.step == STEPS - 1
            return self.begin_step(time)
        self.move_com(*(np.outer(course(SMOOTH, t, SHIFT), way) + [self.begin, 0 * way, 0 * way]))
        stood = self.place(stance).translation
        if t > SHIFT and not lifted:
            self.lift(swing)
            self.stood = stood
        elif lifted:
            self.creep = max(self.creep, float(np.linalg.norm((stood - self.stood)[:2])))
        ahead = STRIDE if self.step in (0, STEPS - 1) else 2 * STRIDE
        moved = np.outer(course(SMOOTH, t - SHIFT, SWING), [ahead, 0, 0, 0, 0, 0])
        moved[:, 2] = LIFT * course(BUMP, t - SHIFT, SWING)
        moved[0, 2] -= SINK * max(t - SHIFT - SWING, 0.0)
        place = self.foot.copy()
        place.translation = self.foot.translation + moved[0, :3]
        self.move_frame(self.swing[swing], place, *moved[1:])


world = hrpsim.World()
world.add_ground()
robot = world.add_robot(biped.model, q=biped.start)
walk = SlowWalk()
ControlLoop(robot, walk).run(2.0 * STEPS * (SHIFT + SWING))
print(f"{biped.model.name} walked {robot.q[0]:.3f} m; feet crept {1e3 * walk.creep:.3f} mm a step")
assert walk.finished and walk.creep < 1e-4 and abs(robot.q[0] - 3 * STRIDE) < 0.3 * STRIDE
