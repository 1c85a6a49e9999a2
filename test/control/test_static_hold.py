# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Whether the legs' gains hold a robot: the pendulum over the ankles, and the rest of dynamics."""

import math

import numpy as np
import pytest
from control.bipeds import biped

import hrpsim
from hrpsim.control import prepare_biped
from hrpsim.control.biped.servos import MOST_DEFLECTION, check_hold

G, RIGID = 9.80665, 1e6
KNEE, ANKLE_PITCH = 3, 4


def prepared(**kp):
    """Return the biped with `kp` of joints by number, "k4=70", of both legs; others rigid."""
    gains = "".join(
        f'<hrpsim reference="{side}_{k}"><gains kp="{kp.get(f"k{k}", RIGID)}" kd="20"/></hrpsim>'
        for side in ("left", "right")
        for k in range(6)
    )
    return prepare_biped(biped(extra=gains))


def moment_over_ankles():
    """Return m g h of all that is above the axes of ankle pitch [Nm/rad]."""
    robot = prepared()
    model, q = robot.model, robot.start
    ankle = hrpsim.link_pose(model, q, "left_4_link")[0][2]
    foot = 0.9 * (hrpsim.link_pose(model, q, "left_5_link")[0][2] - 0.04 - ankle)
    return G * (model.mass * (hrpsim.center_of_mass(model, q)[2] - ankle) - 2.0 * foot)


@pytest.mark.parametrize(("share", "holds"), [(0.98, False), (1.02, True)])
def test_rigid_legs_on_soft_ankles_are_a_pendulum(share, holds):
    """Law: it stands if the sum of both ankles' kp is more than m g h."""
    hold = prepared(k4=0.5 * share * moment_over_ankles()).hold
    assert math.isfinite(hold.deflection) == holds
    assert hold.joints == ("left_4", "right_4")


def test_the_factor_is_how_much_more_is_needed():
    """Law: with kp times the factor the servos yield by the bound at most, with less by more."""
    kp = 0.3 * moment_over_ankles()
    factor = prepared(k4=kp).hold.factor
    enough, less = (prepared(k4=kp * factor * share).hold.deflection for share in (1.0, 0.97))
    assert enough == pytest.approx(MOST_DEFLECTION, rel=0.2) and enough <= 1.001 * MOST_DEFLECTION
    assert less > MOST_DEFLECTION


def test_knees_yield_as_in_the_rest_that_dynamics_finds():
    """Law: the minimum of the potential energy is where motion under gravity comes to rest."""
    robot = prepared(k3=200)
    world = hrpsim.World()
    world.add_ground(material="floor")
    world.set_friction("sole", "floor", 0.8)
    rest = world.add_robot(robot.model, q=robot.start, name="robot").world.settle()["robot"]
    assert rest.joint == "left_3" or rest.joint == "right_3"
    assert robot.hold.deflection == pytest.approx(rest.joint_moved, rel=0.05)


def test_gains_that_do_not_hold_are_named_with_the_cure():
    robot = prepared(k4=17)
    message = (
        r"left_4 \(17 Nm/rad\), right_4 \(17 .* Give the legs \d+\.\d times their kp .* Without"
    )
    with pytest.raises(hrpsim.ModelError, match=message):
        check_hold(robot.model, robot.hold)
    soft = prepared(k3=50)
    with pytest.raises(hrpsim.ModelError, match=r"right_3 \(50 Nm/rad\) yield by .* rad under"):
        check_hold(soft.model, soft.hold)
    check_hold(prepared().model, prepared().hold)


def test_servos_without_stiffness_hold_nothing():
    """Velocity servos, for example: no factor of zero is enough."""
    hold = prepared(k3=0, k4=0).hold
    assert hold.deflection == hold.factor == np.inf
