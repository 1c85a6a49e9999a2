# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Models of Gazebo Fuel in an SDF: saved copies count, and nothing is read from the network."""

import warnings

import pytest

import hrpsim
from hrpsim import ModelError, ModelWarning

BALL = """<sdf version="1.9"><model name="ball"><link name="l"><inertial><mass>{mass}</mass>
<inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link></model></sdf>"""
WORLD = """<sdf version="1.9"><world name="w"><include><uri>{uri}</uri></include></world></sdf>"""
URI = "https://fuel.gazebosim.org/1.0/OpenRobotics/models/Red Ball"


@pytest.fixture
def load(tmp_path, monkeypatch):
    for name in ("GZ_SIM_RESOURCE_PATH", "IGN_FUEL_CACHE_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GZ_FUEL_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))

    def loaded(uri):
        path = tmp_path / "project" / "world.sdf"
        path.parent.mkdir(exist_ok=True)
        path.write_text(WORLD.format(uri=uri))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return hrpsim.load_world(path).robots["ball"].model.mass

    return loaded


def save(folder, mass):
    folder.mkdir(parents=True)
    (folder / "model.sdf").write_text(BALL.format(mass=mass))


def test_the_newest_copy_in_the_cache_of_gazebo_counts(load, tmp_path):
    """Law: HOST/owner/models/name/VERSION in small letters, version 10 after 9."""
    model = tmp_path / "cache/fuel.gazebosim.org/openrobotics/models/red ball"
    for version in (2, 9, 10):
        save(model / str(version), version)
    assert load(URI) == 10.0
    assert load(URI + "/9") == 9.0
    assert load(URI.replace(" ", "%20") + "/tip") == 10.0
    assert load(URI.replace("gazebosim", "ignitionrobotics")) == 10.0
    assert load("fuel" + URI.removeprefix("https")) == 10.0


def test_a_folder_of_the_user_with_the_name_of_the_model_counts(load, tmp_path, monkeypatch):
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "mine"))
    save(tmp_path / "mine" / "red_ball", 3)
    assert load(URI) == 3.0
    save(tmp_path / "mine" / "Red Ball", 4)
    assert load(URI) == 4.0


@pytest.mark.parametrize(
    "uri",
    [
        URI,
        URI + "/3",
        "https://example.org/1.0/OpenRobotics/models/Red Ball",
        "https://fuel.gazebosim.org/1.0/OpenRobotics/models/../../red ball",
    ],
)
def test_models_that_nobody_saved_are_refused(load, tmp_path, uri):
    save(tmp_path / "cache/fuel.gazebosim.org/openrobotics/models/red ball/x", 1)
    with pytest.raises(ModelError, match=r"not fetched. Save the model.*GZ_SIM_RESOURCE_PATH"):
        load(uri)
