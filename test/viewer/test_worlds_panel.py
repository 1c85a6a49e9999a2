# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Another world on the page: a file of the given folder, and no other file."""

import pytest
from viewer.visitor import Visitor

from hrpsim import HrpsimError, load_world
from hrpsim.viewer import Viewer
from hrpsim.viewer.panels.worlds import world_files
from hrpsim.viewer.session import TimeAdvance

pytest.importorskip("viser")
BALL = "bodies: [{{name: {}, shape: {{sphere: 0.1}}, mass: 1.0, position: [0, 0, 1]}}]\n"


@pytest.fixture
def folder(tmp_path):
    """A folder of worlds, beside a world that is not in the folder."""
    root = tmp_path / "worlds"
    for name in ("one.yaml", "inner/two.yaml", ".hidden/three.yaml", "../outside.yaml"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(BALL.format(file.stem), encoding="utf-8")
    (root / "wrong.yaml").write_text("bodies: [{shape: none}]\n", encoding="utf-8")
    (root / "notes.txt").write_text("no world", encoding="utf-8")
    (root / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    return root


def opened(folder, motion_of=lambda world: None):
    world = load_world(folder / "one.yaml")
    return Viewer(world, motion_of(world), port=0, worlds=folder)


def test_the_list_has_the_worlds_of_the_folder_only(folder):
    """Law: hidden files, other files, and links that lead out of the folder are not offered."""
    assert set(world_files(folder)) == {"one.yaml", "inner/two.yaml", "wrong.yaml"}


def test_a_folder_without_worlds_is_named(tmp_path):
    with pytest.raises(HrpsimError, match="no world file"):
        world_files(tmp_path)
    with pytest.raises(HrpsimError, match="there is no such folder"):
        world_files(tmp_path / "none")


def test_another_world_is_shown_and_played(folder):
    """Law: the page shows the bodies of the new world, which begins at time 0, paused."""
    viewer = opened(folder)
    try:
        visitor, session = Visitor(viewer), viewer.session
        session.step()
        visitor.use(viewer.controls.worlds.chosen, "inner/two.yaml")
        visitor.use(viewer.controls.worlds.button)
        visitor.look()
        assert tuple(session.world.bodies) == ("two",) and session.world.time == 0.0
        scene = viewer.server.scene
        assert scene.get_handle_by_name("/scene/two/two")
        assert not scene.get_handle_by_name("/scene/one/one")
        assert viewer.controls.links.entries[0].entity == "two"
        session.step()
        session.look_back(1.0)
        assert session.world.time == 0.0
        assert not session.playing and session.problem == ""
    finally:
        viewer.stop()


@pytest.mark.parametrize("name", ["../outside.yaml", "link.yaml", "/etc/passwd", "three.yaml", ""])
def test_a_file_that_is_not_in_the_list_is_refused(folder, name):
    """Law: a page opens no file by a path, and the world stays."""
    viewer = opened(folder)
    try:
        visitor, world = Visitor(viewer), viewer.session.world
        visitor.use(viewer.controls.worlds.chosen, name)
        visitor.use(viewer.controls.worlds.button)
        assert viewer.session.world is world
        assert "refused" in viewer.controls.desk.answer.content
    finally:
        viewer.stop()


def test_a_wrong_file_leaves_the_world_and_the_page_says_why(folder):
    viewer = opened(folder)
    try:
        visitor, world = Visitor(viewer), viewer.session.world
        visitor.use(viewer.controls.worlds.chosen, "wrong.yaml")
        visitor.use(viewer.controls.worlds.button)
        assert viewer.session.world is world
        assert "wrong" in viewer.controls.desk.answer.content
    finally:
        viewer.stop()


def test_a_controller_keeps_its_world(folder):
    viewer = opened(folder, lambda world: TimeAdvance(world.time_step, world.step, rewinds=False))
    try:
        visitor, world = Visitor(viewer), viewer.session.world
        visitor.use(viewer.controls.worlds.chosen, "inner/two.yaml")
        visitor.use(viewer.controls.worlds.button)
        assert viewer.session.world is world
        assert "controller" in viewer.controls.desk.answer.content
    finally:
        viewer.stop()


def test_without_a_folder_no_world_can_be_loaded(folder):
    viewer = Viewer(load_world(folder / "one.yaml"), port=0)
    try:
        assert viewer.controls.worlds is None
    finally:
        viewer.stop()
