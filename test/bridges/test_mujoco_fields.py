# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Each field of MuJoCo's structures is simulated or raises, however a script writes to it."""

import copy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bridges.fields_page import page

from hrpsim import HrpsimError, ModelWarning
from hrpsim.bridges import mujoco as ours
from hrpsim.bridges.mujoco import fields
from hrpsim.bridges.mujoco.fields import Use

native = pytest.importorskip("mujoco")
pytestmark = pytest.mark.filterwarnings(f"ignore::{ModelWarning.__module__}.ModelWarning")
APART = 'contype="0" conaffinity="0"'
# rk4 steps of both are equal but for rounding, where no constraint acts.
XML = f"""<mujoco><option timestep="0.002" integrator="RK4"/><worldbody>
<body name="arm" pos="0 0 2"><joint name="j" axis="0 1 0" damping="0.1" stiffness="0.5"
 armature="0.01"/><geom name="g" type="capsule" size="0.03" fromto="0 0 0 0.1 0 -0.5" mass="1"
 {APART}/><site name="s" pos="0 0 -.3"/><body name="low" gravcomp="0.1" pos="0.1 0 -0.5">
<joint name="k" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.5" mass="1"
 {APART}/></body></body><site name="w" pos="0.3 0 1.5"/></worldbody><tendon>
<fixed name="t"><joint joint="k" coef="1"/></fixed>
<spatial name="u" springlength="0.1"><site site="s"/><site site="w"/></spatial></tendon>
<actuator><motor name="m" joint="j" ctrlrange="-5 5"/>
<general name="f" joint="k" dyntype="filter" dynprm="0.05" gainprm="1"/></actuator>
<sensor><gyro site="s"/><jointpos joint="j"/><actuatorfrc actuator="f"/></sensor></mujoco>"""


def names_of(value) -> list[str]:
    """Return the fields of one of MuJoCo's structures, without methods and nested classes."""
    kind = type(value)
    return [n for n in dir(kind) if n[0] != "_" and not callable(getattr(value, n, None))]


@pytest.fixture(scope="module")
def whole():
    model = native.MjModel.from_xml_string(XML)
    return model, native.MjData(model)


def test_every_field_of_the_installed_mujoco_has_a_use(whole):
    model, data = whole
    assert [n for n in names_of(model) if fields.use_in_model(n) is None] == []
    assert [n for n in names_of(model.opt) if fields.use_in_option(n) is None] == []
    shown = fields.SHOWN.split()
    assert [n for v in (model.stat, model.vis) for n in names_of(v) if n not in shown] == []
    known = [n for n in names_of(data) if n in fields.NEEDS]
    refused = [n for n in names_of(data) if fields.is_refused_of_data(n)]
    assert sorted(known + refused) == sorted(names_of(data))


def test_a_name_that_no_table_has_has_no_use():
    assert fields.use_in_model("geom_colour") is None and fields.use_in_option("drag") is None
    assert "qforce" not in fields.NEEDS and not fields.is_refused_of_data("qforce")


def test_the_page_has_what_the_tables_have():
    written = Path(__file__).parents[2] / "docs/reference/mujoco_fields.md"
    assert written.read_text(encoding="utf-8") == page()


def test_fields_of_a_model_that_are_not_followed_refuse_all_writes(whole):
    model = ours.MjModel(copy.copy(whole[0]))
    refused = 0
    for name in names_of(whole[0]):
        array = getattr(model, name)
        is_open = fields.use_in_model(name) in (Use.FOLLOWED, Use.SHOWN)
        if is_open or not isinstance(array, np.ndarray) or not array.size:
            continue
        other = array + 1 if array.dtype != bool else ~array
        kept = array[:1]
        for write in (
            lambda name=name, other=other: setattr(model, name, other),
            lambda array=array, other=other: array.__setitem__(slice(None), other),
            lambda kept=kept, other=other: kept.__setitem__(0, other[0]),
            lambda array=array: array.__iadd__(array),
            lambda array=array, other=other: np.copyto(array, other),
            lambda array=array: array.fill(0),
        ):
            with pytest.raises((HrpsimError, ValueError, TypeError)):
                write()
        assert (getattr(whole[0], name) == getattr(model.native, name)).all()
        refused += 1
    assert refused > 50
    free = model.geom_solref.copy()  # a copy is the script's own
    free[:] = 1.0
    with pytest.raises(HrpsimError, match=r"MjModel\.nbody cannot be written to"):
        model.nbody = 4
    with pytest.raises(HrpsimError, match=r"MjModel\.geom_solref cannot be written to"):
        model.geom("g").solref = [0.1, 1.0]
    with pytest.raises(HrpsimError, match=r"MjModel\.jnt_margin cannot be written to"):
        model.joint("j").margin[0] = 0.1
    with pytest.raises(AttributeError):
        model.geom_frictoin = 1.0


def test_fields_of_data_that_are_not_computed_raise(whole):
    data = ours.MjData(ours.MjModel(copy.copy(whole[0])))
    for name in names_of(whole[1]):
        if fields.is_refused_of_data(name):
            with pytest.raises(HrpsimError, match=rf"MjData\.{name} is not in"):
                getattr(data, name)
            with pytest.raises(HrpsimError, match=rf"MjData\.{name} is not in"):
                setattr(data, name, 0)
        else:
            getattr(data, name)
    with pytest.raises(HrpsimError, match=r"MjData\.cacc is not in"):
        _ = data.body("arm").cacc
    with pytest.raises(AttributeError, match="no field 'ctrll'"):
        data.ctrll = 3.0


def test_options_are_followed_or_refused(whole):
    model = ours.MjModel(copy.copy(whole[0]))
    bits = native.mjtDisableBit
    for name, value in (("impratio", 3.0), ("cone", 1), ("o_margin", 0.1), ("o_solref", [1, 1])):
        with pytest.raises(HrpsimError, match=rf"MjOption\.{name} cannot be written to"):
            setattr(model.opt, name, value)
    with pytest.raises(HrpsimError, match=r"disableflags, the flag mjDSBL_FILTERPARENT"):
        model.opt.disableflags |= int(bits.mjDSBL_FILTERPARENT)
    with pytest.raises(HrpsimError, match=r"enableflags, the flag mjENBL_OVERRIDE"):
        model.opt.enableflags |= int(native.mjtEnableBit.mjENBL_OVERRIDE)
    with pytest.warns(ModelWarning, match="iterations has no effect"):
        model.opt.iterations = 7
    with pytest.raises(AttributeError):
        model.opt.gravitation = 1.0
    assert model.opt.disableflags == 0 and model.opt.cone == 0


def motion(mujoco, write, text=XML):
    """Return qpos of some steps, with a write to the model, to a kept view or to the data."""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    kept = model.dof_damping[:1], model.opt.wind, model.body_mass
    data.qpos[:], data.qvel[0], data.ctrl[:] = [0.4, -0.2], 1.0, [0.5, 0.3]
    mujoco.mj_step(model, data, 5)
    write(mujoco, model, data, kept)
    found = []
    for _ in range(20):
        mujoco.mj_step(model, data)
        found.append(data.qpos.copy())
    return np.array(found)


def flag(name):
    def write(mujoco, m, d, kept):
        m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, name))

    return write


def sets(object_of, name, value):
    """Return a write to a field of an object by an attribute and another by an element."""

    def write(mujoco, m, d, kept):
        view = object_of(m)
        setattr(view, name, value)

    return write


WRITES = {
    "view": lambda mujoco, m, d, kept: kept[0].fill(2.0),
    "in place": lambda mujoco, m, d, kept: kept[2].__imul__(2.0),
    "copyto": lambda mujoco, m, d, kept: np.copyto(m.jnt_stiffness, 3.0),
    "damping": sets(lambda m: m.joint("j"), "damping", 2.0),
    "armature": sets(lambda m: m.joint("j"), "armature", 0.3),
    "stiffness": sets(lambda m: m.joint("j"), "stiffness", 9.0),
    "rest": sets(lambda m: m.joint("j"), "qpos_spring", 0.5),
    "axis": sets(lambda m: m.joint("k"), "axis", [1.0, 0.0, 0.0]),
    "mass": sets(lambda m: m.body("low"), "mass", 3.0),
    "inertia": sets(lambda m: m.body("low"), "inertia", [0.1, 0.1, 0.1]),
    "place": sets(lambda m: m.body("low"), "pos", [0.2, 0.0, -0.4]),
    "gravcomp": lambda mujoco, m, d, kept: m.body_gravcomp.__setitem__(2, 0.5),
    "gear": lambda mujoco, m, d, kept: m.actuator("m").gear.__setitem__(0, 4.0),
    "ctrlrange": sets(lambda m: m.actuator("m"), "ctrlrange", [-0.1, 0.1]),
    "gain": lambda mujoco, m, d, kept: m.actuator_gainprm.__setitem__((0, 0), 3.0),
    "gravity": lambda mujoco, m, d, kept: m.opt.gravity.__setitem__(2, -3.0),
    "timestep": lambda mujoco, m, d, kept: setattr(m.opt, "timestep", 0.001),
    "no gravity": flag("mjDSBL_GRAVITY"),
    "no actuation": flag("mjDSBL_ACTUATION"),
    "no damper": flag("mjDSBL_DAMPER"),
    "no spring": flag("mjDSBL_SPRING"),
    "force": lambda mujoco, m, d, kept: d.qfrc_applied.__setitem__(0, 40.0),
}
# These are held over a step, which differs by O(step^2) in a step.
HELD = {
    "coefficient": lambda mujoco, m, d, kept: m.wrap_prm.__setitem__(0, 2.0),
    "tendon": lambda mujoco, m, d, kept: m.tendon_stiffness.__setitem__(1, 5.0),
    "polynomial": lambda mujoco, m, d, kept: m.dof_dampingpoly.__setitem__((0, 0), 2.0),
    "density": lambda mujoco, m, d, kept: setattr(m.opt, "density", 900.0),
    "viscosity": lambda mujoco, m, d, kept: setattr(m.opt, "viscosity", 3.0),
    "wind": lambda mujoco, m, d, kept: (
        kept[1].__setitem__(0, 30.0),
        setattr(m.opt, "density", 50.0),
    ),
}
NO_STATES = XML.replace('dyntype="filter" dynprm="0.05"', "")


@pytest.mark.parametrize("name", [*WRITES, *HELD])
def test_a_write_moves_as_in_mujoco(name):
    """Law: the same write gives MuJoCo's motion, which is not the one without it."""
    write = (WRITES | HELD)[name]
    text = NO_STATES.replace(
        '"f" joint="k"', '"f" tendon="t"' if name == "coefficient" else '"f" joint="k"'
    )
    a, b = motion(ours, write, text), motion(native, write, text)
    without = motion(native, lambda *_: None, text)
    assert np.abs(b - without).max() > 1e-4
    assert np.abs(a - b).max() < (0.04 * np.abs(b - without).max() if name in HELD else 1e-9)


def test_states_of_actuators_are_mujoco_s():
    """Law: act of a filter is 1 - exp(-t / T) up to O(step), and its force is act."""
    found = []
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_string(XML.replace('integrator="RK4"', ""))
        data = mujoco.MjData(model)
        data.ctrl[1] = 1.0
        mujoco.mj_step(model, data, 25)
        found.append([data.act[0], data.actuator_force[1], data.sensordata[4], data.act_dot[0]])
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert found[0][0] == pytest.approx(1.0 - np.exp(-1.0), abs=0.01)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_fields_after_a_step_are_of_the_state_that_mujoco_has_them_of(integrator):
    """Law: sensors lag by a step; so do poses, but for those of rk4, of its last stage."""
    text, found = XML.replace("RK4", integrator), []
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        data.qvel[:] = 2.0
        kept, rows = data.sensordata, []
        for _ in range(4):
            before = data.qpos[0]
            mujoco.mj_step(model, data)
            lag = data.qpos[0] - before
            low = data.xpos[2] - [0.1 * np.cos(data.qpos[0]), 0.0, 2.0]
            rows += [(kept[3] - before) / lag, (data.sensordata[3] - before) / lag, low[0]]
            rows += [data.site_xpos[0, 0], data.cvel[2, 1]]
        mujoco.mj_forward(model, data)
        rows.append(data.sensordata[3] - data.qpos[0])
        found.append(rows)
    np.testing.assert_allclose(found[0][:2], 0.0, atol=1e-12)
    np.testing.assert_allclose(found[0], found[1], atol=1e-4 if integrator == "RK4" else 0.02)
    assert abs(found[0][-1]) < 1e-12


def test_mj_forward_computes_accelerations_and_contacts_of_the_state():
    """Law: mj_forward gives qacc without a step; what it finds is what the step then does."""
    results = []
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_string(NO_STATES)
        data = mujoco.MjData(model)
        data.qpos[:], data.ctrl[:] = [0.4, -0.2], [0.5, 0.3]
        mujoco.mj_forward(model, data)
        first = data.qacc.copy(), data.actuator_force.copy(), data.qpos.copy(), data.time
        mujoco.mj_step(model, data)
        results.append((*first, data.qpos.copy()))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-9)
    ball = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.1"><freejoint/>
    <geom size="0.1" mass="2"/><site name="s" size="0.2"/></body></worldbody>
    <sensor><touch site="s"/></sensor></mujoco>"""
    model = ours.MjModel.from_xml_string(ball)
    data = ours.MjData(model)
    ours.mj_forward(model, data)
    assert data.ncon == 1 and data.contact[0].force[0] == pytest.approx(2 * 9.81, rel=1e-3)
    data.qpos[2] = 1.0
    ours.mj_forward(model, data)
    data.qvel[2] = -1.0
    ours.mj_forward(model, data)
    assert data.sensordata[0] == 0.0 and data.xpos[1].tolist() == data.qpos[:3].tolist()
    assert data.ncon == 0 and data.qacc[2] == pytest.approx(-9.81, rel=1e-6)


def test_an_equality_that_is_let_go_holds_no_more():
    text = """<mujoco><worldbody><body name="b" pos="0 0 1"><freejoint/><geom size="0.1" mass="1"/>
    </body><body name="t" mocap="true" pos="0 0 1"/></worldbody>
    <equality><weld body1="t" body2="b"/></equality></mujoco>"""
    model = ours.MjModel.from_xml_string(text)
    data = ours.MjData(model)
    data.mocap_pos[0] = [0.2, 0.0, 1.0]
    ours.mj_step(model, data, 800)
    assert data.qpos[:3] == pytest.approx([0.2, 0.0, 1.0], abs=1e-3)
    data.eq_active[0] = 0
    ours.mj_step(model, data, 50)
    assert data.qvel[2] == pytest.approx(-9.81 * 0.1, rel=1e-3)
    ours.mj_resetData(model, data)
    ours.mj_step(model, data, 50)
    assert data.qvel[2] == pytest.approx(0.0, abs=1e-3)


def test_properties_of_bodies_and_joints_need_no_new_world(whole):
    """Law: a world that is changed moves as a world that is made of the changed model."""
    model = ours.MjModel.from_xml_string(NO_STATES.replace('gravcomp="0.1"', ""))
    data = ours.MjData(model)
    ours.mj_step(model, data)
    world = data.world
    model.body("low").mass, model.body("low").ipos = 3.0, [0.1, 0.0, -0.3]
    model.joint("j").damping, model.joint("k").frictionloss = 0.7, 0.2
    other = copy.copy(model)
    ours.mj_step(model, data, 20)
    assert data.world is world
    twin = ours.MjData(other)
    ours.mj_resetData(model, data)
    for m, d in ((model, data), (other, twin)):
        d.qvel[:] = 1.0
        ours.mj_step(m, d, 30)
    assert data.qpos.tolist() == twin.qpos.tolist() and data.world is not twin.world
    model.geom_size[0, 0] = 0.05
    ours.mj_step(model, data)
    assert data.world is not world and data.qpos.tolist() != twin.qpos.tolist()


@pytest.mark.parametrize(
    "name, value, why",
    [
        ("body_mass", np.nan, "mass"),
        ("dof_damping", -1.0, "damping -1 is negative"),
        ("opt.gravity", np.inf, "gravity"),
    ],
)
def test_values_that_are_no_physics_are_named_until_they_are_taken_back(name, value, why):
    model = ours.MjModel.from_xml_string(NO_STATES.replace('gravcomp="0.1"', ""))
    data = ours.MjData(model)
    array = model.opt.gravity if name == "opt.gravity" else getattr(model, name)
    before, array[1] = array[1], value
    for _ in range(2):
        with pytest.raises(HrpsimError, match=why):
            ours.mj_step(model, data)
    array[1] = before
    ours.mj_step(model, data)
    assert data.time == pytest.approx(0.002) and np.isfinite(data.qpos).all()


def test_constraints_of_a_state_are_listed_when_they_are_asked_for():
    """Law: efc_pos and efc_J of a weld are MuJoCo's, as long as the state is the same."""
    text = NO_STATES.replace("</mujoco>", '<equality><weld body1="low"/></equality></mujoco>')
    found = []
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        data.qpos[:] = [0.3, 0.1]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeConstraint(model, data)
        found.append([data.nefc, data.efc_pos.copy(), np.ravel(data.efc_J).copy()])
        mujoco.mj_step(model, data)
        assert mujoco is native or not hasattr(data, "efc_pos")
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_a_force_of_the_script_is_not_bounded_by_an_actuator():
    """Law: qfrc_applied acts beyond the forcerange of the joint's actuator."""
    text = NO_STATES.replace('ctrlrange="-5 5"', 'ctrlrange="-5 5" forcerange="-1 1"')

    def push(mujoco, m, d, kept):
        d.qfrc_applied[:], d.ctrl[0] = [30.0, 2.0], 4.0

    a, b = motion(ours, push, text), motion(native, push, text)
    assert np.abs(a - b).max() < 1e-3 and np.abs(b[-1]).max() > 0.5


def test_states_are_saved_and_inverse_dynamics_gives_the_force():
    model = ours.MjModel.from_xml_string(NO_STATES)
    data = ours.MjData(model)
    ours.mj_step(model, data, 30)
    sort = ours.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(ours.mj_stateSize(model, sort))
    ours.mj_getState(model, data, state, sort)
    twin = copy.copy(data)
    ours.mj_step(model, data, 20)
    end = data.qpos.copy(), data.time
    ours.mj_setState(model, data, state, sort)
    ours.mj_step(model, data, 20)
    ours.mj_step(model, twin, 20)
    assert data.qpos.tolist() == end[0].tolist() == twin.qpos.tolist()
    assert data.time == end[1] == twin.time
    for mujoco in (ours, native):
        m = mujoco.MjModel.from_xml_string(NO_STATES)
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:], d.qacc[:] = [0.3, 0.1], [1.0, -1.0], [2.0, 3.0]
        mujoco.mj_inverse(m, d)
        end = (*end, d.qfrc_inverse.copy())
    np.testing.assert_allclose(end[-2], end[-1], rtol=1e-9)


def test_energies_and_transitions_are_mujoco_s():
    flags = 'integrator="Euler"><flag energy="enable"/></option>'
    text = NO_STATES.replace('integrator="RK4"/>', flags).replace('"0.002"', '"0.0002"')
    found = []
    for mujoco in (ours, native):
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = [0.3, 0.1], [1.0, -1.0]
        mujoco.mj_forward(model, data)
        energy, A, B = data.energy.copy(), np.zeros((4, 4)), np.zeros((4, 2))
        mujoco.mjd_transitionFD(model, data, 1e-6, 1, A, B, None, None)
        assert data.xpos[1] == pytest.approx([0.0, 0.0, 2.0]) and data.time == 0.0
        rates = (A - np.eye(4)) / 2e-4, B / 2e-4
        found.append([energy, data.qpos.copy(), [data.time], *rates])
    for a, b in zip(*(one[:3] for one in found), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    for a, b in zip(*(one[3:] for one in found), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3 * np.abs(b).max())  # O(step)
    assert np.abs(found[1][0]).min() > 0.1


def test_models_without_a_file_and_joints_without_a_name():
    text = XML.replace('<joint name="k"', "<joint").replace('joint="k"', 'joint="j"')
    a = motion(ours, lambda *_: None, text.replace('dyntype="filter" dynprm="0.05"', ""))
    b = motion(native, lambda *_: None, text.replace('dyntype="filter" dynprm="0.05"', ""))
    assert np.abs(a - b).max() < 1e-9
    data = ours.MjData(ours.MjSpec.from_string(XML).compile())
    ours.mj_step(data.model, data)
    assert data.time == pytest.approx(0.002) and ours.__version__ == native.__version__


def test_an_installed_learning_environment_runs_as_with_mujoco(tmp_path):
    """Law: contact-free episodes of gymnasium's environments are MuJoCo's to 1e-6."""
    pytest.importorskip("gymnasium")
    program = """
import sys, warnings
warnings.simplefilter("ignore")
if sys.argv[1] == "ours":
    from hrpsim.bridges import mujoco
    mujoco.stand_in()
import gymnasium, numpy as np
rows = []
for name in ("Reacher-v5", "InvertedPendulum-v5", "InvertedDoublePendulum-v5"):
    env = gymnasium.make(name)
    rows += env.reset(seed=3)[0].tolist()
    rng = np.random.default_rng(0)
    for _ in range(8):
        action = 0.2 * rng.uniform(env.action_space.low, env.action_space.high)
        observation, reward, *_ = env.step(action.astype(np.float32))
        rows += [*observation.tolist(), float(reward)]
np.save(sys.argv[2], rows)
import mujoco
print(mujoco.__name__)
"""
    outputs = []
    for which in ("ours", "theirs"):
        file = tmp_path / f"{which}.npy"
        command = [sys.executable, "-c", program, which, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(np.load(file))
        assert done.stdout.strip().endswith("hrpsim.bridges.mujoco") == (which == "ours")
    np.testing.assert_allclose(*outputs, atol=1e-6)
