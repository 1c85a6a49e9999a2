# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The speeds below which nothing bounces and friction is static follow gravity and time step."""

import numpy as np
import pytest
from world.scenes import GRAVITY, show

import hrpsim
from hrpsim import World

integrators = pytest.mark.parametrize("integrator", ["semi_implicit", "euler", "rk4"])


@integrators
@pytest.mark.parametrize("time_step", [1e-3, 5e-3])
@pytest.mark.parametrize("restitution", [0.3, 0.7])
def test_a_bouncing_ball_rests_after_the_zeno_time(integrator, time_step, restitution):
    """T = sqrt(2 h / g) (1 + e) / (1 - e), but for the bounces below the threshold v.

    Those would take 2 e v / (g (1 - e)).
    """
    height, e = 0.2, restitution
    world = World(integrator=integrator, time_step=time_step)
    world.add_ground()
    world.set_friction("default", "default", static=0.0, kinetic=0.0, restitution=e)
    ball = world.add_body(hrpsim.Sphere(0.1), 1.0, position=(0.0, 0.0, 0.1 + height))
    zeno = np.sqrt(2.0 * height / GRAVITY) * (1.0 + e) / (1.0 - e)
    threshold = 2.0 * GRAVITY * time_step
    threshold = threshold if integrator == "rk4" else min(threshold, 0.01)
    left_out = 2.0 * e * threshold / (GRAVITY * (1.0 - e))
    moved = 0
    for step in range(1, int(zeno / time_step) + 60):
        world.step()
        if np.abs(ball.velocity).max() > 1e-6:
            moved = step
    show(f"{integrator}: rest after T by steps", moved - zeno / time_step)
    assert moved * time_step == pytest.approx(zeno - 0.5 * left_out, abs=left_out + 3 * time_step)


@pytest.mark.quick_cases("semi_implicit")
@integrators
def test_the_period_of_stick_and_slip_converges(integrator):
    """T = 2 D / V + (2 / w) (pi - atan(w D / V)), D = (static - kinetic) m g / k, w^2 = k / m.

    A block on the ground is drawn by a spring, k = 100 N/m, whose other end moves at V. It starts
    with static friction until it is faster than the threshold, which takes sqrt(2 m v / (k V)).
    """
    mass, stiffness, speed, friction = 1.0, 100.0, 0.1, (0.6, 0.4)
    start = (friction[0] - friction[1]) * mass * GRAVITY / stiffness
    w = np.sqrt(stiffness / mass)
    period = 2.0 * start / speed + 2.0 / w * (np.pi - np.arctan(w * start / speed))
    errors = {}
    for time_step in (1e-3, 2e-4):
        world = World(integrator=integrator, time_step=time_step)
        world.add_ground()
        world.set_friction("default", "default", static=friction[0], kinetic=friction[1])
        robot = world.add_robot(hrpsim.load_model(DRAWN, base="fixed"), v=[speed, -speed, 0.0])
        robot.drive("drive", speed, np.inf)
        starts, moved = [], False
        for step in range(int(3.2 * period / time_step)):
            world.step()
            moves = robot.v[0] + robot.v[1] > 0.5 * speed
            if moves and not moved:
                starts.append(step * time_step)
            moved = moves
        errors[time_step] = np.diff(starts).mean() / period - 1.0
    show(f"{integrator}: relative error of the period, by time step", errors)
    assert 0.0 <= errors[1e-3] < 0.04
    assert 0.0 <= errors[2e-4] < 0.5 * errors[1e-3]


INERTIA = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
FREE = '<limit lower="-99" upper="99" effort="0" velocity="0"/>'
DRAWN = f"""<robot name="drawn"><link name="world"/>
  <link name="hand"><inertial><mass value="1"/>{INERTIA}</inertial></link>
  <link name="end"><inertial><mass value="1e-6"/>
    <inertia ixx="1e-8" iyy="1e-8" izz="1e-8" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="block"><inertial><mass value="1"/>{INERTIA}</inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <joint name="drive" type="prismatic"><parent link="world"/><child link="hand"/>
    <axis xyz="1 0 0"/>{FREE}</joint>
  <joint name="spring" type="prismatic"><parent link="hand"/><child link="end"/>
    <axis xyz="1 0 0"/>{FREE}</joint>
  <joint name="height" type="prismatic"><parent link="end"/><child link="block"/>
    <origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>{FREE}</joint>
  <hrpsim reference="spring"><spring stiffness="100" damping="0"/></hrpsim>
</robot>"""
