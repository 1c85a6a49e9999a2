# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Without contacts and limits, the facade's trajectories are MuJoCo's to rounding."""

import warnings

import numpy as np
import pytest

from hrpsim import HrpsimError, ModelWarning
from hrpsim.bridges import mujoco as ours

native = pytest.importorskip("mujoco")
pytestmark = pytest.mark.filterwarnings(f"ignore::{ModelWarning.__module__}.ModelWarning")
APART = 'contype="0" conaffinity="0"'
BODY = f"""<body name="a" pos="0 0 2"><freejoint/>
<geom type="box" size=".1 .2 .05" mass="3" {APART}/>
<site name="imu" pos="0.1 0 0"/><body name="b" pos="0.1 0 -0.1">
<joint name="j" axis="0 1 0" damping="0.8" stiffness="5" armature="0.02"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 -0.5" mass="1" {APART}/>
<body name="c" pos="0.1 0 -.5"><joint name="k" axis="1 1 0" damping="0.1"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0 0 -.4" mass=".5" {APART}/></body></body>
<body name="d" pos="-0.1 0 -0.1"><joint name="s" type="slide" axis="0 1 1" damping="3"
 stiffness="20"/><geom size="0.05" mass="1" {APART}/></body></body>"""
SERVOS = """<position joint="j" kp="50" kv="5"/><motor joint="k" gear="2"/>
<position joint="s" kp="100" kv="2" forcerange="-5 5"/>"""
ON_TENDON = """<position tendon="t" kp="30" kv="1"/><motor joint="s"/>
<general joint="k" dyntype="filter" dynprm="0.05"/>"""
TENDON = """<tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="k" coef="-.5"/></fixed>
</tendon>"""
READ = """<sensor><framelinacc objtype="site" objname="imu"/><e_kinetic/><e_potential/>
<frameangacc objtype="body" objname="c"/><jointpos joint="j"/></sensor>"""


def scene(option, actuators=SERVOS, body=BODY, more="", flag=""):
    head = f"<mujoco><option timestep='0.005' {option}>{flag}</option><worldbody>{body}</worldbody>"
    return f"{head}{more}<actuator>{actuators}</actuator>{READ}</mujoco>"


FIXED = BODY.replace("<freejoint/>", "")
DAMPED = BODY.replace("<freejoint/>", '<joint type="free" damping="0.7"/>')
NO_LATE_DAMPERS = '<flag eulerdamp="disable"/>'
SCENES = {
    "Euler": scene('integrator="Euler"'),
    "Euler, fixed": scene('integrator="Euler"', body=FIXED),
    "Euler without eulerdamp": scene('integrator="Euler"', body=FIXED, flag=NO_LATE_DAMPERS),
    "Euler in a fluid": scene('integrator="Euler" density="500" viscosity="0.5"'),
    "Euler, tendon and filter": scene('integrator="Euler"', ON_TENDON, FIXED, TENDON),
    "implicitfast": scene('integrator="implicitfast"'),
    "implicitfast, fixed": scene('integrator="implicitfast"', body=FIXED),
    "implicitfast in a fluid": scene('integrator="implicitfast" density="500"'),
    "implicitfast, tendon": scene('integrator="implicitfast"', ON_TENDON, FIXED, TENDON),
    "implicit": scene('integrator="implicit"'),
    "implicit in a fluid": scene('integrator="implicit" density="500" viscosity="0.5"'),
    "implicit, tendon": scene('integrator="implicit"', ON_TENDON, FIXED, TENDON),
    "RK4": scene('integrator="RK4"'),
    "RK4 in a fluid": scene('integrator="RK4" density="500" viscosity="0.5"'),
    "RK4, tendon": scene('integrator="RK4"', ON_TENDON, FIXED, TENDON),
    "RK4, fixed": scene('integrator="RK4"', body=FIXED),
} | {
    f"{kind}, damped base": scene(f'integrator="{kind}"', body=DAMPED)
    for kind in ("Euler", "implicitfast", "implicit", "RK4")
}


def trajectory(mujoco, text, steps=100):
    """Return states of random controls, and qacc, forces and sensors of the last step."""
    model = mujoco.MjModel.from_xml_string(text)
    data, random = mujoco.MjData(model), np.random.default_rng(0)
    data.qvel[:] = random.normal(size=model.nv)
    states = []
    for _ in range(steps):
        data.ctrl[:] = random.uniform(-1.0, 1.0, model.nu)
        mujoco.mj_step(model, data)
        states.append(np.concatenate([data.qpos, data.qvel, data.act]))
    results = data.qacc.copy(), data.actuator_force.copy(), data.qfrc_actuator.copy()
    return np.array(states), (*results, data.sensordata.copy())


@pytest.mark.parametrize("name", SCENES)
def test_trajectories_without_constraints_are_mujoco_s(name):
    """Law: states of 100 steps agree to 1e-6. MuJoCo of older versions turns otherwise in RK4."""
    (a, found), (b, true) = trajectory(ours, SCENES[name]), trajectory(native, SCENES[name])
    assert np.abs(b[-1] - b[0]).max() > 0.5
    bound = 1e-9 if "RK4" not in name or native.__version__ >= "4" else 1e-3
    np.testing.assert_allclose(a, b, atol=bound)
    if "RK4" not in name or native.__version__ >= "4":
        for mine, its in zip(found, true, strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["RK4 in a fluid", "implicit, tendon", "Euler, damped base"])
def test_written_gravity_acts_on_all_forces(name):
    """Law: states agree with MuJoCo's if a script writes gravity between two steps."""
    found = []
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_string(SCENES[name])
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data)
        model.opt.gravity[:] = [1.0, 0.0, -3.0]
        mujoco.mj_step(model, data, 30)
        found.append(np.concatenate([data.qpos, data.qvel]))
    bound = 1e-9 if "RK4" not in name or native.__version__ >= "4" else 1e-3
    np.testing.assert_allclose(*found, atol=bound)


def test_the_acceleration_of_a_kept_array_is_mujoco_s_too():
    found = []
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_string(SCENES["implicitfast"])
        data = mujoco.MjData(model)
        kept, rows = data.qacc, []
        for _ in range(3):
            data.ctrl[:] = 0.7
            mujoco.mj_step(model, data)
            rows.append(kept.copy())
        mujoco.mj_forward(model, data)
        rows += [data.qacc.copy(), data.qacc_smooth.copy()]
        spin = np.zeros(6)
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_BODY, 3, spin, 1)
        found.append([*rows, spin])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


SLED = """<mujoco><option timestep="0.002"/><worldbody>
<geom type="plane" size="9 9 1" friction="0.1"/>
<body name="sled"><freejoint/>
<geom name="nose" size="0.05" pos="0.2 0 0.05" mass="1" friction="0.2"/>
<geom name="tail" size="0.05" pos="-0.2 0.1 0.05" mass="0.5" friction="0.2"/>
<geom name="other" size="0.05" pos="-0.2 -0.1 0.05" mass="0.5" friction="0.2"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("nose, tail", [(0.2, 0.8), (0.8, 0.2)])
def test_each_geom_of_a_body_has_its_own_friction(nose, tail):
    """Law: a sled of two masses slows by a = g (m1 + m2) / 2 / (1 + (m2 - m1) h / l).

    m1 and m2 are the frictions of nose and tail. The centre is h = 0.05 m above the floor, and nose
    and tail are l = 0.4 m apart: deceleration moves load to the nose.
    """
    model = ours.MjModel.from_xml_string(SLED)
    data = ours.MjData(model)
    ours.mj_step(model, data, 50)
    model.geom("nose").friction[0] = nose
    model.geom("tail").friction[0] = model.geom("other").friction[0] = tail
    data.qvel[0] = 2.0
    ours.mj_step(model, data, 100)
    exact = 9.81 * (nose + tail) / 2.0 / (1.0 + (tail - nose) * 0.05 / 0.4)
    assert (2.0 - data.qvel[0]) / 0.2 == pytest.approx(exact, rel=1e-3)
    for contact in data.contact:
        mine = nose if contact.geom2 == model.geom("nose").id else tail
        assert contact.friction.tolist() == [mine, mine, 0.005, 0.0001, 0.0001]
        assert contact.exclude == 0
    with pytest.raises(HrpsimError, match=r"MjContact\.efc_address is not in .* there are geom1"):
        _ = data.contact[0].efc_address


def test_a_pair_of_geoms_has_its_own_friction():
    """Law: a box slows by mu g, with mu of the pair and not of the geoms, also after a write."""
    pair = '<contact><pair geom1="floor" geom2="box" friction="0.1 0.1"/></contact></mujoco>'
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/><body pos="0 0 0.1">
    <freejoint/><geom name="box" type="box" size="0.1 0.1 0.1"/></body></worldbody>"""
    model = ours.MjModel.from_xml_string(text + pair)
    data = ours.MjData(model)
    for friction in (0.1, 0.3):
        model.pair_friction[0, :2] = friction
        data.qvel[0] = 2.0
        ours.mj_step(model, data, 100)
        assert 2.0 - data.qvel[0] == pytest.approx(9.81 * friction * 0.2, rel=1e-2)
        assert data.contact[0].friction[0] == friction


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit", "RK4"])
def test_a_free_body_is_damped_from_a_write_on(integrator):
    """Law: after a write of dof_damping the velocities are MuJoCo's, as with a file that has it."""
    found = []
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_string(scene(f'integrator="{integrator}"'))
        data = mujoco.MjData(model)
        data.qvel[:] = np.arange(model.nv)
        mujoco.mj_step(model, data, 3)
        model.dof_damping[:6] = [5.0, 5.0, 50.0, 0.1, 0.2, 0.0]
        mujoco.mj_step(model, data, 20)
        found.append(data.qvel.copy())
    assert abs(found[1][0]) > 1e-3
    np.testing.assert_allclose(*found, atol=1e-9)


LEG = """<mujoco><option timestep="STEP" integrator="KIND"/>
<default><geom friction="0 0 0" condim="1" solref="SOFTNESS 1" solimp=".9999 .9999 0.001"/>
</default>
<worldbody><geom type="plane" size="9 9 1"/>
<body name="torso" pos="0 0 .75"><joint type="slide" axis="1 0 0" damping="3"/>
<joint type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .1" mass="4" CLEAR/>
<body><joint name="hip" axis="0 1 0" damping="3"/>
<geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03" mass="1" CLEAR/>
<body pos="0 0 -.4"><joint name="knee" axis="0 1 0" damping="3"/>
<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1" CLEAR/>
<geom name="foot" size=".05" pos="0 0 -.3" mass=".3"/></body></body></body></worldbody>
<actuator><position joint="hip" kp="200" kv="8"/><position joint="knee" kp="200" kv="8"/></actuator>
</mujoco>""".replace("CLEAR", APART)


def positions_on_the_floor(mujoco, integrator, step) -> np.ndarray:
    """Return the positions of a leg that its servos move on a smooth floor, every 10 ms."""
    text = LEG.replace("KIND", integrator).replace("STEP", f"{step}")
    model = mujoco.MjModel.from_xml_string(text.replace("SOFTNESS", f"{2 * step}"))
    data = mujoco.MjData(model)
    data.qpos[2:] = [0.5, -1.0]
    mujoco.mj_kinematics(model, data)
    data.qpos[1] -= data.geom("foot").xpos[2] - 0.05
    rows = []
    for k in range(round(0.6 / step)):
        swing = np.sin(4.0 * k * step)
        data.ctrl[:] = [0.5 + 0.2 * swing, -1.0 - 0.3 * swing]
        mujoco.mj_step(model, data)
        if (k + 1) % round(0.01 / step) == 0:
            rows.append(data.qpos.copy())
    return np.array(rows)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit"])
def test_late_forces_under_contact_are_mujoco_s_up_to_the_step(integrator):
    """Law: with damping and gains, positions differ from stiff MuJoCo's in proportion to the step.

    A rigid contact bears the late forces too. MuJoCo's contact bears those at the start of a step,
    so one step differs to first order.
    """
    differences = []
    for step in (1e-3, 2.5e-4):
        a, b = (positions_on_the_floor(mujoco, integrator, step) for mujoco in (ours, native))
        assert np.ptp(b, axis=0).max() > 0.3
        differences.append(np.abs(a - b).max())
    assert differences[0] < 3e-4 and differences[1] < 0.5 * differences[0]


ARM = """<mujoco><option timestep="STEP"/><default><joint axis="0 1 0" damping="0.05"
solreflimit="SOFTNESS 10" solimplimit=".9999 .9999 0.001"/></default><worldbody><body>
<joint range="-40 40"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1" CLEAR/>
<body pos=".3 0 0"><joint range="-30 60"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1" CLEAR/></body></body></worldbody>
</mujoco>""".replace("CLEAR", APART)


def falling_arm(mujoco, step) -> np.ndarray:
    """Return the angles of an arm that falls into its limits, every 50 ms."""
    text = ARM.replace("STEP", f"{step}").replace("SOFTNESS", f"{2 * step}")
    model = mujoco.MjModel.from_xml_string(text)
    data, rows = mujoco.MjData(model), []
    for _ in range(30):
        mujoco.mj_step(model, data, round(0.05 / step))
        rows.append(data.qpos.copy())
    return np.array(rows)


def test_limits_are_mujoco_s_stiff_limits():
    """Law: MuJoCo's limits approach rigid limits if they are stiff and overdamped.

    At a damping ratio of 1, MuJoCo's limits return exp(-2) of the speed, however stiff, and 0 to
    0.25 if the time constant is two steps.
    """
    differences = []
    for step in (1e-3, 2.5e-4):
        a, b = falling_arm(ours, step), falling_arm(native, step)
        assert b[-1, 0] == pytest.approx(np.deg2rad(40.0), abs=1e-3)
        differences.append(np.abs(a - b).max())
    assert differences[0] < 1e-2 and differences[1] < 0.4 * differences[0]


def test_what_a_free_body_does_not_have_is_refused():
    model = ours.MjModel.from_xml_string(SLED)
    data = ours.MjData(model)
    for name in ("armature", "frictionloss"):
        array = getattr(model, f"dof_{name}")
        array[2] = 0.5
        with pytest.raises(HrpsimError, match=rf"dof_{name}, of a free joint, cannot be written"):
            ours.mj_step(model, data)
        array[2] = 0.0
    ours.mj_step(model, data)


def test_a_placement_that_mujoco_ignores_acts_and_is_named():
    """Law: a centre of mass moved by x on a hinge gives the torque m g x at once."""
    text = """<mujoco><worldbody><body name="wheel"><joint axis="0 1 0"/>
    <geom type="box" size="0.1 0.1 0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody>
    </mujoco>"""
    model = ours.MjModel.from_xml_string(text)
    data = ours.MjData(model)
    model.body("wheel").ipos[0] = 0.05
    with pytest.warns(
        ModelWarning, match=r"body_ipos of body 'wheel' acts here, and has no effect"
    ):
        ours.mj_step(model, data)
    assert data.qfrc_bias[0] == pytest.approx(-2.0 * 9.81 * 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        model.body("wheel").ipos[0] = 0.06
        ours.mj_step(model, data)
