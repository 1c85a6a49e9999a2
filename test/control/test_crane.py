# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane: grip force by virtual work, bounded motion, moves of a script, who is in the goal."""

import numpy as np
import pytest

from evidence.crane import Crane, ScriptedCrane, in_goal
from evidence.crane.control import Request
from evidence.crane.script import Go, Grip, Wait
from hrpsim import Box, World, load_model, load_world, share_path
from hrpsim.control import ControllerError, ControlLoop

CRANE = share_path("urdf/crane.urdf.xacro")


@pytest.fixture
def world():
    return load_world(share_path("config/crane.yaml"))


def run(world, crane, duration, parameters=None):
    """Return what the reference was at each tick (n, 4), and the loop."""
    loop = ControlLoop(world.robots["crane"], crane, parameters)
    path = []
    for _ in range(round(duration / crane.period)):
        loop.tick()
        path.append(crane.position)
    return np.array(path), loop


class Wishing(Crane):
    """A crane whose player wishes the same all the time."""

    def __init__(self, request):
        self.always = request

    def control(self, state):
        self.request = self.always
        return super().control(state)


def test_speed_and_acceleration_are_bounded_and_the_hand_follows(world):
    crane = Wishing(Request((3.0, 4.0, 0.0), 9.0))
    path, _ = run(world, crane, 0.4, {"speed": 0.2, "acceleration": 1.0, "turn_speed": 0.5})
    v = np.diff(path, axis=0) / crane.period
    a = np.diff(v, axis=0) / crane.period
    np.testing.assert_allclose(v[-1, :3], [0.12, 0.16, 0.0], atol=1e-9)
    assert v[-1, 3] == pytest.approx(0.5)
    assert np.linalg.norm(v[:, :3], axis=1).max() < 0.2 + 1e-9
    assert np.linalg.norm(a[:, :3], axis=1).max() < 1.0 + 1e-9
    np.testing.assert_allclose(world.robots["crane"].joint_positions[:4], path[-1], atol=2e-4)


def test_it_stops_at_the_end_of_the_slides(world):
    crane = Wishing(Request((1.0, 0.0, -1.0)))
    path, _ = run(world, crane, 4.0)
    assert path[-1, 0] == 0.5 and path[-1, 2] == 0.0
    speed = np.linalg.norm(np.diff(path, axis=0), axis=1) / crane.period
    assert speed[-1] == 0.0
    assert np.abs(np.diff(speed)).max() < 2.0 * crane.acceleration * crane.period


@pytest.mark.parametrize("width", [0.04, 0.06, 0.09])
def test_pads_press_with_the_force_asked_for_at_any_width(width):
    world = World(1e-3, solver=[{"solver": "direct", "bodies": "crane"}])
    world.set_friction("pad", "object", static=0.0)
    world.add_static(Box((0.1, 0.1, 0.1)), (0.0, 0.0, 0.05))
    world.add_body(Box((0.03, width, 0.04)), 0.1, (0.0, 0.0, 0.12), material="object")
    model = load_model(CRANE, base="fixed")
    q = model.neutral()
    angle = -np.arcsin((width / 2 - 0.03) / 0.1)
    q[model.joint("crane_z").q_index] = 0.03 + 0.1 * np.cos(angle)
    for name in ("left_knuckle", "right_knuckle", "left_wrist", "right_wrist"):
        q[model.joint(name).q_index] = angle - 0.05
    robot = world.add_robot(model, q=q)
    loop = ControlLoop(robot, Wishing(Request(close=True)), {"period": 1e-3, "grip": 7.0})
    for _ in range(500):
        loop.tick()
    forces = {"left_claw": 0.0, "right_claw": 0.0}
    for contact in world.contacts:
        for entity, link in (contact.a, contact.b):
            if entity == "crane":
                forces[link] += abs(contact.force @ contact.normal)
    assert list(forces.values()) == pytest.approx([7.0] * 2, rel=1e-3)


def test_a_scripted_player_fetches_an_object_and_it_counts(world):
    script = [
        Go((-0.1, 0.0, 0.15)),
        Wait(0.3),
        Go((-0.1, 0.0, 0.03)),
        Grip(True, 1.7),
        Go((-0.1, 0.0, 0.15)),
        Go((0.28, 0.0, 0.15), 1.0),
        Go((0.28, 0.0, 0.042), 1.0),
    ]
    crane = ScriptedCrane([*script, Grip(False, 0.6), Wait(0.1)])
    loop = ControlLoop(world.robots["crane"], crane, {"acceleration": 3.0})
    held = []
    while not crane.finished:
        loop.tick()
        if crane.move is crane.script[4]:
            held.append(in_goal(world))
        assert in_goal(world) == [] or crane.move in crane.script[7:]
    assert in_goal(world) == ["box"] and not any(held)
    np.testing.assert_allclose(world.bodies["box"].position, [0.28, 0.0, 0.04], atol=2e-3)
    assert crane.begun == sorted(crane.begun) and len(crane.begun) == len(crane.script)


def test_what_lies_on_something_in_the_goal_counts_and_what_leans_on_it_does_not():
    world = World()
    world.add_ground()
    world.add_static(Box((0.2, 0.2, 0.02)), (0.0, 0.0, 0.01), name="goal")
    for name, position in {
        "below": (0.0, 0.0, 0.07),
        "above": (0.0, 0.0, 0.17),
        "beside": (0.3, 0.0, 0.05),
        "touching": (0.0, 0.1, 0.07),
    }.items():
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position, name=name)
    world.step(100)
    assert in_goal(world) == ["below", "above", "touching"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sped": 1.0}, "Did you mean|speed"),
        ({"grip": -1.0}, "grip: must be positive"),
        ({"grip": True}, "grip: must be a number"),
        ({"speed": float("nan")}, "speed: must be a number, got nan"),
    ],
)
def test_bad_parameters_are_refused(world, parameters, message):
    with pytest.raises(ControllerError, match=message):
        ControlLoop(world.robots["crane"], Crane(), parameters)


def test_another_robot_is_refused():
    world = World()
    robot = world.add_robot(load_model(share_path("urdf/hrp2_like.urdf.xacro"), base="fixed"))
    with pytest.raises(ControllerError, match="is no crane"):
        ControlLoop(robot, Crane())


def test_a_reset_lets_it_begin_anew(world):
    crane = Wishing(Request((0.2, 0.0, 0.0)))
    path, loop = run(world, crane, 0.3)
    world.reset()
    again = []
    for _ in range(len(path)):
        loop.tick()
        again.append(crane.position)
    np.testing.assert_array_equal(path, again)
