# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A Simulation that turns to another world, or to none, without ROS; which worlds there are."""

import math
import time

import numpy as np
import pytest
from ros.stand_ins import ARM, Rig

from hrpsim import World, WorldError, load_model, share_path
from hrpsim.ros.base.entities import Entities, Refusal
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.core.simulation_contents import (
    LoadedWorld,
    find_spawnables,
    find_worlds,
    load_source,
)
from hrpsim.ros.simulation.entity_services import meets_hull
from hrpsim.world.file.load_world import build_world, open_world, open_world_text
from hrpsim.world.file.world_notes import EntityNotes, WorldNotes, read_notes


def world_of_arm(time_step=2e-3):
    world = World(time_step=time_step)
    world.add_robot(load_model(ARM, base="fixed"))
    return world


def test_another_world_takes_the_place_of_this_one_stopped():
    """Law: world, robots and publications turn to it; settings of solver and pace go with it."""
    rig = Rig(real_time_factor=0.5)
    simulation = rig.simulation
    simulation.solver.sweep_limit = 7
    simulation.advance(13)
    told = []
    simulation.world_changed.append(lambda: told.append(simulation.world))
    world = world_of_arm()
    notes = WorldNotes(entities={"arm": EntityNotes(tags=("a",))})
    simulation.load(world, LoadedWorld(notes, "somewhere"))
    assert simulation.world is world and simulation.entities.world is world
    assert told == rig.robots.held == rig.publications.held == [world]
    assert simulation.state == "stopped" and simulation.contents.loaded.uri == "somewhere"
    assert world.scene.settings["sweep_limit"][0] == 7
    assert simulation.pacer.time_step == 2e-3 and simulation.pacer.real_time_factor == 0.5
    assert world.time == 0.0  # the step that compiles is taken back
    assert simulation.entities.notes(next(iter(world.entities.values()))).tags in ((), ("a",))
    simulation.advance(3)
    simulation.publish_last()
    assert simulation.state == "paused" and world.time == pytest.approx(6e-3)


def test_time_goes_on_over_another_time_step():
    """Law: the clock goes on to a whole number of new steps, never back, to a publication."""
    rig = Rig()
    rig.simulation.advance(13)
    rig.simulation.load(world_of_arm(), LoadedWorld())
    assert rig.simulation.clock.steps == 10  # 13 ms are 7 steps of 2 ms; published are 0, 5, 10
    assert rig.simulation.clock.seconds == pytest.approx(0.020)


@pytest.mark.parametrize(("steps", "expected"), [(0, 0), (1, 1), (2, 1), (3, 2), (1000, 500)])
def test_a_clock_changes_its_step(steps, expected):
    clock = SimulationClock(1e-3)
    clock.steps = steps
    clock.change_step(2e-3)
    assert (clock.steps, clock.time_step) == (expected, 2e-3)


def test_a_world_that_does_not_fit_changes_nothing():
    rig = Rig()
    rig.robots.problem = WorldError("does not fit")
    rig.simulation.advance(5)
    before = rig.simulation.world, rig.simulation.clock.steps, rig.robot.q.copy()
    with pytest.raises(WorldError, match="does not fit"):
        rig.simulation.load(world_of_arm(), LoadedWorld())
    assert rig.simulation.world is before[0] and rig.simulation.clock.steps == before[1]
    assert (rig.robot.q == before[2]).all()


def test_a_world_that_cannot_be_shown_leaves_none():
    """Law: what fails while it takes its place is no half-shown world: there is none then."""
    rig = Rig()
    fails = iter([RuntimeError("halfway"), None])
    rig.robots.holding = lambda: next(fails)
    with pytest.raises(RuntimeError, match="halfway"):
        rig.simulation.load(world_of_arm(), LoadedWorld())
    assert rig.simulation.state == "no_world" and not rig.simulation.world.entities


def test_without_a_world_nothing_runs():
    rig = Rig()
    simulation = rig.simulation
    simulation.unload()
    assert (
        simulation.state == "no_world" and simulation.contents.loaded is None and simulation.paused
    )
    for act in (
        simulation.resume,
        simulation.reset,
        simulation.stop,
        simulation.contents.require_world,
        lambda: simulation.contents.spawn("", "", "{shape: {sphere: 1}, mass: 1, name: a}", None),
    ):
        with pytest.raises(Refusal) as refusal:
            act()
        assert refusal.value.code == "INCORRECT_STATE"
    with pytest.raises(Refusal) as refusal:
        simulation.unload()
    assert refusal.value.code == "NO_WORLD_LOADED"
    simulation.load(world_of_arm(), LoadedWorld())
    assert simulation.state == "stopped"


def test_states_and_what_leads_to_them():
    rig = Rig(paused=True)
    simulation = rig.simulation
    assert simulation.state == "stopped"
    simulation.resume()
    assert simulation.state == "playing"
    simulation.pause()
    assert simulation.state == "paused"
    simulation.stop()
    assert simulation.state == "stopped"
    simulation.reset()
    assert simulation.state == "stopped"
    simulation.advance(1)
    simulation.publish_last()
    assert simulation.state == "paused"
    simulation.quit()
    assert simulation.state == "quitting"
    turns, end = [], time.monotonic() + 300.0
    simulation.run(turns.append, lambda: time.monotonic() > end)
    assert turns and time.monotonic() < end  # answers go out, then it ends


def test_a_duration_counts_over_a_change_of_worlds():
    """Law: it ends at the simulated time that was asked for, whatever the steps are now."""
    rig = Rig(real_time_factor=0.0)
    simulation = rig.simulation

    def turn(longest):
        if simulation.clock.steps == 10 and simulation.clock.time_step == 1e-3:
            simulation.load(world_of_arm(), LoadedWorld())
            simulation.resume()

    simulation.run(turn, lambda: False, duration=0.05)
    assert simulation.clock.seconds == pytest.approx(0.05)
    assert simulation.world.time_step == 2e-3


ABOUT = """
about:
  name: hall
  entities: {ball: {category: human, tags: [x]}}
  poses: [{name: door, position: [1, 2, 3], orientation: [0, 0, 3, 4], bounds: {sphere: 2}}]
bodies: [{name: ball, shape: {sphere: 0.1}, mass: 1}]
"""


def test_notes_are_read_and_nothing_of_them_is_simulated():
    reader = open_world_text(ABOUT, "hall.yaml")
    notes = read_notes(reader)
    assert notes.name == "hall" and notes.entities["ball"].category == "human"
    (door,) = notes.poses
    assert door.position == (1, 2, 3) and door.orientation == pytest.approx((0, 0, 0.6, 0.8))
    assert door.bounds.radius == 2
    assert list(build_world(reader).entities) == ["ball"]
    assert read_notes(open_world_text("", "some/hall.yaml")).name == "hall"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("about: {poses: [{name: a}]}", "position"),
        (
            "about: {poses: [{name: a, position: [0, 0, 0], orientation: [0, 0, 0, 0]}]}",
            "must not be zero",
        ),
        ("about: {poses: [{name: a, position: [0, 0, 0], bounds: {}}]}", "a box or a sphere"),
        (
            "about: {poses: [{name: a, position: [0, 0, 0], bounds: {sphere: 1, box: [[0,0,0],"
            " [1,1,1]]}}]}",
            "a box or a sphere",
        ),
        (
            "about: {poses: [{name: a, position: [0,0,0], bounds: {box: [[1,0,0], [0,1,1]]}}]}",
            "lower corner",
        ),
        (
            "about: {poses: [{name: a, position: [0,0,0]}, {name: a, position: [0,0,0]}]}",
            "poses[1].name",
        ),
        ("about: {entities: {a: {category: alien}}}", "static_object"),
    ],
)
def test_notes_that_are_wrong_are_told(text, named):
    with pytest.raises(WorldError, match=r"hall\.yaml") as error:
        read_notes(open_world_text(text, "hall.yaml"))
    assert named in str(error.value)


def test_notes_of_what_is_not_there_are_refused():
    with pytest.raises(WorldError, match="ghost"):
        build_world(open_world_text("about: {entities: {ghost: {}}}", "hall.yaml"))


def test_shipped_worlds_and_robots_are_found_and_can_be_loaded():
    worlds = find_worlds([])
    names = {entry.notes.name for entry in worlds.entries}
    known = {"standing", "walking demo", "crane game", "stairs", "rubble"}
    assert names == known | {"unknown stairs", "rough ground"}
    assert not worlds.problems
    entities = Entities(World(time_step=1e-3))
    for entry in worlds.entries:
        world, loaded = load_source(entry.uri, "", entities, open_only)
        assert loaded.notes == entry.notes and world == entry.notes.name
    robots = find_spawnables([])
    assert "package://hrpsim/urdf/hrp2_like.urdf.xacro" in robots.entries
    for uri in robots.entries:
        assert share_path(uri.removeprefix("package://hrpsim/")).is_file()


def open_only(reader):
    return read_notes(reader).name


def test_the_world_files_that_are_shipped_say_what_they_are():
    for path in sorted(share_path("config").glob("*.yaml")):
        text = path.read_text()
        if text.lstrip("# \n").startswith("about") or "\nworld:\n" in text:
            assert read_notes(open_world(path)).description, path


@pytest.mark.parametrize("seed", range(8))
def test_a_box_meets_a_hull_where_a_point_of_both_is_found(seed):
    """Law: against random points of the hull: one that lies in the box is proof; none far away."""
    random = np.random.default_rng(seed)
    points = random.normal(size=(6, 3))
    weights = random.dirichlet(np.ones(6), size=4000)
    inside = weights @ points
    lower = random.normal(size=3)
    box = lower, lower + 0.5
    found = ((inside >= box[0]) & (inside <= box[1])).all(axis=1).any()
    if found:
        assert meets_hull(box, points)
    normal = random.normal(size=3)
    normal /= np.linalg.norm(normal)
    beyond = (points @ normal).max() + 1e-6 + math.sqrt(3) * 0.5
    centre = points.mean(axis=0) + normal * (beyond - points.mean(axis=0) @ normal)
    assert not meets_hull((centre - 0.25, centre + 0.25), points)
