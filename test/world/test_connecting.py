# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Making connections: how ends and frames are given, what is refused, what a world remembers."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from world.joined import TREE, random_frame, random_turn, scattered_world
from world.scenes import one_joint, weightless

from hrpsim import Box, Sphere, World, WorldError, load_model


def stage():
    """A world with two boxes, a robot of one link, and a tree."""
    world = weightless()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (1, 0, 0), name="a")
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (2, 0, 0), name="b")
    world.add_robot(one_joint(), name="one")
    world.add_robot(load_model(TREE), name="tree")
    return world


@pytest.mark.parametrize(
    "end, owner",
    [
        (lambda w: w.bodies["b"], ("b", "b")),
        (lambda w: "b", ("b", "b")),
        (lambda w: "b/b", ("b", "b")),
        (lambda w: w.robots["one"], ("one", "arm")),
        (lambda w: "one", ("one", "arm")),
        (lambda w: "one/arm", ("one", "arm")),
        (lambda w: (w.robots["tree"], "tip"), ("tree", "tip")),
        (lambda w: ("tree", "tip"), ("tree", "tip")),
        (lambda w: "tree/tip", ("tree", "tip")),
        (lambda w: "one/base", ("one", "base")),
        (lambda w: None, ("world", "world")),
        (lambda w: "world", ("world", "world")),
    ],
)
def test_ends_are_given_as_objects_or_names(end, owner):
    world = stage()
    connection = world.connect("a", end(world))
    assert (connection.a, connection.b) == (("a", "a"), owner)
    assert np.abs(connection.error).max() < 1e-15
    world.step(5)


def pose_of_end(world, side: str):
    """Axes and origin of the frame of "tree/tip" (a) or of body "one" (b) in the world."""
    record = world.scene.connections[0]
    if side == "a":
        robot = world.robots["tree"]
        frame = robot.model.frame("tip")
        position, turn = robot.link_pose("tip")
        R = Rotation.from_quat(turn).as_matrix() @ frame.R.T
        position = position - R @ frame.p
    else:
        position, turn = world.bodies["one"].position, world.bodies["one"].orientation
        R = Rotation.from_quat(turn).as_matrix()
    return R @ record[f"R_{side}"], position + R @ record[f"p_{side}"]


@pytest.mark.parametrize("built", [False, True])
def test_frames_coincide_where_they_are_asked_to(built):
    world = scattered_world(np.random.default_rng(1))
    if built:
        world.step()
    z = np.array([1.0, 2.0, -2.0]) / 3.0
    hinge = world.connect(
        "tree/tip", "one", "hinge", point=(0.1, 0.2, 0.3), axis=3.0 * z, x_axis=(0, 0, 1)
    )
    for side in "ab":
        axes, origin = pose_of_end(world, side)
        assert origin == pytest.approx([0.1, 0.2, 0.3], abs=1e-14)
        assert axes[:, 2] == pytest.approx(z, abs=1e-14)
        assert axes[2, 0] > 0.0 and axes[2, 1] == pytest.approx(0.0, abs=1e-14)
        assert np.cross(axes[:, 0], axes[:, 1]) == pytest.approx(z, abs=1e-14)
    assert np.abs(hinge.error).max() < 1e-14


def test_one_frame_places_the_other():
    rng = np.random.default_rng(2)
    world = scattered_world(rng)
    for side in ("frame_a", "frame_b"):
        connection = world.connect("tree/tip", "two", **{side: random_frame(rng)})
        assert np.abs(connection.error).max() < 1e-14


def test_the_frame_is_that_of_b_by_default():
    rng = np.random.default_rng(3)
    world = scattered_world(rng)
    world.connect("tree/tip", "two")
    world.connect("two", None)
    for record, side in zip(world.scene.connections, "ba", strict=True):
        assert record[f"p_{side}"] == pytest.approx(np.zeros(3), abs=1e-15)
        assert record[f"R_{side}"] == pytest.approx(np.eye(3), abs=1e-15)


NOTHING = {
    "both ends the world": (lambda w: w.connect(None, "world"), ["the world"]),
    "fixed link and world": (lambda w: w.connect("one/base"), ["the world"]),
    "one body twice": (lambda w: w.connect("a", w.bodies["a"]), ["belong to one body"]),
    "unknown entity": (lambda w: w.connect("aa", "b"), ["aa", "Available: a, b, one, tree"]),
    "unknown entity of a link": (lambda w: w.connect("aa/x", "b"), ["aa/x", "tree"]),
    "unknown link": (lambda w: w.connect("tree/tap", "b"), ["tap", "tip"]),
    "unknown link of a tuple": (lambda w: w.connect(("tree", 3), "b"), ["3", "tip"]),
    "no link": (lambda w: w.connect("tree", "b"), ["tree", "4 moving links", "wing"]),
    "not an end": (lambda w: w.connect(7, "b"), ["7", "entity/link"]),
    "of another world": (lambda w: w.connect(stage().bodies["a"], "b"), ["another world"]),
    "unknown kind": (lambda w: w.connect("a", "b", "hing"), ["hing", "hinge"]),
    "unknown axis": (lambda w: w.connect("a", "b", axes=["q"]), ["'q'", "rx"]),
    "axis twice": (lambda w: w.connect("a", "b", axes=["x", "x"]), ["once"]),
    "a text of axes": (lambda w: w.connect("a", "b", axes="xq"), ["'xq' does not exist"]),
    "no axes": (lambda w: w.connect("a", "b", axes=[]), ["axes"]),
    "kind and axes": (lambda w: w.connect("a", "b", "ball", axes="x"), ["not both"]),
    "zero axis": (lambda w: w.connect("a", "b", "hinge", axis=(0, 0, 0)), ["axis", "zero"]),
    "x along z": (lambda w: w.connect("a", "b", axis=(0, 0, 1), x_axis=(0, 0, 2)), ["x_axis"]),
    "NaN point": (lambda w: w.connect("a", "b", point=(0, np.nan, 0)), ["point[1]", "nan"]),
    "point and frame": (
        lambda w: w.connect("a", "b", point=(0, 0, 0), frame_a=((0, 0, 0), (0, 0, 0, 1))),
        ["point", "not both"],
    ),
    "half a frame": (lambda w: w.connect("a", "b", frame_a=(0, 0, 0)), ["frame_a", "quaternion"]),
    "zero quaternion": (
        lambda w: w.connect("a", "b", frame_b=((0, 0, 0), (0, 0, 0, 0))),
        ["frame_b", "length 0"],
    ),
    "negative compliance": (lambda w: w.connect("a", "b", compliance=-1.0), ["compliance"]),
    "NaN compliance": (lambda w: w.connect("a", "b", compliance=np.nan), ["compliance", "nan"]),
    "five compliances": (lambda w: w.connect("a", "b", compliance=[0] * 5), ["compliance", "6"]),
    "short damping": (lambda w: w.connect("a", "b", damping_time=0.0), ["damping_time", "0.001"]),
    "negative limit": (lambda w: w.connect("a", "b", force_limit=-1), ["force_limit", "-1"]),
    "split": (lambda w: w.connect("a", "b", solver="split"), ["split", "contacts only"]),
    "unknown solver": (lambda w: w.connect("a", "b", solver="penalty"), ["penalty", "direct"]),
    "length of a hinge": (lambda w: w.connect("a", "b", "hinge", length=1), ["hinge", "length"]),
    "no length": (lambda w: w.connect("a", "b", "distance", length=0), ["length", "positive"]),
    "points that coincide": (
        lambda w: w.connect("a", "b", "distance", point=[(0, 0, 0), (0, 0, 0)]),
        ["coincide"],
    ),
    "one point": (lambda w: w.connect("a", "b", "distance", point=(0, 0, 0)), ["two points"]),
    "axis of a distance": (lambda w: w.connect("a", "b", "distance", axis=(0, 0, 1)), ["no axis"]),
    "name taken": (lambda w: w.connect("a", "b", name="kept"), ["kept", "already"]),
    "drive a held axis": (
        lambda w: w.connections["kept"].drive("x", 1, 1),
        ["'x'", "Free axes: rz"],
    ),
    "drive no axis": (lambda w: w.connections["kept"].drive("w", 1, 1), ["'w'", "rz"]),
    "drive at NaN": (lambda w: w.connections["kept"].drive("rz", np.nan, 1), ["velocity", "nan"]),
    "release a held axis": (lambda w: w.connections["kept"].release("ry"), ["'ry'"]),
    "length that is none": (lambda w: w.connections["kept"].length, ["hinge", "length"]),
    "unknown connection": (lambda w: w.disconnect("lost"), ["lost"]),
}


@pytest.mark.parametrize("call, named", NOTHING.values(), ids=NOTHING)
def test_what_cannot_be_is_refused_and_changes_nothing(call, named):
    world = stage()
    world.connect("a", "b", "hinge", name="kept")
    world.step()
    before = world.snapshot()
    with pytest.raises(WorldError) as error:
        call(world)
    for part in named:
        assert part in str(error.value)
    assert list(world.connections) == ["kept"]
    after = world.snapshot()
    assert after["parts"] == before["parts"]
    for a, b in zip(after["arrays"], before["arrays"], strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_winch_is_no_axis():
    world = stage()
    rod = world.connect("a", "b", "distance")
    with pytest.raises(WorldError, match="length"):
        rod.drive("y", 1.0, 1.0)
    rod.drive("rx", 1.0, 1.0)


def swinging():
    """Two balls on a string of connections, one of them driven."""
    world = World()
    upper = world.add_body(Sphere(0.1), 1.0, (0.3, 0, 0))
    lower = world.add_body(Sphere(0.1), 1.0, (0.6, 0, 0))
    world.connect(None, upper, "ball", point=(0, 0, 0))
    hinge = world.connect(upper, lower, "hinge", point=(0.45, 0, 0), axis=(0, 1, 0))
    hinge.drive("rz", 1.0, 0.5)
    return world


def test_a_snapshot_continues_bit_for_bit():
    world = swinging()
    world.step(50)
    snapshot = world.snapshot()
    world.step(50)
    truth = world.scene.q.tobytes()
    world.connections["hinge"].release("rz")
    world.connections["ball"].enabled = False
    world.step(10)
    world.restore(snapshot)
    assert world.connections["ball"].enabled
    world.step(50)
    assert world.scene.q.tobytes() == truth


def test_a_snapshot_belongs_to_the_connections_of_its_time():
    world = swinging()
    snapshot = world.snapshot()
    world.connect("sphere", "sphere_2", name="more")
    with pytest.raises(WorldError, match="connections"):
        world.restore(snapshot)
    world.disconnect("more")
    world.restore(snapshot)
    world.disconnect("ball")
    world.connect(None, "sphere", "ball")
    with pytest.raises(WorldError, match="connections"):
        world.restore(snapshot)


def test_more_bodies_leave_connections_as_they_are():
    worlds = swinging(), swinging()
    for world in worlds:
        world.step(50)
    worlds[1].add_body(Sphere(0.1), 1.0, (5, 5, 5))
    worlds[1].add_static(Box((1, 1, 1)), (9, 9, 9))
    for world in worlds:
        world.step(50)
    assert worlds[1].scene.q[:14].tobytes() == worlds[0].scene.q.tobytes()


def test_a_reset_repeats_what_was():
    world = swinging()
    for connection in world.connections.values():
        connection.keep_as_initial()
    world.step(100)
    truth = world.scene.q.tobytes()
    world.connections["hinge"].release("rz")
    world.connections["ball"].enabled = False
    world.step(10)
    world.reset()
    world.step(100)
    assert world.scene.q.tobytes() == truth


def test_a_grip_made_on_the_way_is_open_after_a_reset():
    world = weightless()
    a = world.add_body(Sphere(0.1), 1.0)
    b = world.add_body(Sphere(0.1), 1.0, (1, 0, 0), velocity=(-1, 0, 0))
    world.step(100)
    grip = world.connect(a, b)
    assert grip.enabled
    world.reset()
    assert not grip.enabled
    world.step(10)
    assert b.velocity == pytest.approx([-1, 0, 0])


def test_a_connection_taken_out_is_gone():
    world = swinging()
    ball, hinge = world.connections["ball"], world.connections["hinge"]
    world.step()
    world.disconnect(ball)
    assert list(world.connections) == ["hinge"]
    assert hinge.axes == ("x", "y", "z", "rx", "ry")
    with pytest.raises(WorldError, match="removed"):
        ball.enabled = False
    before = sum(body.velocity for body in world.bodies.values())
    world.step(100)
    gained = sum(body.velocity for body in world.bodies.values()) - before
    assert gained == pytest.approx([0, 0, -2.0 * 9.80665 * 0.1], abs=1e-9)


def test_properties_may_be_changed_on_the_way():
    world = stage()
    grip = world.connect("a", "b")
    grip.compliance, grip.damping_time, grip.force_limit = 1e-3, range(6), 7.0
    assert (grip.compliance == 1e-3).all() and grip.damping_time[5] == 5.0
    world.step()
    world.reset()
    assert (grip.force_limit == 7.0).all() and (grip.compliance == 1e-3).all()
    with pytest.raises(WorldError, match="damping_time"):
        grip.compliance = 0.0


def test_a_turned_robot_link_holds_what_it_is_given():
    """A link far down a tree carries a body through a second of motion."""
    rng = np.random.default_rng(9)
    world = scattered_world(rng)
    load = world.add_body(Sphere(0.05), 0.2, (0, 0, 5), random_turn(rng))
    grip = world.connect("tree/tip", load, frame_a=((0.1, 0, 0), (0, 0, 0, 1)))
    world.step(1000)
    assert np.abs(grip.error).max() < 1e-5
