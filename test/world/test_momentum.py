# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Momentum of floating trees: what changes it is the impulse of outer forces, and nothing else."""

import numpy as np
import pytest
from world.scenes import GRAVITY, contact_force

from evidence.experiments.scenes.standing import humanoid, our_standing
from hrpsim import Box, Sphere, World, load_model
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses, update_velocities

INTEGRATORS = ("semi_implicit", "rk4", "euler")
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)
LINK = """<link name="l{k}"><inertial><origin xyz="0.2 0 0"/><mass value="{mass}"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0.2 0 0"/><geometry><box size="0.3 0.1 0.1"/></geometry></collision>
</link>"""
JOINT = """<joint name="j{k}" type="{kind}"><parent link="l{above}"/><child link="l{k}"/>
  <origin xyz="0.4 0 0"/><axis xyz="{axis}"/>
  <limit lower="-0.5" upper="0.5" effort="1e3" velocity="1e3"/></joint>"""


def chain(links):
    text = ""
    for k in range(links):
        text += LINK.format(k=k, mass=1.0 + 0.3 * k)
        if k > 0:
            kind, axis = (
                ("prismatic", "1 0 0") if k == 3 else ("revolute", f"0 {k % 2} {1 - k % 2}")
            )
            text += JOINT.format(k=k, above=k - 1, kind=kind, axis=axis)
    return load_model(f'<robot name="chain">{text}</robot>', base="free")


def momentum_and_scale(world):
    """Return P and the sum of |m v| over all bodies [Ns]."""
    scene = world.scene
    bodies = scene.forest.bodies
    poses = new_kinematics(len(bodies))
    update_poses(scene.forest, scene.q, poses)
    update_velocities(scene.forest, scene.velocity, poses)
    each = []
    for body, here in zip(bodies, poses, strict=True):
        arm = here["p"] + here["R"] @ body["com"]
        each.append(body["mass"] * (here["v"][3:] + np.cross(here["v"][:3], arm)))
    return np.sum(each, axis=0), np.linalg.norm(each, axis=1).sum()


@pytest.mark.quick_cases("*-0.5-0.004-*", "5-0.0-0.001-semi_implicit")
@every_integrator
@pytest.mark.parametrize("time_step", [1e-3, 4e-3])
@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("links", [2, 5])
def test_a_struck_robot_keeps_the_momentum_of_all(links, friction, time_step, integrator):
    """A ball strikes a chain and stays in contact; joints come to their limits."""
    world = World(time_step, gravity=(0, 0, 0), integrator=integrator)
    world.set_friction("default", "default", static=friction, kinetic=friction)
    world.add_robot(chain(links), v=[0, 0, 0, 0.3, -0.2, 0.5, *np.linspace(1, -2, links - 1)])
    world.add_body(Sphere(0.05), 0.5, (0.55, 0.02, 0.15), velocity=(0, 0, -2.0))
    start, scale = momentum_and_scale(world)
    touched = 0
    for _ in range(round(0.4 / time_step)):
        world.step()
        touched += len(world.contacts) > 0
        assert np.abs(momentum_and_scale(world)[0] - start).max() < 1e-12 * scale
    assert touched > 5


@pytest.mark.quick_cases("semi_implicit")
@every_integrator
def test_outer_forces_change_it_by_their_impulse(integrator):
    """Gravity, a push and the ground: dP is the sum of their impulses, step by step."""
    dt = 2e-3
    world = World(dt, integrator=integrator)
    world.add_ground()
    q = [0, 0, 0.051, 0, 0, 0, 1, 0.1, -0.2, 0.01]
    robot = world.add_robot(chain(4), q=q, v=[0.5, 0, 0, 0, 0, 1, 1, -1, 0.2])
    mass = sum(world.scene.forest.bodies["mass"])
    for _ in range(200):
        before, scale = momentum_and_scale(world)
        robot.apply_wrench("l2", force=(3.0, -2.0, 1.0), torque=(0.1, 0.2, 0.3))
        world.step()
        impulse = dt * (np.array([3.0, -2.0, 1.0]) - [0, 0, mass * GRAVITY])
        for contact in world.contacts:
            impulse += dt * contact.force * (1 if contact.a[0] == robot.name else -1)
        change = momentum_and_scale(world)[0] - before
        assert np.abs(change - impulse).max() < 1e-12 * (scale + mass)


@pytest.mark.quick_cases("semi_implicit")
@every_integrator
def test_a_humanoid_that_sways_on_its_feet_has_the_momentum_of_the_floors_force(integrator):
    """Both soles stick to the floor while arms, hips and chest swing: dP = dt (sum F + m g)."""
    dt = 2e-3
    world, robot = our_standing(humanoid(bush=False), time_step=dt, integrator=integrator)
    mass = sum(world.scene.forest.bodies["mass"])
    before, _ = momentum_and_scale(world)
    for k in range(200):
        if k % 20 == 0:
            swing = 0.1 * np.sin(0.02 * k)
            names = ["LARM_JOINT0", "RARM_JOINT0", "CHEST_JOINT0", "LLEG_JOINT2", "RLEG_JOINT2"]
            at = [robot.model.joint(name).q_index for name in names]
            robot.command(positions=robot.q[at] + swing, names=names)
        world.step()
        after, scale = momentum_and_scale(world)
        impulse = dt * (contact_force(world, robot.name) - [0, 0, mass * GRAVITY])
        assert np.abs(after - before - impulse).max() < 1e-12 * (scale + mass)
        before = after


@every_integrator
def test_a_closed_loop_on_a_floating_robot_keeps_it(integrator):
    """A box hinged to the last link: the stages of rk4 find its force anew each time."""
    world = World(1e-3, gravity=(0, 0, 0), integrator=integrator)
    robot = world.add_robot(chain(3), v=[0.1, 0, 0, 0.5, 0.3, 1.0, 0.5, -1.0])
    box = world.add_body(Box((0.1, 0.1, 0.1)), 0.7, position=(1.3, 0.0, 0.0))
    world.connect(box, (robot, "l2"), "hinge", point=(1.25, 0, 0), axis=(0, 1, 0))
    start, scale = momentum_and_scale(world)
    for _ in range(200):
        world.step()
        assert np.abs(momentum_and_scale(world)[0] - start).max() < 1e-12 * scale
