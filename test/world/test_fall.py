# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

import math

import pytest

from hrpsim.world.fall import FallWatch, tilt


def about(axis, angle):
    s, c = math.sin(angle / 2), math.cos(angle / 2)
    return tuple(s * a for a in axis) + (c,)


def test_tilt_ignores_the_heading():
    assert tilt(about((0, 0, 1), 2.0)) == pytest.approx(0.0, abs=1e-7)
    assert tilt(about((1, 0, 0), 0.5)) == pytest.approx(0.5)
    assert tilt(about((0, 1, 0), -3.0)) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("height", "angle", "fallen"),
    [(0.65, 0.0, False), (0.40, 0.7, False), (0.65, 0.8, True), (0.30, 0.0, True)],
)
def test_fall(height, angle, fallen):
    watch = FallWatch()
    assert not watch.fallen
    watch.add(0.65, (0.0, 0.0, 0.0, 1.0))
    watch.add(height, about((1, 0, 0), angle))
    watch.add(0.65, (0.0, 0.0, 0.0, 1.0))
    assert watch.fallen == fallen


@pytest.mark.parametrize("height", [0.0, -1.0, 0.02])
def test_a_base_frame_on_the_floor_is_no_fall(height):
    """Law: the height of the centre of mass over the feet decides, wherever the base frame is."""
    over_feet = [0.6]
    watch = FallWatch(lambda: over_feet[-1])
    for lowered in (0.0, 0.01, 0.2, 2.0):  # the last one: stairs, with the feet
        watch.add(height - lowered, (0.0, 0.0, 0.0, 1.0))
        assert not watch.fallen
    over_feet.append(0.29)
    watch.add(height - 2.1, (0.0, 0.0, 0.0, 1.0))
    assert watch.fallen


def test_without_a_robot_only_the_tilt_of_such_a_base_counts():
    watch = FallWatch()
    for height in (0.0, 0.003, -0.002):
        watch.add(height, (0.0, 0.0, 0.0, 1.0))
    assert not watch.fallen
    watch.add(0.0, about((1, 0, 0), 0.8))
    assert watch.fallen


def test_numbers_that_are_none_count_as_a_fall():
    watch = FallWatch()
    watch.add(math.nan, (0.0, 0.0, 0.0, 1.0))
    assert watch.fallen
