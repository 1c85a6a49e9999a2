# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Play the crane game by a script: grip the box, carry the box to the goal, and release it."""

import hrpsim
from evidence.crane import ScriptedCrane, fetching, in_goal
from hrpsim import share_path
from hrpsim.control import ControlLoop

world = hrpsim.load_world(share_path("config/crane.yaml"))
box = world.bodies["box"]
goal = next(shape for shape in world.fixed_shapes if shape.name == "goal")
player = ScriptedCrane([])
loop = ControlLoop(world.robots["crane"], player, {"period": world.time_step, "grip": 10.0})
player.script = fetching([box], goal, player.grip)

# While the box hangs in the claws, friction of two pads carries it: each gives at most mu N.
most = 0.0
with loop:
    while not player.finished:
        loop.tick()
        contacts = box.contact_arrays("box")
        most = max(most, contacts.forces[:, 2].sum()) if box.position[2] > 0.1 else most
print(f"after {world.time:.1f} s the goal holds {in_goal(world)}")
print(f"the claws bore {most:.2f} N, the box weighs {box.mass * 9.80665:.2f} N")
assert in_goal(world) == ["box"]
assert box.mass * 9.80665 < most < 2 * box.mass * 9.80665
