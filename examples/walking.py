# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Walk nineteen steps on rubber feet. The stabiliser leads the robot to the end of the plan."""

import numpy as np

import hrpsim
from hrpsim import share_path
from hrpsim.control import Walk, measured_zmp, simulate_walk, walking_pattern

world = hrpsim.load_world(share_path("config/walking_demo.yaml"))
robot = world.robots["hrp2"]
plan = walking_pattern(robot.model, "E5")
trial = simulate_walk(robot, Walk(plan.sequence))
print(f"made: {trial.steps} of {trial.planned_steps}, greatest lean {trial.tilt.max():.4f} rad")
assert trial.completed

# It arrives where the plan says: x and y of the waist.
way = plan.waist[-1, :2] - plan.waist[0, :2]
error = trial.q[-1][:2] - trial.q[0][:2] - way
print(f"off by {1000 * np.linalg.norm(error):.1f} mm after {trial.times[-1]:.1f} s")
assert np.linalg.norm(error) < 0.03

# The measured zero-moment point stays near the planned one.
zmp, planned = measured_zmp(robot.model, trial), trial.signals["zmp_reference"]
rms = np.sqrt(np.nanmean(np.sum((zmp - planned) ** 2, axis=1)))
print(f"zero-moment point: {1000 * rms:.1f} mm rms from the plan")
assert rms < 0.02
