# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots that collide with themselves, and everything that keeps shapes from colliding."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from world.scenes import weightless

from hrpsim import Box, ModelWarning, Sphere, World, WorldError, link_pose, load_model
from hrpsim.commands.cli import main
from hrpsim.control import Walk, simulate_walk
from hrpsim.model.model import adjacent_bodies
from hrpsim.model.readers.urdf.srdf import read_disabled_collisions
from hrpsim.model.shapes.placement import rotation_matrix
from hrpsim.world.self_collisions import SelfContacts, random_posture, survey_pairs
from robots import HRP2_LIKE


def link(name, lengths, at="0 0 0", mass=1.0, shape=True):
    box = f'<collision><origin xyz="{at}"/><geometry><box size="{lengths}"/></geometry></collision>'
    return (
        f'<link name="{name}"><inertial><origin xyz="{at}"/><mass value="{mass}"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
        f"{box if shape else ''}</link>"
    )


def joint(parent, child, at, axis="0 1 0", limits="-3.1 3.1"):
    lower, upper = limits.split()
    return (
        f'<joint name="{child}_joint" type="revolute"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/>'
        f'<limit lower="{lower}" upper="{upper}" effort="1e3" velocity="1e3"/></joint>'
    )


ARM = (
    '<robot name="folding">'
    + link("chest", "0.3 0.4 0.6")
    + link("shoulder", "0.1 0.1 0.1", shape=False, mass=0.1)
    + joint("chest", "shoulder", "0.15 0 0.2", axis="1 0 0", limits="-1 1")
    + link("upper", "0.4 0.08 0.08", "0.2 0 0")  # begins inside the chest
    + joint("shoulder", "upper", "0 0 0", limits="-0.1 1.6")
    + link("fore", "0.5 0.08 0.08", "0.25 0 0")
    + joint("upper", "fore", "0.4 0 0", limits="0 2.9")
    + "</robot>"
)
FOLDED = (0.0, 0.0, 2.9)  # the forearm would go through the chest


def folding(self_collision, base="fixed", **options):
    world = weightless()
    model = load_model(ARM, base=base, **options)
    q = model.neutral()
    robot = world.add_robot(model, q=q, self_collision=self_collision)
    robot.set_gains(200.0, 20.0)
    robot.command(positions=np.zeros(3))
    return world, robot


def touching(world):
    return {tuple(sorted((c.a[1], c.b[1]))) for c in world.contacts if c.gap < 1e-4}


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_an_arm_folds_onto_its_own_chest(base):
    """The elbow cannot close: the forearm presses on the chest with what the actuator gives."""
    world, robot = folding(True, base)
    robot.command(positions=FOLDED)
    world.step(8000)
    assert touching(world) == {("chest", "fore")}
    elbow, moment = robot.joint_positions[2], robot.joint_efforts[2]
    assert elbow < 2.6 and moment == pytest.approx(200.0 * (2.9 - elbow), rel=1e-3)
    # At rest the moments about the elbow balance: forearm and contact.
    fore = robot.model.link_names.index("fore")
    positions, orientations = robot.link_poses()
    axis = rotation_matrix(orientations[fore])[:, 1]
    turning = np.zeros(3)
    for contact in world.contacts:
        sign = (contact.a[1] == "fore") - (contact.b[1] == "fore")
        turning += sign * np.cross(contact.point - positions[fore], contact.force)
    assert turning @ axis == pytest.approx(-moment, rel=1e-3)


def test_without_it_the_arm_goes_through():
    world, robot = folding(False)
    robot.command(positions=FOLDED)
    world.step(3000)
    assert world.contacts == [] and robot.joint_positions == pytest.approx(FOLDED, abs=1e-3)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_adjacent_links_do_not_fight_at_rest(base):
    """The upper arm begins inside the chest, across a shoulder without a shape."""
    world, robot = folding(True, base)
    world.step(200)
    assert world.contacts == []
    assert np.abs(robot.v).max() == 0.0


def test_links_of_one_body_and_of_the_fixed_base_do_not_collide_without_it():
    """The fixed base belongs to the world's shapes, and is still the robot's own."""
    world, _ = folding(False)
    world.step(10)
    assert world.contacts == []
    world.add_body(Sphere(0.05), 1.0, (0.1, 0.0, 0.345))
    world.step(10)
    assert {c.b[1] for c in world.contacts} | {c.a[1] for c in world.contacts} == {
        "chest",
        "sphere",
    }


@pytest.mark.parametrize("how", ["srdf", "links", "pattern"])
def test_pairs_are_kept_apart(how, tmp_path):
    options = {}
    if how == "srdf":
        options["srdf"] = tmp_path / "folding.srdf"
        options["srdf"].write_text(
            '<robot name="folding"><disable_collisions link1="fore" link2="chest"/></robot>'
        )
    world, robot = folding(True, **options)
    if how == "links":
        world.disable_collisions("folding/chest", "folding/fore")
    if how == "pattern":
        world.disable_collisions("fold*", "folding/f*e")
    robot.command(positions=FOLDED)
    world.step(3000)
    assert world.contacts == [] and robot.joint_positions == pytest.approx(FOLDED, abs=1e-3)


def test_filters_are_about_what_comes_and_goes():
    world = World()
    world.add_ground()
    crate = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 0.1), name="crate")
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.1, 0, 0.1), name="ghost")
    world.disable_collisions("ghost", "crate")
    world.step(50)
    assert touching(world) == {("crate", "ground"), ("ghost", "ground")}
    world.disable_collisions("ghost", "world/ground")
    world.step(50)
    assert touching(world) == {("crate", "ground")}
    ghost = world.bodies["ghost"].position[2]
    assert ghost == pytest.approx(0.1 - 0.5 * 9.80665 * 0.05**2, abs=1e-3)
    world.remove("ghost")
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 1, 0.5), name="ghost")
    world.step(500)
    assert world.bodies["ghost"].position[2] < 0.0  # the name is what counts
    assert crate.position[2] == pytest.approx(0.1, abs=1e-5)


@pytest.mark.parametrize(
    ("a", "b", "named"),
    [
        ("crates", "world", ["'crates' does not exist", "crate"]),
        ("crate", "world/flor", ["'world/flor'", "world/ground"]),
        ("crate", 3, ['"entity/link"', "3"]),
    ],
)
def test_what_nothing_fits_is_named(a, b, named):
    world = World()
    world.add_ground()
    world.add_body(Box((1, 1, 1)), 1.0, name="crate")
    with pytest.raises(WorldError) as error:
        world.disable_collisions(a, b)
    assert all(part in str(error.value) for part in named)


def test_a_snapshot_does_not_bring_filters_back():
    world = World()
    world.add_ground()
    body = world.add_body(Sphere(0.1), 1.0, (0, 0, 0.1))
    start = world.snapshot()
    world.disable_collisions("sphere", "world/ground")
    world.restore(start)
    world.step(300)
    assert body.position[2] < 0.0


def walked(self_collision):
    model = load_model(HRP2_LIKE, xacro_arguments={"bush": True})
    world = World(time_step=1e-3)
    world.add_ground(material="floor")
    world.set_friction("sole", "floor", 0.8)
    q = model.neutral()
    q[2] = 0.6487
    for side in "LR":
        for k, angle in enumerate((0.0, 0.0, -0.4538, 0.8727, -0.4189, 0.0)):
            q[model.joint(f"{side}LEG_JOINT{k}").q_index] = angle
    robot = world.add_robot(model, q=q, self_collision=self_collision)
    world.settle()
    return simulate_walk(robot, Walk(), {"pattern": "stepping"}, duration=2.0)


@pytest.mark.timeout(1200)
def test_a_walk_that_never_touches_itself_is_the_same_walk():
    plain, careful = walked(False), walked(True)
    assert plain.steps == careful.steps and careful.fell_at is None
    assert np.array_equal(plain.q, careful.q)


# -- what check-model and its survey say


def test_the_survey_finds_what_can_touch():
    model = load_model(ARM, base="fixed")
    survey = survey_pairs(model, 300)
    assert survey.reasons == {("chest", "upper"): "Adjacent", ("fore", "upper"): "Adjacent"}
    assert 0.05 < survey.shares["chest", "fore"] < 0.9
    again = survey_pairs(model, 300)
    assert again.shares == survey.shares
    assert survey_pairs(model, 300, seed=1).shares != survey.shares


def test_pairs_that_always_or_never_touch_are_told_apart():
    text = ARM.replace(
        "</robot>",
        link("box", "0.3 0.3 0.3", "-0.3 0 0")  # overlaps the chest's far side
        + joint("mast", "box", "0 0 0", "0 0 1", "-0.01 0.01")
        + link("mast", "0.02 0.02 0.02", "-0.2 0 0.4")
        + joint("chest", "mast", "0 0 0", "0 0 1", "-0.01 0.01")
        + "</robot>",
    )
    survey = survey_pairs(load_model(text), 100)
    assert survey.reasons["box", "chest"] == "Always"
    assert survey.reasons["mast", "upper"] == "Never"


def test_random_postures_keep_to_limits_and_mimics():
    text = ARM.replace(
        "</robot>",
        link("finger", "0.05 0.05 0.05")
        + joint("fore", "finger", "0.5 0 0").replace(
            "<limit", '<mimic joint="fore_joint" multiplier="-0.5" offset="0.1"/><limit'
        )
        + "</robot>",
    )
    model = load_model(text)
    random = np.random.default_rng(0)
    fore, finger = (model.joint(f"{name}_joint").q_index for name in ("fore", "finger"))
    for _ in range(50):
        q = random_posture(model, random)
        assert 0.0 <= q[fore] <= 2.9
        assert q[finger] == pytest.approx(-0.5 * q[fore] + 0.1)
        assert q[:7] == pytest.approx(model.neutral()[:7])


def test_depth_is_how_far_links_overlap():
    world_model = load_model(ARM, base="fixed")
    contacts = SelfContacts(world_model)
    assert contacts.touching(world_model.neutral()) == {}
    folded = contacts.touching(FOLDED)
    assert set(folded) == {("chest", "fore")} and 0.01 < folded["chest", "fore"] < 0.4


def test_the_humanoid_touches_itself_where_coal_says_so():
    """Boxes and capsules in 200 random postures, pair by pair."""
    coal = pytest.importorskip("coal")
    model = load_model(HRP2_LIKE, xacro_arguments={"bush": False})
    contacts, random = SelfContacts(model), np.random.default_rng(5)
    request = coal.DistanceRequest()
    left_out = {(min(a, b), max(a, b)) for a, b in adjacent_bodies(model)}
    found = 0
    for _ in range(200):
        q = random_posture(model, random)
        ours = contacts.touching(q)
        objects = []
        for shape in model.shapes:
            frame = model.frame(shape.link)
            p, R = link_pose(model, q, shape.link)
            R = R @ frame.R.T
            p = p - R @ frame.p
            g = shape.geometry
            theirs = (
                coal.Box(*g.lengths) if isinstance(g, Box) else coal.Capsule(g.radius, g.length)
            )
            place = coal.Transform3s(R @ shape.R, R @ shape.p + p)
            objects.append(coal.CollisionObject(theirs, place))
        for a, b in itertools.combinations(range(len(objects)), 2):
            one, other = model.shapes[a], model.shapes[b]
            bodies = tuple(sorted((one.body, other.body)))
            if bodies[0] == bodies[1] or bodies in left_out:
                continue
            distance = coal.distance(objects[a], objects[b], request, coal.DistanceResult())
            depth = ours.get(tuple(sorted((one.link, other.link))), 0.0)
            touches = distance <= 0.0
            found += touches
            assert touches == (depth > 0.0), (one.link, other.link, distance, depth)
    assert found > 50


def test_check_model_lists_overlaps_and_writes_an_srdf(tmp_path, capsys):
    bent = ARM.replace('rpy="0 0 0"', "")
    urdf, srdf = tmp_path / "arm.urdf", tmp_path / "arm.srdf"
    thick = bent.replace('<box size="0.3 0.4 0.6"/>', '<box size="1.3 0.4 0.6"/>')
    urdf.write_text(thick)
    assert main(["check-model", str(urdf), "--base", "fixed", "--self-collisions", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report["overlaps_in_neutral_posture"]) == ["chest - fore"]
    assert report["overlaps_in_neutral_posture"]["chest - fore"].endswith(" mm")
    options = ["--write-srdf", str(srdf), "--samples", "200", "--json"]
    assert main(["check-model", str(urdf), "--base", "fixed", *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["pairs_disabled"] == {"Adjacent": 2, "Default": 1}
    model = load_model(urdf, base="fixed", srdf=srdf)
    assert len(model.disabled_collisions) == 3
    assert main(["check-model", str(urdf), "--srdf", str(srdf), "--self-collisions"]) == 0
    assert "overlaps_in_neutral_posture: {}" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["check-model", str(urdf), "--write-srdf", str(srdf), "--samples", "0"])
    assert ended.value.code == 2
    assert "'0' is not a whole number from 1 to" in capsys.readouterr().err


def test_the_humanoid_at_rest_touches_nothing_of_itself(tmp_path):
    model = load_model(HRP2_LIKE)
    assert SelfContacts(model).touching(model.neutral()) == {}
    (tmp_path / "s.srdf").write_text(
        '<robot name="x"><disable_collisions link1="BODY" link2="TAIL"/></robot>'
    )
    with pytest.warns(ModelWarning, match="TAIL"):
        load_model(HRP2_LIKE, srdf=tmp_path / "s.srdf")
    assert read_disabled_collisions(tmp_path / "s.srdf", ["BODY"])[0] == frozenset()
