# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Walk slowly by torques of TSID's quadratic program.

The robot is hrp2_like or a biped in a file.
"""

import sys

import hrpsim
from hrpsim import share_path
from hrpsim.bridges import SlowWalk
from hrpsim.control import BipedOptions, ControlLoop, prepare_biped

file = sys.argv[1] if len(sys.argv) > 1 else share_path("urdf/hrp2_like.urdf.xacro")
biped = prepare_biped(file, BipedOptions(accept_nonphysical_inertia=True))
world = hrpsim.World()
world.add_ground()
robot = world.add_robot(biped.model, q=biped.start)

walk = SlowWalk(biped, steps=4)
ControlLoop(robot, walk).run(2.0 * walk.duration)

print(f"{biped.model.name} walked {robot.q[0]:.3f} m; feet crept {1e3 * walk.creep:.3f} mm a step")
assert walk.finished and walk.creep < 1e-4  # [m]
assert abs(robot.q[0] - 3 * walk.stride) < 0.3 * walk.stride
