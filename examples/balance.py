# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Balance a humanoid on one foot by a linear regulator, from derivatives through the contact."""

import numpy as np
from scipy.linalg import solve_discrete_are
from scipy.optimize import least_squares

import hrpsim
from hrpsim.dynamics import center_of_mass, link_jacobian, link_pose

world = hrpsim.World(slop=1e-4)
world.add_ground()
model = hrpsim.load_model(hrpsim.share_path("urdf/hrp2_like.urdf.xacro"))
q = model.neutral()
legs = {s: [model.joint(f"{s}LEG_JOINT{k}").q_index for k in range(6)] for s in "LR"}
q[legs["L"]], q[legs["R"]] = (0, 0, -0.45, 0.87, -0.42, 0), (0, 0, -0.6, 1.2, -0.6, 0)
chosen = [0, 1, 2, *(legs["L"][k] for k in (0, 1, 2, 4, 5))]  # the knee stays: one solution


def misses(values):
    """Return the errors of the sole's pose at the origin, and of the centre of mass above it."""
    q[chosen] = values
    p, R = link_pose(model, q, "l_sole")
    return np.concatenate([p, (R - np.eye(3)).ravel(), center_of_mass(model, q)[:2]])


q[chosen] = least_squares(misses, q[chosen]).x
q[2] -= 0.5e-4  # in the middle of the slop: no edge between open and closed
robot = world.add_robot(model, q=q)
world.settle()
holding, posture = robot.joint_efforts.copy(), robot.joint_positions.copy()
robot.command(efforts=holding)  # no servo any more: from here on it would fall

# The foot stays: the joints alone are the state, x = T y.
step, nv, J = world.linearize("efforts"), model.nv, link_jacobian(model, robot.q, "l_sole")
T = np.kron(np.eye(2), np.vstack([-np.linalg.solve(J[:, :6], J[:, 6:]), np.eye(nv - 6)]))
rows = np.r_[6:nv, nv + 6 : 2 * nv]
A, B = step.A[rows] @ T, step.B[rows]
growth = np.log(np.abs(np.linalg.eigvals(A)).max()) / world.time_step
weights, R = np.diag(np.repeat([1e3, 1.0], nv - 6)), 1e-3 * np.eye(nv - 6)
P = solve_discrete_are(A, B, weights, R)
K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)


def tilt_after(seconds, gain):
    """Push the waist for 0.1 s while regulating. Return the tilt of the base at the end [rad]."""
    for k in range(round(seconds / world.time_step)):
        y = np.concatenate([robot.joint_positions - posture, robot.joint_velocities])
        robot.command(efforts=holding - gain @ y)
        robot.apply_wrench(model.base_link, (0.0, 10.0 * (k < 100), 0.0))
        world.step()
    return 2.0 * np.arccos(min(1.0, abs(robot.q[6])))


start, fallen = world.snapshot(), tilt_after(1.5, 0.0 * K)
world.restore(start)
balanced = tilt_after(3.0, K)
print(f"exp({growth:.2f} t); tilted by {fallen:.2f} rad, with feedback by {balanced:.1e} rad")
assert growth > 1.0 and fallen > 0.3 and balanced < 0.02
