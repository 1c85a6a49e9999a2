# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The delay of MuJoCo's sensors, against MuJoCo."""

import numpy as np
import pytest

from hrpsim import World, load_model

mujoco = pytest.importorskip("mujoco", minversion="4.0.0")

SPIN = """<mujoco><option timestep="0.001" gravity="0 0 0" integrator="RK4"/><worldbody><body>
  <joint name="j" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
  <site name="s" pos="0.2 0 0"/><site name="t" pos="0.3 0 0"/></body></worldbody><sensor>
  <gyro name="g" site="s" {delay}/><accelerometer name="a" site="s" {delay}/>
  <gyro name="now" site="t"/>{more}</sensor></mujoco>"""
DELAY = 'delay="{}" nsample="16" interp="linear"'


@pytest.mark.parametrize("delay", [0.0015, 0.003, 0.0137])
def test_a_sensor_is_as_late_as_in_mujoco(delay):
    """Law: a steady turn is read from the delay on, 0 before it, and a mean where it begins."""
    text = SPIN.format(delay=DELAY.format(delay), more="")
    world = World(0.001, gravity=(0, 0, 0))
    robot = world.add_robot(load_model(text), v=[3.0])
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = 3.0
    for _ in range(20):
        world.step()
        mujoco.mj_step(model, data)
        found = [robot.sensors["s"].reading, robot.sensors["t"].angular_velocity]
        np.testing.assert_allclose(np.concatenate(found), data.sensordata, atol=1e-9)
    world.reset()
    world.step()
    assert not robot.sensors["s"].reading.any()


def test_a_snapshot_has_what_is_still_to_be_read():
    """Law: a restored world reads the same bits again, also with another robot in the world."""
    world = World(0.001, gravity=(0, 0, 0))
    robot = world.add_robot(load_model(SPIN.format(delay=DELAY.format(0.0042), more="")), v=[3.0])
    world.step(3)
    saved = world.snapshot()
    first = [(world.step(), robot.sensors["s"].reading[2])[1] for _ in range(6)]
    world.restore(saved)
    assert [(world.step(), robot.sensors["s"].reading[2])[1] for _ in range(6)] == first
    world.restore(saved)
    late = SPIN.format(delay=DELAY.format(0.02), more="")
    world.add_robot(load_model(late), name="other")
    assert [(world.step(), robot.sensors["s"].reading[2])[1] for _ in range(6)] == first


def test_delays_that_are_not_simulated_are_named():
    """Law: sensors at one site, and sensors of the state, that differ in their delay are listed."""
    more = '<jointpos joint="j" delay="0.01" nsample="16"/><gyro name="h" site="s"/>'
    text = SPIN.format(delay=DELAY.format(1.5), more=more)
    notes = "\n".join(load_model(text).not_simulated)
    assert "sensor jointpos (1): read it from the state of the robot, without its delay" in notes
    assert "sensor delay (3: g, a, h): 1 s is simulated" in notes
    assert load_model(text).sensors[0].latency == 1.0
