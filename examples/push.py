# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Push a floating robot at a hand. The momentum equals the impulse, whatever the joints do."""

import numpy as np
from scipy.spatial.transform import Rotation

import hrpsim
from hrpsim import share_path

FORCE = np.array([30.0, -20.0, 50.0])  # [N]
STEPS = 50  # of 1 ms

model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))
world = hrpsim.World(time_step=1e-3, gravity=(0, 0, 0))
robot = world.add_robot(model)
robot.command(efforts=np.zeros(len(robot.joint_names)))  # all joints limp

for _ in range(STEPS):
    robot.apply_wrench("RARM_LINK6", force=FORCE)  # a push lasts for one call of step
    world.step()

# The first rows of M v are the momentum of the whole robot, along the base's axes.
base = Rotation.from_quat(robot.q[3:7])
momentum = base.apply((hrpsim.mass_matrix(model, robot.q) @ robot.v)[:3])
impulse = FORCE * STEPS * world.time_step
print(f"impulse {impulse} Ns, momentum {momentum.round(9)} Ns")
assert np.allclose(momentum, impulse, atol=1e-9)

# The hand, not the whole, moves most: that is where the force acted.
speeds = np.linalg.norm(robot.link_velocities()[0], axis=1)
fastest = model.link_names[int(speeds.argmax())]
print(f"fastest link: {fastest}, {speeds.max():.2f} m/s")
assert fastest.startswith("RARM")
