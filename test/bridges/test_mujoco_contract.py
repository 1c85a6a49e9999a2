# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fields hold MuJoCo's values between the calls that compute them, whatever a script writes."""

import copy
import pickle
import warnings

import numpy as np
import pytest

from hrpsim import HrpsimError, ModelWarning
from hrpsim.bridges import mujoco as ours

native = pytest.importorskip("mujoco")
pytestmark = pytest.mark.filterwarnings(f"ignore::{ModelWarning.__module__}.ModelWarning")
APART = 'contype="0" conaffinity="0"'
XML = f"""<mujoco><option timestep="0.002" INTEGRATOR><flag energy="enable"/></option><worldbody>
<body name="a" pos="0 0 1"><joint name="j" axis="0 0 1" damping="0.2"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" {APART}/>
<body name="b" pos=".3 0 0"><joint name="k" axis="0 1 0" actuatorfrcrange="-1 1"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" {APART}/>
<body name="c" pos=".3 0 0"><joint name="l" axis="0 1 0" damping="0.1"/>
<geom type="box" pos=".1 0 0" size=".1 .02 .02" {APART}/><site name="tip" pos=".2 0 0"/></body>
</body></body><body name="goal" mocap="true" pos=".4 .2 .9"/></worldbody>
<actuator><position joint="j" kp="20"/><motor name="m" joint="j"/>
<position joint="k" kp="30" kv="2"/><muscle name="pull" joint="l" lengthrange="-1 1"/></actuator>
<sensor><framepos objtype="site" objname="tip"/><accelerometer site="tip"/>
<actuatorfrc actuator="m"/><jointactuatorfrc joint="k"/>
<framelinacc objtype="site" objname="tip"/></sensor>
<keyframe><key name="home" qpos="0.3 0.4 -0.6"/></keyframe></mujoco>"""
FIELDS = "xpos site_xmat subtree_com cvel qfrc_bias qM M qacc actuator_force qfrc_actuator"
FIELDS += " sensordata energy qfrc_smooth qacc_smooth qfrc_constraint act_dot qfrc_passive"


def made(mujoco, integrator=""):
    model = mujoco.MjModel.from_xml_string(XML.replace("INTEGRATOR", integrator))
    return model, mujoco.MjData(model)


def values(data) -> np.ndarray:
    """Return all computed fields in a row."""
    return np.concatenate([np.ravel(getattr(data, n)) for n in FIELDS.split() if hasattr(data, n)])


def controls(data, k):
    data.ctrl[:] = [0.5, 0.2, 1.0 + k, 0.5]


def reset(mujoco, m, d):
    """Read after a reset, before anything computes."""
    mujoco.mj_resetDataKeyframe(m, d, 0)
    rows = [values(d)]
    jacobian = np.zeros((3, 3))
    mujoco.mj_jacSite(m, d, jacobian, None, 0)
    mujoco.mj_step(m, d)
    return [*rows, jacobian, values(d)]


def late_reading(mujoco, m, d):
    """Write inputs and masses between mj_forward and the reading."""
    mujoco.mj_forward(m, d)
    d.ctrl[:], d.qpos[0], d.qfrc_applied[:] = 5.0, 2.0, 3.0
    m.body_mass[2] *= 2.0
    m.body_pos[2] = [0.1, 0.2, 0.3]
    return [values(d)]


def late_forces(mujoco, m, d):
    """Write forces between a step and the reading."""
    d.qfrc_applied[:], d.xfrc_applied[2] = 1.0, 0.5
    mujoco.mj_step(m, d)
    d.qfrc_applied[:], d.xfrc_applied[:] = 9.0, 0.0
    return [values(d)]


def kept(mujoco, m, d):
    """Keep arrays of results over mj_forward."""
    arrays = d.sensordata, d.qacc, d.actuator_force, d.xpos
    rows = []
    for k in range(4):
        controls(d, k)
        mujoco.mj_step(m, d)
        rows += [array.copy() for array in arrays]
        mujoco.mj_forward(m, d)
        rows += [array.copy() for array in arrays]
    return rows


def halves(mujoco, m, d):
    """Write the state before mj_step2, and between the halves of a step."""
    mujoco.mj_forward(m, d)
    d.qpos[:], d.qvel[:] = [0.1, 0.9, -1.0], [1.0, 2.0, 3.0]
    rows = []
    for _ in range(4):
        mujoco.mj_step2(m, d)
        mujoco.mj_step1(m, d)
        rows += [d.qpos.copy(), d.qvel.copy(), d.xpos.copy(), d.sensordata.copy()]
        d.qvel[0] += 0.5
    return rows


def copies(mujoco, m, d):
    """Read and step a copy, a pickle, and the target of mj_copyData."""
    mujoco.mj_step(m, d, 5)
    target = mujoco.MjData(m)
    mujoco.mj_copyData(target, m, d)
    rows = []
    for twin in (copy.copy(d), copy.deepcopy(d), pickle.loads(pickle.dumps(d)), target):
        rows.append(values(twin))
        mujoco.mj_step(m, twin, 5)
        rows += [twin.qpos.copy(), [twin.time]]
    return [*rows, d.qpos.copy()]


def constants(mujoco, m, d):
    """Let MuJoCo derive constants in a run, which the muscle's force depends on."""
    mujoco.mj_step(m, d, 5)
    m.body_mass[3] *= 3.0
    mujoco.mj_step(m, d, 5)
    mujoco.mj_setConst(m, d)
    rows = [d.qpos.copy(), d.xpos.copy()]
    mujoco.mj_step(m, d, 5)
    return [*rows, d.qpos.copy(), d.act.copy()]


def inactive(mujoco, m, d):
    """Disable the actuators in a run."""
    mujoco.mj_step(m, d, 3)
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    mujoco.mj_forward(m, d)
    return [d.actuator_force.copy(), d.sensordata.copy(), d.qacc.copy()]


SCRIPTS = (reset, late_reading, late_forces, kept, halves, copies, constants, inactive)


def forward(mujoco, m, d):
    """Read results of mj_forward, whose inputs are written before the reading."""
    rows = []
    for k in range(3):
        controls(d, k)
        mujoco.mj_step(m, d)
        rows += [d.actuator_force.copy(), d.qfrc_actuator.copy(), d.act_dot.copy()]
        mujoco.mj_forward(m, d)
        kept = d.ctrl.copy(), d.qpos.copy()
        d.ctrl[:], d.qpos[0] = 5.0, 2.0
        rows += [d.qacc.copy(), d.actuator_force.copy(), d.act_dot.copy(), d.sensordata.copy()]
        d.ctrl[:], d.qpos[:] = kept
    return rows


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_a_script_reads_what_mujoco_has(script):
    found = []
    for mujoco in (ours, native):
        m, d = made(mujoco)
        controls(d, 0)
        found.append(script(mujoco, m, d))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7)


def test_forces_of_rk4_are_of_the_last_stage_and_of_mj_forward():
    found = []
    for mujoco in (ours, native):
        found.append(forward(mujoco, *made(mujoco, 'integrator="RK4"')))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_sensors_of_rk4_are_of_the_start_of_the_step():
    found = []
    for mujoco in (ours, native):
        m, d = made(mujoco, 'integrator="RK4"')
        rows = []
        for k in range(5):
            controls(d, k)
            mujoco.mj_step(m, d)
            rows.append(d.sensordata.copy())
        found.append(rows)
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-6)
    m, d = made(ours, 'integrator="RK4"')
    with pytest.warns(ModelWarning, match=r"MuJoCo's mj_step2 a step of Euler"):
        ours.mj_step2(m, d)


BALLS = """<mujoco><worldbody><body name="s" pos="0 0 1"><freejoint/><geom name="s" size="0.1"/>
</body><body name="t" pos="0.5 0 1"><geom name="t" size="0.1"/></body></worldbody></mujoco>"""


def test_a_geom_that_outgrows_its_bound_is_named():
    """Law: ours touches; MuJoCo does too once mj_setConst has renewed the bound."""
    model = ours.MjModel.from_xml_string(BALLS)
    data = ours.MjData(model)
    model.geom("s").size[0] = 0.45
    with pytest.warns(ModelWarning, match=r"s have contacts here that MuJoCo may miss"):
        ours.mj_forward(model, data)
    assert data.ncon == 1
    twin = ours.MjData(model)
    ours.mj_setConst(model, twin)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        ours.mj_forward(model, twin)


def test_contacts_after_the_first_half_of_a_step_are_of_its_state():
    model = ours.MjModel.from_xml_string(BALLS)
    data = ours.MjData(model)
    counts = []
    for place in (0.31, 3.0, 0.31):
        data.qpos[0] = place
        ours.mj_step1(model, data)
        counts.append(data.ncon)
    assert counts == [1, 0, 1] and data.time == 0.0


def test_elements_of_a_spec_are_bound_one_by_one():
    spec = ours.MjSpec.from_string(XML.replace("INTEGRATOR", ""))
    data = ours.MjData(spec.compile())
    model = data.model
    model.bind(spec.joint("j")).damping = 2.0
    ours.mj_step(model, data)
    assert data.bind(spec.joint("j")).qpos == data.qpos[0] and model.dof_damping[0] == 2.0
    assert data.bind(spec.site("tip")).xpos.tolist() == data.site("tip").xpos.tolist()
    with pytest.raises(HrpsimError, match=r"bind the elements one by one"):
        data.bind([spec.joint("j"), spec.joint("k")])
    with pytest.raises(HrpsimError, match=r"MjModel\.body_pos|MjModel\.jnt_margin"):
        model.bind(spec.joint("j")).margin = 1.0


@pytest.mark.parametrize("is_wrapped", [True, False], ids=["MjModel", "compile"])
def test_recompiled_specs_keep_the_state_and_the_facade(is_wrapped):
    found = []
    for mujoco in (ours, native):
        spec = mujoco.MjSpec.from_string(XML.replace("INTEGRATOR", ""))
        model = spec.compile()
        if is_wrapped and mujoco is ours:
            model = ours.MjModel(model)
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 5)
        spec.body("c").add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0.0, 0.0])
        model, data = spec.recompile(model, data)
        rows = [data.qpos.copy(), [data.time], data.act.copy()]
        mujoco.mj_step(model, data, 5)
        found.append([*rows, data.qpos.copy(), data.qvel.copy(), data.act.copy(), [data.time]])
        assert isinstance(data, mujoco.MjData) and model.ngeom == 4
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_sensors_with_a_delay_are_named():
    text = BALLS.replace("</mujoco>", SENSOR + "</mujoco>")
    if not hasattr(native.MjModel, "sensor_delay"):
        pytest.skip("this MuJoCo has no delays of sensors")
    with pytest.warns(ModelWarning, match=r"read without delay or interval: height"):
        ours.MjData(ours.MjModel.from_xml_string(text))


SENSOR = """<sensor><framepos name="height" objtype="body" objname="s" delay="0.01" nsample="9"/>
</sensor>"""
