# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from control.walking import RIGID, half_sitting_robot, model_on, pattern, standing

import hrpsim
from hrpsim.control import (
    ControllerError,
    ControlLoop,
    MotionSequence,
    Playback,
    SequenceError,
    Walk,
    simulate_walk,
    write_sequence,
)


def trajectory(controller, parameters=None, feet=RIGID, duration=3.0):
    robot = half_sitting_robot(feet)
    rows = []
    with ControlLoop(robot, controller, parameters) as loop:
        while robot.world.time < duration:
            loop.tick()
            rows.append(robot.q)
    return np.array(rows)


def test_without_a_stabiliser_it_is_playback_bit_for_bit():
    plain = trajectory(Playback(pattern("E5")))
    off = trajectory(Walk(pattern("E5")), {"stabilizer": False})
    np.testing.assert_array_equal(plain, off)
    assert np.abs(trajectory(Walk(pattern("E5"))) - plain).max() > 1e-3


def test_a_second_walk_of_a_model_is_planned_once_and_has_the_same_bits():
    model = model_on(RIGID)
    first, second, slower = Walk(), Walk(), Walk()
    for controller, period in ((first, 0.005), (second, 0.005), (slower, 0.01)):
        controller.configure(model, {"pattern": "stepping", "period": period})
    assert second.reference is first.reference and second.sequence is first.sequence
    assert slower.reference.count < first.reference.count
    again = trajectory(Walk(), {"pattern": "stepping"}, duration=1.5)
    np.testing.assert_array_equal(trajectory(Walk(), {"pattern": "stepping"}, duration=1.5), again)


@pytest.mark.quick_cases("0.005")
@pytest.mark.parametrize("period", [0.001, 0.002, 0.005])
def test_nineteen_steps_on_bushes(period):
    done = simulate_walk(half_sitting_robot("openhrp"), Walk(pattern("E5")), {"period": period})
    assert done.completed and done.steps == 19
    assert np.degrees(done.tilt.max()) < 1.0


def test_the_same_steps_without_a_stabiliser_end_on_the_floor():
    controller = Walk(pattern("E5"))
    done = simulate_walk(half_sitting_robot("openhrp"), controller, {"stabilizer": False})
    assert done.fell_at is not None and done.steps < 19


def test_joint_angles_alone_are_enough():
    full = pattern("E5")
    bare = MotionSequence(full.joint_names, pos=full.pos)
    robot = half_sitting_robot("openhrp")
    done = simulate_walk(robot, Walk(bare))
    assert done.fell_at is None
    assert np.degrees(done.tilt.max()) < 1.5
    where = robot.link_pose("base_link")[0]
    assert np.linalg.norm(where[:2]) > 0.3  # it did walk


def test_it_first_goes_to_its_first_posture():
    model = model_on("openhrp")
    world = hrpsim.World(time_step=1e-3)
    world.add_ground()
    q = model.neutral()
    q[2] = 0.705  # straight legs
    robot = world.add_robot(model, q=q)
    world.step(500)
    done = simulate_walk(robot, Walk(standing(1.0)))
    assert done.fell_at is None
    assert np.degrees(done.tilt.max()) < 2.0
    knee = robot.q[model.joint("LLEG_JOINT3").q_index]
    assert knee == pytest.approx(0.8727, abs=0.02)


def test_it_goes_on_balancing_for_the_time_of_holding():
    robot = half_sitting_robot("openhrp")
    with ControlLoop(robot, Walk(standing(1.0)), {"hold": 0.5}) as loop:
        loop.run()
    assert robot.world.time == pytest.approx(1.505, abs=0.006)


def test_a_world_that_is_reset_gives_the_same_walk():
    robot = half_sitting_robot("hrp2_soft")
    runs = []
    with ControlLoop(robot, Walk(pattern("E5")), {}) as loop:
        for _ in range(2):
            robot.world.reset()
            while robot.world.time < 2.5:
                loop.tick()
            runs.append(robot.q)
    np.testing.assert_array_equal(*runs)


def test_a_set_of_files_walks(tmp_path):
    write_sequence(pattern("stepping"), tmp_path / "stepping")
    from_files = Walk()
    from_files.configure(model_on("openhrp"), {"pattern": str(tmp_path / "stepping")})
    by_name = Walk()
    by_name.configure(model_on("openhrp"), {"pattern": "stepping"})
    for field in ("joint_positions", "com", "zmp", "contact"):
        np.testing.assert_array_equal(
            getattr(from_files.reference, field), getattr(by_name.reference, field)
        )
    with pytest.raises(SequenceError, match="does not exist"):
        Walk().configure(model_on("openhrp"), {"pattern": str(tmp_path / "striding")})


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"dmc_rate": 8.0}, "'dmc_rate' does not exist. Did you mean 'dcm_rate'.*torque_time"),
        ({"dcm_rate": -1.0}, "walk: dcm_rate: must be positive and finite, .*, got -1.0"),
        ({"torque_time": 0.0}, "torque_time: must be positive and finite, .*, got 0.0"),
        ({"hold": float("nan")}, "hold: must be a number, got nan"),
        ({"period": "often"}, "period: must be a number, got 'often'"),
        ({"dcm_rate": 500.0}, "dcm_rate 500 1/s is too fast"),
        ({"stabilizer": "yes"}, "stabilizer: must be true or false, got 'yes'"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ControllerError, match=message):
        Walk(standing(1.0)).configure(model_on("openhrp"), parameters)


def test_a_robot_that_cannot_balance_is_refused():
    fixed = hrpsim.load_model(model_on(RIGID).urdf, base="fixed")
    with pytest.raises(hrpsim.ModelError, match="fixed base"):
        Walk(standing(1.0)).configure(fixed, {})
