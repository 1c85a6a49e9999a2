# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Models of SDF: expected values follow from the format's rules by matrices of this file."""

import math
import warnings

import numpy as np
import pytest

import hrpsim
from hrpsim import ModelError, ModelWarning

INERTIA = "<inertia><ixx>0.2</ixx><iyy>0.3</iyy><izz>0.4</izz></inertia>"
INERTIAL = f"<inertial><mass>2</mass>{INERTIA}</inertial>"


def read(content, version="1.9", name="m", folder=None, **options):
    """Return the model of a <model> with this content, and nothing that is said about it."""
    text = f'<sdf version="{version}"><model name="{name}">{content}</model></sdf>'
    source = text
    if folder is not None:
        source = folder / "model.sdf"
        source.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return hrpsim.load_model(source, **options)


def link(name, content="", pose=""):
    return f'<link name="{name}">{pose}{INERTIAL}{content}</link>'


def joint(kind, axis="<xyz>0 0 1</xyz>", pose="", name="j", ends=("a", "b"), more=""):
    ends = f"<parent>{ends[0]}</parent><child>{ends[1]}</child>"
    axes = f"<axis>{axis}</axis>" if axis else ""
    return f'<joint name="{name}" type="{kind}">{pose}{ends}{axes}{more}</joint>'


def turn(axis, angle):
    """Return the homogeneous matrix (4, 4) of a rotation about an axis through the origin."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T = np.eye(4)
    T[:3, :3] = np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K
    return T


def shift(x, y, z):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def matrices(model, q=None):
    """Return the homogeneous matrix (4, 4) of each link in the world."""
    robot = hrpsim.World().add_robot(model, q=model.keyframes.get("initial") if q is None else q)
    found = {}
    for name in model.link_names:
        p, (x, y, z, w) = robot.link_pose(name)
        T = shift(*p)
        angle = 2.0 * math.atan2(math.hypot(x, y, z), w)
        found[name] = T @ turn((x, y, z), angle) if angle else T
    return found


def test_poses_are_relative_to_the_frames_that_they_name():
    """Law: world = model, then each pose from frame to frame, angles fixed-axis roll pitch yaw."""
    content = (
        "<pose>1 2 3 0 0 0.5</pose>"
        + link("a", pose="<pose degrees='true'>0 0 1 90 0 0</pose>")
        + link("b", pose="<pose relative_to='f'>0.1 0 0 0 0.3 0</pose>")
        + link("c", pose="<pose relative_to='j' rotation_format='quat_xyzw'>0 1 0 0 0 1 1</pose>")
        + "<frame name='f' attached_to='a'><pose>0 0.2 0 0.4 0 0</pose></frame>"
        + "<frame name='g'><pose relative_to='c'>0 0 1 0 0 0</pose></frame>"
        + joint("revolute", pose="<pose>0 0 0.7 0 0 0.2</pose>")
        + joint("fixed", axis="", name="k", ends=("b", "c"))
    )
    found = matrices(read(content))
    m = shift(1, 2, 3) @ turn((0, 0, 1), 0.5)
    a = m @ shift(0, 0, 1) @ turn((1, 0, 0), math.pi / 2)
    f = a @ shift(0, 0.2, 0) @ turn((1, 0, 0), 0.4)
    b = f @ shift(0.1, 0, 0) @ turn((0, 1, 0), 0.3)
    c = b @ shift(0, 0, 0.7) @ turn((0, 0, 1), 0.2) @ shift(0, 1, 0) @ turn((0, 0, 1), math.pi / 2)
    expected = {"a": a, "b": b, "c": c, "f": f, "g": c @ shift(0, 0, 1)}
    for name, T in expected.items():
        np.testing.assert_allclose(found[name], T, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_a_joint_moves_its_child_about_or_along_its_axis(kind, is_turned):
    """Law: child in parent = joint in parent, motion by q, child in joint; also turned round."""
    pose = "<pose>0.3 0.1 0 0 0.4 0</pose>"
    ends = ("b", "a") if is_turned else ("a", "b")  # a is the first, and the base
    content = link("a") + link("b", pose="<pose>0 0.5 0 0 0 1</pose>")
    content += joint(kind, "<xyz>1 2 2</xyz>", pose, ends=ends)
    if is_turned:
        content += "<joint name='w' type='fixed'><parent>world</parent><child>a</child></joint>"
    model = read(content)
    q, value = model.starting(), 0.6
    q[model.joint("j").q_index] = value
    found = matrices(model, q)
    b = shift(0, 0.5, 0) @ turn((0, 0, 1), 1.0)
    places = {"a": np.eye(4), "b": b}
    parent, child = (places[name] for name in ends)
    at = child @ shift(0.3, 0.1, 0) @ turn((0, 1, 0), 0.4)  # the joint is in its child's frame
    axis = np.array((1, 2, 2)) / 3.0
    motion = shift(*(value * axis)) if kind == "prismatic" else turn(axis, value)
    expected = np.linalg.inv(parent) @ at @ motion @ np.linalg.inv(at) @ child
    measured = np.linalg.inv(found[ends[0]]) @ found[ends[1]]
    np.testing.assert_allclose(measured, expected, atol=1e-14)


def test_the_axis_is_expressed_in_the_frame_that_is_named_or_by_the_rules_of_the_version():
    """Law: axes are in the joint's frame; up to 1.4, and if asked for, in the model's."""
    links = link("a") + link("b", pose="<pose>0 0 0 0 0 1.5707963267948966</pose>")
    cases = (
        ("1.9", "<xyz>1 0 0</xyz>", (0, 1, 0)),
        ("1.9", "<xyz expressed_in='__model__'>1 0 0</xyz>", (1, 0, 0)),
        ("1.9", "<xyz expressed_in='a'>1 0 0</xyz>", (1, 0, 0)),
        ("1.4", "<xyz>1 0 0</xyz>", (1, 0, 0)),
        ("1.6", "<xyz>1 0 0</xyz>", (0, 1, 0)),
        ("1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame>", (1, 0, 0)),
    )
    for version, axis, expected in cases:
        model = read(links + joint("revolute", axis), version)
        q = model.starting()
        q[model.joint("j").q_index] = 0.3
        found = matrices(model, q)
        b = turn((0, 0, 1), math.pi / 2)
        moved = np.linalg.inv(found["a"]) @ found["b"]
        np.testing.assert_allclose(moved, turn(expected, 0.3) @ b, atol=1e-14, err_msg=axis)


def test_limits_and_losses_are_those_of_the_axis():
    """Law: 1e16 and more, and negative efforts, are no limits; the defaults are those of SDF."""
    limit = "<limit><lower>-1</lower><upper>1e16</upper><effort>-1</effort></limit>"
    loss = "<dynamics><damping>0.5</damping><friction>0.25</friction></dynamics>"
    spring = "<dynamics><spring_stiffness>3</spring_stiffness></dynamics>"
    model = read(
        link("a")
        + link("b")
        + link("c")
        + joint("revolute", f"<xyz>0 0 1</xyz>{limit}{loss}")
        + joint("prismatic", f"<xyz>0 0 1</xyz>{spring}", name="k", ends=("b", "c"))
    )
    first, second = (model.robot.joints[name] for name in ("j", "k"))
    assert (first.lower, first.upper, first.effort) == (-1.0, math.inf, math.inf)
    assert (first.damping, first.friction) == (0.5, 0.25)
    assert (second.lower, second.upper, second.stiffness) == (-math.inf, math.inf, 3.0)


def test_inertias_are_turned_into_the_link_and_missing_ones_are_of_1_kg():
    """Law: I_link = R I R^T for the pose of <inertial>; without one: 1 kg, unit inertia."""
    pose = "<pose>0.1 0.2 0.3 0 0 1.5707963267948966</pose>"
    content = f"<link name='a'><inertial>{pose}<mass>2</mass>{INERTIA}</inertial></link>"
    mass, center, inertia = read(content).robot.links["a"].inertial
    assert mass == 2.0
    np.testing.assert_allclose(center, (0.1, 0.2, 0.3))
    np.testing.assert_allclose(inertia, np.diag((0.3, 0.2, 0.4)), atol=1e-15)
    mass, center, inertia = read("<link name='a'/>").robot.links["a"].inertial
    assert (mass, *center) == (1.0, 0.0, 0.0, 0.0)
    np.testing.assert_array_equal(inertia, np.eye(3))


def test_joints_of_several_axes_are_joints_in_a_row():
    """Law: universal = turn about axis, then about axis2; a screw advances by its pitch a turn."""
    second = "<axis2><xyz>0 1 0</xyz></axis2>"
    model = read(link("a") + link("b") + joint("universal", "<xyz>1 0 0</xyz>", more=second))
    q = model.starting()
    q[[model.joint(name).q_index for name in ("j_1", "j_2")]] = 0.3, 0.4
    found = matrices(model, q)
    expected = turn((1, 0, 0), 0.3) @ turn((0, 1, 0), 0.4)
    np.testing.assert_allclose(np.linalg.inv(found["a"]) @ found["b"], expected, atol=1e-14)
    assert read(link("a") + link("b") + joint("ball", "")).joint_names == ("j_x", "j_y", "j_z")
    pitch = "<screw_thread_pitch>0.02</screw_thread_pitch>"
    screw = read(link("a") + link("b") + joint("screw", more=pitch))
    leader, ratio, offset = screw.robot.joints["j_slide"].mimic
    assert (leader, offset) == ("j", 0.0)
    assert ratio * 2.0 * math.pi == pytest.approx(0.02, rel=1e-15)


def test_a_joint_that_closes_a_loop_is_a_connection():
    """Law: n links have n - 1 joints in the tree; each further one is a connection."""
    content = "".join(link(name) for name in "abc") + joint("revolute", name="ab")
    content += joint("revolute", name="bc", ends=("b", "c"))
    content += joint("revolute", name="ca", ends=("c", "a"))
    model = read(content)
    assert len(model.joint_names) == 2
    assert [(one.name, one.kind) for one in model.connections] == [("ca", "hinge")]


def test_links_that_no_joint_ties_float_each_for_itself():
    """Law: each group of links that joints tie moves freely, from where the file puts it."""
    model = read(
        link("a", pose="<pose>1 0 0 0 0 0</pose>") + link("b", pose="<pose>0 2 0 0 0 0</pose>")
    )
    found = matrices(model)
    np.testing.assert_allclose(found["a"], shift(1, 0, 0))
    np.testing.assert_allclose(found["b"], shift(0, 2, 0))
    assert model.nv == 12


def test_models_within_models_are_placed_by_their_placement_frames(tmp_path):
    """Law: the placement frame of an included model has the pose that the <include> says."""
    inner = link("x", pose="<pose>0 0 1 0 0 0</pose>") + "<frame name='t' attached_to='x'/>"
    folder = tmp_path / "models" / "hand"
    folder.mkdir(parents=True)
    (folder / "model.config").write_text(
        "<model><sdf version='1.5'>old.sdf</sdf><sdf version='1.9'>new.sdf</sdf></model>"
    )
    (folder / "new.sdf").write_text(f"<sdf version='1.9'><model name='hand'>{inner}</model></sdf>")
    own = tmp_path / "models" / "arm"
    own.mkdir()
    include = (
        "<include><uri>model://hand</uri><name>left</name><placement_frame>t</placement_frame>"
        "<pose relative_to='a'>0 3 0 0 0 0</pose></include>"
    )
    fixed = joint("fixed", "", ends=("a", "left::x"))
    nested = f"<model name='n'><pose>5 0 0 0 0 0</pose>{link('y')}</model>"
    model = read(
        link("a") + include + fixed + nested + joint("fixed", "", name="k", ends=("a", "n::y")),
        folder=own,
    )
    found = matrices(model)
    np.testing.assert_allclose(found["left::x"], shift(0, 3, 0))
    np.testing.assert_allclose(found["n::y"], shift(5, 0, 0))


def test_merged_models_are_as_if_written_in_place(tmp_path):
    """Law: links of a merged model lie in the including model, by the pose of the <include>."""
    text = f"<sdf version='1.9'><model name='part'>{link('b')}{link('c')}{{}}</model></sdf>"
    turned = joint("revolute", "<xyz expressed_in='__model__'>1 0 0</xyz>", ends=("b", "c"))
    (tmp_path / "part.sdf").write_text(text.format(turned))
    include = "<include merge='true'><uri>part.sdf</uri>{}</include>"
    include = include.format("<pose>0 0 2 0 0 1.5707963267948966</pose>")
    model = read(link("a") + include + joint("fixed", "", name="k"), folder=tmp_path)
    found = matrices(model)
    np.testing.assert_allclose(
        found["c"], shift(0, 0, 2) @ turn((0, 0, 1), math.pi / 2), atol=1e-15
    )
    axis = found["c"][:3, :3] @ np.array(model.robot.joints["j"].axis)
    np.testing.assert_allclose(axis, (0, 1, 0), atol=1e-15)


def test_folders_of_models_are_searched_in_the_environment(tmp_path, monkeypatch):
    folder = tmp_path / "store" / "part"
    folder.mkdir(parents=True)
    (folder / "model.sdf").write_text(
        f"<sdf version='1.9'><model name='p'>{link('b')}</model></sdf>"
    )
    (tmp_path / "deep" / "own").mkdir(parents=True)
    content = link("a") + "<include><uri>model://part</uri></include>"
    content += joint("fixed", "", ends=("a", "p::b"))
    with pytest.raises(ModelError, match=r"model\.sdf:1: .*'model://part' was not found in"):
        read(content, folder=tmp_path / "deep" / "own")
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "store"))
    assert "p::b" in read(content, folder=tmp_path / "deep" / "own").link_names


@pytest.mark.parametrize(
    "uri, why",
    [
        ("https://fuel.gazebosim.org/1.0/a/models/b", "files of the network are not fetched"),
        ("../../../secret.sdf", "was not found in"),
        ("file:///etc/hostname", "was not found in"),
        ("model.sdf", "files cannot include each other"),
    ],
)
def test_nothing_outside_of_the_searched_folders_is_read(tmp_path, uri, why):
    text = f"<sdf version='1.9'><model name='p'>{link('b')}</model></sdf>"
    (tmp_path / "secret.sdf").write_text(text)
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    with pytest.raises(ModelError, match=why):
        read(link("a") + f"<include><uri>{uri}</uri></include>", folder=folder)


@pytest.mark.parametrize(
    "content, why",
    [
        (
            link("a", pose="<pose relative_to='f'/>")
            + "<frame name='f'><pose relative_to='a'/></frame>",
            "circle",
        ),
        (
            link("a") + "<frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>",
            "circle",
        ),
        (link("a", pose="<pose relative_to='x'>0 0 0 0 0 0</pose>"), "frame 'x' does not exist"),
        (link("a", pose="<pose>0 0 nan 0 0 0</pose>"), "must be 6 numbers"),
        (link("a") + link("a"), "there is a link 'a' already"),
        (link("a") + link("b") + joint("hinge"), "type of joint 'hinge'"),
        (link("a") + link("b") + joint("revolute", "<xyz>0 0 0</xyz>"), "<xyz> is zero"),
        (link("a") + joint("revolute", ends=("a", "a")), "connects 'a' with itself"),
        (link("a") + joint("revolute", ends=("a", "x")), "frame 'x' does not exist"),
        ("", "has no link"),
        ("<static>perhaps</static>" + link("a"), "must be true or false"),
        (link("world"), "reserved"),
    ],
)
def test_what_is_wrong_is_refused_by_file_line_and_element(tmp_path, content, why):
    with pytest.raises(ModelError, match=rf"model\.sdf(:1)?: .*{why}"):
        read(content, folder=tmp_path)


def test_sensors_are_read_by_the_rules_of_gazebo():
    """Law: poses place sensors in their links; a wrench is measured at the origin of its joint."""
    imu = "<sensor name='imu' type='imu'><pose relative_to='f'>0 0 1 0 0 0</pose></sensor>"
    ray = (
        "<sensor name='scan' type='gpu_lidar'><update_rate>10</update_rate><lidar>"
        "<scan><horizontal><samples>8</samples><min_angle>-1</min_angle><max_angle>1</max_angle></horizontal></scan>"
        "<range><min>0.1</min><max>9</max></range></lidar></sensor>"
    )
    wrench = "<sensor name='ft' type='force_torque'/>"
    model = read(
        link("a", imu + ray)
        + "<frame name='f' attached_to='a'><pose>2 0 0 0 0 0</pose></frame>"
        + link("b")
        + joint("revolute", pose="<pose>0 0.5 0 0 0 0</pose>", more=wrench)
        + link("c")
        + joint(
            "fixed",
            "",
            "<pose>0 0 0.25 0 0 0</pose>",
            "k",
            ("b", "c"),
            wrench.replace("ft", "foot"),
        )
    )
    data = {one.name: one for one in model.robot.all_sensors()}
    np.testing.assert_allclose(data["imu"].placement.p, (2, 0, 1))
    assert data["scan"].settings["columns"] == "8"
    assert (data["ft"].link, *data["ft"].placement.p) == ("j", 0.0, 0.0, 0.0)
    assert (data["foot"].link, *data["foot"].placement.p) == ("c", 0.0, 0.0, 0.25)


def test_what_is_not_simulated_is_named():
    content = (
        link(
            "a",
            "<sensor name='alt' type='altimeter'/>"
            "<velocity_decay><linear>1</linear></velocity_decay>",
        )
        + link(
            "b",
            "<collision name='c'><geometry><heightmap><uri>x</uri></heightmap></geometry>"
            "</collision>",
        )
        + joint("revolute", more="<physics><ode><cfm_damping>1</cfm_damping></ode></physics>")
        + "<plugin name='drive' filename='x.so'><gain>1</gain></plugin>"
    )
    listed = "; ".join(read(content).not_simulated)
    for part in (
        "<sensor> of <link> (1: alt): not simulated",
        "<velocity_decay> of <link>",
        "<heightmap> of a <collision> (1: b/c): left out",
        "<physics> of <joint>",
        "<plugin> of <model> (1: drive): not run",
    ):
        assert part in listed


def test_shapes_have_the_sizes_of_the_format():
    """Law: the length of a capsule is without its ends; a plane of a moving link is left out."""
    shapes = {
        "box": "<box><size>1 2 3</size></box>",
        "ball": "<sphere><radius>0.5</radius></sphere>",
        "rod": "<cylinder><radius>0.1</radius><length>2</length></cylinder>",
        "pill": "<capsule><radius>0.1</radius><length>2</length></capsule>",
        "egg": "<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>",
        "hat": "<cone><radius>0.1</radius><length>0.3</length></cone>",
        "floor": "<plane><normal>0 0 1</normal></plane>",
    }
    collisions = "".join(
        f"<collision name='{name}'><pose>0 0 1 0 0 0</pose><geometry>{shape}</geometry></collision>"
        for name, shape in shapes.items()
    )
    found = {one.name: one for one in read(link("a", collisions)).shapes}
    assert set(found) == set(shapes) - {"floor"}
    np.testing.assert_allclose(found["box"].geometry.lengths, (1, 2, 3))
    assert found["ball"].geometry.radius == 0.5
    for name in ("rod", "pill"):
        assert (found[name].geometry.radius, found[name].geometry.length) == (0.1, 2.0)
    assert found["egg"].geometry.volume == pytest.approx(4 / 3 * math.pi * 0.006, rel=0.02)
    assert found["hat"].geometry.volume == pytest.approx(math.pi * 0.001, rel=0.02)


def test_a_static_model_is_no_robot():
    with pytest.raises(ModelError, match=r"must have one model that moves, .*load_world"):
        read("<static>true</static>" + link("a"))
