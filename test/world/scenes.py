# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the tests of worlds share: small models, slopes, momenta; and how figures are printed."""

import math

import numpy as np

from hrpsim import Box, World, load_model
from hrpsim.world.objects.body import rotation_matrix

GRAVITY = 9.80665
INTEGRATORS = ("semi_implicit", "rk4")


def show(what: str, *values) -> None:
    """Print measured figures, for pytest -s."""
    text = ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values)
    print(f"  measured: {what}: {text}")


def joint_text(
    kind: str = "revolute",
    *,
    mass: float = 1.0,
    at: str = "0 0 0",
    moment: float = 0.01,
    axis: str = "0 1 0",
    limit: str = 'lower="-100" upper="100" effort="1e9" velocity="1e9"',
    dynamics: str = "",
    extension: str = "",
) -> str:
    """Return the URDF of one link on one joint "j"; `extension` is the text in <hrpsim>."""
    return f"""<robot name="one">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="{at}"/><mass value="{mass}"/>
      <inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="j" type="{kind}">
    <parent link="base"/><child link="arm"/><axis xyz="{axis}"/>
    <limit {limit}/>
    <dynamics {dynamics}/>
  </joint>
  <hrpsim reference="j">{extension}</hrpsim>
</robot>"""


def one_joint(kind: str = "revolute", **options):
    """Return the model of `joint_text` on a fixed base."""
    return load_model(joint_text(kind, **options), base="fixed")


def check_snapshot_and_reset(world, run, before: int, after: int) -> None:
    """Check that a restored and a reset world repeat, bit for bit, what `run(steps)` returns."""
    first = run(before)
    kept = world.snapshot()
    second = run(after)
    world.restore(kept)
    np.testing.assert_array_equal(run(after), second)
    world.reset()
    np.testing.assert_array_equal(run(before + after), np.vstack([first, second]))


def weightless(time_step: float = 1e-3, integrator: str = "semi_implicit", **options) -> World:
    """Return a world without gravity."""
    return World(time_step, gravity=(0.0, 0.0, 0.0), integrator=integrator, **options)


def tilted(degrees: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return normal, downhill direction and orientation of a slope that falls towards +x."""
    a = math.radians(degrees)
    normal = np.array([math.sin(a), 0.0, math.cos(a)])
    downhill = np.array([math.cos(a), 0.0, -math.sin(a)])
    return normal, downhill, np.array([0.0, math.sin(a / 2), 0.0, math.cos(a / 2)])


def slope_world(degrees: float, static: float, kinetic: float, tilt_box: bool = False, **options):
    """Return a world whose ground is a slope of material "slope"; bodies of "block" slide on it."""
    world = World(**options)
    normal, _, orientation = tilted(degrees)
    world.set_friction("slope", "block", static=static, kinetic=kinetic)
    if tilt_box:
        world.add_static(Box((40.0, 4.0, 0.5)), -0.25 * normal, orientation, material="slope")
    else:
        world.add_ground(normal=normal, material="slope")
    return world


def momenta(bodies) -> tuple[np.ndarray, np.ndarray]:
    """Return linear and angular momentum (about the world's origin) of free bodies."""
    linear, angular = np.zeros(3), np.zeros(3)
    for body in bodies:
        p = body.mass * body.velocity
        linear += p
        angular += np.cross(body.position, p) + spin(body)
    return linear, angular


def spin(body) -> np.ndarray:
    """Return the angular momentum about the body's own centre, along the world's axes."""
    R = rotation_matrix(body.orientation)
    return R @ body.system.inertia[0] @ R.T @ body.angular_velocity


def kinetic_energy(body) -> float:
    """Return the kinetic energy of a free body [J]."""
    turning = 0.5 * body.angular_velocity @ spin(body)
    return 0.5 * body.mass * body.velocity @ body.velocity + turning


def contact_force(world, name: str) -> np.ndarray:
    """Return the sum of the contact forces on the entity `name` in the last step [N]."""
    total = np.zeros(3)
    for contact in world.contacts:
        total += contact.force * ((contact.a[0] == name) - (contact.b[0] == name))
    return total


def turned_freely(R, rate, inertia, duration: float):
    """Return rotation matrix and angular velocity (3,) after free rotation of a body [s].

    Euler's equations in the body's axes, by ten steps of the classical Runge-Kutta method.
    """

    def slopes(state):
        R, w = state[:9].reshape(3, 3), state[9:]
        x, y, z = w
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.concatenate([(R @ cross).ravel(), -np.linalg.solve(inertia, cross @ inertia @ w)])

    state, h = np.concatenate([R.ravel(), R.T @ rate]), 0.1 * duration
    for _ in range(10):
        a = slopes(state)
        b = slopes(state + 0.5 * h * a)
        c = slopes(state + 0.5 * h * b)
        state = state + h / 6.0 * (a + 2.0 * (b + c) + slopes(state + h * c))
    R = state[:9].reshape(3, 3)
    return R, R @ state[9:]


def middle_of_step(body, time_step: float):
    """Return position (3,), rotation matrix and angular velocity of a free body at half a step.

    There a semi-implicit step finds its contacts and forces. The body turns freely until then.
    """
    half, R = 0.5 * time_step, rotation_matrix(body.orientation)
    R, rate = turned_freely(R, body.angular_velocity, body.system.inertia[0], half)
    return body.position + half * body.velocity, R, rate


def turned_tower(count: int) -> World:
    """Return a world with a tower of cubes, each turned against the one beneath, for Newton."""
    world = World(solver="newton", sleeping=False, tolerance=1e-12)
    world.set_friction("default", "default", static=0.5)
    world.add_ground()
    for k in range(count):
        turned = (0.0, 0.0, np.sin(0.1 * k), np.cos(0.1 * k))
        world.add_body(Box((0.1,) * 3), 1.0, (0.0, 0.0, 0.05 + 0.1 * k), turned)
    return world
