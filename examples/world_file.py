# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load a world from a YAML file: a ball bounces to the height of Newton's law of impact."""

import tempfile
from pathlib import Path

import hrpsim

WORLD = """
world: {time_step: 0.001, integrator: rk4}
ground: {material: floor}
friction:
  - {between: [rubber, floor], static: 0.8, restitution: 0.9}
bodies:
  - {name: ball, shape: {sphere: 0.05}, mass: 0.2, position: [0, 0, 1.05], material: rubber}
"""

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "ball.yaml")
    path.write_text(WORLD)
    world = hrpsim.load_world(path)

ball = world.bodies["ball"]
tops: list[float] = []
rising = False
while len(tops) < 4:
    world.step()
    if rising and ball.velocity[2] <= 0.0:  # up here it turns
        tops.append(ball.position[2] - 0.05)
    rising = ball.velocity[2] > 0.0

# Each bounce keeps 0.9 of the speed, so 0.81 of the height: 1 m, 0.81 m, 0.6561 m ...
for k, height in enumerate(tops, start=1):
    print(f"bounce {k}: {height:.5f} m, Newton's law {0.81**k:.5f} m")
    assert abs(height - 0.81**k) < 1e-5

# A mistake names file, line, entry and what exists.
try:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "wrong.yaml")
        path.write_text(WORLD.replace("restitution", "restitutio"))
        hrpsim.load_world(path)
except hrpsim.WorldError as error:
    print(error)
    assert "wrong.yaml:5" in str(error) and "Did you mean 'restitution'" in str(error)
