# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The thesis's sliding box, for E7 and E8: 1 kg on a horizontal plane, mu = 0.5, g = 9.8 m/s^2.

The thesis does not state the size of the box. Here, the box is 0.4 x 0.4 x 0.1 m.
"""

from hrpsim import Box, World
from hrpsim.world.objects.body import Body

GRAVITY = 9.8
FRICTION = 0.5
MASS = 1.0
SIZE = (0.4, 0.4, 0.1)

# solver settings of hrpsim's worlds: arguments of `table`
MODELS = {
    "rk4": {"integrator": "rk4"},
    "semi_implicit": {"integrator": "semi_implicit"},
    "penalty": {"integrator": "semi_implicit", "solver": "penalty"},
}


def table(time_step: float, integrator: str = "semi_implicit", **options) -> World:
    """Return a world with the plane. Boxes of `box_on` slide on the plane with friction 0.5."""
    world = World(time_step, gravity=(0.0, 0.0, -GRAVITY), integrator=integrator, **options)
    world.set_friction("table", "box", static=FRICTION)
    world.add_ground(material="table")
    return world


def box_on(world: World, speed: float = 0.0, position=(0.0, 0.0)) -> Body:
    """Add a box on the plane at `position` (2,) [m], moving along x with `speed` [m/s]."""
    return world.add_body(
        Box(SIZE),
        MASS,
        position=(*position, SIZE[2] / 2),
        velocity=(speed, 0.0, 0.0),
        material="box",
    )


def mujoco_box(mujoco, time_step: float, speed: float = 0.0, cone="elliptic", impratio=1.0):
    """Return (MjModel, MjData) of the same box and plane, with MuJoCo's contact stiffness."""
    half = " ".join(str(side / 2) for side in SIZE)
    text = f"""<mujoco>
  <option timestep="{time_step}" gravity="0 0 -{GRAVITY}" cone="{cone}" integrator="implicitfast"
          impratio="{impratio}"/>
  <default><geom friction="{FRICTION} 0 0" condim="3"/></default>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="box" pos="0 0 {SIZE[2] / 2}"><freejoint/>
      <geom type="box" size="{half}" mass="{MASS}"/></body>
  </worldbody>
</mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[0] = speed
    return model, data
