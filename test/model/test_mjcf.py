# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MJCF: the same dynamics as MuJoCo's, and a note on whatever is not simulated."""

import importlib.util
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from hrpsim import (
    ModelError,
    ModelWarning,
    inverse_dynamics,
    link_pose,
    load_model,
    load_world,
    mass_matrix,
)
from hrpsim.model.robot_formats import format_of

pytest.importorskip("mujoco", reason="no mujoco")

from model.mjcf_files import ARM, BIPED, FLOATING_ARM, SERVO, Counterpart, write_biped

STATES = 100


@pytest.fixture(scope="module")
def biped_path(tmp_path_factory):
    return write_biped(tmp_path_factory.mktemp("biped"))


@pytest.fixture(scope="module")
def biped(biped_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_model(biped_path)


def gym_assets():
    """Return the walkers of gymnasium and dm_control, where these are installed."""
    found = []
    for package, folder, names in (
        ("gymnasium", "envs/mujoco/assets", ("humanoid", "walker2d_v5", "hopper", "ant")),
        ("dm_control", "suite", ("humanoid", "humanoid_CMU", "walker")),
    ):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            found += [Path(spec.origin).parent / folder / f"{name}.xml" for name in names]
    return found or [None]


def assert_same_dynamics(path, model, other=None):
    """Mass matrix, bias force and poses of all bodies at random states."""
    other, rng = other or Counterpart(path, model), np.random.default_rng(1)
    gravity = other.m.opt.gravity
    for _ in range(STATES):
        q, v = other.random_state(rng)
        M = other.mass_matrix()
        np.testing.assert_allclose(mass_matrix(model, q), M, rtol=0, atol=1e-9 * abs(M).max())
        bias, ours = other.bias(), inverse_dynamics(model, q, v, np.zeros_like(v), gravity=gravity)
        np.testing.assert_allclose(ours, bias, rtol=0, atol=1e-9 * max(1.0, abs(bias).max()))
        for k in range(1, other.m.nbody):
            name = other.m.body(k).name
            if name in model.frames:
                p, R = link_pose(model, q, name)
                np.testing.assert_allclose(p, other.d.xpos[k], rtol=0, atol=1e-9)
                np.testing.assert_allclose(R.ravel(), other.d.xmat[k], rtol=0, atol=1e-9)


def test_dynamics_are_those_of_mujoco(biped_path, biped):
    """Law: M, C v + g and kinematics of both agree, ball joints and anchors off centre included."""
    assert biped.nv == 17 and biped.base == "free" and biped.base_link == "pelvis"
    assert_same_dynamics(biped_path, biped)


@pytest.mark.quick_cases("hopper", "ant")
@pytest.mark.parametrize("path", gym_assets(), ids=lambda p: p.stem if p else "none installed")
def test_public_walkers_have_the_dynamics_of_mujoco(path):
    if path is None:
        pytest.skip("neither gymnasium nor dm_control is installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        assert_same_dynamics(path, load_model(path))


@pytest.mark.parametrize(
    "compiler, masses",
    [
        ('inertiafromgeom="false"', (2.0, 3.0)),
        ('inertiafromgeom="true" inertiagrouprange="0 2"', (4.0, 5.0)),
        ('inertiafromgeom="auto" inertiagrouprange="3 5"', (2.0, 3.0)),
        ('inertiafromgeom="true" inertiagrouprange="0 5" boundmass="4.5"', (4.5, 11.0)),
        ('inertiafromgeom="false" boundinertia="0.2" settotalmass="20"', (8.0, 12.0)),
        ('inertiafromgeom="false" balanceinertia="true"', (2.0, 3.0)),
    ],
)
def test_inertia_is_what_mujoco_makes_of_the_compiler_words(tmp_path, compiler, masses):
    """Law: inertia of geoms, of which groups, bounds and balance are MuJoCo's."""
    ixx = 5.0 if "balance" in compiler else 0.04
    path = tmp_path / "m.xml"
    path.write_text(
        f'<mujoco><compiler {compiler}/><worldbody><body name="a"><joint axis="0 1 0"/>'
        f'<inertial mass="2" pos="0.1 0 0" diaginertia="{ixx} 0.05 0.06"/>'
        '<geom size="0.1" mass="4"/><body name="b" pos="0 0 1"><joint axis="1 0 0"/>'
        '<inertial mass="3" pos="0 0.1 0" diaginertia="0.04 0.05 0.06"/>'
        '<geom type="box" size="0.1 0.2 0.3" mass="5"/><geom size="0.1" mass="6" group="4"/>'
        "</body></body></worldbody></mujoco>"
    )
    model = load_model(path)
    np.testing.assert_allclose(model.system.mass[:2], masses)
    assert_same_dynamics(path, model)


def test_armature_of_a_free_joint_is_all_that_is_left_out(tmp_path):
    """Law: M of MuJoCo = M + A, where A is the armature, which no free body has; C v + g agree.

    A free joint that is written as `<joint type="free">` takes the default of the file's joints.
    """
    path = tmp_path / "free.xml"
    path.write_text(
        FLOATING_ARM.replace("<freejoint/>", '<joint name="root" type="free" limited="false"/>')
    )
    with pytest.warns(ModelWarning, match=r"free joint armature \(1: root\): a free body has none"):
        model = load_model(path)
    other, rng = Counterpart(path, model), np.random.default_rng(2)
    for _ in range(STATES):
        q, _ = other.random_state(rng)
        M, ours = other.mass_matrix(), mass_matrix(model, q)
        A = np.diag([0.1] * 6 + [0.0])  # alike on all axes, so the same in both coordinates
        np.testing.assert_allclose(ours + A, M, rtol=0, atol=1e-9 * abs(M).max())
    other.m.dof_armature[:6] = 0.0
    assert_same_dynamics(path, model, other)


def test_what_is_said_of_a_joint_is_kept(biped):
    system, v = biped.system, {joint.name: joint.v_index for joint in biped.joints}
    hip, knee, ankle = v["l_hip_y"], v["l_knee"], v["l_ankle"]
    assert (system.lower[hip], system.upper[hip]) == (-1.5, 0.5)
    assert system.lower[v["r_knee"]] == -np.inf
    assert (system.stiffness[hip], system.rest[hip]) == (5.0, -0.1)
    assert system.friction[hip] == 0.05 and system.rotor_inertia[hip] == 0.01
    assert system.damping[hip] == 0.2
    assert biped.gains == {"l_hip_y": (200, 10), "l_ankle": (0, 30), "l_hip_z": (100, 4)}
    assert system.effort_limit[hip] == 90.0
    assert system.effort_limit[knee] == 50.0  # gear times ctrlrange, less than actuatorfrcrange
    assert system.effort_limit[ankle] == np.inf
    assert biped.command_interfaces == {
        "l_hip_y": ("position",),
        "l_knee": ("effort",),
        "r_knee": ("effort",),
        "l_ankle": ("velocity",),
        "l_hip_z": ("position",),
        "l_hip_x": ("effort",),  # by a tendon of this joint alone
    }


def test_a_position_and_a_velocity_servo_of_a_joint_are_one():
    """Law: kp (q_d - q) + kv (v_d - v); a third actuator with a filter is named."""
    actuators = (
        '<actuator><position joint="elbow" kp="30"/><velocity joint="elbow" kv="2"/>'
        '<general name="third" joint="elbow" dyntype="filter"/></actuator></mujoco>'
    )
    with pytest.warns(ModelWarning, match=r"a second on a joint, that .* \(1: third\)"):
        model = load_model(ARM.replace("</mujoco>", actuators))
    assert model.gains == {"elbow": (30.0, 2.0)}
    assert model.command_interfaces == {"elbow": ("position", "velocity")}


def test_equalities_become_connections_and_mimics(biped_path, biped):
    """Law: the frames of a connection are MuJoCo's anchors; rod = 0.5 knee + 0.1."""
    (connection,) = biped.connections
    assert connection.kind == "ball" and connection.links == ("rod", "r_shin")
    other = Counterpart(biped_path, biped)
    np.testing.assert_allclose(connection.frames[0].p, other.m.eq_data[0][:3], atol=1e-12)
    np.testing.assert_allclose(connection.frames[1].p, other.m.eq_data[0][3:6], atol=1e-12)
    system, v = biped.system, {joint.name: joint.v_index for joint in biped.joints}
    rod = v["rod_hinge"]
    assert system.mimic_dof[rod] == v["r_knee"]
    assert (system.mimic_ratio[rod], system.mimic_offset[rod]) == pytest.approx((0.5, 0.1))


def test_shapes_stand_where_mujoco_has_them(biped_path, biped):
    """Law: the colliding geoms, with their kinds; a mesh's hull has MuJoCo's extent and place."""
    kinds = sorted(type(shape.geometry).__name__ for shape in biped.shapes)
    assert kinds.count("Capsule") == 2 and kinds.count("Box") == 1 and kinds.count("Sphere") == 2
    assert kinds.count("Cylinder") == 1 and kinds.count("Mesh") == 3  # two meshes, ellipsoid
    other, rng = Counterpart(biped_path, biped), np.random.default_rng(2)
    q, _ = other.random_state(rng)
    (toe,) = (s for s in biped.shapes if "toe" in getattr(s.geometry, "label", ""))
    p, R = link_pose(biped, q, "l_foot")
    frame = biped.frames["l_foot"]
    R_body, p_body = R @ frame.R.T, p - R @ frame.R.T @ frame.p
    corners = (toe.geometry.vertices @ toe.R.T + toe.p) @ R_body.T + p_body
    m, d = other.m, other.d
    geom = next(k for k in range(m.ngeom) if m.geom_dataid[k] == m.mesh("toe").id)
    first, count = int(m.mesh_vertadr[1]), int(m.mesh_vertnum[1])
    theirs = m.mesh_vert[first : first + count] @ d.geom_xmat[geom].reshape(3, 3).T
    theirs = theirs + d.geom_xpos[geom]
    for corner in theirs:
        assert np.linalg.norm(corners - corner, axis=1).min() < 1e-6


def test_materials_are_named_after_their_friction(biped):
    feet = [shape.material for shape in biped.shapes if shape.link == "l_foot"]
    assert feet == ["friction_1.2", "friction_0.8"]  # of each geom
    written = load_model(biped.urdf)
    assert [shape.material for shape in written.shapes if shape.link == "l_foot"] == feet
    materials = {shape.link: shape.material for shape in biped.shapes}
    assert materials["l_thigh"] == "friction_0"  # condim 1
    assert materials["torso"] == "friction_0.8"


def test_excludes_keep_links_apart(biped):
    assert ("l_shin", "r_shin") in biped.disabled_collisions
    assert ("l_foot", "r_shin") not in biped.disabled_collisions


def test_sensors_and_sites(biped):
    sensors = {sensor.name: sensor for sensor in biped.sensors}
    assert {name: s.kind for name, s in sensors.items()} == {
        "l_sensor": "force_torque",
        "imu": "imu",
    }
    assert {"imu", "l_sensor"} <= set(biped.frames)


def test_keyframes_are_configurations(biped_path, biped):
    """Law: MuJoCo's key and ours put every body in the same place."""
    other = Counterpart(biped_path, biped)
    other.mujoco.mj_resetDataKeyframe(other.m, other.d, 0)
    other.mujoco.mj_forward(other.m, other.d)
    q = biped.keyframes["bent"]
    for link in ("pelvis", "torso", "l_foot", "r_shin"):
        p, _ = link_pose(biped, q, link)
        np.testing.assert_allclose(p, other.d.body(link).xpos, atol=1e-12)


def test_what_is_not_simulated_is_listed_once(biped_path, biped):
    listed = "\n".join(biped.not_simulated)
    for element in (
        "actuator act, the state of a filter or integrator (1: stateful)",
        "actuator, a motor with a gear (1: knee)",
        "geom ellipsoid (1)",
        "equality weld, inactive (1: later)",
        "sensor touch (1)",
        "sensor framequat (1)",
        "geom of the world (1: floor)",
        "light (1)",
    ):
        assert listed.count(element) == 1, (element, listed)
    with pytest.warns(ModelWarning, match="not simulated as it says") as caught:
        load_model(biped_path)
    assert len([w for w in caught if "not simulated" in str(w.message)]) == 1


def test_a_range_that_does_not_ascend_is_told_to_be_no_limit():
    """As in MuJoCo, which says nothing."""
    body = "<body><joint name='hip' range='1 -1'/><geom size='1'/></body>"
    told = "joint range, not from lower to upper (1: hip): no limit"
    with pytest.warns(ModelWarning, match=re.escape(told)):
        model = load_model(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    assert model.system.lower[0] == -np.inf and told in model.not_simulated


def test_a_file_without_a_free_joint_stands_on_the_world(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    model = load_model(path)
    assert model.base == "fixed" and model.joint_names == ("shoulder", "elbow")
    assert_same_dynamics(path, model)
    assert load_model(ARM).joint_names == model.joint_names  # text


def test_includes_are_read(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "scene.xml").write_text('<mujoco><include file="arm.xml"/></mujoco>')
    assert load_model(tmp_path / "scene.xml").joint_names == ("shoulder", "elbow")


SCENE = """<mujoco model="scene"><option timestep="0.001"/><worldbody>
<geom name="floor" type="plane" size="0 0 1" pos="0 0 0.1" friction="0.5"/>
<geom name="ghost" type="box" size="9 9 9" contype="0" conaffinity="0"/>
<body pos="3 0 0"><geom name="step" type="box" size="0.5 0.5 0.2"/></body>
<body name="ball" pos="0 0 1"><freejoint/><geom type="sphere" size="0.1" friction="0.3"/></body>
<body name="box" pos="3 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1" contype="2"
 conaffinity="2"/></body>
<body name="pole" pos="1 0 1"><joint name="swing" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/>
<body name="bob" pos="0 0 -0.4"><joint name="bend" axis="0 1 0"/><geom size="0.05"/></body></body>
<body name="hung" pos="-1 0 1"><freejoint/><geom size="0.1"/></body>
</worldbody>
<equality><connect body1="hung" anchor="0 0 0.5"/></equality></mujoco>"""


@pytest.mark.timeout(1200)  # kernels may be compiled
def test_a_world_has_the_scenery_and_each_tree(tmp_path):
    """Law: what collides in MuJoCo does here: a ball rests on the floor, the masked box falls."""
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        world = load_world(path)
    assert set(world.robots) == {"ball", "box", "pole", "hung"}
    assert world.time_step == 0.001
    world.step(1200)
    assert world.robots["ball"].q[2] == pytest.approx(0.2, abs=1e-4)
    assert world.robots["box"].q[2] == pytest.approx(1.0 - 0.5 * 9.81 * 1.2**2, abs=1e-3)
    p = world.robots["hung"].q[:3]
    assert np.linalg.norm(p - (-1.0, 0.0, 1.5)) == pytest.approx(0.5, abs=1e-6)


def test_a_flag_takes_gravity_away(tmp_path):
    """Law: no weight where <flag gravity="disable"/> says so, and no note that it was not read."""
    path = tmp_path / "weightless.xml"
    path.write_text(
        ARM.replace("<worldbody>", '<option><flag gravity="disable"/></option><worldbody>')
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        assert not load_world(path).gravity.any()
    path.write_text(path.read_text().replace("gravity=", 'actuation="disable" gravity='))
    with pytest.warns(ModelWarning, match=r"option flag actuation=disable \(1\): not read"):
        assert not load_world(path).gravity.any()


FLAGGED = """<mujoco><option><flag {}="disable"/></option><worldbody>
 <body><joint name="j" axis="0 1 0" range="-60 60" stiffness="3" damping="2" frictionloss="1"/>
  <geom size="0.1"/></body>
 <body pos="1 0 0"><joint name="k" axis="0 1 0"/><geom size="0.1"/></body></worldbody>
 <equality><joint joint1="k" joint2="j"/></equality></mujoco>"""


@pytest.mark.quick_cases("constraint-*", "spring-*", "warmstart-*")
@pytest.mark.parametrize(
    "flag, gone",
    [
        ("contact", {"shapes"}),
        ("limit", {"upper"}),
        ("equality", {"mimic"}),
        ("frictionloss", {"friction"}),
        ("spring", {"stiffness"}),
        ("damper", {"damping"}),
        ("constraint", {"shapes", "upper", "mimic", "friction"}),
        ("warmstart", set()),
    ],
)
def test_flags_take_away_what_they_disable(flag, gone):
    """Law: what a flag disables in MuJoCo is not simulated, and all else is."""
    mujoco = pytest.importorskip("mujoco")
    if flag in ("spring", "damper") and not hasattr(mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}"):
        pytest.skip(f"this MuJoCo has no flag {flag!r}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load_model(FLAGGED.format(flag))
    system = model.system
    there = {
        "shapes": bool(model.shapes),
        "upper": bool(np.isfinite(system.upper[0])),
        "mimic": bool(system.mimic_dof[1] == 0),
        "friction": bool(system.friction[0] == 1.0),
        "stiffness": bool(system.stiffness[0] == 3.0),
        "damping": bool(system.damping[0] == 2.0),
    }
    assert {name for name, is_there in there.items() if not is_there} == gone


PAIRS = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" contype="0"
 conaffinity="0"/>{bodies}</worldbody><contact><pair geom1="floor" geom2="one" friction="0.3 0.3"/>
 <pair geom1="one" geom2="two"/><exclude body1="a" body2="b"/></contact></mujoco>"""
BALL = """<body name="{n}" pos="0 0 {z}"><freejoint/><geom name="{g}" type="sphere" size="0.1"
 contype="0" conaffinity="0"/></body>"""


def test_geoms_collide_that_a_pair_names(tmp_path):
    """Whatever their contype and excludes say, with the pair's friction; no others do."""
    path = tmp_path / "pairs.xml"
    balls = (("a", "one", 0.1), ("b", "two", 0.3), ("c", "three", 0.1))
    path.write_text(PAIRS.format(bodies="".join(BALL.format(n=n, g=g, z=z) for n, g, z in balls)))
    with pytest.warns(ModelWarning, match=r"contact pair \(2\)"):
        world = load_world(path)
    world.step(250)
    fallen = 0.5 * 9.81 * world.time**2
    heights = [robot.q[2] for robot in world.robots.values()]
    assert heights == pytest.approx([0.1, 0.3, 0.1 - fallen], abs=1e-3)
    (material,) = {shape.material for shape in world.robots["a"].model.shapes}
    assert material == "friction_1_geom_1"  # the largest of its pairs', which have their own


@pytest.mark.timeout(1200)
def test_an_arm_on_a_servo_moves_as_in_mujoco(tmp_path):
    """Law: spring, damper, armature, `ref` and servo are the same: 0.1 s, both at 0.1 ms."""
    path = tmp_path / "arm.xml"
    path.write_text(SERVO)
    world = load_world(path, integrator="semi_implicit")
    robot = world.robots["arm"]
    other = Counterpart(path, robot.model)
    robot.command(positions=[-0.5], names=["elbow"])
    other.d.ctrl[:] = -0.5
    for _ in range(1000):
        other.mujoco.mj_step(other.m, other.d)
    world.step(1000)
    for name in ("shoulder", "elbow"):
        at = robot.model.joint(name).q_index
        assert robot.q[at] == pytest.approx(other.d.joint(name).qpos[0], abs=1e-6)


MOTOR = """<mujoco><option timestep="0.001" gravity="0 0 0" integrator="implicitfast"/>
<worldbody><body name="arm"><joint name="j" armature="0.01"/><inertial pos="0 0 0" mass="1"
diaginertia="0.1 0.1 0.1"/></body></worldbody><actuator>%s</actuator></mujoco>"""


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "actuator, scale",
    [
        ('<dcmotor joint="j" motorconst="0.5" resistance="2" gear="3"/>', 0.75),
        ('<motor joint="j" delay="0.005" nsample="8"/>', 1.0),
    ],
)
def test_dc_motors_and_delays_move_as_in_mujoco(tmp_path, actuator, scale):
    """Law: a DC motor of voltage u delivers K (u - K w) / R; a delay is that of its ctrl."""
    mujoco = pytest.importorskip("mujoco")
    if int(mujoco.__version__.split(".")[0]) < 4:
        pytest.skip("MuJoCo 4 brought them")
    path = tmp_path / "arm.xml"
    path.write_text(MOTOR % actuator)
    world = load_world(path, integrator="semi_implicit")
    robot = world.robots["arm"]
    other = Counterpart(path, robot.model)
    robot.command(efforts=[2.0 * scale])
    other.d.ctrl[:] = 2.0
    for _ in range(100):
        other.mujoco.mj_step(other.m, other.d)
    world.step(100)
    assert robot.v[0] == pytest.approx(other.d.qvel[0], rel=3e-3)
    assert 0.0 < robot.v[0]


@pytest.mark.timeout(1200)
def test_fields_of_heights_are_scenery(tmp_path):
    path = tmp_path / "hill.xml"
    path.write_text(
        '<mujoco><asset><hfield name="h" nrow="3" ncol="4" size="2 1 0.5 0.1" '
        'elevation="0 0 0 1  0 0 0 1  0 0 0 1"/></asset><worldbody>'
        '<geom name="hill" type="hfield" hfield="h"/><body name="ball" pos="1.9 0 1"><freejoint/>'
        '<geom size="0.1"/></body></worldbody></mujoco>'
    )
    world = load_world(path)
    world.step(200)
    assert world.robots["ball"].q[2] > 0.3  # on the high end, x = 2


def test_errors_name_file_and_cure(tmp_path):
    path = tmp_path / "bad.xml"
    for text, named in (
        ("<mujoco><worldbody><body><jint/></body></worldbody></mujoco>", "jint"),
        ('<mujoco><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>', "load_world"),
        (BIPED.format(meshes="nowhere"), "toe.obj"),
        ("<mujoco><worldbody>", "XML"),
    ):
        path.write_text(text)
        with pytest.raises(ModelError) as error:
            load_model(path)
        assert str(path) in str(error.value) and named in str(error.value)
    with pytest.raises(ModelError, match="allow_mjcf"):
        load_model(ARM, allow_mjcf=False)


@pytest.mark.parametrize("name, text", [("a.mjb", "x"), ("a.stl", "x")])
def test_formats_that_are_not_read_are_named(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(ModelError, match="Formats that can be read: URDF"):
        load_model(tmp_path / name)


def test_without_mujoco_the_error_names_the_extra(tmp_path, monkeypatch):
    """A child that cannot import mujoco says so."""
    (tmp_path / "mujoco.py").write_text("raise ImportError('none')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ModelError, match=r"hrpsim\[mjcf\]"):
        load_model(ARM)


def test_formats_are_told_apart():
    assert format_of("<?xml version='1.0'?>\n<!-- <robot> --> <mujoco/>", None).name == "mjcf"
    assert format_of('<robot name="a"/>', None).name == "urdf"
    assert format_of("#VRML V2.0 utf8", None).name == "vrml"


def test_importing_hrpsim_loads_no_reader():
    """Import time: neither MuJoCo nor the readers of other formats come with hrpsim."""
    code = (
        "import sys, hrpsim; hrpsim.load_model; hrpsim.load_world\n"
        "print([m for m in sys.modules if m == 'mujoco' or "
        "m.startswith(('hrpsim.model.readers.mjcf', 'hrpsim.model.readers.openhrp'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_robots_of_a_world_say_what_is_not_simulated(tmp_path):
    """Law: `Model.not_simulated` of each robot has what the warning of its world says."""
    body = '<body name="{}" pos="{} 0 1"><freejoint/><geom size="0.1" solref="0.1 1"/></body>'
    path = tmp_path / "w.xml"
    bodies = body.format("a", 0) + body.format("b", 1)
    path.write_text(f"<mujoco><worldbody>{bodies}<light/></worldbody></mujoco>")
    with pytest.warns(ModelWarning) as caught:
        world = load_world(path)
    (said,) = (str(one.message) for one in caught if "not simulated as" in str(one.message))
    assert len(world.robots) == 2
    for robot in world.robots.values():
        assert len(robot.model.not_simulated) == 2
        assert all(line in said for line in robot.model.not_simulated)


def test_a_flat_mesh_does_not_collide_and_is_named():
    """Law: one that is thinner than a hull can be, which MuJoCo takes, is drawn alone."""
    text = """<mujoco><asset><mesh name="m" inertia="shell" vertex="0 0 0 1 0 0 0 1 0 1 1 1e-7"
    face="0 1 2 1 3 2"/></asset><worldbody><body><freejoint/><geom size="0.1"/>
    <geom name="flat" type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    model = load_model(text)
    assert len(model.shapes) == 1
    assert "geom mesh, flat (1: flat): does not collide" in model.not_simulated


def _slide(tmp_path, box, plane=""):
    """Return how far a box slides that starts at 1 m/s, or 0.6 m if it does not stop in 0.6 s."""
    path = tmp_path / "slide.xml"
    path.write_text(
        '<mujoco><option timestep="0.001"/><worldbody>'
        f'<geom type="plane" size="9 9 1" {plane}/>'
        '<body name="b" pos="0 0 .05"><freejoint name="f"/>'
        f'<geom type="box" size=".2 .2 .05" mass="1" {box}/></body></worldbody></mujoco>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        world = load_world(path)
    (robot,) = world.robots.values()
    robot.v = [1, 0, 0, 0, 0, 0]
    world.step(600)
    return robot.q[0]


@pytest.mark.parametrize("priority, friction", [(1, 0.4), (0, 1.0), (-1, 1.0)])
def test_the_friction_of_the_higher_priority_holds(tmp_path, priority, friction):
    """Law: a box that slides at v comes to rest after v^2 / (2 mu g), as in MuJoCo."""
    distance = _slide(tmp_path, f'friction="0.4" priority="{priority}"')
    assert distance == pytest.approx(1 / (2 * friction * 9.81), rel=5e-3)


@pytest.mark.parametrize("condim", [1, 3])
@pytest.mark.parametrize("priority, friction", [(0, 0.9), (1, 0.9), (-1, 0.4)])
def test_condim_1_slides_only_on_condim_1(tmp_path, condim, priority, friction):
    """Law: the larger condim counts, and the larger friction, also of the geom with condim 1."""
    box = f'condim="1" friction="0.9" priority="{priority}"'
    distance = _slide(tmp_path, box, f'condim="{condim}" friction="0.4"')
    if condim == 1 or priority == 1:
        assert distance == pytest.approx(0.6, rel=1e-6)
    else:
        assert distance == pytest.approx(1 / (2 * friction * 9.81), rel=5e-3)
