# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""OpenHRP's VRML and Choreonoid's .body: the same robot as in URDF."""

import numpy as np
import pytest
from model.openhrp_files import BODY, PROTOS, SOLE, WRL, write_robot

from hrpsim import ModelError, load_model
from hrpsim.dynamics.functions import center_of_mass, inverse_dynamics, link_pose, mass_matrix
from hrpsim.model.convert import convert
from hrpsim.model.shapes.geometry import Box, Cylinder

pytestmark = pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")


@pytest.fixture(params=["wrl", "body"])
def path(request, tmp_path):
    return write_robot(tmp_path, request.param)


def test_dynamics_are_those_of_the_urdf(path, tmp_path):
    """Law: mass, centre of mass, M, C v + g and poses agree with the same robot's URDF."""
    model, urdf = load_model(path), load_model(write_robot(tmp_path, "urdf"))
    assert model.joint_names == urdf.joint_names and model.base == "free"
    assert model.mass == pytest.approx(8.5, abs=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(20):
        q, v = rng.uniform(-0.5, 0.5, model.nq), rng.normal(size=model.nv)
        q[3:7] = rng.normal(size=4)
        q[3:7] /= np.linalg.norm(q[3:7])
        for of in (mass_matrix, center_of_mass):
            np.testing.assert_allclose(of(model, q), of(urdf, q), rtol=0, atol=1e-12)
        ours, theirs = (inverse_dynamics(m, q, v, 0.0 * v) for m in (model, urdf))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)
        for link in ("WAIST", "HIP", "FOOT"):
            for mine, other in zip(link_pose(model, q, link), link_pose(urdf, q, link)):
                np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12)


def test_limits_and_motors(path):
    model = load_model(path)
    system, hip, foot = model.system, model.joint("HIP").v_index, model.joint("FOOT").v_index
    assert (system.lower[hip], system.upper[hip]) == pytest.approx((-1.0, 1.5))
    assert system.velocity_limit[hip] == pytest.approx(6.0)
    assert system.effort_limit[hip] == pytest.approx(20.0)
    assert system.rotor_inertia[hip] == pytest.approx(0.5)
    assert system.lower[foot] < -1e9 and system.velocity_limit[foot] == np.inf
    assert list(model.command_interfaces) == ["FOOT", "HIP"]  # by their ids


def test_sensors_stand_where_they_are_put(path):
    sensors = {sensor.name: sensor for sensor in load_model(path).sensors}
    assert {name: s.kind for name, s in sensors.items()} == {
        "gyro": "imu",
        "accel": "imu",
        "foot_sensor": "force_torque",
    }
    assert sensors["gyro"].p == pytest.approx((0, 0, 0.1))
    assert sensors["foot_sensor"].p == pytest.approx((0, 0, -0.02))
    assert sensors["foot_sensor"].R == pytest.approx(np.diag([1.0, -1.0, -1.0]), abs=1e-12)


def test_shapes_are_those_of_the_file(path):
    """Law: VRML's cylinders lie along y; a mesh keeps its vertices; other files are read."""
    model = load_model(path)
    shapes = {shape.link: shape for shape in model.shapes}
    assert isinstance(shapes["FOOT"].geometry, Box)
    assert shapes["FOOT"].geometry.lengths == (0.2, 0.1, 0.04)
    cylinder, hip = shapes["HIP"], model.frames["HIP"]
    assert cylinder.geometry == Cylinder(0.05, 0.3)
    axis = hip.R.T @ cylinder.R[:, 2]  # in the link
    assert abs(axis[2]) == pytest.approx(1.0)
    assert hip.R.T @ (cylinder.p - hip.p) == pytest.approx((0.02, 0, -0.15))
    waist = shapes["WAIST"]
    corners = waist.geometry.vertices @ waist.R.T + waist.p
    assert corners.min(axis=0) == pytest.approx((0, 0, 0), abs=1e-7)
    assert corners.max(axis=0) == pytest.approx((0.2, 0.2, 0.2), abs=1e-7)


def test_keyframes_and_notes(path):
    model = load_model(path)
    assert model.keyframes["initial"][:3] == pytest.approx((0, 0, 0.8))
    seen = "VisionSensor (1)" if path.suffix == ".wrl" else "Camera (1)"
    assert any(line.startswith(seen) for line in model.not_simulated)
    if path.suffix == ".body":
        pose = model.keyframes["standard_pose"]
        assert pose[model.joint("HIP").q_index] == pytest.approx(np.radians(-30.0))


def test_converted_it_is_the_same(path, tmp_path):
    convert(path, tmp_path / "converted" / "b.urdf")
    model, other = load_model(path), load_model(tmp_path / "converted" / "b.urdf")
    q = model.keyframes["initial"]
    assert np.array_equal(mass_matrix(model, q), mass_matrix(other, q))
    assert len(model.shapes) == len(other.shapes)


def humanoid(content):
    return f"#VRML V2.0 utf8\n{PROTOS}Humanoid {{ humanoidBody [ {content} ] }}"


@pytest.mark.parametrize(
    "text, named",
    [
        ("#VRML V1.0 ascii\nSeparator {}", "VRML 1.0"),
        ("#VRML V2.0 utf8\nGroup {", "ends within a node"),
        ("#VRML V2.0 utf8\nGroup { children [ USE a ] }", "'a': no node has this name"),
        (SOLE, "one Humanoid node"),
        (humanoid(""), "must hold one Joint"),
        (humanoid('DEF a Joint { jointType "rotat" }'), "did you mean 'rotate'"),
        (humanoid('DEF a Joint { jointType "rotate" jointAxis "W" }'), "available: X, Y, Z"),
        (humanoid('DEF a Joint { jointType "free" translation 0 0 }'), "3 numbers are needed, 2"),
        (humanoid('DEF a Joint { jointType "rotate" ulimit [nan] }'), "must be finite"),
        (WRL.replace("mass 5", "mass -5"), "the mass -5 kg is negative"),
        (WRL.replace("sole.wrl", "none.wrl"), "none.wrl: cannot be read"),
        (WRL.replace("CylinderSensorY", "Handle"), "a Handle holds joints, segments or sensors"),
        (WRL.replace("0 2 1 -1", "0 9 1 -1"), "names a point that is not there"),
    ],
)
def test_errors_of_vrml_name_line_node_and_cure(tmp_path, text, named):
    (tmp_path / "sole.wrl").write_text(SOLE)
    path = tmp_path / "bad.wrl"
    path.write_text(text)
    with pytest.raises(ModelError) as error:
        load_model(path)
    assert str(path) in str(error.value) and named in str(error.value)


@pytest.mark.parametrize(
    "was, becomes, named",
    [
        ("links:", "link:", "needs `links`"),
        ("angleUnit: degree", "angleUnit: grad", "degree or radian"),
        ("parent: WAIST", "parent: WAIS", "did you mean 'WAIST'"),
        ("name: FOOT\n", "name: HIP\n", "two links are called 'HIP'"),
        ("jointType: slide", "jointType: slid", "did you mean 'slide'"),
        ("mass: 1\n", "mass: many\n", "link 'FOOT': mass: numbers are needed, not 'many'"),
        ("mass: 1\n", "mass: .inf\n", "must be finite"),
        ("uri: sole.wrl", "uri: none.stl", "there is no file"),
        ("radius: 0.05", "radius: 0", "must be positive"),
        ("parent: WAIST", "parent: FOOT", "form a circle"),
        ("child_links: [ FOOT ]", "", "one link without a parent"),
        ("translation: [ 0, 0.1, -0.05 ]", "translation: [ 0, 0.1 ]", "3 numbers are needed"),
        ("jointAxis: [ 0, 0, 1 ]", "jointAxis: [ 0, 0, 0 ]", "joint_axis is zero"),
    ],
)
def test_errors_of_body_files_name_link_and_cure(tmp_path, was, becomes, named):
    (tmp_path / "sole.wrl").write_text(SOLE)
    path = tmp_path / "bad.body"
    assert was in BODY
    path.write_text(BODY.replace(was, becomes))
    with pytest.raises(ModelError) as error:
        load_model(path)
    assert str(path) in str(error.value) and named in str(error.value)


def test_files_that_include_each_other_end(tmp_path):
    path = write_robot(tmp_path, "wrl")
    (tmp_path / "sole.wrl").write_text('#VRML V2.0 utf8\nInline { url "sole.wrl" }')
    with pytest.raises(ModelError, match="include each other"):
        load_model(path)
    path = tmp_path / "circle.body"
    path.write_text("links: [{ name: a, elements: { Resource: { uri: parts.yaml, node: A } } }]")
    twice = "{ type: Resource, uri: parts.yaml, node: A }"
    (tmp_path / "parts.yaml").write_text(f"A: [ {twice}, {twice} ]")
    with pytest.raises(ModelError, match="YAML_"):
        load_model(path)


def test_what_a_vrml_file_says_and_nobody_reads_may_be_unsound(tmp_path):
    """A normal of NaN, and a DEF without a name, as OpenHRP's and Choreonoid's own files have."""
    text = WRL.replace("geometry Cylinder", "appearance DEF Appearance { } geometry Cylinder")
    text = text.replace("coordIndex [0", "normal Normal { vector [ -nan nan inf ] } coordIndex [0")
    (tmp_path / "sole.wrl").write_text(SOLE)
    (tmp_path / "odd.wrl").write_text(text)
    model = load_model(tmp_path / "odd.wrl")
    assert len(model.shapes) == len(load_model(write_robot(tmp_path, "wrl")).shapes)


PARTS = """WHEEL:
  RigidBody: { mass: 2, centerOfMass: [ 0.1, 0, 0 ], inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ],
    elements: { Shape: { appearance: *RED, geometry: { type: Box, size: [ 0.2, 0.1, 0.4 ] } } } }
"""
NAMED = """#VRML V2.0 utf8
Transform { translation 5 0 0 rotation 0 0 1 1.5707963267948966 children [
  Shape { geometry Sphere { radius 9 } }
  DEF PLATE Transform { translation 0 7 0 children Shape { geometry Box { size 0.6 0.2 0.1 } } }
] }
"""


def test_parts_of_other_files_are_taken_by_name(tmp_path):
    """Masses and shapes of a YAML file's node, a VRML file's node without its way from the root.

    The YAML file has the anchors of the .body, translations add up, a capsule of no height is a
    ball.
    """
    (tmp_path / "parts.yaml").write_text(PARTS)
    (tmp_path / "named.wrl").write_text(NAMED)
    path = tmp_path / "cart.body"
    path.write_text(
        """COLOR: &RED { material: { diffuse: [ 1, 0, 0 ] } }
links:
  - name: base
    jointType: free
    mass: 1
    centerOfMass: [ 0, 0, 0 ]
    inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
    elements:
      - { type: Resource, uri: parts.yaml, node: WHEEL,
          translation: [ [ 0, 1, 0 ], [ 0, 0, 0.5 ] ] }
      - { type: Collision, resource: { uri: named.wrl, fragment: PLATE } }
      - { type: Shape, geometry: { type: Capsule, radius: 0.3, height: 0 } }
"""
    )
    model = load_model(path)
    assert model.mass == 3.0 and model.not_simulated == ()
    assert model.system.com[0] == pytest.approx(2 / 3 * np.array((0.1, 1.0, 0.5)))
    plate, wheel, ball = model.shapes
    assert wheel.p == pytest.approx((0, 1, 0.5)) and ball.geometry.radius == 0.3
    assert plate.p == pytest.approx((0, 0, 0))
    assert abs(plate.R @ plate.geometry.size) == pytest.approx((0.1, 0.3, 0.05))
    path.write_text(path.read_text().replace("PLATE", "PLAT"))
    with pytest.raises(ModelError, match="did you mean 'PLATE'"):
        load_model(path)


def test_extra_joints_close_loops(tmp_path):
    path = tmp_path / "loop.body"
    inertia = "mass: 1, inertia: [1, 0, 0, 0, 1, 0, 0, 0, 1]"
    path.write_text(
        f"""links:
  - {{ name: base, joint_type: fixed, {inertia} }}
  - {{ name: a, parent: base, joint_type: revolute, joint_axis: Y, {inertia} }}
  - {{ name: b, parent: base, joint_type: revolute, joint_axis: -Y, {inertia},
       translation: [ 1, 0, 0 ] }}
extraJoints:
  - {{ link1Name: a, link2Name: b, jointType: hinge, jointAxis: [ 0, 1, 0 ],
       link1LocalPos: [ 1, 0, 0 ], link2LocalPos: [ 0, 0, 0 ] }}
"""
    )
    model = load_model(path)
    (connection,) = model.connections
    assert model.base == "fixed" and connection.kind == "hinge"
    assert connection.frames[0].p == pytest.approx((1, 0, 0))
    assert connection.frames[0].R[:, 2] == pytest.approx((0, 1, 0))
