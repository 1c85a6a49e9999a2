# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The facade steps as MuJoCo does where both solve the same equations, and reads as it does."""

import numpy as np
import pytest

from hrpsim.bridges import mujoco as ours
from hrpsim.errors import HrpsimError, ModelWarning, WorldError

native = pytest.importorskip("mujoco")

pytestmark = pytest.mark.filterwarnings(f"ignore::{ModelWarning.__module__}.ModelWarning")
APART = 'contype="0" conaffinity="0"'
XML = f"""<mujoco model="two"><option timestep="0.0002"/><worldbody>
<body name="top" pos="0 0 2"><joint name="a" axis="0 1 0" damping="0.1"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.5" mass="1" {APART}/>
<body name="low" pos="0 0 -0.5"><joint name="b" axis="0 1 0"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.5" mass="1" {APART}/><site name="s"/></body>
</body><body name="box" pos="1 0 1" quat="0.9 0.1 0.3 0.2"><freejoint name="f"/>
<geom type="box" size="0.1 0.2 0.3" mass="2" {APART}/><site name="acc" pos="0 0 .1"/></body>
</worldbody>
<actuator><motor joint="a" gear="2" ctrlrange="-0.4 0.4" ctrllimited="true"/>
<position joint="b" kp="20" kv="1"/></actuator>
<sensor><gyro site="acc"/><accelerometer site="acc"/><force site="s"/><torque site="s"/>
<jointpos joint="a"/><framequat objtype="body" objname="box"/></sensor>
<keyframe><key name="start" qpos="0.3 -0.2 1 0 1 0.7 0.1 0.1 0.7" qvel="0 0 .1 .2 .3 1 2 3"/>
</keyframe></mujoco>"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "two.xml"
    file.write_text(XML)
    return str(file)


def run(mujoco, path, steps):
    """Do the same with either module; return the data."""
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
    box = model.body("box").id
    for _ in range(steps):
        data.ctrl[:] = [0.5 * np.sin(5.0 * data.time), 0.4]
        data.xfrc_applied[box] = [0.0, 0.0, 5.0, 0.1, 0.0, 0.0]
        data.qfrc_applied[1] = 0.05
        mujoco.mj_step(model, data)
    return data


def test_states_kinematics_and_sensors_are_mujoco_s(path):
    """Law: both integrate the same equations; they differ by their integrators, O(step)."""
    a, b = run(ours, path, 2000), run(native, path, 2000)
    assert a.time == pytest.approx(b.time)
    for field, bound in {"qpos": 1e-3, "qvel": 4e-3, "xpos": 1e-3, "site_xpos": 1e-3}.items():
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), atol=bound, err_msg=field)
    np.testing.assert_allclose(a.sensordata, b.sensordata, atol=0.02)
    assert np.abs(b.sensordata).max() > 5.0
    np.testing.assert_allclose(a.qfrc_actuator[:2], b.qfrc_actuator[:2], atol=0.01)


def test_what_the_script_sets_is_where_it_goes_on(path):
    model = ours.MjModel.from_xml_path(path)
    data = ours.MjData(model)
    data.qpos[:2] = [0.5, -0.1]
    data.qvel[:] = 0.0
    ours.mj_forward(model, data)
    assert data.world.robots  # and the poses follow
    low = data.xpos[model.body("low").id]
    np.testing.assert_allclose(low, [-0.5 * np.sin(0.5), 0.0, 2.0 - 0.5 * np.cos(0.5)])
    ours.mj_step(model, data)
    assert data.qpos[0] == pytest.approx(0.5, abs=1e-5)
    ours.mj_resetData(model, data)
    assert data.time == 0.0 and not data.qpos[:2].any()
    assert ours.mj_name2id(model, ours.mjtObj.mjOBJ_BODY, "low") == model.body("low").id
    assert ours.mj_id2name(model, ours.mjtObj.mjOBJ_BODY, model.body("low").id) == "low"


def test_another_time_step_after_the_data_is_refused(path):
    model = ours.MjModel.from_xml_path(path)
    data = ours.MjData(model)
    model.opt.timestep = 0.002
    with pytest.raises(WorldError, match=r"0\.0002 s when MjData was made and is 0\.002 s"):
        ours.mj_step(model, data)


def test_what_has_no_place_is_named(tmp_path):
    ball = tmp_path / "ball.xml"
    ball.write_text(
        '<mujoco><worldbody><body><joint name="hip" type="ball"/><geom size="0.1"/></body>'
        "</worldbody></mujoco>"
    )
    with pytest.raises(HrpsimError, match="stands for hip: ball joints"):
        ours.MjData(ours.MjModel.from_xml_path(str(ball)))
    with pytest.raises(AttributeError):
        _ = ours.no_such_function
