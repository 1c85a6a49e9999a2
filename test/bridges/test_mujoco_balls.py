# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Ball joints of MJCF: three bodies with one rotation vector, without a singularity."""

import mujoco as native
import numpy as np
import pytest

import hrpsim
from hrpsim import ModelError, load_model
from hrpsim.bridges import mujoco as ours

TEXT = """<mujoco><option timestep="0.002" integrator="INTEGRATOR">
<flag contact="disable"/></option>
<default><geom mass="0.7" size="0.03"/></default><worldbody>
<body name="a" pos="0 0 1">BASE<geom type="box" size=".1 .05 .02"/>
<body name="b" pos=".1 .05 0" quat=".9 .1 .2 .3"><joint name="b" type="ball" pos=".01 .02 -.01"
damping="0.01" stiffness="0.5" armature="0.01"/><geom type="capsule" fromto="0 0 0 .2 .1 .05"/>
<body name="c" pos=".2 .1 .05"><joint name="h" axis="0 1 1"/>
<geom type="capsule" fromto="0 0 0 .1 .1 .05"/>
<body name="e" pos=".1 .1 .05"><joint name="e" type="ball"/>
<geom type="box" size=".1 .02 .03" pos=".1 0 0"/></body></body></body></body></worldbody>
<actuator><motor joint="e" gear="0.02 0.01 -0.03"/></actuator>
<sensor><ballquat joint="b"/><ballangvel joint="e"/></sensor></mujoco>"""
BASES = {"free": "<freejoint/>", "ball": '<joint type="ball"/>', "fixed": ""}


def run(mujoco, text, steps):
    """Return the data after steps from a random state."""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    data.qpos[:] += 0.5 * rng.normal(size=model.nq)
    mujoco.mj_normalizeQuat(model, data.qpos)
    data.qvel[:] = 4.0 * rng.normal(size=model.nv)
    data.qfrc_applied[-1] = 0.03
    if model.nu:
        data.ctrl[:] = 0.5
    mujoco.mj_step(model, data, steps)
    mujoco.mj_forward(model, data)
    return data


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit", "RK4"])
def test_balls_turn_as_in_mujoco(base, integrator):
    """Law: without contacts, several turns of every ball agree to rounding, RK4 to 1e-8."""
    text = TEXT.replace("INTEGRATOR", integrator).replace("BASE", BASES[base])
    mine, theirs = run(ours, text, 300), run(native, text, 300)
    bound = 1e-8 if integrator == "RK4" else 1e-10
    for field in ("qpos", "qvel", "xpos", "sensordata", "actuator_force"):
        np.testing.assert_allclose(
            getattr(mine, field), getattr(theirs, field), atol=bound, err_msg=field
        )


LIMITED = """<mujoco><compiler angle="radian"/><option timestep="0.001"/><worldbody><body>
<joint type="ball" range="0 0.6" solreflimit="0.004 1"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0 0.05 -0.4" mass="1"/></body></worldbody>
</mujoco>"""


def test_the_range_of_a_ball_bounds_the_angle():
    """Law: the pendulum goes round along the cone of its range, as fast as MuJoCo's stiff one."""
    speeds = []
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_string(LIMITED)
        data = mujoco.MjData(model)
        data.qvel[:] = [4.0, 1.0, 0.5]
        angles = []
        for _ in range(400):
            mujoco.mj_step(model, data)
            angles.append(2.0 * np.arccos(min(1.0, abs(data.qpos[0]))))
        assert 0.6 - 1e-3 < max(angles) < 0.6 + 2e-3
        speeds.append(np.linalg.norm(data.qvel))
    assert speeds[0] == pytest.approx(speeds[1], rel=0.05)


def test_a_world_turns_a_ball_past_half_a_turn():
    """Law: without torque, the energy stays over ten turns, and no position passes pi."""
    text = TEXT.replace("INTEGRATOR", "Euler").replace("BASE", "").replace('stiffness="0.5"', "")
    model = load_model(text.replace('damping="0.01"', ""))
    world = hrpsim.World(time_step=5e-4, gravity=(0.0, 0.0, 0.0), integrator="rk4")
    robot = world.add_robot(model, v=np.linspace(3.0, 7.0, model.nv))
    before = sum(hrpsim.energy(model, robot.q, robot.v, gravity=np.zeros(3)))
    turned = 0.0
    for _ in range(4000):
        world.step()
        turned += 5e-4 * np.linalg.norm(robot.v[-3:])
        assert np.linalg.norm(robot.q[-3:]) <= np.pi + 1e-12
    after = sum(hrpsim.energy(model, robot.q, robot.v, gravity=np.zeros(3)))
    assert turned > 20.0 and after == pytest.approx(before, rel=1e-6)


def test_linearize_names_balls():
    world = hrpsim.World()
    world.add_robot(load_model(TEXT.replace("INTEGRATOR", "Euler").replace("BASE", "")))
    with pytest.raises(hrpsim.HrpsimError, match="ball joints are not"):
        world.linearize()


HINGE = '"b_y" type="continuous">'
STOPPED = '"b_y" type="revolute"><limit lower="-1" upper="{}" effort="0" velocity="0"/>'


@pytest.mark.parametrize(
    "old, new",
    [
        ('part="2"', 'part="3"'),
        ('part="1"', 'part="4"'),
        ("0.0 1.0 0.0", "0.0 0.0 1.0"),
        (HINGE, STOPPED.format("1")),
        (HINGE, STOPPED.format("1e30")),
    ],
)
def test_parts_of_a_ball_make_a_whole(old, new):
    """Law: the URDF of a ball is the same robot. A part alone is an error that says what lacks."""
    urdf = load_model(TEXT.replace("INTEGRATOR", "Euler").replace("BASE", "")).urdf
    assert load_model(urdf).system.ball.tolist() == [1, 2, 3, 0, 1, 2, 3]
    assert old in urdf
    with pytest.raises(ModelError, match="a ball joint is three joints with parts 1, 2 and 3"):
        load_model(urdf.replace(old, new, 1))
