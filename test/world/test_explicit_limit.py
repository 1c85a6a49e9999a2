# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How long a step rk4 may take on springs and dampers: closed forms, and what the error says."""

import math
import warnings

import pytest
from world.scenes import one_joint, show, weightless

from hrpsim import ModelWarning, WorldError
from hrpsim.world.parts.failure import rk4_limit

STIFFNESS, MASS = 5.0e5, 29.0
SQUARE = 2.0 * math.sqrt(2.0)  # where |R(iy)| = 1
REAL = 2.785293563405282  # where R(-x) = 1


def bush(stiffness: float, damping: float):
    extension = f'<spring stiffness="{stiffness}" damping="{damping}"/>'
    return one_joint("prismatic", axis="0 0 1", mass=MASS, extension=extension)


def limit_of(stiffness: float, damping: float) -> float:
    world = weightless(1e-4, "rk4")
    return rk4_limit(world.add_robot(bush(stiffness, damping))).time_step


def test_a_spring_allows_root_eight_over_its_frequency():
    """|R(iy)| <= 1 up to y = sqrt(8)."""
    expected = SQUARE * math.sqrt(MASS / STIFFNESS)
    assert limit_of(STIFFNESS, 0.0) == pytest.approx(expected, rel=1e-5)


def test_a_damper_allows_2_785_time_constants():
    """R(-x) <= 1 up to x = 2.785."""
    assert limit_of(0.0, 1.0e4) == pytest.approx(REAL * MASS / 1.0e4, rel=1e-5)


@pytest.mark.parametrize("damping", [0.0, 1e3, 1e4])
def test_steps_below_the_limit_settle_and_steps_above_it_grow(damping):
    """At 0.98 and 1.02 of what is said, over 2000 steps."""
    limit = limit_of(STIFFNESS, damping)
    reached = []
    for share in (0.98, 1.02):
        world = weightless(share * limit, "rk4")
        robot = world.add_robot(bush(STIFFNESS, damping), q=[1e-6])
        world.step(2000)
        reached.append(abs(robot.q[0]) + abs(robot.v[0]) * math.sqrt(MASS / STIFFNESS))
    show(f"damping {damping:g}, limit {limit:.4g} s: below and above it", *reached)
    assert reached[0] < 2e-6
    assert reached[1] > 1e-5


def test_a_robot_whose_springs_rk4_does_not_bear_is_told_of_when_it_is_added():
    """Law: the warning names joint and limit; within the limit, or implicit, there is none."""
    model = bush(STIFFNESS, 0.0)
    with pytest.warns(ModelWarning, match="steps must be at most 0.0215 s, not 0.03 s"):
        weightless(0.03, "rk4").add_robot(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weightless(0.02, "rk4").add_robot(model)
        weightless(0.03, "semi_implicit").add_robot(model)


def test_gains_count_and_the_error_names_the_joint_and_the_step():
    """kd / I = 1e5 / s at 1 ms: the error says which joint, what it has and what it allows."""
    unlimited = 'lower="-100" upper="100" effort="0" velocity="0"'
    model = one_joint(moment=0.01, limit=unlimited)
    world = weightless(1e-3, "rk4")
    robot = world.add_robot(model, q=[0.1])
    robot.set_gains([500.0], [1000.0])
    assert rk4_limit(robot).time_step == pytest.approx(REAL * 0.01 / 1000.0, rel=1e-3)
    robot.command(positions=[0.0])
    with pytest.raises(WorldError, match=r"[Jj]oint 'j' .* steps must be at most 2.79e-05 s"):
        world.step(1000)
    calm = weightless(1e-3, "semi_implicit")
    robot = calm.add_robot(model, q=[0.1])
    robot.set_gains([500.0], [1000.0])
    robot.command(positions=[0.0])
    calm.step(10_000)
    assert abs(robot.q[0]) < 0.1 * math.exp(-0.49 * calm.time)  # it creeps at kp / kd


def test_a_robot_without_springs_and_gains_has_no_limit():
    world = weightless(1e-3, "rk4")
    assert rk4_limit(world.add_robot(one_joint())) is None
