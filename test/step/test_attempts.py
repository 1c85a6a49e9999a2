# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The table of attempts at an island, and searches that end where nothing can be found."""

import math

import numpy as np
import pytest
from actuators.arms import arm

import hrpsim
from hrpsim import World
from hrpsim.engine.step.rows import hand_over

SLEDGE = """<robot name="sledge"><link name="box">
<inertial><mass value="1"/><inertia ixx="4e-3" iyy="4e-3" izz="7e-3" ixy="0" ixz="0" iyz="0"/>
</inertial><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
<link name="wheel"><inertial><mass value="0.1"/>
<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="axle" type="continuous"><parent link="box"/><child link="wheel"/><axis xyz="0 1 0"/>
</joint></robot>"""
FIRST = range(hand_over._DIRECT_BOUNDS + 1, hand_over._END)


def test_each_attempt_has_one_row_and_is_made_at_most_once():
    """Law: no attempt leads back to itself; only the one that forgets why it came begins again."""
    policy = hand_over._POLICY
    assert len(policy) == hand_over._END
    following = {k: set(row[1:]) - {hand_over._END} for k, row in enumerate(policy)}
    again = {k for k in FIRST if hand_over._BEGIN in following[k]}
    assert again == {hand_over._DIRECT_AGAIN}
    for first in FIRST:
        seen, front = set(), following[first] - {hand_over._BEGIN}
        while front:
            seen |= front
            front = set().union(*(following[k] for k in front)) - seen - {hand_over._BEGIN}
        assert first not in seen


@pytest.mark.parametrize("friction", [0.3, 0.9])
def test_a_search_for_grip_ends_where_nothing_can_hold(friction):
    """Law: a robot on a slope above its angle of friction moves off by g dt (sin a - mu cos a).

    No division of the normal forces holds it. Its wheel turns about its centre of mass.
    """
    angle = math.radians(45.0)
    gravity = (9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle))
    world = World(1e-3, gravity=gravity)
    world.set_friction("default", "default", friction)
    world.add_ground()
    robot = world.add_robot(hrpsim.load_model(SLEDGE, base="free"), q=[0, 0, 0.05, 0, 0, 0, 1, 0])
    world.step()
    slides = 9.81e-3 * (math.sin(angle) - friction * math.cos(angle))
    assert robot.v[0] == pytest.approx(slides, rel=1e-6)
    assert 20 < world.stats.iterations < 100


@pytest.mark.parametrize("effort, torque", [(5.0, 0.0), (0.0, 5.0), (-1.0, -4.0)])
def test_a_locked_joint_begins_to_slide_without_a_row(effort, torque):
    """Law: a torque T above the dry friction F moves a joint at rest by T - F, from its step on.

    An actuator's effort is known when the step begins, other torques are found in it.
    """
    world, robot = arm(friction=2.0)
    free_world, free = arm()
    world.step(5)
    robot.command(efforts=[effort])
    robot.apply_wrench("bob", torque=(0.0, 0.0, torque))
    free.command(efforts=[math.copysign(3.0, effort + torque)])
    world.step()
    free_world.step()
    assert abs(free.v[0]) > 0.0
    np.testing.assert_allclose(robot.v, free.v, rtol=1e-12)
    assert world.scene.counts[0]["row_count"] == 0
