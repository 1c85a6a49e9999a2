# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The walkers of the benchmarks: MuJoCo walks with the same robot, and its sensors carry it."""

import numpy as np
import pytest
from control.bipeds import biped

import hrpsim
from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.control import prepare_biped

mujoco = pytest.importorskip("mujoco")

from evidence.benchmarks.engines.servoed import (  # noqa: E402
    ClosedLoops,
    MujocoWalk,
    OpenLegs,
    OurWalk,
    described,
)
from evidence.benchmarks.walkers.mujoco_walk import MujocoRobot  # noqa: E402

PARALLELOGRAM = """
<mujoco model="parallelogram">
  <worldbody>
    <body name="base" pos="0 0 0.33">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.05" mass="5"/>
      <body name="bar" pos="0.05 0 -0.05">
        <joint name="motor" axis="0 1 0" frictionloss="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.01" mass="0.3"/>
        <body name="foot" pos="0 0 -0.25">
          <joint name="ankle" axis="0 1 0"/>
          <geom type="box" size="0.15 0.15 0.01" pos="-0.05 0 -0.02" mass="2"/>
        </body>
      </body>
      <body name="rod" pos="-0.05 0 -0.05">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.01" mass="0.3"/>
      </body>
    </body>
  </worldbody>
  <equality><connect body1="rod" body2="foot" anchor="0 0 -0.25"/></equality>
  <actuator><motor joint="motor"/></actuator>
  <keyframe><key name="home" qpos="0 0 0.33 1 0 0 0 0 0 0"/></keyframe>
</mujoco>
"""


@pytest.fixture(scope="module")
def robot():
    return MujocoRobot(mujoco, prepare_biped(biped()), 0.5e-3, 3e-3)


def test_it_is_the_same_robot(robot):
    """Law: the mass matrix is hrpsim's, entry by entry; both have the base's velocity first."""
    model, q = robot.model, robot.prepared.start
    data = mujoco.MjData(robot.mj)
    data.qpos[:3], data.qpos[3:7] = q[:3], q[[6, 3, 4, 5]]
    ours = [model.joint(name) for name in robot.names]
    theirs = [robot.mj.joint(name) for name in robot.names]
    data.qpos[[joint.qposadr[0] for joint in theirs]] = q[[joint.q_index for joint in ours]]
    mujoco.mj_forward(robot.mj, data)
    mass = np.zeros((robot.mj.nv, robot.mj.nv))
    for column, unit in zip(mass, np.eye(robot.mj.nv)):
        mujoco.mj_mulM(robot.mj, data, column, unit)
    order = [*range(6), *(joint.dofadr[0] for joint in theirs)]
    mine = [*range(6), *(joint.v_index for joint in ours)]
    expected = hrpsim.mass_matrix(model, q)[np.ix_(mine, mine)]
    assert np.abs(mass[np.ix_(order, order)] - expected).max() < 1e-9 * expected.max()


def test_at_rest_its_foot_sensors_carry_the_weight_and_the_imu_shows_gravity(robot):
    state, weight = robot.state(), robot.model.mass * STANDARD_GRAVITY
    feet = [state.wrenches[name] for name in ("lfsensor", "rfsensor")]
    assert sum(wrench[2] for wrench in feet) == pytest.approx(weight, rel=0.01)
    assert feet[0][2] == pytest.approx(feet[1][2], rel=0.02)
    (imu,) = state.imus.values()
    assert np.linalg.norm(imu.linear_acceleration) == pytest.approx(STANDARD_GRAVITY, rel=0.01)
    assert robot.q()[7:] == pytest.approx(robot.prepared.start[7:], abs=0.01)


def test_targets_of_a_step_are_those_at_its_beginning(robot):
    """Law: MuJoCo finds forces at the beginning of a step, so targets of the end come next."""
    begin = robot._target.copy()
    end = begin + 1e-3
    robot.follow(end, None, 10)
    assert robot.data.ctrl == pytest.approx(begin + 0.9e-3, abs=1e-12)
    robot.follow(end, None, 1)
    assert robot.data.ctrl == pytest.approx(end, abs=1e-12)


@pytest.mark.parametrize("amplitude", [0.0, 0.015], ids=["stands", "sways"])
def test_closed_loops_move_alike_in_both_engines(tmp_path, amplitude):
    """The bar turns by the servo's target; the loop keeps base and foot parallel."""
    path = tmp_path / "loop.xml"
    path.write_text(PARALLELOGRAM)
    robot = described(path)
    assert isinstance(robot, ClosedLoops) and robot.names == ["motor"]
    engines = robot.ours(), robot.theirs(mujoco, accurate=True)
    for engine in engines:
        engine.amplitude = amplitude
        engine.restart()
        for _ in range(50):  # a quarter of a swing
            engine.aim()
            engine.step(10)
        assert not engine.fallen
    ours, theirs = engines
    assert ours.counts()[2] == theirs.counts() == 4
    angles = dict(zip(ours.robot.joint_names, ours.robot.joint_positions))
    for name in ("motor", "hinge"):
        assert angles[name] == pytest.approx(amplitude, abs=1e-3)
        assert theirs.data.joint(name).qpos[0] == pytest.approx(amplitude, abs=1e-3)
    assert ours.height() == pytest.approx(theirs.height(), abs=1e-3)


def test_the_same_controller_moves_both_alike(tmp_path):
    """Joints of both follow the same plan; each engine's steps are counted and timed."""
    path = tmp_path / "biped.urdf"
    path.write_text(biped())
    robot = described(path)
    assert isinstance(robot, OpenLegs)
    ours, theirs = OurWalk(robot.biped), MujocoWalk(robot.in_mujoco(mujoco, accurate=True))
    for _ in range(200):  # 1 s
        ours.tick()
        theirs.tick()
    assert not ours.watch.fallen and not theirs.watch.fallen
    q = ours.robot.q
    assert np.abs(q[7:] - robot.biped.start[7:]).max() > 0.02  # it sways
    assert theirs.robot.q()[7:] == pytest.approx(q[7:], abs=0.02)
    assert theirs.watched.calls == 1000 == ours.steps.calls * ours.steps_per_period
    assert min(ours.step_time(), theirs.step_time()) > 0.0
