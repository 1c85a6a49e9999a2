# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A humanoid balances on one foot by a linear regulator: derivatives through its contact."""

import numpy as np
from scipy.linalg import solve_discrete_are
from scipy.optimize import least_squares

import hrpsim
from hrpsim.dynamics import center_of_mass, link_jacobian, link_pose

SOLE, OTHER = "l_sole", "r_sole"

world = hrpsim.World(slop=1e-4)
world.add_ground()
model = hrpsim.load_model(hrpsim.share_path("urdf/hrp2_like.urdf.xacro"))

# A posture with the centre of mass over the left sole, the right foot 5 cm up.
q = model.neutral()
legs = {s: [model.joint(f"{s}LEG_JOINT{k}").q_index for k in range(6)] for s in "LR"}
for side in "LR":
    q[[legs[side][k] for k in (2, 3, 4)]] = -0.4538, 0.8727, -0.4189
q[2] -= link_pose(model, q, SOLE)[0][2]
place, other = link_pose(model, q, SOLE)[0], link_pose(model, q, OTHER)[0]
chosen = [0, 1, 2, *legs["L"], *legs["R"]]


def misses(values):
    """Return how far soles and centre of mass are from where they should be."""
    q[chosen] = values
    (p, R), (p_other, R_other) = link_pose(model, q, SOLE), link_pose(model, q, OTHER)
    lean = center_of_mass(model, q)[:2] - p[:2]
    lifted = p_other - other - (0, 0, 0.05)
    return np.concatenate(
        [p - place, (R - np.eye(3)).ravel(), lean, lifted, (R_other - np.eye(3)).ravel()]
    )


q[chosen] = least_squares(misses, q[chosen]).x
q[2] -= 0.5e-4  # in the middle of the slop: no edge between open and closed
robot = world.add_robot(model, q=q)
world.settle()
holding = robot.joint_efforts.copy()
rest = robot.joint_positions.copy()
robot.command(efforts=holding)  # no servo any more: from here on it would fall

# The foot stays, so that the joints alone tell where everything is: x = T y.
step, nv = world.linearize("efforts"), model.nv
J = link_jacobian(model, robot.q, SOLE)
T = np.concatenate([-np.linalg.solve(J[:, :6], J[:, 6:]), np.eye(nv - 6)])
T = np.kron(np.eye(2), T)
rows = np.r_[6:nv, nv + 6 : 2 * nv]
A, B = step.A[rows] @ T, step.B[rows]
growth = np.log(np.abs(np.linalg.eigvals(A)).max()) / world.time_step
weights = np.diag(np.r_[np.full(nv - 6, 1e3), np.full(nv - 6, 1.0)])
R = 1e-3 * np.eye(nv - 6)
P = solve_discrete_are(A, B, weights, R)
K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)


def tilt_after(seconds, gain):
    """Push the waist for 0.1 s, regulate, and return how far the base has tilted [rad]."""
    tilt = 0.0
    for k in range(round(seconds / world.time_step)):
        y = np.concatenate([robot.joint_positions - rest, robot.joint_velocities])
        robot.command(efforts=holding - gain @ y)
        if k < 100:
            robot.apply_wrench(model.base_link, (0.0, 10.0, 0.0))
        world.step()
        tilt = 2.0 * np.arccos(min(1.0, abs(robot.q[6])))
    return tilt


start = world.snapshot()
fallen = tilt_after(1.5, 0.0 * K)
world.restore(start)
balanced = tilt_after(3.0, K)
print(f"unstable as exp({growth:.2f} t); tilted by {fallen:.2f} rad without feedback")
print(f"and by {balanced:.1e} rad with it, {len(step.on_edge)} constraints on an edge")
assert growth > 1.0 and fallen > 0.3
assert balanced < 0.02 and np.abs(robot.joint_positions - rest).max() < 0.02
