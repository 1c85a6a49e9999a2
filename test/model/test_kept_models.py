# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A model that was kept is the one that reading the text again gives, and nothing else is kept."""

import os
import pickle
import warnings
from dataclasses import fields

import numpy as np
import pytest

from hrpsim import ModelError, ModelWarning, load_model, share_path
from hrpsim.model import from_urdf, load
from hrpsim.model.load import expand_xacro

HUMANOID = expand_xacro(share_path("urdf/hrp2_like.urdf.xacro"), {"bush": True})
LINK = """<link name="{name}"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{more}</link>"""
BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
SRDF = '<robot name="r"><disable_default_collisions link="base"/></robot>'


def robot(more=BALL):
    return f'<robot name="r">{LINK.format(name="base", more=more)}</robot>'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(load, "_FOLDER", tmp_path)
    return tmp_path


@pytest.fixture
def read(monkeypatch):
    """How often a text was read."""
    calls, real = [], from_urdf.read_model
    monkeypatch.setattr(from_urdf, "read_model", lambda *given: calls.append(1) or real(*given))
    return calls


def plain(value):
    """Return a value of which equality can be asked: arrays by their bits."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes(), value.flags.c_contiguous
    if isinstance(value, dict):
        return [(key, plain(each)) for key, each in value.items()]
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if hasattr(value, "__dataclass_fields__"):
        return type(value), [plain(getattr(value, field.name)) for field in fields(value)]
    return value


def test_a_kept_model_is_the_model_that_is_read(read):
    """Law: the first time, later, and in another file's name: the same to the last bit."""
    first, again = load_model(HUMANOID), load_model(HUMANOID)
    assert len(read) == 1 and again is not first
    assert plain(first) == plain(again)
    urdf = from_urdf.UrdfText(HUMANOID, None, True, None)
    fresh, notes = from_urdf.read_model(urdf, "free", False, "hull", None)
    assert not notes
    for field in fields(fresh):
        if field.name not in ("urdf", "source"):
            assert plain(getattr(fresh, field.name)) == plain(getattr(again, field.name)), field


def test_its_source_is_the_file_that_was_named(tmp_path, read):
    for name in ("a.urdf", "b.urdf"):
        (tmp_path / name).write_text(robot())
        assert load_model(tmp_path / name).source == str(tmp_path / name)
    assert len(read) == 1


@pytest.mark.parametrize(
    "settings",
    [{"base": "fixed"}, {"accept_nonphysical_inertia": True}, {"meshes": "exact"}],
    ids=lambda settings: next(iter(settings)),
)
def test_other_settings_are_other_models(settings, read):
    load_model(robot())
    load_model(robot(), **settings)
    assert len(read) == 2


def test_limits_that_change_hold_for_what_was_kept(read, monkeypatch):
    load_model(robot())
    monkeypatch.setattr("hrpsim.common.limits.LINKS", 0)
    with pytest.raises(ValueError, match="LINKS"):
        load_model(robot())


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize("use", ["hull", "exact"])
def test_meshes_are_kept_as_long_as_their_files_say_the_same(tmp_path, read, use):
    """Law: the same model to the last bit; another content, or no file, counts at once."""
    mesh = tmp_path / "tetrahedron.obj"
    mesh.write_text(TETRAHEDRON)
    text = robot(f'<collision><geometry><mesh filename="file://{mesh}"/></geometry></collision>')
    first, again = load_model(text, meshes=use), load_model(text, meshes=use)
    assert len(read) == 1 and plain(first) == plain(again)
    geometry = again.shapes[0].geometry
    assert type(geometry) is type(first.shapes[0].geometry)
    assert not geometry.vertices.flags.writeable and not geometry.triangles.flags.writeable
    status = mesh.stat()
    mesh.write_text(TETRAHEDRON.replace("0 0 1", "0 0 2"))
    os.utime(mesh, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    taller = load_model(text, meshes=use)
    assert len(read) == 2
    assert np.ptp(taller.shapes[0].geometry.vertices[:, 2]) == 2.0
    mesh.unlink()
    with pytest.raises(ModelError, match="missing mesh"):
        load_model(text, meshes=use)


def test_what_an_srdf_says_is_read_again(folder):
    load_model(robot(), srdf=SRDF)
    assert not list(folder.glob("*.pickle"))


def test_a_model_with_a_warning_warns_every_time(folder):
    odd = robot('<visual><geometry><sphere radius="0"/></geometry></visual>' + BALL)
    for _ in range(2):
        with pytest.warns(ModelWarning, match="size of 0"):
            load_model(odd)
    assert not list(folder.glob("*.pickle"))


def test_what_is_damaged_is_made_again(folder, read):
    first = load_model(robot())
    (kept,) = folder.glob("*.pickle")
    kept.write_bytes(kept.read_bytes()[:-9])
    assert plain(load_model(robot())) == plain(first) and len(read) == 2
    assert plain(load_model(robot())) == plain(first) and len(read) == 2


def test_where_nothing_can_be_written_models_are_read(monkeypatch, read, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(load, "_FOLDER", tmp_path / "file" / "models")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_model(robot()).mass == load_model(robot()).mass == 1.0
    assert len(read) == 2


def test_the_models_used_last_stay(folder, monkeypatch):
    monkeypatch.setattr(load, "_KEPT", 3)
    for k in range(5):
        load_model(robot(BALL.replace("0.1", f"0.{k + 1}")))
    assert len(list(folder.glob("*.pickle"))) == 3


def test_who_changes_a_model_changes_no_other(read):
    """Law: two loads share no array."""
    one, two = load_model(HUMANOID), load_model(HUMANOID)
    one.system.mass[:] = 7.0
    assert not np.any(two.system.mass == 7.0)
    assert pickle.loads(pickle.dumps(two)).mass == two.mass
