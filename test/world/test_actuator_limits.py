# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators at their effort limits beside constraints: who bears what, at rest."""

import numpy as np
import pytest
from world.scenes import GRAVITY, contact_force, one_joint, show

from hrpsim import World, load_model

MASS, LEVER = 2.0, 0.5
WEIGHT = MASS * GRAVITY * LEVER  # about the joint, with the arm held out [Nm]


def arm(effort, kp, kd, lower=0.0):
    """An arm held out along x on its lower limit, which its weight turns it onto."""
    model = one_joint(
        mass=MASS,
        at=f"{LEVER} 0 0",
        axis="0 -1 0",
        limit=f'lower="{lower}" upper="2" effort="{effort}" velocity="1e9"',
        extension=f'<gains kp="{kp}" kd="{kd}"/>',
    )
    world = World()
    return world, world.add_robot(model, q=[lower])


@pytest.mark.parametrize("kp, kd", [(50.0, 1.0), (5e3, 100.0), (1e6, 1e5), (1e9, 1e6)])
@pytest.mark.parametrize("share", [0.3, 0.9, 0.99])
@pytest.mark.parametrize("effort_share", [0.3, 0.9])
def test_an_arm_on_its_limit_rests_whatever_its_gains(kp, kd, share, effort_share):
    """The gains ask for a share of the weight, or for more than the actuator can do.

    Left alone in a step the arm would fall, and stiff gains ask for all that the actuator has;
    on the limit they ask for kp times the error, which is what it delivers.
    """
    effort = effort_share * WEIGHT
    world, robot = arm(effort, kp, kd)
    wanted = share * WEIGHT
    robot.command(positions=[wanted / kp])
    for _ in range(20):
        world.step()
        assert robot.v[0] == pytest.approx(0.0, abs=1e-9)
    assert robot.q[0] == pytest.approx(0.0, abs=1e-9)
    assert robot.tau[0] == pytest.approx(min(wanted, effort), rel=1e-5)


@pytest.mark.parametrize("kp, kd", [(5e3, 100.0), (1e6, 1e5)])
def test_an_arm_leaves_its_limit_with_what_its_actuator_has(kp, kd):
    """Asked to rise at once it does so with the effort limit: I a = effort - weight."""
    effort = 1.5 * WEIGHT
    world, robot = arm(effort, kp, kd)
    world.step(10)
    robot.command(positions=[1.0])
    world.step()
    acceleration = (effort - WEIGHT) / (0.01 + MASS * LEVER**2)
    show("acceleration [rad/s^2], expected", robot.v[0] / 1e-3, acceleration)
    assert robot.tau[0] == pytest.approx(effort, rel=1e-12)
    assert robot.v[0] == pytest.approx(1e-3 * acceleration, rel=1e-9)


@pytest.mark.parametrize("height", [0.05, 0.5])
def test_landing_takes_no_actuator_beyond_its_effort_limit(height):
    """A sprung leg hits the ground; its actuator's effort stays within its limit at every step."""
    effort = 40.0
    world = World()
    world.add_ground()
    robot = world.add_robot(load_model(hopper(effort)), q=[0, 0, 0.5 + height, 0, 0, 0, 1, 0])
    robot.command(positions=[0.0])
    most = 0.0
    for _ in range(1500):
        world.step()
        most = max(most, abs(robot.tau[6]))
    show("largest effort, limit [N]", most, effort)
    assert most <= effort * (1.0 + 1e-9)
    assert np.abs(robot.v).max() < 1e-6
    assert contact_force(world, "hopper")[2] == pytest.approx(6.0 * GRAVITY, rel=1e-6)


def hopper(effort):
    """A body of 5 kg on a foot of 1 kg that slides along z, stiffly held."""
    inertia = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    return f"""<robot name="hopper">
  <link name="body"><inertial><mass value="5"/>{inertia}</inertial></link>
  <link name="foot"><inertial><mass value="1"/>{inertia}</inertial>
    <collision><geometry><box size="0.4 0.4 0.1"/></geometry></collision></link>
  <joint name="leg" type="prismatic"><parent link="body"/><child link="foot"/>
    <origin xyz="0 0 -0.45"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="0.2" effort="{effort}" velocity="100"/></joint>
  <hrpsim reference="leg"><gains kp="1e5" kd="1e4"/></hrpsim>
</robot>"""
