# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""benchmarks.walkers: the robot that walks in MuJoCo is the same one, and its sensors carry it."""

import numpy as np
import pytest
from control.bipeds import biped

import hrpsim
from hrpsim.constants import STANDARD_GRAVITY
from hrpsim.control import prepare_biped

mujoco = pytest.importorskip("mujoco")

from benchmarks.walkers.mujoco_walk import MujocoRobot  # noqa: E402


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
