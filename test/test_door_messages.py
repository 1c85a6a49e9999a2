# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes of first days are refused with the cure, at the doors in Python."""

import numpy as np
import pytest

import hrpsim
from hrpsim import Box, HrpsimError, ModelWarning, World, load_model, load_world
from hrpsim.control import Command, Controller, ControlLoop

ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>"""


class Still(Controller):
    period = 0.01

    def control(self, state):
        return Command()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "floor.yaml").write_text("ground: {}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loop_of(*arguments, **options):
    return arm_and(lambda robot: ControlLoop(robot, *arguments, **options))


def arm_and(make):
    return make(World().add_robot(load_model(ARM, base="fixed")))


MISTAKES = [
    (
        lambda: load_world("arm.urdf"),
        r"arm.urdf: is XML.*`load_model` .*robots: \[\{urdf: FILE\}\]",
    ),
    (
        lambda: load_world("stand.yaml"),
        "No such file.*hrpsim ships a file of this name: .*stand.yaml",
    ),
    (
        lambda: load_model("floor.yaml"),
        "floor.yaml: is no XML.*world file .* is read by `load_world`",
    ),
    (
        lambda: World().add_robot("arm.urdf"),
        "add_robot needs a Model, got 'arm.urdf'. `load_model`",
    ),
    (lambda: World().add_body("box", 1.0), r"a body needs a shape, such as Box\(\(1, 1, 1\)\)"),
    (lambda: Box(1, 2, 3), r"in one argument, Box\(\(1, 2, 3\)\), got 1, 2, 3"),
    (lambda: Box([1, 2]), r"in one argument, Box\(\(x, y, z\)\), got 1, 2"),
    (lambda: ControlLoop(World(), Still()), r"needs a robot, such as world.robots\['NAME'\]"),
    (
        lambda: arm_and(lambda r: ControlLoop(r, print)),
        "needs a Controller with a method `control`",
    ),
    (
        lambda: arm_and(lambda r: ControlLoop(r, Still)),
        r"got <class .*Still'>. Make one: Still\(\)",
    ),
    (
        lambda: arm_and(lambda r: ControlLoop(r, Still(), [1])),
        "parameters .* must be a mapping with names as keys",
    ),
    (lambda: loop_of(Still()).run(-1), "duration must be >= 0"),
    (
        lambda: arm_and(lambda r: ControlLoop(r, Still(), interpolate="no")),
        "interpolate must be true",
    ),
    (lambda: arm_and(lambda r: r.command(["0.1"])), "positions for 'arm' must be numbers"),
    (lambda: arm_and(lambda r: r.command([0.1], names=5)), "names must be a name or a list"),
    (lambda: arm_and(lambda r: r.set_joint_properties({"j": 1})), "names must be a name or a list"),
    (lambda: arm_and(lambda r: r.set_joint_properties("j")), "no property of joints is given"),
    (lambda: arm_and(hrpsim.Logger), "Logger: world must be a World, got"),
    (lambda: hrpsim.Logger(World(), []), "signals of a Logger must not be empty"),
    (lambda: hrpsim.Logger(World(), 0.005), "Logger: signals must be .*got 0.005"),
    (lambda: hrpsim.Logger(World(), every="5 ms"), "every must be .*got '5 ms'"),
    (lambda: hrpsim.load_mesh(3), "load_mesh: path must be a text or a path, got 3"),
    (lambda: hrpsim.convert("arm.urdf", "arm.png"), "suffix .* '.png' does not exist"),
    (lambda: hrpsim.HeightField([[1, 2], [3]], 0.1), "HeightField: heights must be numbers"),
    (lambda: hrpsim.Batch.of([3]), r"Batch.of: worlds\[0\] must be a World"),
    (lambda: World().settle("5"), "World.settle: duration must be a number, got '5'"),
    (lambda: setattr(World(), "sleeping", "on"), "sleeping must be true or false"),
    (lambda: setattr(World(), "time", 3.0), "'time' of a World cannot be assigned"),
    (lambda: setattr(World().add_frame("f"), "positon", 0), "Did you mean 'position'"),
    (lambda: hrpsim.solve_contacts([["1"] * 3] * 3, [0, 0, 1], 0.5), "W must be numbers"),
    (lambda: hrpsim.mass_matrix(World(), [0.0]), "model must be a Model, .*got <World"),
    (lambda: hrpsim.Mesh(np.eye(3), [[0.5, 1, 2]]), "triangles must be whole numbers"),
    (lambda: Box("1 1 1"), "edge lengths must be numbers"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_a_mistake_names_its_cure(folder, number):
    """Law: the error says what is right, and nothing has happened."""
    mistake, cure = MISTAKES[number]
    with pytest.raises(HrpsimError, match=cure):
        mistake()


@pytest.mark.parametrize("give", ["lock", "drive"])
def test_locks_and_motors_beyond_limits_are_warned_of(give):
    """Law: a lock and a motor say what a command beyond limits says."""
    limited = ARM.replace("continuous", "revolute").replace(
        "</joint>", '<limit lower="-1" upper="1" effort="9" velocity="2"/></joint>'
    )
    robot = World().add_robot(load_model(limited, base="fixed"))
    with pytest.warns(ModelWarning, match="3 of 'j' is not within"):
        robot.lock("j", 3.0) if give == "lock" else robot.drive("j", 3.0, 1.0)


def test_a_logger_with_milliseconds_is_warned_of():
    with pytest.warns(ModelWarning, match="every is 5 s, .*If 5 ms are meant, write 0.005"):
        hrpsim.Logger(World(), every=5)


def test_a_box_keeps_its_keyword():
    assert Box(lengths=[1, 2, 3]) == Box((1.0, 2.0, 3.0)) != hrpsim.Sphere(1.0)


def swapped_in_a_command():
    arm_and(lambda robot: robot.command([0.1], kp=1.0, kd=500.0))


def swapped_in_a_batch():
    world = World()
    world.add_robot(load_model(ARM, base="fixed"), name="arm")
    with hrpsim.Batch(world, 2) as batch:
        batch.set_gains("arm", np.array([[100.0], [1.0]]), np.array([[5.0], [500.0]]))


def in_millimetres():
    world = World()
    world.add_ground()
    world.add_body(Box((1, 1, 1)), 1.0, position=(0, 0, 850))
    world.step()


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (swapped_in_a_command, "kp 1 and kd 500 of 'j' seem swapped"),
        (swapped_in_a_batch, "kp 1 and kd 500 of 'j' seem swapped"),
        (in_millimetres, "starts 850 m above 'world/ground'. Positions are in m"),
    ],
)
def test_a_likely_mistake_is_warned_of(mistake, words):
    with pytest.warns(ModelWarning, match=words):
        mistake()
