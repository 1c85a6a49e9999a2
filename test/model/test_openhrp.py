# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""OpenHRP's VRML and Choreonoid's .body: the same robot as in URDF."""

import numpy as np
import pytest
from model.openhrp_files import BODY, PROTOS, SOLE, WRL, write_robot

from hrpsim import (
    Box,
    Cylinder,
    ModelError,
    center_of_mass,
    convert,
    inverse_dynamics,
    link_pose,
    load_model,
    mass_matrix,
)

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
        ("#VRML V2.0 utf8\nGroup { children [ USE a ] }", "'a': no node above has this name"),
        (SOLE, "one Humanoid node"),
        (humanoid(""), "must contain one Joint"),
        (humanoid('DEF a Joint { jointType "rotat" }'), "Did you mean 'rotate'"),
        (humanoid('DEF a Joint { jointType "rotate" jointAxis "W" }'), "Available: X, Y, Z"),
        (humanoid('DEF a Joint { jointType "free" translation 0 0 }'), "must be 3 numbers, got 2"),
        (humanoid('DEF a Joint { jointType "rotate" ulimit [nan] }'), "must be finite"),
        (WRL.replace("mass 5", "mass -5"), "the mass -5 kg is negative"),
        (WRL.replace("sole.wrl", "none.wrl"), "none.wrl: cannot be read"),
        (WRL.replace("CylinderSensorY", "Handle"), "a Handle contains joints, segments or sensors"),
        (WRL.replace("0 2 1 -1", "0 9 1 -1"), "names a point that does not exist"),
    ],
)
def test_errors_of_vrml_name_line_node_and_cure(tmp_path, text, named):
    (tmp_path / "sole.wrl").write_text(SOLE)
    path = tmp_path / "bad.wrl"
    path.write_text(text)
    with pytest.raises(ModelError) as error:
        load_model(path)
    assert str(path) in str(error.value) and named in str(error.value)


def refuses(path, text, was, becomes, named):
    """Assert that a text with one thing changed is refused, by its file and what is wrong."""
    assert was in text
    path.write_text(text.replace(was, becomes))
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
    with pytest.raises(ModelError, match="Did you mean 'PLATE'"):
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


BOX = """format: ChoreonoidBody
links:
  - { name: BOX, jointType: free, translation: [ 0, 0, 1 ], mass: 2,
      inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ],
      elements: [ { type: Shape, geometry: { type: Box, size: [ 1, 1, 1 ] } },
                  { type: AccelerationSensor, name: accel } ] }
  - { name: LID, parent: BOX, jointType: revolute, jointAxis: Y, jointId: 0, jointAngle: 90,
      translation: [ 0, 0, 0.5 ], mass: 1, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }
  - { type: Skip, name: LEFT_OUT, parent: BOX, jointType: revolute, mass: 7 }
extraJoints:
  - { link1Name: BOX, link2Name: LID, jointType: ball, link2LocalPos: [ 0, 0, -0.5 ] }
"""
BOXES = """format: ChoreonoidBody
links:
  - { name: FLOOR, jointType: fixed, translation: [ 0, 0, 0.5 ],
      elements: { Shape: { geometry: { type: Box, size: [ 9, 9, 0.1 ] } } } }
  - { type: SubBody, uri: box.body, prefix: 1_, parent: FLOOR,
      translation: [ [ [ 1, 0, 0 ] ], [ 0, 0, 2 ] ] }
  - { type: SubBody, uri: box.body, suffix: _B, parent: FLOOR, jointType: revolute, jointAxis: X,
      jointRange: [ -90, 90 ], joint_id_offset: 1, jointId: 2, devicePrefix: B_ }
"""


def test_bodies_are_parts_of_others_and_float_below_the_root(tmp_path):
    """SubBody: links, sensors and loops of another file under new names; free links float."""
    (tmp_path / "box.body").write_text(BOX)
    (tmp_path / "boxes.body").write_text(BOXES)
    model = load_model(tmp_path / "boxes.body")
    assert model.base == "fixed" and model.mass == pytest.approx(6.0)
    assert set(model.link_names) == {"world", "FLOOR", "1_BOX", "1_LID", "BOX_B", "LID_B"}
    assert model.nq == 7 + 1 + 1 + 1 and list(model.command_interfaces) == [
        "1_LID",
        "LID_B",
        "BOX_B",
    ]
    assert {sensor.name: sensor.link for sensor in model.sensors} == {
        "1_accel": "1_BOX",
        "B_accel": "BOX_B",
    }
    q = model.neutral()
    assert link_pose(model, q, "1_BOX")[0] == pytest.approx((1, 0, 2.5))
    assert link_pose(model, q, "LID_B")[0] == pytest.approx((0, 0, 2.0))
    hinge = model.joint("BOX_B").v_index
    assert model.system.upper[hinge] == pytest.approx(np.pi / 2)
    lid = model.keyframes["initial"][model.joint("1_LID").q_index]
    assert lid == pytest.approx(np.pi / 2)
    assert [c.name for c in model.connections] == ["1_BOX-LID", "BOX-LID_B"]
    assert model.not_simulated == ()


def test_a_free_link_below_a_free_root_floats_beside_it(tmp_path):
    """Law: both fall alike; the lid of the first one stays on its hinge."""
    free = "  - { name: NUT, parent: LID, jointType: free, translation: [ 0, 0, 1 ] }\nextra"
    path = tmp_path / "two.body"
    path.write_text(BOX.replace("extra", free, 1))
    model = load_model(path)
    assert model.base == "fixed" and model.nv == 6 + 1 + 6
    assert link_pose(model, model.neutral(), "NUT")[0] == pytest.approx((0, 0, 2.5))
    M = mass_matrix(model, model.neutral())
    at = model.joint("NUT").v_index
    assert np.count_nonzero(M[at : at + 6]) == 6 and M[at, at] == 1.0
    told = "link without mass (1): 1 kg and unit inertia, as in Choreonoid"
    assert model.not_simulated == (told,)


@pytest.mark.parametrize(
    "text, was, becomes, named",
    [
        (BODY, "links:", "link:", "no list `links`"),
        (BODY, "angleUnit: degree", "angleUnit: grad", "degree or radian"),
        (BODY, "parent: WAIST", "parent: WAIS", "Did you mean 'WAIST'"),
        (BODY, "name: FOOT\n", "name: HIP\n", "two links have the name 'HIP'"),
        (BODY, "jointType: slide", "jointType: slid", "Did you mean 'slide'"),
        (BODY, "mass: 1\n", "mass: many\n", "link 'FOOT': mass: must be numbers, got 'many'"),
        (BODY, "mass: 1\n", "mass: .inf\n", "must be finite"),
        (BODY, "uri: sole.wrl", "uri: none.stl", "there is no file"),
        (BODY, "radius: 0.05", "radius: 0", "must be positive"),
        (BODY, "parent: WAIST", "parent: FOOT", "form a circle"),
        (BODY, "child_links: [ FOOT ]", "", "one link without a parent"),
        (
            BODY,
            "translation: [ 0, 0.1, -0.05 ]",
            "translation: [ 0, 0.1 ]",
            "must be 3 numbers, got 2",
        ),
        (BODY, "jointAxis: [ 0, 0, 1 ]", "jointAxis: [ 0, 0, 0 ]", "joint_axis is zero"),
        (BOXES, "uri: box.body", "uri: bix.body", "there is no file"),
        (BOXES, "uri: box.body", "uri: boxes.body", "files cannot include each other"),
        (BOXES, "suffix: _B", "prefix: 1_", "two links have the name '1_BOX'"),
        (BOXES, "type: SubBody", "type: SubBdy", "Did you mean 'SubBody'"),
        (BOXES, "parent: FLOOR,\n", "parent: FLOR,\n", "Did you mean 'FLOOR'"),
    ],
)
def test_errors_of_body_files_name_link_and_cure(tmp_path, text, was, becomes, named):
    (tmp_path / "sole.wrl").write_text(SOLE)
    (tmp_path / "box.body").write_text(BOX)
    refuses(tmp_path / "boxes.body", text, was, becomes, named)


def test_a_segment_by_another_name_is_told_for_its_mass_is_not_read(tmp_path):
    path = write_robot(tmp_path, "wrl")
    sound = load_model(path)
    path.write_text(WRL.replace("DEF THIGH Segment", "DEF THIGH Sigment"))
    model = load_model(path)
    assert model.mass < sound.mass
    assert set(model.not_simulated) - set(sound.not_simulated) == {
        "Sigment (1): its shapes alone are read"
    }


def test_a_mesh_without_volume_does_not_collide_and_is_told(tmp_path):
    path = write_robot(tmp_path, "wrl")
    sound = load_model(path)
    path.write_text(WRL.replace("0.2 0.2 0, 0 0 0.2]", "0.2 0.2 0, 0 0.2 0]"))
    model = load_model(path)
    links = [[shape.link for shape in one.shapes] for one in (model, sound)]
    assert links[1] == ["WAIST", *links[0]]
    assert "mesh of a link, without volume (1): it does not collide" in model.not_simulated


def test_what_a_link_says_and_nobody_reads_is_told_once(tmp_path):
    path = tmp_path / "told.body"
    path.write_text(BOX.replace("mass: ", "material: Rubber, density: 3, mass: "))
    model = load_model(path)
    assert list(model.not_simulated) == ["density of a link (2): not read"]
    assert {shape.material for shape in model.shapes} == {"Rubber"}


def test_masses_beside_rigid_bodies_are_zero_where_they_are_not_given(tmp_path):
    """As in Choreonoid: a link's own mass is 1 kg by default only where it is all that there is."""
    rigid = "RigidBody: { mass: 3, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }"
    path = tmp_path / "sum.body"
    text = "links: [{ name: a, jointType: free, centerOfMass: [ 0, 0, 1 ], elements: { RIGID } }]"
    path.write_text(text.replace("RIGID", rigid))
    assert load_model(path).mass == 3.0
    path.write_text(text.replace("RIGID", ""))
    assert load_model(path).mass == 1.0


def extruded(tmp_path, more):
    path = tmp_path / "extruded.body"
    path.write_text(
        "links: [{ name: a, mass: 1, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ], jointType: free,"
        " elements: { Shape: { geometry: { type: Extrusion,"
        f" crossSection: [ 1, 1, 1, -1, -1, -1, -1, 1, 1, 1 ], {more} }} }} }} }}]"
    )
    (shape,) = load_model(path).shapes
    corners = shape.geometry.vertices @ shape.R.T + shape.p
    return corners.min(axis=0), corners.max(axis=0), shape.geometry.volume


@pytest.mark.parametrize(
    "more, low, high, volume",
    [
        ("spine: [ 0, 0, 0, 0, 2, 0 ]", (-1, 0, -1), (1, 2, 1), 8.0),
        ("spine: [ 0, 0, 0, 0, 0, 3 ]", (-1, -1, 0), (1, 1, 3), 12.0),
        ("spine: [ 0, 0, 0, 0, 1, 0, 0, 3, 0 ]", (-1, 0, -1), (1, 3, 1), 12.0),
        ("spine: [ 0, 0, 0, 0, 2, 0 ], scale: [ 1, 1, 3 ]", (-1, 0, -1), (1, 2, 1), 8.0),
        ("spine: [ 0, 0, 0, 0, 2, 0 ], scale: [ 2, 0.5 ]", (-2, 0, -0.5), (2, 2, 0.5), 8.0),
        (  # a frustum: h (A + sqrt(A B) + B) / 3
            "spine: [ 0, 0, 0, 0, 3, 0 ], scale: [ 1, 1, 0.5, 0.5 ]",
            (-1, 0, -1),
            (1, 3, 1),
            4.0 + 2.0 + 1.0,
        ),
        (
            "spine: [ 0, 0, 0, 0, 2, 0 ], orientation: [ 0, 1, 0, 45 ]",
            (-np.sqrt(2), 0, -np.sqrt(2)),
            (np.sqrt(2), 2, np.sqrt(2)),
            8.0,
        ),
    ],
)
def test_extrusions_are_scaled_and_turned(tmp_path, more, low, high, volume):
    """Law: VRML97 6.18; the hull of each is what was swept."""
    found = extruded(tmp_path, more)
    assert found[0] == pytest.approx(low, abs=1e-6) and found[1] == pytest.approx(high, abs=1e-6)
    assert found[2] == pytest.approx(volume, abs=1e-5)


def test_a_bent_spine_turns_its_section(tmp_path):
    """An L in the x-y plane: at the corner the section stands across, in the plane that halves it.

    The sections' z axes lie along z throughout, and their x axes across the spine.
    """
    low, high, _ = extruded(tmp_path, "spine: [ 0, 0, 0, 0, 5, 0, 5, 5, 0 ]")
    half = 1.0 / np.sqrt(2.0)
    assert low == pytest.approx((-1, 0, -1), abs=1e-6)
    assert high == pytest.approx((5, 6, 1), abs=1e-6) and 5 + half < 6
    with pytest.raises(ModelError, match="must be 2 numbers, or 2 for each of the 3 points"):
        extruded(tmp_path, "spine: [ 0, 0, 0, 0, 2, 0, 0, 3, 0 ], scale: [ 1, 1, 2, 2 ]")


def test_what_is_only_seen_may_have_no_size(tmp_path):
    """As in URDF: a visual of size 0 is not drawn, and told; what collides must have a size."""
    path = tmp_path / "flat.body"
    flat = "Visual, shape: { geometry: { type: Box, size: [ 1, 1, 0 ] } } },\n { type: Shape"
    path.write_text(BOX.replace("Shape", flat))
    assert load_model(path).not_simulated == ("Visual with a size of 0 (1): not drawn",)
    path.write_text(path.read_text().replace("Visual", "Collision"))
    with pytest.raises(ModelError, match=r"link 'BOX': Box: sizes \[1.0, 1.0, 0.0\] must be pos"):
        load_model(path)


BRICK = """solid brick
{}endsolid
"""
LOOSE = """format: ChoreonoidBody
formatVersion: 1.0
name: Loose
links:
  - name: W
    jointType: free
    mass: 1
    inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
    elements:
      - { type: Resource, uri: FILE, metadata: METADATA }
"""


def write_brick(folder):
    """Write a tetrahedron with corners at 100, 200 and 300 on x, y and z, as STL and as VRML."""
    corners = [(0, 0, 0), (100, 0, 0), (0, 200, 0), (0, 0, 300)]
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {} {} {}\n".format(*corners[k]) for k in face)
        + "endloop\nendfacet\n"
        for face in faces
    )
    (folder / "brick.stl").write_text(BRICK.format(facets))
    points = ", ".join("{} {} {}".format(*corner) for corner in corners)
    indices = " ".join("{} {} {} -1".format(*face) for face in faces)
    (folder / "brick.wrl").write_text(
        "#VRML V2.0 utf8\nShape { geometry IndexedFaceSet { coord Coordinate { point ["
        f"{points}] }} coordIndex [{indices}] }} }}\n"
    )


def extent(model):
    """Return how far the only shape of a model reaches along x, y, z [m]."""
    (shape,) = model.shapes
    return np.ptp(shape.geometry.vertices @ shape.R.T, axis=0)


@pytest.mark.parametrize("file", ["brick.stl", "brick.wrl"])
@pytest.mark.parametrize(
    "metadata, expected",
    [
        ("{ length_unit: millimeter }", (0.1, 0.2, 0.3)),
        ("{ lengthUnit: inch }", (2.54, 5.08, 7.62)),
        ("{ length_unit: millimeter, upper_axis: Y }", (0.3, 0.1, 0.2)),
        ('"millimeter y_upper"', (0.3, 0.1, 0.2)),
        ("{ length_unit: meter }", (100.0, 200.0, 300.0)),
    ],
)
def test_a_file_has_the_unit_and_upward_axis_that_its_metadata_say(
    tmp_path, file, metadata, expected
):
    """Law (Choreonoid's AbstractSceneLoader): with y upwards its x, y, z are our y, z, x."""
    write_brick(tmp_path)
    path = tmp_path / "loose.body"
    path.write_text(LOOSE.replace("FILE", file).replace("METADATA", metadata))
    np.testing.assert_allclose(extent(load_model(path)), expected, rtol=1e-6)


def test_a_unit_that_nobody_knows_is_told(tmp_path):
    write_brick(tmp_path)
    path = tmp_path / "loose.body"
    path.write_text(
        LOOSE.replace("FILE", "brick.stl").replace("METADATA", "{ length_unit: furlong }")
    )
    with pytest.warns(UserWarning, match=r"length_unit furlong \(1\): read as metres"):
        model = load_model(path)
    np.testing.assert_allclose(extent(model), (100.0, 200.0, 300.0), rtol=1e-6)


def test_an_inline_may_be_a_mesh_file(tmp_path):
    """As in Choreonoid: Transform and scale around it hold for it."""
    write_brick(tmp_path)
    path = tmp_path / "model.wrl"
    inline = 'Transform { scale 0.001 0.001 0.001 children Inline { url "brick.stl" } }'
    joint = (
        'DEF W Joint { jointType "free" children [ DEF S Segment { mass 1 momentsOfInertia'
        f" [ 1 0 0 0 1 0 0 0 1 ] children [ {inline} ] }} ] }}"
    )
    path.write_text(humanoid(joint))
    np.testing.assert_allclose(extent(load_model(path)), (0.1, 0.2, 0.3), rtol=1e-6)
    path.write_text(humanoid(joint.replace("brick.stl", "none.stl")))
    with pytest.raises(ModelError, match=r"model.wrl:\d+: Inline: url: there is no file"):
        load_model(path)
