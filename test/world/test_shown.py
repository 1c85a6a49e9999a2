# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A world and its contents are shown as one line that identifies them."""

from hrpsim import Box, Compound, World, load_model
from robots import HRP2_LIKE


def test_each_is_one_short_line_with_its_name():
    """Law: one line of at most 120 letters, however large the model and many the bodies."""
    world = World()
    robot = world.add_robot(load_model(HRP2_LIKE), name="first")
    box = world.add_body(Box((0.1, 0.1, 0.1)), 2.0, name="crate")
    parts = Compound([(Box((0.1, 0.1, 0.1)), (k, 0.0, 0.0)) for k in range(9)])
    world.add_body(parts, 2.0, name="many")
    for k in range(50):
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=(k, 5.0, 0.0))
    assert repr(box) == "<Body 'crate': Box, 2 kg>"
    assert "'first'" in repr(robot) and "hrp2_like" in repr(robot.model)
    assert "1 robots, 52 bodies" in repr(world) and "'first', 'crate'" in repr(world)
    sensor = robot.sensors["lfsensor"]
    assert repr(sensor) == "<force_torque 'lfsensor' of 'first'>"
    for shown in map(repr, (world, robot, robot.model, sensor, *world.bodies.values())):
        assert "\n" not in shown and len(shown) <= 120
