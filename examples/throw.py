# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""An arm throws a box to a mark: iLQR (Li and Todorov 2004) by derivatives through contact."""

import numpy as np
from scipy.spatial.transform import Rotation

import hrpsim

LINK = """<link name="{0}"><inertial><origin xyz="{1} 0 0"/><mass value="{2}"/><inertia ixx="0.01"
iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>{3}</link><joint name="at_{0}" type=
"continuous"><parent link="{4}"/><child link="{0}"/><origin xyz="{5} 0 0"/><axis xyz="0 -1 0"/>
</joint>"""
TRAY = '<collision><geometry><box size="0.3 0.3 0.02"/></geometry></collision>'
ARM = LINK.format("arm", 0.2, 1.0, "", "a", 0.0) + LINK.format("tray", 0.0, 0.5, TRAY, "arm", 0.5)
MARK, STEPS, MISS, EFFORT = np.array([1.2, 0.0, 0.2]), 150, 1e3, 2e-3

world = hrpsim.World(time_step=0.004, sleeping=False, continuous=False)
model = hrpsim.load_model(f'<robot name="r"><link name="a"/>{ARM}</robot>', base="fixed")
arm, x, z = world.add_robot(model, q=[-0.9, 0.9]), 0.5 * np.cos(0.9), 0.06 - 0.5 * np.sin(0.9)
box, start = world.add_body(hrpsim.Box((0.1, 0.1, 0.1)), 0.5, position=(x, 0, z)), world.snapshot()
hold = np.array([9.80665 * 1.4 * x, 0.0])  # carries arm, tray and box


def minus(x, y):
    """Return the difference of states x - y. The box's difference is in the box's own axes."""
    back = Rotation.from_quat(y[1][3:]).inv()
    turn = (back * Rotation.from_quat(x[1][3:])).as_rotvec()
    return np.r_[x[0] - y[0], back.apply(x[1][:3] - y[1][:3]), turn, x[2] - y[2]]


def throw(efforts, motion=None, gains=None):
    """Throw, with feedback on a motion if given. Return cost, miss [m], efforts, states, steps."""
    world.restore(start)
    states, used, steps = [], efforts.copy(), []
    for k in range(STEPS):
        states.append((arm.joint_positions, box.q, np.r_[arm.joint_velocities, box.v]))
        used[k] += 0.0 if motion is None else gains[k] @ minus(states[k], motion[k])
        arm.command(efforts=used[k])
        steps.append(world.linearize("efforts"))
        world.step()
    miss = Rotation.from_quat(box.q[3:]).inv().apply(box.q[:3] - MARK)
    return MISS * miss @ miss + EFFORT * np.sum((used - hold) ** 2), miss, used, states, steps


kick, damping, trials = np.repeat([0.0, 1.0, -1.0, 0.0], [12, 25, 25, 88])[:, None], 1e-1, 1
cost, first, efforts, motion, steps = throw(hold + kick * [15.0, 2.0])
miss, gains, change = first, np.empty((STEPS, 2, 16)), np.empty((STEPS, 2))
while np.linalg.norm(miss) > 0.01 and trials < 40:
    V, v = np.diag([0, 0, *3 * [2.0 * MISS], *11 * [0]]), np.r_[0, 0, 2.0 * MISS * miss, 11 * [0]]
    for k in reversed(range(STEPS)):
        A, B, r = steps[k].A, steps[k].B, 2.0 * EFFORT * (efforts[k] - hold)
        Q = 2.0 * (EFFORT + damping) * np.eye(2) + B.T @ V @ B
        gains[k], change[k] = -np.linalg.solve(Q, B.T @ V @ A), -np.linalg.solve(Q, r + B.T @ v)
        v, V = A.T @ v + gains[k].T @ (r + B.T @ v), A.T @ V @ (A + B @ gains[k])
    trial, trials, damping = throw(efforts + change, motion, gains), trials + 1, 4.0 * damping
    if trial[0] < cost:  # else again, with more damping (Levenberg and Marquardt)
        (cost, miss, efforts, motion, steps), damping = trial, damping / 12.0
first, last = np.linalg.norm(first), np.linalg.norm(miss)
print(f"missed by {first:.2f} m at first, by {last:.4f} m after {trials} throws")
assert first > 0.2 and last < 0.01
