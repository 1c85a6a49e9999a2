# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A humanoid stands on rubber feet. The sensors in the soles measure its weight."""

import numpy as np

import hrpsim
from hrpsim import share_path

world = hrpsim.load_world(share_path("config/stand.yaml"))  # settled: it begins at rest
robot = world.robots["hrp2"]
world.step(1000)

feet = [robot.sensors[name].wrench for name in ("lfsensor", "rfsensor")]
for name, wrench in zip(("left", "right"), feet):
    print(f"{name:5} foot: force {wrench[:3].round(2)} N, torque {wrench[3:].round(2)} Nm")

contacts = robot.contact_arrays()
print(f"{len(contacts)} contact points, {contacts.forces[:, 2].sum():.3f} N in all")

weight = robot.model.mass * 9.80665
assert np.isclose(sum(wrench[2] for wrench in feet), weight, rtol=1e-6)
assert np.isclose(contacts.forces[:, 2].sum(), weight, rtol=1e-6)

# At rest the total moment of the floor's forces about the centre of mass is zero.
com = hrpsim.center_of_mass(robot.model, robot.q)
moment = np.cross(contacts.points - com, contacts.forces).sum(axis=0)
assert np.abs(moment).max() < 1e-3, moment
