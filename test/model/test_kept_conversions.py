# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""An MJCF that was converted before is not compiled again, as long as its files are the same."""

from pathlib import Path
from urllib.parse import unquote

import pytest

from hrpsim import ModelError, load_model
from hrpsim.model.readers.mjcf import kept
from hrpsim.model.readers.mjcf import read as reading

pytest.importorskip("mujoco")

MODEL = """<mujoco model="one"><compiler meshdir="meshes"/><include file="assets.xml"/>
<worldbody><body name="body"><freejoint/><geom type="mesh" mesh="solid" mass="1"/></body>
</worldbody></mujoco>"""
ASSETS = '<mujocoinclude><asset><mesh name="solid" file="solid.obj"/></asset></mujocoinclude>'
SOLID = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """An MJCF with an included file and a mesh; nothing is kept of others."""
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "solid.obj").write_text(SOLID)
    (tmp_path / "assets.xml").write_text(ASSETS)
    (tmp_path / "robot.xml").write_text(MODEL)
    monkeypatch.setenv("HRPSIM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "kept")
    return tmp_path / "robot.xml"


@pytest.fixture
def compiled(monkeypatch):
    """How often MuJoCo compiled."""
    calls, real = [], reading._compile
    monkeypatch.setattr(reading, "_compile", lambda *given: calls.append(1) or real(*given))
    return calls


def test_a_kept_conversion_is_that_which_is_made_again(file, compiled):
    first, again = load_model(file), load_model(file)
    assert len(compiled) == 1
    assert first.urdf == again.urdf and first.not_simulated == again.not_simulated
    assert again.source == str(file)


@pytest.mark.parametrize("changed", ["robot.xml", "assets.xml", "meshes/solid.obj"])
def test_each_file_that_is_named_counts(file, compiled, changed):
    load_model(file)
    path = file.parent / changed
    path.write_text(path.read_text() + "\n")
    load_model(file)
    assert len(compiled) == 2


def test_a_mesh_of_the_cache_that_is_gone_is_written_again(file, compiled):
    urdf = load_model(file).urdf
    (mesh,) = set(kept._URI.findall(urdf))
    Path(unquote(mesh)).unlink()
    assert load_model(file).urdf == urdf
    assert len(compiled) == 2 and Path(unquote(mesh)).is_file()


def test_a_file_that_is_absent_is_told_every_time(file):
    (file.parent / "meshes" / "solid.obj").unlink()
    for _ in range(2):
        with pytest.raises(ModelError, match=r"solid\.obj"):
            load_model(file)


def test_what_is_damaged_is_made_again(file, compiled):
    load_model(file)
    (stored,) = kept.folder().glob("*.mjcf.json")
    stored.write_bytes(stored.read_bytes()[:-5])
    load_model(file)
    load_model(file)
    assert len(compiled) == 2
