# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Delays of commands by whole steps, in hrpsim and in MuJoCo."""

import numpy as np
import pytest
from fitting.arm import DAMPING, URDF, WORLD

import hrpsim
from hrpsim.fitting import Recording

PERIOD, CHANGE, SAMPLES = 0.01, 0.005, 100  # of samples and of commands [s]
NOISE = 1e-4  # [rad]
GAIN, TRUE_DAMPING = 10.0, 0.25


def targets(count):
    """Return the targets of `count` commands [rad]."""
    number = np.arange(count)
    return 0.4 * np.sin(0.03 * number) + 0.2 * np.sign(np.sin(0.071 * number))


def late(k, step):
    """Return the targets of each step, k steps late. The first target holds before."""
    number = np.arange(round(SAMPLES * PERIOD / step)) - k
    return targets(round(SAMPLES * PERIOD / CHANGE))[np.maximum(number, 0) // round(CHANGE / step)]


def by_hrpsim(world_file, k, step):
    """Return the samples of hrpsim's angle [rad]."""
    world, angles = hrpsim.load_world(world_file), []
    arm = world.robots["arm"]
    arm.set_joint_properties(damping=TRUE_DAMPING)
    for number, target in enumerate(late(k, step)):
        if number % round(PERIOD / step) == 0:
            angles.append(arm.q[0])
        arm.command(positions=[target])
        world.step()
    return np.array(angles)


def by_mujoco(k, step):
    """Return the samples of MuJoCo's angle [rad].

    MuJoCo finds forces at the beginning of a step. The targets are means about this time.
    """
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec.from_string(URDF)
    spec.option.timestep, spec.option.gravity = step, (0.0, 0.0, -9.80665)
    spec.joint("shoulder").damping[0] = TRUE_DAMPING
    servo = spec.add_actuator(name="servo", target="shoulder")
    servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
    servo.set_to_position(kp=GAIN)
    model, angles, given = spec.compile(), [], late(k, step)
    data, given = mujoco.MjData(model), 0.5 * (given + np.append(given[0], given[:-1]))
    for number, target in enumerate(given):
        if number % round(PERIOD / step) == 0:
            angles.append(data.qpos[0])
        data.ctrl[0] = target
        mujoco.mj_step(model, data)
    return np.array(angles)


def fitted(world_file, angles, seed):
    """Return the fit of delay and damping to angles with noise."""
    given = targets(round(SAMPLES * PERIOD / CHANGE))
    noise = np.random.default_rng(seed).normal(0.0, NOISE, SAMPLES)
    one = Recording(
        PERIOD * np.arange(SAMPLES),
        ("shoulder",),
        (angles + noise)[:, None],
        command_time=CHANGE * np.arange(len(given)),
        command_positions=given[:, None],
    )
    first = {"delay": {"start": 0.001, "between": (-0.002, 0.02)}, DAMPING: 0.2}
    return hrpsim.fit(world_file, [one], first, window=SAMPLES * PERIOD, start="fitted")


@pytest.mark.parametrize("k", [0, 3])
@pytest.mark.parametrize(("engine", "step"), [("hrpsim", 5e-4), ("mujoco", 5e-5)])
def test_commands_late_by_whole_steps_are_found_so(tmp_path, engine, step, k):
    """Law: a delay of k steps lies in an interval much shorter than a step."""
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "arm.yaml").write_text(WORLD)
    angles = by_mujoco(k, step) if engine == "mujoco" else by_hrpsim(tmp_path / "arm.yaml", k, step)
    found = fitted(tmp_path / "arm.yaml", angles, k)
    assert found.reached
    assert found.low[0] <= k * step <= found.high[0]
    assert found.high[0] - found.low[0] < step
