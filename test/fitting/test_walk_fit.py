# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a humanoid's legs from a walk."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hrpsim
from hrpsim import share_path
from hrpsim.control import ControlLoop, Walk, walking_pattern
from hrpsim.fitting import Recording
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

WORLD = share_path("config/walking_demo.yaml")


def walked(values, duration, seed):
    """Return a recording with noise of a walk of a robot with these values."""
    scenario = WorldScenario(WORLD, duration=duration)
    world, model = scenario.world_of(values, 0)
    robot = world.robots["hrp2"]
    commands, states, issue = [], [], robot.command

    def noted(positions, velocities, efforts, names, over, **options):
        commands.append((world.time, names, positions, velocities))
        issue(positions, velocities, efforts, names, over, **options)

    robot.command = noted
    with ControlLoop(robot, Walk(walking_pattern(model, "E5").sequence), model=model) as loop:
        while world.time < duration - 1e-9:
            states.append((world.time, robot.q, robot.v))
            loop.tick()
    time, q, v = (np.array(column) for column in zip(*states))
    noise, joints = np.random.default_rng(seed), robot.joint_index
    q[:, joints.q] += noise.normal(0.0, 1e-5, (len(q), len(joints)))
    q[:, :3] += noise.normal(0.0, 1e-4, (len(q), 3))
    turns = Rotation.from_rotvec(noise.normal(0.0, 1e-4, (len(q), 3)))
    q[:, 3:7] = (Rotation.from_quat(q[:, 3:7]) * turns).as_quat()
    v += noise.normal(0.0, 1e-3, v.shape)
    return Recording(
        time,
        robot.joint_names,
        q[:, joints.q],
        v[:, joints.v],
        q[:, :7],
        v[:, :6],
        np.array([one[0] for one in commands]),
        commands[0][1],
        np.array([one[2] for one in commands]),
        np.array([one[3] for one in commands]),
        interpolate=True,
        entity="hrp2",
    )


def unknowns(joints, seed):
    """Return what is fitted, and what the robot has: damping and rotor inertia of both legs."""
    rotors = {0: 0.024, 1: 0.089, 2: 0.089, 3: 0.16, 4: 0.12, 5: 0.019}
    random, first, truth = np.random.default_rng(seed), {}, {}
    for joint in joints:
        for key, start, mean in (
            ("rotor_inertia", rotors[joint], rotors[joint] * 1.4),
            ("damping", 1.0, 5.0),
        ):
            paths = [f"robots.hrp2.joints.{side}LEG_JOINT{joint}.{key}" for side in "LR"]
            first[f"{key} {joint}"] = {"start": start, "paths": paths}
            truth[f"{key} {joint}"] = mean * random.uniform(0.8, 1.2)
    values = {path: truth[name] for name, one in first.items() for path in one["paths"]}
    return first, np.array(list(truth.values())), values


@pytest.mark.long
@pytest.mark.parametrize("start", ["measured", "fitted"])
def test_damping_and_rotor_of_a_knee_are_found_from_two_seconds(start):
    """Law: values that made the walk are found to 3 %; with fitted starts noise alone is left."""
    first, truth, values = unknowns([3], 0)
    found = hrpsim.fit(WORLD, [walked(values, 2.0, 0)], first, window=0.1, start=start)
    assert found.values == pytest.approx(truth, rel=0.03)
    if start == "fitted":
        assert found.derivatives["damping 3"].startswith("exact")
        assert found.errors(held_out=False)["velocity"][1] == pytest.approx(1e-3, rel=0.05)
        assert found.errors(held_out=False)["position"][1] == pytest.approx(1e-5, rel=0.1)


@pytest.mark.long
def test_twelve_parameters_of_legs_are_found_from_a_walk():
    """Law: dampings are found to 1 %; rotors, whose torques are smaller, to 5 % at pitch joints."""
    first, truth, values = unknowns(range(6), 0)
    found = hrpsim.fit(WORLD, [walked(values, 20.0, 0)], first, window=0.1)
    error = np.abs(found.values / truth - 1.0).reshape(6, 2)
    assert (error[:, 1] < 0.01).all()
    assert (error[2:5, 0] < 0.05).all()
