# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A body on one foot sways by an ankle with two push rods: crank angles and joint torques."""

import numpy as np

import hrpsim
from hrpsim.dynamics import inverse_dynamics, link_jacobian

CRANK = 0.05
MOTORS = np.array([[0, 0.045, 0.25], [0, -0.045, 0.17]])  # in the shank [m]
HEELS = np.array([[-0.06, 0.05, -0.02], [-0.06, -0.05, -0.02]])  # in the foot
LENGTHS = np.linalg.norm(HEELS - MOTORS + [CRANK, 0, 0], axis=1)


def heels(pitch, roll):
    """Return the rods' lower ends in the shank's frame, and the derivatives by both angles."""
    (cp, sp), (cr, sr) = ((np.cos(a), np.sin(a)) for a in (pitch, roll))
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    at = HEELS @ Rx.T @ Ry.T
    return at, np.cross([0, 1, 0], at), np.cross(Ry[:, 0], at)


def cranks(pitch, roll):
    """Return the angles of the cranks (2,) and their derivatives by pitch and roll (2, 2)."""
    at, by_pitch, by_roll = heels(pitch, roll)
    x, y, z = (at - MOTORS).T
    level = (x * x + y * y + z * z + CRANK**2 - LENGTHS**2) / (2 * CRANK)
    angles = np.arctan2(x, z) + np.pi - np.arcsin(level / np.hypot(x, z))
    angles = (angles + np.pi) % (2 * np.pi) - np.pi
    arms = CRANK * np.stack([-np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    rods = at - MOTORS - arms
    turn = np.sum(rods * np.cross([0, 1, 0], arms), axis=1)
    return angles, np.stack([np.sum(rods * d, axis=1) / turn for d in (by_pitch, by_roll)], axis=1)


world = hrpsim.World(position_projection=True)
world.add_ground()
model = hrpsim.load_model(hrpsim.share_path("urdf/rod_ankle.urdf.xacro"))
robot = world.add_robot(model, q=[0, 0, 0.08, 0, 0, 0, 1, 0, 0, 0, 0])  # its foot on the floor
away = off = 0.0
for k in range(3500):  # a sway to the side and forward, then rest
    swing = np.sin(np.pi * min(k, 1500) / 1000) * np.array([-0.05, 0.04])
    robot.command(positions=cranks(*swing)[0], names=["L_CRANK", "R_CRANK"])
    world.step()
    angles = robot.joint_positions  # pitch, roll, left and right crank
    away = max(away, np.abs(angles[:2] - swing).max())
    off = max(off, np.abs(cranks(*angles[:2])[0] - angles[2:]).max())
print(f"ankle within {1000 * away:.1f} mrad of the sway; cranks off the geometry by {off:.0e} rad")
assert away < 0.01 and off < 1e-9

# Statics, by virtual work: h, the joints' share of gravity and of the floor's wrench on the foot.
J, h = (
    link_jacobian(model, robot.q, "FOOT"),
    inverse_dynamics(model, robot.q, np.zeros(10), np.zeros(10)),
)
h = (h - J.T @ np.linalg.solve(J[:, :6].T, h[:6]))[6:]
through_rods = cranks(*robot.joint_positions[:2])[1].T @ (robot.joint_efforts[2:] - h[2:])
print(f"pitch and roll: {h[:2].round(3)} Nm; from the motors: {through_rods.round(3)}")
assert np.allclose(through_rods, h[:2], atol=1e-3) and np.abs(h[:2]).min() > 1.0
