# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The report of `World.settle`, and the warnings of a start that is hardly meant."""

import contextlib
import math
import warnings

import numpy as np
import pytest

import hrpsim
from hrpsim import Box, Capsule, Cylinder, ModelWarning, Sphere

G = 9.80665
MASS, HEIGHT = 10.0, 1.0  # of a trunk over its ankle
# A trunk on a flat foot, with an ankle about y: an inverted pendulum. The trunk is the base.
PENDULUM = """<robot name="pendulum">
<link name="trunk">
  <inertial><mass value="10"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
</link>
<link name="foot">
  <inertial><mass value="5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.6 0.6 0.02"/></geometry></collision>
</link>
<joint name="ankle" type="revolute">
  <parent link="trunk"/><child link="foot"/><origin xyz="0 0 -1"/><axis xyz="0 1 0"/>
  <limit lower="-0.5" upper="2" velocity="10" effort="1000"/>
</joint>
<hrpsim reference="ankle"><gains kp="{kp}" kd="20"/></hrpsim>
</robot>"""


def pendulum(kp, tilt=0.01):
    """Return a world with the pendulum on a floor, its trunk tilted by `tilt`."""
    world = hrpsim.World()
    world.add_ground()
    model = hrpsim.load_model(PENDULUM.format(kp=kp))
    q = model.neutral()
    q[:3] = HEIGHT * math.sin(tilt), 0.0, 0.01 + HEIGHT * math.cos(tilt)
    q[4], q[6] = math.sin(0.5 * tilt), math.cos(0.5 * tilt)
    q[model.joint("ankle").q_index] = -tilt
    world.add_robot(model, q=q)
    return world


def test_settling_reports_how_far_the_joints_moved_and_what_bears():
    """Law: the servo balances gravity, kp (a - 0.01) = m g h sin a."""
    kp = 3.0 * MASS * G * HEIGHT
    rest = pendulum(kp).settle()["pendulum"]
    a = 0.01
    for _ in range(50):
        a = 0.01 + MASS * G * HEIGHT * math.sin(a) / kp
    assert rest.joint == "ankle" and rest.joint_moved == pytest.approx(a - 0.01, rel=1e-3)
    assert rest.turned == pytest.approx(a - 0.01, rel=1e-2)
    assert rest.rests_on == (("foot", "world/ground"),) and not rest.lies and not rest.fell
    assert "foot on world/ground" in str(rest)


def test_a_robot_whose_servo_is_softer_than_gravity_fell():
    """Law: an inverted pendulum with kp < m g h has no stable rest upright."""
    with pytest.warns(
        ModelWarning, match=r"'pendulum' fell .*trunk.* on world/ground; the base is tilted or low"
    ):
        rest = pendulum(0.5 * MASS * G * HEIGHT).settle()["pendulum"]
    assert rest.lies and rest.fell and rest.moved > 0.5 * HEIGHT
    assert ("trunk", "world/ground") in rest.rests_on


def test_a_body_reports_its_way():
    """Law: a box that starts 1 mm above the floor moves by that, and nothing else."""
    world = hrpsim.World()
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.101), name="box")
    rest = world.settle()["box"]
    assert rest.moved == pytest.approx(1e-3, abs=1e-5) and rest.turned < 1e-6
    assert rest.joint == "" and rest.rests_on == (("box", "world/ground"),) and not rest.lies


TURN = (0.0, math.sin(0.3), 0.0, math.cos(0.3))  # 0.6 rad about y


@pytest.mark.parametrize(
    ("shape", "low"),
    [
        (Sphere(0.1), 0.1),
        (Box((0.2, 0.3, 0.4)), 0.1 * math.sin(0.6) + 0.2 * math.cos(0.6)),
        (Capsule(0.1, 0.4), 0.1 + 0.2 * math.cos(0.6)),
        (Cylinder(0.1, 0.4), 0.1 * math.sin(0.6) + 0.2 * math.cos(0.6)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_start_inside_the_ground_has_its_depth(shape, low):
    """Law: a shape reaches `low` below its centre, so at a height of -1 m it is 1 m + low deep."""
    world = hrpsim.World()
    world.add_ground()
    world.add_body(shape, 1.0, position=(0, 0, -1.0), orientation=TURN, name="deep")
    depth = f"{1.0 + low:.3g} m"
    with pytest.warns(ModelWarning, match=f"'deep' starts {depth} inside 'world/ground'") as told:
        with contextlib.suppress(hrpsim.WorldError):  # not at rest in so short a time
            world.settle(duration=0.01)
    assert f"{depth} higher" in str(told[0].message)


def file_of(tmp_path, **entries):
    (tmp_path / "pendulum.urdf").write_text(PENDULUM.format(kp=400))
    file = tmp_path / "world.yaml"
    lines = "".join(f"\n    {key}: {value}" for key, value in entries.items())
    file.write_text(f"ground: {{}}\nrobots:\n  - urdf: pendulum.urdf{lines}\n")
    return file


def test_loading_warns_of_depth_and_limits_with_the_amount(tmp_path):
    """Law: the foot's lower side is 1.01 m below the trunk; the ankle turns from -0.5 to 2 rad."""
    with pytest.warns(ModelWarning) as told:
        hrpsim.load_world(file_of(tmp_path, position=[0, 0, 0.0], joints="{ankle: -0.7}"))
    texts = [str(one.message) for one in told]
    foot = 1.0 + 0.01 * math.cos(0.7) + 0.3 * math.sin(0.7)
    assert f"{foot:.3g} m inside 'world/ground', with 'foot'" in texts[0]
    assert "position -0.7 of 'ankle' is not within -0.5 to 2" in texts[1]


def test_a_start_as_it_should_be_says_nothing(tmp_path):
    """1 mm inside the floor, a joint at its limit, and a link that may not touch the floor."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        foot = 1.0 + 0.01 * math.cos(0.5) + 0.3 * math.sin(0.5)
        hrpsim.load_world(file_of(tmp_path, position=[0, 0, foot - 1e-3], joints="{ankle: -0.5}"))
        deep = file_of(tmp_path, position=[0, 0, 0])
        deep.write_text(deep.read_text() + "no_collisions: [[pendulum, world/ground]]\n")
        hrpsim.load_world(deep)


@pytest.mark.parametrize("given", [0.06, 1.0, 5.0])
def test_a_time_step_in_milliseconds_is_warned_of_with_both_readings(given):
    with pytest.warns(ModelWarning, match=f"{given:g} s, .* {given:g} ms .* {given / 1000:g}$"):
        hrpsim.World(time_step=given)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        assert np.isclose(hrpsim.World(time_step=0.05).time_step, 0.05)
