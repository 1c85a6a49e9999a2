# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What one version of hrpsim has saved another one refuses, and says why."""

import pickle

import numpy as np
import pytest
from world.scenes import weightless

from hrpsim import Sphere, WorldError
from hrpsim.world.parts import snapshots
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.snapshots import SavedFormat


@pytest.fixture
def world():
    world = weightless()
    world.add_body(Sphere(0.1), 1.0, velocity=(1.0, 0.0, 0.0), name="ball")
    world.step(10)
    return world


@pytest.fixture
def elsewhere(monkeypatch):
    """From the call on, this is another version of hrpsim, or another revision of this one."""

    def go(version="7.0", fields="other"):
        monkeypatch.setattr(snapshots, "saved_format", lambda: SavedFormat(version, fields))

    return go


def test_world_and_snapshot_go_on_from_a_pickle_bit_for_bit(world):
    saved = pickle.dumps((world, world.snapshot()))
    world.step(10)
    again, snapshot = pickle.loads(saved)
    again.step(3)
    again.restore(snapshot)
    again.step(10)
    np.testing.assert_array_equal(again.bodies["ball"].q, world.bodies["ball"].q)


@pytest.mark.parametrize("missing", [("format",), ("format", "inertias")])
def test_a_snapshot_that_does_not_say_its_version_is_refused(world, missing):
    """So did those of earlier versions; the world stays as it is."""
    snapshot = {name: part for name, part in world.snapshot().items() if name not in missing}
    world.step(5)
    before = world.bodies["ball"].q
    with pytest.raises(WorldError, match=r"snapshot was saved by an earlier version of hrpsim"):
        world.restore(snapshot)
    np.testing.assert_array_equal(world.bodies["ball"].q, before)


def test_a_snapshot_of_other_fields_is_refused(world):
    snapshot = world.snapshot()
    ours = snapshots.saved_format()
    for other, told in (
        (SavedFormat(ours.version, "other"), f"another revision of version {ours.version}"),
        (SavedFormat("7.0", ours.fields), f"version 7.0 of hrpsim.* this version, {ours.version}"),
    ):
        with pytest.raises(WorldError, match=told):
            world.restore(snapshot | {"format": other})
    world.restore(snapshot)


@pytest.mark.parametrize("what", ["world", "snapshot"])
def test_a_pickle_is_refused_before_its_arrays_are_read(world, what, elsewhere, monkeypatch):
    saved = pickle.dumps(world if what == "world" else world.snapshot())
    monkeypatch.setattr(Scenes, "__setstate__", lambda *_: pytest.fail("its arrays are read"))
    elsewhere()
    with pytest.raises(WorldError, match=r"saved by version .* of hrpsim.* this version, 7\.0"):
        pickle.loads(saved)


def test_a_world_that_does_not_say_its_version_is_refused(world):
    state = {name: part for name, part in world.__getstate__().items() if name != "format"}
    with pytest.raises(WorldError, match="world was saved by an earlier version of hrpsim"):
        type(world).__new__(type(world)).__setstate__(state)
