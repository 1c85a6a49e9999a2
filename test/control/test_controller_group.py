# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers side by side: each commands its joints, and switching makes no jump."""

import numpy as np
import pytest

from hrpsim import World, load_model
from hrpsim.control import Command, Controller, ControllerError, ControllerGroup, ControlLoop, State

HERE = __file__
LINK = """<link name="{0}"><inertial><mass value="1"/><origin xyz="0.1 0 0"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{1}" type="continuous"><parent link="world"/><child link="{0}"/><axis xyz="0 0 1"/>
</joint><hrpsim reference="{1}"><gains kp="100" kd="10"/></hrpsim>"""
ROBOT = (
    '<robot name="arms"><link name="world"/>'
    + "".join(LINK.format(f"link_{k}", name) for k, name in enumerate(("left", "right", "waist")))
    + "</robot>"
)


class Wave(Controller):
    """Swings all joints; its parameters are amplitude, speed and how many ticks it lasts."""

    def configure(self, model, parameters):
        self.amplitude = parameters.get("amplitude", 0.3)
        self.speed = parameters.get("speed", 2.0)
        self.ticks = parameters.get("ticks", 0)
        self.stopped = False

    def initialize(self, state):
        self.start, self.tick = state.joint_positions, 0

    def control(self, state):
        phase = self.speed * self.period * self.tick
        self.tick += 1
        self.finished = self.tick == self.ticks
        rate = self.amplitude * self.speed * np.cos(phase)
        count = len(self.start)
        return Command(
            self.start + self.amplitude * np.sin(phase), np.full(count, rate), np.full(count, 0.1)
        )

    def stop(self):
        self.stopped = True


class Slow(Wave):
    period = 0.01


class Seeing(Wave):
    needs = {"contacts": ["link_0"], "zmp": True}


class Feeling(Wave):
    needs = {"contacts": ["link_1"], "zmp": True}


class Late(Wave):
    needs = {"delays": 0.005}


class Later(Wave):
    needs = {"delays": 0.010}


class Pushy(Wave):
    def control(self, state):
        return Command(efforts=np.zeros(3))


def entry(joints, controller="Wave", active=True, **parameters):
    return {
        "controller": f"{HERE}:{controller}",
        "joints": joints,
        "parameters": parameters,
        "active": active,
    }


def trajectory(controller, parameters, ticks, at=None):
    """Return targets, their velocities and efforts (ticks, 3) of a run; `at` {tick: act}."""
    world = World(time_step=1e-3)
    robot = world.add_robot(load_model(ROBOT, base="fixed"))
    told = []
    with ControlLoop(robot, controller, parameters, interpolate=False) as loop:
        for tick in range(ticks):
            if at and tick in at:
                at[tick](controller)
            loop.tick()
            control = world.scene.control
            told.append([control["target_position"], control["target_velocity"], control["effort"]])
            told[-1] = [values.copy() for values in told[-1]]
    return [np.array(part) for part in zip(*told)], robot.q.copy()


def test_a_group_of_one_is_that_one():
    """Law: the only member's commands come through bit for bit."""
    alone, end = trajectory(Wave(), {}, 200)
    grouped, group_end = trajectory(ControllerGroup(), {"members": {"all": entry("*")}}, 200)
    assert all(np.array_equal(a, b) for a, b in zip(alone, grouped))
    assert np.array_equal(end, group_end)


def test_each_commands_its_joints_and_the_rest_is_held():
    members = {"l": entry("left", amplitude=0.1), "r": entry(["r*"], amplitude=0.5)}
    (targets, _, efforts), _ = trajectory(ControllerGroup(), {"members": members}, 300)
    left, right, waist = targets.T
    assert np.abs(left).max() == pytest.approx(0.1, rel=1e-3)
    assert np.abs(right).max() == pytest.approx(0.5, rel=1e-3)
    assert not waist.any() and not efforts[:, 2].any()


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_switching_is_continuous_in_target_and_velocity(speed):
    """Law: over every switch second differences are those of the courses and of the blend."""
    group = ControllerGroup()
    members = {"a": entry("*", speed=speed), "b": entry("right", active=False, speed=0.5 * speed)}
    act = {
        100: lambda g: g.switch("b", True),
        300: lambda g: g.switch("b", False),
        450: lambda g: g.switch("a", True),
    }
    (targets, velocities, efforts), _ = trajectory(group, {"members": members}, 700, act)
    period = group.period
    steps = np.diff(targets, axis=0) / period
    fastest = 0.3 * speed
    # The weight of the blend adds 1.875 / 0.5 s times the gap, at most 0.6 rad, and its like.
    assert np.abs(steps).max() < fastest + 4.0 * 0.6
    bends = np.abs(np.diff(steps, axis=0)) / period
    assert bends.max() < 60.0 + 2.0 * 0.3 * speed**2 and bends.max() * period < 0.6
    # What is fed forward is the targets' velocity.
    middle = 0.5 * (steps[1:] + steps[:-1])
    assert np.abs(middle - velocities[1:-1]).max() < 0.1
    assert np.abs(np.diff(efforts, axis=0)).max() < 0.1 * 2 * period / 0.5 * 1.1
    assert group.members["a"].state == "active" and group.members["b"].state == "inactive"


def test_without_a_blend_it_jumps():
    """Law: the test above can fail: a switch without blending does not pass it."""
    act = {100: lambda g: g.switch("a", False), 150: lambda g: g.switch("a", True)}
    members = {"a": entry("*", speed=4.0)}
    parameters = {"members": members, "blend": 0.0}
    (targets, *_), _ = trajectory(ControllerGroup(), parameters, 200, act)
    assert np.abs(np.diff(targets, 2, axis=0)).max() / 0.005**2 > 100.0


def test_an_active_member_gives_way_to_who_takes_its_joints():
    group = ControllerGroup()
    members = {
        "a": entry(["left", "waist"]),
        "b": entry("waist", active=False),
        "c": entry("right"),
    }
    puts_off = []
    act = {50: lambda g: puts_off.extend(g.switch("b", True))}
    (targets, *_), _ = trajectory(group, {"members": members}, 400, act)
    assert puts_off == ["a"]
    assert [m.state for m in group.members.values()] == ["inactive", "active", "active"]
    assert np.ptp(targets[200:, 0]) == 0.0 and np.ptp(targets[200:, 2]) > 0.1


def test_a_member_that_finishes_leaves_its_last_word():
    group = ControllerGroup()
    members = {"a": entry("left", ticks=60), "b": entry("right")}
    (targets, velocities, efforts), _ = trajectory(group, {"members": members}, 300)
    last = 0.3 * np.sin(2.0 * 0.005 * 59)
    assert targets[-1, 0] == pytest.approx(last, abs=1e-9)
    assert velocities[-1, 0] == efforts[-1, 0] == 0.0
    assert group.members["a"].state == "finished" and group.members["b"].state == "active"
    assert all(member.controller.stopped for member in group.members.values())


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({}, "needs members"),
        ({"members": {"a": 3}}, "members.a"),
        ({"members": {"a": {"controller": f"{HERE}:Wave"}}}, "missing entry: joints"),
        ({"members": {"a": entry("nose")}}, "nose"),
        ({"members": {"a": entry([])}}, "joints"),
        ({"members": {"a": entry("*", "None")}}, "None"),
        ({"members": {"a": entry("left"), "b": entry("*")}}, "both command 'left'"),
        ({"members": {"a": entry("left"), "b": entry("right", "Slow")}}, "different periods"),
        ({"members": {"a": entry("*")}, "blend": -1}, "blend"),
        ({"members": {"a": entry("*")}, "blnd": 1}, "Did you mean 'blend'"),
        ({"members": {"a": {**entry("*"), "joint": 1}}}, "Did you mean"),
    ],
)
def test_what_cannot_stand_side_by_side_is_refused(parameters, named):
    with pytest.raises(ControllerError) as error:
        ControllerGroup().configure(load_model(ROBOT, base="fixed"), parameters)
    assert named in str(error.value)


def test_members_must_command_positions():
    with pytest.raises(ControllerError, match="'a' of a group must command positions"):
        trajectory(ControllerGroup(), {"members": {"a": entry("*", "Pushy")}}, 2)


def test_unknown_members_cannot_be_switched():
    group = ControllerGroup()
    group.configure(load_model(ROBOT, base="fixed"), {"members": {"a": entry("*")}})
    with pytest.raises(ControllerError, match=r"'b' does not exist. Available: a"):
        group.switch("b", True)


def idle(joints, controller="Wave", **parameters):
    return {**entry(joints, controller, active=False, **parameters), "loaded": False}


def configured(members):
    group = ControllerGroup()
    group.configure(load_model(ROBOT, base="fixed"), {"members": members})
    return group


def test_a_member_is_loaded_configured_activated_and_unloaded_while_others_go_on():
    """Law: the states are those of ros2_control, and each step is refused out of its turn."""
    group = configured({"a": entry("left"), "b": idle("right")})
    member = group.members["b"]
    assert member.state == "unloaded" and member.controller is None
    for action in (group.configure_member, group.unload, lambda name: group.switch(name, True)):
        with pytest.raises(ControllerError, match="'b': it is unloaded"):
            action("b")
    group.load("b")
    assert member.state == "unconfigured"
    with pytest.raises(ControllerError, match="it is unconfigured"):
        group.switch("b", True)
    group.configure_member("b")
    assert member.state == "inactive"
    state = State(0.0, np.zeros(3), np.zeros(3), np.zeros(3), {}, {})
    group.initialize(state)
    group.switch("b", True)
    group.control(state)
    assert member.state == "active" and group.members["a"].state == "active"
    with pytest.raises(ControllerError, match="cannot unload 'b': it is active"):
        group.unload("b")
    group.switch("b", False)
    group.control(state)
    stopped = member.controller
    group.unload("b")
    assert member.state == "unloaded" and stopped.stopped
    group.stop()
    assert group.members["a"].controller.stopped


def test_a_member_that_cannot_be_configured_stays_unconfigured():
    group = configured({"a": entry("left"), "b": idle("right", "Slow")})
    group.load("b")
    with pytest.raises(ControllerError, match=r"different periods: 'b' 0\.01 s"):
        group.configure_member("b")
    assert group.members["b"].state == "unconfigured"


def test_what_was_unloaded_before_its_tick_is_not_activated():
    group = configured({"a": entry("left"), "b": entry("right", active=False)})
    state = State(0.0, np.zeros(3), np.zeros(3), np.zeros(3), {}, {})
    group.initialize(state)
    group.switch("b", True)
    group.unload("b")
    group.control(state)
    assert group.members["b"].state == "unloaded"


def test_several_are_switched_at_once_or_none():
    """Law: a request that cannot be followed whole changes nothing."""
    group = configured(
        {"a": entry("left"), "b": entry("right", active=False), "all": entry("*", active=False)}
    )
    state = State(0.0, np.zeros(3), np.zeros(3), np.zeros(3), {}, {})
    group.initialize(state)
    with pytest.raises(ControllerError, match="both command"):
        group.switch_several(["b", "all"], [])
    with pytest.raises(ControllerError, match="Did you mean"):
        group.switch_several(["b", "al"], [])
    group.control(state)
    assert [m.state for m in group.members.values()] == ["active", "inactive", "inactive"]
    assert group.switch_several(["all"], []) == ["a"]
    group.control(state)
    assert [m.state for m in group.members.values()] == ["inactive", "inactive", "active"]
    assert group.switch_several(["a", "b"], ["all"]) == []
    group.control(state)
    assert [m.state for m in group.members.values()] == ["active", "active", "inactive"]


def test_a_group_needs_what_its_members_need():
    group = ControllerGroup()
    members = {"a": entry("left", "Seeing"), "b": entry("right", "Feeling"), "c": entry("waist")}
    model = load_model(ROBOT, base="fixed")
    group.configure(model, {"members": members})
    assert group.needs == {"contacts": ["link_0", "link_1"], "zmp": True}
    members = {"a": entry("left", "Late"), "b": entry("right", "Later")}
    with pytest.raises(ControllerError, match=r"different delays: 'b' 0\.01, others 0\.005"):
        ControllerGroup().configure(model, {"members": members})
    group = ControllerGroup()
    members = {"a": entry("left"), "b": {**entry("right", "Late", active=False), "loaded": False}}
    group.configure(model, {"members": members})
    group.load("b")
    with pytest.raises(ControllerError, match="'b' needs delays, which no member needed"):
        group.configure_member("b")
    assert group.members["b"].state == "unconfigured"
