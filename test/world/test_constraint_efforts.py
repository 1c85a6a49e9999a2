# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What constraints exert, read by joint and by connection: closed forms, impulses of impacts."""

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, one_joint, weightless
from world.test_joint_constraints import geared

from hrpsim import Box, Sphere, StateError, World, WorldError

EVERY = ("semi_implicit", "rk4", "euler")


def test_each_kind_exerts_what_its_law_says():
    """A lock bears the weight, dry friction gives its limit, a stop what presses on it."""
    world = World()
    arm = dict(mass=2.0, at="0.5 0 0", moment=0.05)
    locked = world.add_robot(one_joint(**arm), name="locked")
    locked.lock("j")
    rubbing = world.add_robot(
        one_joint(moment=0.05, dynamics='friction="0.3"'), name="rubbing", v=[5.0]
    )
    stopped = world.add_robot(
        one_joint(**arm, limit='lower="-1" upper="0.2" effort="1e9" velocity="1e9"'), name="stopped"
    )
    world.step(2000)
    weight = 2.0 * GRAVITY * 0.5
    assert locked.constraint_efforts("lock") == pytest.approx([-weight])
    assert stopped.constraint_efforts("limit") == pytest.approx([-weight * np.cos(0.2)], rel=1e-4)
    for robot, kind in ((locked, "lock"), (stopped, "limit")):
        assert (robot.constraint_efforts() == robot.constraint_efforts(kind)).all()
        assert robot.constraint_efforts("motor").tolist() == [0.0]
    fresh = world.copy()
    fresh.robots["rubbing"].v = [5.0]
    fresh.step()
    assert fresh.robots["rubbing"].constraint_efforts("friction") == pytest.approx([-0.3])
    assert np.abs(rubbing.constraint_efforts("friction")).max() <= 0.3


def test_all_kinds_together_have_the_reaction_of_a_mimic():
    """b = -2 a with 2 Nm on b and a locked: what acts on either joint adds up to nothing."""
    world = weightless()
    robot = world.add_robot(geared())
    robot.lock("a")
    for _ in range(500):
        robot.apply_wrench("two", torque=(0, 0, 2.0))
        world.step()
    assert robot.constraint_efforts("mimic") == pytest.approx([0.0, -2.0], rel=1e-9)
    assert robot.constraint_efforts("lock") == pytest.approx([4.0, 0.0], rel=1e-9)
    assert robot.constraint_efforts() == pytest.approx([0.0, -2.0], abs=1e-8)
    assert robot.constraint_efforts("mimic", "b") == pytest.approx([-2.0], rel=1e-9)
    assert robot.constraint_efforts("lock", ["b", "a"]) == pytest.approx([0.0, 4.0], rel=1e-9)
    with pytest.raises(WorldError, match=r"'stop' does not exist.*limit, friction, mimic"):
        robot.constraint_efforts("stop")
    with pytest.raises(StateError, match=r"joint 'c' does not exist.*a, b"):
        robot.constraint_efforts("lock", "c")


def thrown_at_a_stop(integrator):
    """Return a weightless world and its robot, whose joint hits its limit in the 50th step."""
    world = weightless(1e-3, integrator)
    limit = 'lower="-1" upper="0.1" effort="1e9" velocity="1e9"'
    return world, world.add_robot(one_joint(moment=0.05, limit=limit), v=[2.0])


@pytest.mark.parametrize("integrator", EVERY)
def test_a_stop_exerts_the_impulse_that_stops_the_joint(integrator):
    """sum of efforts dt = I (w_after - w_before), the blow of an rk4 step included."""
    world, robot = thrown_at_a_stop(integrator)
    total, largest = 0.0, 0.0
    for _ in range(100):
        before = robot.v[0]
        world.step()
        effort = robot.constraint_efforts("limit")[0]
        assert effort * 1e-3 == pytest.approx(0.05 * (robot.v[0] - before), abs=1e-12)
        assert effort <= 0.0
        total, largest = total + effort * 1e-3, max(largest, -effort)
    assert total == pytest.approx(-0.05 * 2.0, rel=1e-6) and largest > 10.0


@pytest.mark.parametrize("solver", ["direct", "iterative"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_connection_bears_the_blow(integrator, solver):
    """A ball hits a plate that is fixed to the world: what holds it takes the momentum of all."""
    world = weightless(1e-3, integrator, tolerance=1e-12, sweep_limit=5000, continuous=False)
    plate = world.add_body(Box((0.1, 0.5, 0.5)), 2.0, name="plate")
    joint = world.connect(None, plate, kind="fixed", point=(0, 0, 0), solver=solver)
    # Where some step finds its forces the gap is what the ball does in one: it stops in that step.
    start = -0.201 if integrator == "semi_implicit" else -0.2
    ball = world.add_body(Sphere(0.1), 1.0, (start, 0, 0), velocity=(2.0, 0, 0))
    largest = 0.0
    for _ in range(60):
        before = plate.mass * plate.velocity + ball.velocity
        world.step()
        change = plate.mass * plate.velocity + ball.velocity - before
        assert joint.force * 1e-3 == pytest.approx(change, abs=1e-9)
        largest = max(largest, np.linalg.norm(joint.force))
    assert largest * 1e-3 == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_blows_are_gone_in_the_next_step_and_kept_by_snapshots(integrator):
    world, robot = thrown_at_a_stop(integrator)
    while robot.constraint_efforts()[0] == 0.0:
        world.step()
    blow, snapshot, copied = robot.constraint_efforts(), world.snapshot(), world.copy()
    world.step(5)
    assert abs(robot.constraint_efforts()[0]) < 1e-6 * abs(blow[0])
    world.restore(snapshot)
    assert (robot.constraint_efforts() == blow).all()
    assert (copied.robots["one"].constraint_efforts() == blow).all()
    world.add_body(Sphere(0.1), 1.0, (9, 9, 9))
    assert (robot.constraint_efforts() == blow).all()
    world.reset()
    assert robot.constraint_efforts().tolist() == [0.0]
