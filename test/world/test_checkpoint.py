# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A world returns to a checkpoint with all that was set of it, and then goes on as a copy does."""

import numpy as np
import pytest

import hrpsim
from hrpsim import Checkpoint, share_path
from hrpsim.engine.compile.fields import at, declared_fields
from hrpsim.engine.step.arrays import Scene

STEPS = 120


def steps_of(world, push=True):
    """Return the states of everything along some steps, as bytes."""
    seen = []
    for k in range(4):
        robot = next(iter(world.robots.values()), None)
        if push and robot is not None:
            robot.apply_wrench(robot.model.base_link, force=(40.0, -20.0 * k, 0.0))
            robot.command(robot.joint_positions + 0.01)
        world.step(STEPS // 4)
        seen += [part.tobytes() for one in world.entities.values() for part in (one.q, one.v)]
        seen += [reading.reading.tobytes() for reading in _sensors(world)]
    return seen


def _sensors(world):
    return [s for robot in world.robots.values() for s in robot.sensors.values()]


def change(world):
    """Change all that a study may change."""
    for robot in world.robots.values():
        robot.scale_inertias(1.3)
        kp, kd = robot.gains
        robot.set_gains(0.7 * kp, 1.1 * kd)
        robot.set_joint_properties(friction=0.4, damping=0.2)
        robot.link_poses()
    world.set_friction("sole", "floor", 0.3, 0.2, 0.1)
    world.add_static(hrpsim.Box((0.2, 0.2, 0.02)), (0.1, 0.0, 0.0), material="tile")
    world.gravity = (0.1, 0.0, -9.0)
    next(iter(world.entities.values())).q = next(iter(world.entities.values())).q + 1e-3


@pytest.mark.quick_cases("stand", "rubble")
@pytest.mark.parametrize("file", ["walking_demo", "stand", "rubble"])
def test_a_world_that_went_back_steps_as_a_copy_does(file):
    """Bit for bit, whatever was done in between, and again."""
    start = hrpsim.load_world(share_path(f"config/{file}.yaml"))
    start.step(3)
    world = start.copy()
    checkpoint = Checkpoint(world)
    expected = steps_of(start.copy())
    assert steps_of(world) == expected
    for _ in range(2):
        checkpoint.restore()
        change(world)
        fresh = start.copy()
        change(fresh)
        assert steps_of(world) == steps_of(fresh) != expected
    checkpoint.restore()
    assert steps_of(world) == expected


def test_everything_of_a_scene_that_lasts_goes_back():
    """Also what went, and the arrays of a scene that has been laid out anew since."""
    world = hrpsim.World()
    world.add_ground(material="floor")
    body = world.add_body(hrpsim.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1), name="a")
    other = world.add_body(hrpsim.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.301), name="b")
    world.connect(body, other, kind="hinge")
    world.step(5)
    before = lasting(world)
    checkpoint = Checkpoint(world)
    world.step(700)
    world.remove(other)
    world.step(3)
    checkpoint.restore()
    assert list(world.entities) == ["a", "b"]
    assert lasting(world) == before
    fresh = world.copy()
    assert steps_of(world) == steps_of(fresh)


def lasting(world):
    return {
        path: at(world.scene, path).tobytes()
        for path, field in declared_fields(Scene)
        if field.life.name != "PROCESS"
    }


def test_what_is_in_no_world_yet_is_told():
    world = hrpsim.World()
    world._oddity = bytearray(3)
    with pytest.raises(TypeError, match="bytearray"):
        Checkpoint(world)
    world._oddity = np.float64(1.0)
    Checkpoint(world).restore()
