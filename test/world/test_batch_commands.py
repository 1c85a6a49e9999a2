# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands and states of many worlds in one call: rows are what each robot would be given alone."""

import numpy as np
import pytest
from world.scenes import one_joint

import hrpsim
from hrpsim import Batch, StateError, World, WorldError, load_model
from robots import HRP2_LIKE

NAME = "hrp2_like"


@pytest.fixture(scope="module")
def start() -> World:
    world = World()
    world.add_ground()
    world.add_robot(load_model(HRP2_LIKE))
    return world


class OnlyDlpack:
    """An array of another framework, which shows nothing but the protocol."""

    def __init__(self, array: np.ndarray):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def _controls(batch):
    return [world.robots[NAME]._control().tobytes() for world in batch.worlds]


@pytest.mark.parametrize(
    "kinds",
    [
        ("positions",),
        ("velocities",),
        ("efforts",),
        ("positions", "velocities", "efforts"),
        ("positions", "kp", "kd"),
    ],
)
@pytest.mark.parametrize("over", [0.0, 0.01])
def test_a_row_is_a_command_of_its_robot(start, kinds, over):
    """Law: the same bits as `Robot.command` in each world, for all joints and for some."""
    with Batch(start, 3, threads=1) as batch, Batch(start, 3, threads=1) as other:
        every = batch.worlds[0].robots[NAME].joint_names
        for names in (None, every[3:9:2]):
            shape = 3, len(every if names is None else names)
            random = np.random.default_rng(len(kinds))
            rows = {kind: random.uniform(0.0, 0.3, shape) for kind in kinds}
            batch.command(NAME, names, over, **rows)
            for k, world in enumerate(other.worlds):
                one = {kind: array[k] for kind, array in rows.items()}
                world.robots[NAME].command(names=names, over=over, **one)
            assert _controls(batch) == _controls(other)
            batch.step(3)
            other.step(3)
            np.testing.assert_array_equal(batch.q(NAME), other.q(NAME))


@pytest.mark.parametrize("worlds", [[3, 1], np.array([False, True, False, True])])
def test_worlds_that_are_not_chosen_stay_as_they_are(start, worlds):
    """Rows belong to the worlds of their numbers; the others keep commands, and rows of `out`."""
    with Batch(start, 4, threads=1) as batch:
        before, count = _controls(batch), len(batch.worlds[0].robots[NAME].joint_names)
        goal = 0.1 + np.arange(4.0)[:, None] * np.ones(count)
        batch.command(NAME, positions=goal, worlds=worlds)
        after = _controls(batch)
        assert [old == new for old, new in zip(before, after)] == [True, False, True, False]
        robot = batch.worlds[3].robots[NAME]
        targets = robot._control()["target_position"][robot.joint_index.v]
        np.testing.assert_array_equal(targets, goal[3])
        batch.step(2)
        for read in (batch.q, batch.v):
            whole = read(NAME)
            out = np.full_like(whole, 7.0)
            assert read(NAME, out, worlds) is out
            np.testing.assert_array_equal(out[[1, 3]], whole[[1, 3]])
            assert (out[[0, 2]] == 7.0).all()
            assert np.isnan(read(NAME, worlds=worlds)[[0, 2]]).all()
        with pytest.raises(WorldError, match="there is no world 4 in a batch of 4"):
            batch.command(NAME, positions=goal, worlds=[4])


@pytest.mark.parametrize(
    "wrong, message",
    [(np.inf, "positions for joint .* got inf"), (np.nan, "positions for joint .* got nan")],
)
def test_a_row_that_is_refused_changes_no_world(start, wrong, message):
    with Batch(start, 3, threads=1) as batch:
        goal = np.full((3, len(batch.worlds[0].robots[NAME].joint_names)), 0.1)
        goal[2, 5] = wrong
        before = _controls(batch)
        with pytest.raises(StateError, match=message):
            batch.command(NAME, positions=goal)
        assert _controls(batch) == before
        batch.command(NAME, positions=goal, worlds=[0, 1])
        assert _controls(batch)[1] != before[1]


def test_what_is_no_command_is_told(start):
    with Batch(start, 2, threads=1) as batch:
        count = len(batch.worlds[0].robots[NAME].joint_names)
        for values, message in (
            ({}, "a command needs positions"),
            ({"positions": np.zeros((2, count - 1))}, f"must be {count} numbers"),
            ({"positions": [["a"] * count] * 2}, "must be numbers"),
            ({"positions": np.zeros((2, count)), "over": -1.0}, "over must be a time"),
            ({"efforts": np.zeros((2, 1)), "names": ["no"]}, "joint 'no' does not exist"),
        ):
            with pytest.raises(StateError, match=message):
                batch.command(NAME, **values)


def test_arrays_of_other_frameworks_are_taken_and_given_without_a_copy(start):
    """A view by `__dlpack__` of what `q` and `v` fill sees the next states."""
    with Batch(start, 2, threads=1) as batch:
        count = len(batch.worlds[0].robots[NAME].joint_names)
        goal = np.full((2, count), 0.1)
        batch.command(NAME, positions=goal)
        expected = _controls(batch)
        batch.command(NAME, positions=np.zeros((2, count)))
        batch.command(NAME, positions=OnlyDlpack(goal))
        assert _controls(batch) == expected
        for read in (batch.q, batch.v):
            kept = read(NAME)
            view = np.from_dlpack(kept)
            batch.step(5)
            read(NAME, out=kept)
            assert np.shares_memory(view, kept)
            np.testing.assert_array_equal(view, read(NAME))


def test_worlds_of_different_robots_are_commanded_too():
    """Robots with other joints, or worlds with other time steps, are commanded one by one."""
    worlds = [World(), World(2e-3)]
    drive = '<gains kp="9" kd="1"/>'
    for k, world in enumerate(worlds):
        world.add_robot(one_joint(extension=drive, kind=("revolute", "prismatic")[k]), name="one")
    with Batch.of(worlds, threads=1) as batch:
        batch.command("one", positions=[[0.2], [0.3]], over=0.02)
        batch.step(1)
        ramps = [world.robots["one"]._control()["ramp_steps"][0] for world in batch.worlds]
        assert ramps == [18, 8]
        assert batch.q("one").shape == (2, 1)


def test_commands_follow_a_robot_whose_world_changed(start):
    with Batch(start, 2, threads=1) as batch:
        goal = np.full((2, len(batch.worlds[0].robots[NAME].joint_names)), 0.2)
        batch.command(NAME, positions=goal)
        world = batch.worlds[1]
        world.remove(NAME)
        with pytest.raises(WorldError, match="does not exist"):
            batch.command(NAME, positions=goal)
        world.add_body(hrpsim.Sphere(0.1), 1.0, (0, 0, 5))
        world.add_robot(load_model(HRP2_LIKE))
        batch.command(NAME, positions=goal)
        one, other = _controls(batch)
        assert one == other


@pytest.mark.parametrize("worlds", [None, [2, 0], np.array([True, False, True])])
def test_a_row_of_gains_is_set_gains_of_its_robot(start, worlds):
    """Law: the same bits as `Robot.set_gains` in each chosen world, on present commands too."""
    with Batch(start, 3, threads=1) as batch, Batch(start, 3, threads=1) as other:
        every = batch.worlds[0].robots[NAME].joint_names
        for one in (batch, other):
            one.command(NAME, positions=np.full((3, len(every)), 0.1))
            one.command(NAME, velocities=np.full((3, 2), 0.1), names=every[:2])
            one.command(NAME, efforts=np.full((3, 2), 0.1), names=every[2:4])
        for names in (None, every[1:9:2]):
            shape = 3, len(every if names is None else names)
            kp, kd = np.random.default_rng(1).uniform(1.0, 100.0, (2, *shape))
            batch.set_gains(NAME, kp, kd, names, worlds=worlds)
            for k in range(3) if worlds is None else (0, 2):
                other.worlds[k].robots[NAME].set_gains(kp[k], kd[k], names)
            assert _controls(batch) == _controls(other)
            for one, two in zip(batch.worlds, other.worlds, strict=True):
                for ours, theirs in zip(one.robots[NAME].gains, two.robots[NAME].gains):
                    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "wrong, message",
    [(-1.0, "kd for joint .* must not be negative, got -1"), (np.nan, "kd .* got nan")],
)
def test_gains_that_are_refused_change_no_world(start, wrong, message):
    with Batch(start, 3, threads=1) as batch:
        count = len(batch.worlds[0].robots[NAME].joint_names)
        kp, kd = np.full((2, 3, count), 7.0)
        kd[2, 5] = wrong
        before = _controls(batch)
        with pytest.raises(StateError, match=message):
            batch.set_gains(NAME, kp, kd)
        with pytest.raises(StateError, match=f"must be {count} numbers"):
            batch.set_gains(NAME, kp[:, 1:], kd[:, 1:])
        assert _controls(batch) == before
        batch.set_gains(NAME, kp, kd, worlds=[0, 1])
        assert [old == new for old, new in zip(before, _controls(batch))] == [False, False, True]


@pytest.mark.parametrize("worlds", [[3, 1], np.array([False, True, False, True])])
def test_readings_of_chosen_worlds(start, worlds):
    """Law: a row is the reading of its world's robot; other rows of `out` stay."""
    with Batch(start, 4, threads=1) as batch:
        (sensor, *_) = batch.worlds[0].robots[NAME].sensors
        batch.step(3)
        whole = batch.sensor(NAME, sensor)
        for k, world in enumerate(batch.worlds):
            np.testing.assert_array_equal(whole[k], world.robots[NAME].sensors[sensor].reading)
        assert whole.any()
        out = np.full((4, 6), 7.0)
        assert batch.sensor(NAME, sensor, out, worlds) is out
        np.testing.assert_array_equal(out[[1, 3]], whole[[1, 3]])
        assert (out[[0, 2]] == 7.0).all()
        assert np.isnan(batch.sensor(NAME, sensor, worlds=worlds)[[0, 2]]).all()
        with pytest.raises(StateError, match=r"shape \(4, 6\)"):
            batch.sensor(NAME, sensor, out[:3])
        with pytest.raises(WorldError, match="sensor 'no'"):
            batch.sensor(NAME, "no")
