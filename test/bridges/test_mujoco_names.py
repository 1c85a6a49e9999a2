# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The facade steps as MuJoCo does where both solve the same equations, and reads as it does."""

import warnings

import numpy as np
import pytest

from hrpsim import HrpsimError, ModelWarning
from hrpsim.bridges import mujoco as ours

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


def test_actuators_on_fixed_tendons_move_joints_as_in_mujoco(tmp_path):
    """Law: a servo along the tendon of two joints, and a motor on a tendon of one, a gear."""
    file, moved = tmp_path / "tendons.xml", []
    tendons = """<tendon><fixed name="t"><joint joint="a" coef="0.7"/><joint joint="b" coef="-2"/>
      </fixed><fixed name="u"><joint joint="a" coef="3"/></fixed></tendon><actuator>
      <position tendon="t" kp="6" kv="0.4" gear="0.5" forcerange="-2 2"/><motor tendon="u"/>"""
    file.write_text(XML[: XML.index("<actuator>")] + tendons + "</actuator></mujoco>")
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_path(str(file))
        data = mujoco.MjData(model)
        for _ in range(1500):
            data.ctrl[:] = [0.4, 0.3 * np.sin(5.0 * data.time)]
            mujoco.mj_step(model, data)
        moved.append((data.qpos[:2].copy(), float(data.actuator_force[0])))
    np.testing.assert_allclose(moved[0][0], moved[1][0], atol=1e-3)
    assert np.abs(moved[1][0]).min() > 0.05 and moved[0][1] == pytest.approx(moved[1][1], abs=5e-3)


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


def test_another_time_step_after_the_data_is_taken(path):
    """As Unitree's scripts have it: the model's time step is set once the data is made."""
    model = ours.MjModel.from_xml_path(path)
    data = ours.MjData(model)
    data.qpos[:2] = [0.3, -0.1]
    model.opt.timestep = 0.002
    ours.mj_step(model, data, 5)
    assert data.time == pytest.approx(0.01) and data.world.time_step == 0.002
    assert data.qpos[0] == pytest.approx(0.3, abs=0.01)


def test_arrays_that_the_script_has_follow_each_step(path):
    """Law: a field, a part of it, one object's and those read again are MuJoCo's of the state."""
    model = ours.MjModel.from_xml_path(path)
    data = ours.MjData(model, new_state=True)
    ours.mj_resetDataKeyframe(model, data, 0)
    low, speeds = model.body("low").id, data.cvel
    part, own, box = data.xpos[low], data.body("low").xpos, data.body("box")
    for _ in range(3):
        ours.mj_step(model, data, 50)
        truth = native.MjData(model.native)
        truth.qpos[:], truth.qvel[:] = data.qpos, data.qvel
        native.mj_forward(model.native, truth)
        for mine in (part, own, data.xpos[low], data.body(low).xpos):
            assert mine.tolist() == truth.xpos[low].tolist()
        assert speeds.tolist() == truth.cvel.tolist()
        assert box.xquat.tolist() == truth.body("box").xquat.tolist()
        assert data.sensor(4).data.tolist() == truth.sensor(4).data.tolist()
        assert data.qfrc_bias.tolist() == truth.qfrc_bias.tolist()
        data.qpos[0] += 0.1  # does not move what was computed of the step's state
        assert data.subtree_com.tolist() == truth.subtree_com.tolist()
        ours.mj_forward(model, data)
        assert np.abs(part - truth.xpos[low]).max() > 1e-3


def test_a_push_of_a_passive_joint_ends_when_it_is_taken_back():
    """Law: without forces the rate of a free hinge is constant; with 1 Nm for t it is t / I."""
    text = """<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody><body>
    <joint axis="0 0 1" name="j"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 0.5"/></body>
    </worldbody></mujoco>"""
    model = ours.MjModel.from_xml_string(text)
    data = ours.MjData(model)
    data.qfrc_applied[0] = 1.0
    ours.mj_step(model, data, 100)
    data.qfrc_applied[0] = 0.0
    ours.mj_step(model, data, 100)
    assert data.qvel[0] == pytest.approx(0.1 / 0.5, rel=1e-9)
    data.ctrl = data.ctrl  # no entries
    model.opt.gravity[2] = -1.0
    ours.mj_step(model, data)
    assert data.world.gravity.tolist() == [0.0, 0.0, -1.0]


def test_controls_that_are_not_finite_are_named(path):
    model = ours.MjModel.from_xml_path(path)
    data = ours.MjData(model)
    for name in ("ctrl", "qfrc_applied"):
        getattr(data, name)[1] = np.nan
        with pytest.raises(HrpsimError, match=rf"{name}\[1\] must be finite, got nan"):
            ours.mj_step(model, data)
        getattr(data, name)[1] = 0.0
    assert data.time == 0.0
    ours.mj_step(model, data)


def test_accelerations_forces_and_the_mass_matrix_are_mujoco_s(path):
    """Law: M qacc + bias = actuator + passive + applied, in either, up to O(step)."""
    a, b = run(ours, path, 1), run(native, path, 1)
    native.mj_forward(b.model, b)
    for field in ("qacc", "qfrc_bias", "qfrc_passive", "actuator_force"):
        ours_, theirs = getattr(a, field), getattr(b, field)
        np.testing.assert_allclose(ours_, theirs, rtol=0.01, atol=0.01, err_msg=field)
    assert np.abs(b.qacc).max() > 5.0
    jacobians = np.zeros((2, 3, 8))
    ours.mj_jacSite(a.model, a, jacobians[0], None, a.model.site("s").id)
    native.mj_jacSite(b.model, b, jacobians[1], None, b.model.site("s").id)
    np.testing.assert_allclose(*jacobians, atol=1e-3)


FLOOR = """<mujoco><worldbody><geom name="floor" type="plane" size="2 2 1"/>
<body name="foot" pos="0 0 0.0499"><freejoint/><geom name="heel" type="sphere" size="0.05"
 pos="-0.1 0 0" mass="1"/><geom name="toe" type="sphere" size="0.05" pos="0.1 0 0" mass="1"/>
<geom name="plate" type="box" size="0.1 0.05 0.01" mass="2"/><site name="s" size="0.2"/></body>
</worldbody><sensor><touch site="s"/></sensor></mujoco>"""


def test_contacts_name_their_geoms_and_bear_the_weight():
    """Law: at rest the forces of mj_contactForce add up to the weight, as cfrc_ext has it."""
    model = ours.MjModel.from_xml_string(FLOOR)
    data = ours.MjData(model)
    ours.mj_step(model, data, 300)
    names = {(model.geom(c.geom1).name, model.geom(c.geom2).name) for c in data.contact}
    assert names == {("floor", "heel"), ("floor", "toe")} and data.ncon == 2
    assert data.contact.geom.tolist() == [[0, 1], [0, 2]]
    weight, wrench, total = 4.0 * 9.81, np.zeros(6), np.zeros(3)
    for k, contact in enumerate(data.contact):
        ours.mj_contactForce(model, data, k, wrench)
        assert contact.frame[:3] == pytest.approx([0, 0, 1]) and abs(contact.dist) < 1e-3
        total += contact.frame.reshape(3, 3).T @ wrench[:3]
    assert total == pytest.approx([0, 0, weight], abs=1e-3)
    assert data.cfrc_ext[1] == pytest.approx([0, 0, 0, 0, 0, weight], abs=1e-2)
    assert data.sensordata == pytest.approx([weight], abs=1e-3)


def test_what_is_not_there_is_refused_with_what_is(path):
    model = ours.MjModel.from_xml_path(path)
    data = ours.MjData(model)
    with pytest.raises(HrpsimError, match=r"MjData\.efc_force is not in .* there are .*qfrc_bias"):
        _ = data.efc_force
    assert not hasattr(data, "solver_niter") and hasattr(data, "cvel")
    with pytest.raises(HrpsimError, match=r"mj_island is not in .* mj_jacSite"):
        _ = ours.mj_island
    with pytest.raises(HrpsimError, match=r"MjModel\.geom_solref cannot be written to"):
        model.geom_solref[1] = 3.0
    with pytest.raises(HrpsimError, match=r"MjModel\.geom_margin cannot be written to"):
        model.geom_margin = 3.0
    with pytest.raises(HrpsimError, match="MjData needs an MjModel, not a str"):
        ours.MjData("two.xml")
    with pytest.raises(HrpsimError, match=r"set_mjcb_passive is not in .* set_mjcb_control"):
        _ = ours.set_mjcb_passive


def test_the_passive_viewer_shows_the_world(path, monkeypatch):
    shown = []

    class Page:
        url = "http://here"

        def __init__(self, world, session):
            self.show = lambda: shown.append((world.time, session.frame(1.0)))
            self.stop = lambda: shown.append("closed")

    monkeypatch.setattr("hrpsim.viewer.viewer.Viewer", Page)
    monkeypatch.setattr("hrpsim.bridges.mujoco.viewer._FRAME", 0.0)
    model = ours.MjModel.from_xml_path(path)
    data = ours.MjData(model)
    with ours.viewer.launch_passive(model, data, show_left_ui=False) as viewer:
        viewer.cam.distance = 3.0
        while viewer.is_running() and data.time < 5e-4:
            with viewer.lock():
                ours.mj_step(model, data)
            viewer.sync()
    assert [time for time, _ in shown[:-1]] == pytest.approx([2e-4, 4e-4, 6e-4])
    assert shown[-1] == "closed" and not viewer.is_running()


def test_what_has_no_place_is_named():
    with pytest.raises(AttributeError):
        _ = ours.no_such_function


FREE = """<mujoco><option timestep="0.0005" integrator="RK4"/><worldbody>
<body name="base" pos="0.1 0.2 1" quat="0.9 0.1 0.3 0.2"><joint name="x" type="slide" axis="1 0 0"/>
<joint name="y" type="slide" axis="0 0 1"/><joint name="z" type="slide" axis="0 1 0" ref="0.3"/>
<joint name="turn" type="ball" pos="0.05 0.02 -0.03"/><geom type="box" size="0.1 0.2 0.3" mass="2"/>
<body name="arm" pos="0 0 0.3"><joint name="hip" axis="0 1 0" damping="0.1"/>
<geom type="capsule" size="0.03" fromto="0 0 0.1 0 0 0.5" mass="1"/></body></body></worldbody>
<actuator><motor joint="hip"/></actuator>
<sensor><framequat objtype="body" objname="base"/><jointvel joint="hip"/>
<subtreelinvel body="base"/></sensor>
<keyframe><key qpos="0.1 -0.2 0.3 0.8 0.1 0.5 0.2 0.4" qvel="0.1 0.2 0.3 1 -0.5 0.7 0.2"/>
</keyframe></mujoco>"""


def run_by_callback(mujoco):
    """Hold the arm and push the base by a function that the steps call; return the data."""
    model = mujoco.MjModel.from_xml_string(FREE)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)

    def control(m, d):
        assert isinstance(m, mujoco.MjModel) and isinstance(d, mujoco.MjData)
        d.ctrl[0] = -20.0 * (d.qpos[7] - 0.3) - d.qvel[6]
        d.qfrc_applied[:6] = [0.3 * np.sin(3.0 * d.time), 0.1, 5.0, 0.02, -0.01, 0.03]

    mujoco.set_mjcb_control(control)
    try:
        assert mujoco.get_mjcb_control() is control
        mujoco.mj_step(model, data, 500)
    finally:
        mujoco.set_mjcb_control(None)
    return data


def test_a_callback_controls_a_base_of_three_slides_and_a_ball():
    """Law: both integrate the same closed loop up to O(step), in MuJoCo's own coordinates.

    MuJoCo's rk4 calls the control at its stages, hrpsim once a step. No sensor or keyframe is
    called missing, as all of them are there.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        a = run_by_callback(ours)
    b = run_by_callback(native)
    assert np.abs(b.qpos[:3] - [0.1, -0.2, 0.3]).max() > 0.1
    for field in ("qpos", "qvel", "xpos", "sensordata"):
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), atol=5e-4, err_msg=field)
    (robot,) = a.world.robots.values()
    assert robot.model.base == "free" and robot.joint_names == ("hip",)


def test_each_step_calls_the_control_once_before_it_acts(path):
    """Law: mj_step, mj_step1 and mj_forward of MuJoCo call it once, mj_step2 never."""
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_path(path)
        data, times = mujoco.MjData(model), []
        mujoco.set_mjcb_control(lambda m, d, times=times: times.append(round(d.time / 2e-4)))
        try:
            mujoco.mj_step(model, data, 3)
            mujoco.mj_step1(model, data)
            mujoco.mj_step2(model, data)
            mujoco.mj_forward(model, data)
        finally:
            mujoco.set_mjcb_control(None)
        mujoco.mj_step(model, data)
        assert times == [0, 1, 2, 3, 4]


MESH = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
ASSETS = {
    "robots/part.xml": b"""<mujoco><compiler meshdir="shapes"/><asset><mesh name="m" file="a.obj"/>
</asset><worldbody><body name="b" pos="0 0 3"><freejoint/><geom type="mesh" mesh="m"/></body>
</worldbody></mujoco>""",
    "a.obj": MESH,
}


def test_assets_in_memory_are_found_by_their_names(tmp_path):
    """Law: a mesh of memory has MuJoCo's mass: a tetrahedron of 1/6 m^3 at 1000 kg/m^3."""
    text = '<mujoco><include file="part.xml"/></mujoco>'
    file = tmp_path / "scene.xml"
    file.write_text(text)
    for mujoco in (ours, native):
        for model in (
            mujoco.MjModel.from_xml_path(str(file), ASSETS),
            mujoco.MjModel.from_xml_path(str(file), assets=ASSETS),
            mujoco.MjModel.from_xml_string(text, ASSETS),
        ):
            data = mujoco.MjData(model)
            mujoco.mj_step(model, data)
            assert model.body("b").mass[0] == pytest.approx(1000.0 / 6.0)
    with pytest.raises(HrpsimError, match="nan"):
        broken = {**ASSETS, "part.xml": ASSETS["robots/part.xml"].replace(b"0 0 3", b"0 0 nan")}
        del broken["robots/part.xml"]
        ours.MjData(ours.MjModel.from_xml_path(str(file), broken))


@pytest.mark.parametrize("first", ["sensordata", "xpos", "cvel"])
def test_sensors_are_current_whatever_else_is_read(path, first):
    """Law: MuJoCo's sensors of the present state, before and after poses are read."""
    model = ours.MjModel.from_xml_path(path)
    data = ours.MjData(model, new_state=True)
    ours.mj_resetDataKeyframe(model, data, 0)
    kept = [getattr(data, first), data.sensordata]
    for _ in range(5):
        ours.mj_step(model, data)
        expected = native.MjData(model.native)
        expected.qpos[:], expected.qvel[:] = data.qpos, data.qvel
        native.mj_forward(model.native, expected)
        for name, at, size in (("gyro", 0, 3), ("jointpos", 12, 1), ("framequat", 13, 4)):
            found = kept[1][at : at + size]
            right = expected.sensordata[at : at + size]
            np.testing.assert_allclose(found, right, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(data.xpos, expected.xpos, atol=1e-12)
        if first == "sensordata":
            kept = [kept[1], data.sensordata]
