# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Copies of robots and bodies, and ground from images, in world files."""

import numpy as np
import pytest

from hrpsim import ModelError, WorldError, load_world

ARM = """<robot name="arm"><link name="base"><inertial><mass value="2"/><inertia ixx="0.1"
iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">
<parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint><link name="rod"><inertial>
<origin xyz="0 0 -0.2"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0"
iyz="0"/></inertial></link></robot>"""


def load(folder, text):
    (folder / "arm.urdf").write_text(ARM, encoding="utf-8")
    (folder / "world.yaml").write_text(text, encoding="utf-8")
    return load_world(folder / "world.yaml")


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_each_copy_is_the_entry_moved_by_its_offset(tmp_path, base):
    """Law: all else of an entry holds for every copy; a step moves them alike."""
    world = load(
        tmp_path,
        f"robots: [{{urdf: arm.urdf, name: a, base: {base}, position: [1, 0, 2],"
        " joints: {j: 0.3}, gains: {j: [5, 1]}, constraints: [{kind: friction, compliance: 0.1}],"
        " copies: {grid: [2, 3], spacing: [1.5, 2]}}]",
    )
    assert list(world.robots) == [f"a_{k}" for k in range(1, 7)]
    offsets = [(1.5 * i, 2.0 * j, 0.0) for i in range(2) for j in range(3)]
    for robot, offset in zip(world.robots.values(), offsets):
        assert robot.link_pose("base")[0] == pytest.approx(np.add((1.0, 0.0, 2.0), offset))
        assert robot.joint_positions == pytest.approx([0.3]) and robot.gains[0] == [5.0]
    world.step(50)
    first, *others = world.robots.values()
    for other in others:
        assert other.joint_positions == pytest.approx(first.joint_positions, abs=1e-12)


def test_copies_without_a_position_stand_beside_the_description(tmp_path):
    world = load(
        tmp_path,
        "robots: [{urdf: arm.urdf, name: a, base: fixed, gains: {j: [5, 1]},"
        " copies: {offsets: [[0, 0, 0], [0, 1, 0]]}}]",
    )
    positions = [robot.link_pose("base")[0] for robot in world.robots.values()]
    assert positions == [pytest.approx((0, 0, 0)), pytest.approx((0, 1, 0))]


def test_bodies_have_copies_too(tmp_path):
    world = load(
        tmp_path,
        "ground: true\nbodies: [{name: b, shape: {box: [0.1, 0.1, 0.1]}, mass: 1, on_floor: true,"
        " copies: {grid: [3, 1], spacing: [0.5, 0.5]}}]",
    )
    assert [tuple(body.position.round(9)) for body in world.bodies.values()] == [
        (0.0, 0.0, 0.05),
        (0.5, 0.0, 0.05),
        (1.0, 0.0, 0.05),
    ]
    assert list(world.bodies) == ["b_1", "b_2", "b_3"]


@pytest.mark.parametrize(
    "copies, said",
    [
        ("{}", "either grid and spacing, or offsets"),
        ("{grid: [2, 2]}", "either grid and spacing, or offsets"),
        ("{spacing: [1, 1], offsets: [[0, 0, 0]]}", "either grid and spacing, or offsets"),
        ("{grid: [2, 0], spacing: [1, 1]}", "from 1 to 1000"),
        ("{grid: [100, 100], spacing: [1, 1]}", "10000 copies are more than the limit of 1000"),
        ("{grid: [2, 2], spaceing: [1, 1]}", "Did you mean 'spacing'"),
    ],
)
def test_wrong_copies_are_refused_with_their_place(tmp_path, copies, said):
    text = f"bodies:\n  - {{shape: {{sphere: 0.1}}, mass: 1, copies: {copies}}}"
    with pytest.raises(WorldError, match=rf"world\.yaml:2.*bodies\[0\].*{said}"):
        load(tmp_path, text)


@pytest.mark.parametrize("bits", [8, 16])
def test_an_image_is_a_height_field_seen_from_above(tmp_path, bits):
    """Law: black is low and white is high; the picture's right is x, its top is y."""
    image = pytest.importorskip("PIL.Image")
    white = 2**bits - 1
    pixels = np.zeros((3, 4), dtype=np.uint8 if bits == 8 else np.uint16)
    pixels[0, 3] = white  # top right
    image.fromarray(pixels).save(tmp_path / "hills.png")
    world = load(
        tmp_path,
        "static: [{name: hills, shape: {height_field: {file: hills.png, range: [0.1, 0.6],"
        " spacing: 1, origin: [0, 0, 0]}}}]",
    )
    points = [[x, y, 5.0] for x, y in ((2.999, 1.999), (0.1, 0.1), (0.1, 1.9), (2.9, 0.05))]
    hits = world.cast_rays(np.array(points), np.tile((0.0, 0.0, -1.0), (4, 1)))
    assert 5.0 - hits.distances == pytest.approx([0.6, 0.1, 0.1, 0.1], abs=2e-3)


@pytest.mark.parametrize(
    "given, said",
    [
        ("{file: a.png, spacing: 1}", r"an image needs range: \[height of black"),
        ("{file: bad.png, range: [0, 1], spacing: 1}", "cannot be read as an image"),
        ("{heights: [[0, 0], [0, 0]], range: [0, 1], spacing: 1}", "range is for images only"),
        ("{file: large.png, range: [0, 1], spacing: 1}", "more than 16000000 heights"),
    ],
)
def test_wrong_images_are_refused(tmp_path, given, said):
    image = pytest.importorskip("PIL.Image")
    image.fromarray(np.zeros((3, 4), dtype=np.uint8)).save(tmp_path / "a.png")
    image.fromarray(np.zeros((4001, 4000), dtype=np.uint8)).save(tmp_path / "large.png")
    (tmp_path / "bad.png").write_bytes(b"\x89PNG and nothing more")
    with pytest.raises((ModelError, WorldError), match=said):
        load(tmp_path, f"static: [{{shape: {{height_field: {given}}}}}]")
