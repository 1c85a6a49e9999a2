# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A value of another kind, a huge number or a second equal object is refused at every door."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import hrpsim
import hrpsim.control as control
import hrpsim.dynamics as dynamics
import hrpsim.fitting as fitting
from hrpsim import Batch, Box, HrpsimError, Logger, ModelWarning, World, load_model
from hrpsim.sensors import NoiseLevels
from hrpsim.sweeps import Design

ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>"""
TIMES = np.arange(5) * 0.1
CHANNEL = control.Channel(TIMES, np.zeros((5, 1)))
SEQUENCE = control.MotionSequence(("j",), CHANNEL)
WRONG = ["x", 3, 10**400, 1e300, b"a", None, True, [], ["x"], [3], [[1, 2], [3]], {"a": 1}, 1j]
WRONG += [object(), float("nan"), World, [1e300] * 3, ["1"] * 3, [True] * 3]


@pytest.fixture(scope="module")
def model():
    return load_model(ARM, base="fixed")


@pytest.fixture
def world(model):
    world = World()
    world.add_ground()
    world.add_body(Box((1, 1, 1)), 1.0, position=[3, 0, 0.5], name="box")
    world.add_robot(model, name="arm", position=[0, 0, 2])
    return world


def calls(model: Any, world: World) -> dict[str, tuple[Callable, Mapping[str, Any]]]:
    """Return right calls by name: the function, and arguments that fit."""
    robot, body = world.robots["arm"], world.bodies["box"]
    q = {"model": model, "q": [0.1]}
    moved = {**q, "v": [0.0]}
    return {
        "load_model": (load_model, {"source": ARM, "base": "fixed", "package_paths": None}),
        "add_ground": (world.add_ground, {"height": -1.0}),
        "add_static": (world.add_static, {"geometry": Box((1, 1, 1))}),
        "add_body": (world.add_body, {"geometry": Box((1, 1, 1)), "mass": 1.0}),
        "add_robot": (world.add_robot, {"model": model}),
        "add_frame": (world.add_frame, {"name": "f"}),
        "connect": (world.connect, {"a": "box", "b": None, "kind": "hinge"}),
        "disconnect": (world.disconnect, {"connection": world.connect("box", None, "ball")}),
        "cast_rays": (world.cast_rays, {"origins": [[0, 0, 3]], "directions": [[0, 0, -1]]}),
        "command": (robot.command, {"efforts": [0.1], "over": 0.1}),
        "apply_wrench": (robot.apply_wrench, {"link": "rod"}),
        "push": (body.apply_wrench, {"force": [1, 0, 0]}),
        "deform_link": (robot.deform_link, {"link": "rod"}),
        "set_gains": (robot.set_gains, {"kp": 1.0, "kd": 1.0}),
        "set_joint_properties": (robot.set_joint_properties, {"friction": 0.1}),
        "link_pose": (robot.link_pose, {"link": "rod"}),
        "constraint_efforts": (robot.constraint_efforts, {"kind": None}),
        "Logger.save": (Logger(world).save, {"path": "a.npz"}),
        "Gait": (control.Gait, {}),
        "Steps": (control.Steps, {"count": 2}),
        "Footsteps": (control.Footsteps, {"steps": (control.Steps(2),)}),
        "scaled": (control.Footsteps((control.Steps(2),)).scaled, {"size": 1.0}),
        "BipedOptions": (control.BipedOptions, {}),
        "Channel": (control.Channel, {"times": TIMES, "values": np.zeros((5, 1))}),
        "MotionSequence": (control.MotionSequence, {"joint_names": ("j",), "pos": CHANNEL}),
        "at": (CHANNEL.at, {"times": [0.1]}),
        "Playback": (control.Playback, {}),
        "write_sequence": (control.write_sequence, {"sequence": SEQUENCE, "basename": "a"}),
        "find_controller": (control.find_controller, {"name": "hrpsim.control:Walk"}),
        "controlled_joints": (control.controlled_joints, {"model": model}),
        "prepare_biped": (control.prepare_biped, {"source": ARM}),
        "Unknown": (fitting.Unknown, {"start": 1.0}),
        "Recording": (
            fitting.Recording,
            {"time": TIMES, "joints": ["j"], "positions": [[0.0]] * 5},
        ),
        "Signal": (fitting.Signal, {"kind": "imu", "name": "i", "time": [0], "values": [[0] * 6]}),
        "NoiseLevels": (NoiseLevels, {}),
        "Design": (Design, {"parameters": {"a": {"values": [1]}}}),
        "Compound": (hrpsim.Compound, {"parts": [Box((1, 1, 1))]}),
        "Box": (Box, {"lengths": (1, 1, 1)}),
        "Sphere": (hrpsim.Sphere, {"radius": 1.0}),
        "HeightField": (hrpsim.HeightField, {"heights": np.zeros((3, 3)), "spacing": 1.0}),
        "Camera": (hrpsim.Camera, {}),
        "HeightScan": (hrpsim.HeightScan, {}),
        "ContactPad": (hrpsim.ContactPad, {}),
        "mass_matrix": (dynamics.mass_matrix, q),
        "energy": (dynamics.energy, moved),
        "forward_dynamics_derivatives": (
            dynamics.forward_dynamics_derivatives,
            {**moved, "tau": [0.0]},
        ),
        "link_jacobian": (dynamics.link_jacobian, {**q, "link": "rod"}),
    }


def outcomes(model: Any, world: World, wrong: list[Any]):
    """Yield call, argument, wrong value, and the error or None, for each argument of each call."""
    for name, (function, right) in calls(model, world).items():
        for argument, one in inspect.signature(function).parameters.items():
            if one.kind is one.VAR_POSITIONAL:
                continue
            for value in wrong:
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        function(**{**right, argument: value})
                except Exception as error:
                    yield name, argument, value, error
                else:
                    yield name, argument, value, None


def test_right_calls_are_accepted(model, world, tmp_path, monkeypatch):
    """Law: the calls of this file are right: else only their other arguments would be refused."""
    monkeypatch.chdir(tmp_path)
    for name, (function, right) in calls(model, world).items():
        if name != "prepare_biped":  # the arm has no legs
            function(**right)


def test_no_wrong_value_ends_in_an_internal_error(model, world, tmp_path, monkeypatch):
    """Law: each argument of each door takes a value, or refuses the value with an error of hrpsim.

    The error is one line below 2000 characters.
    """
    monkeypatch.chdir(tmp_path)
    raw = [
        f"{name}({argument}={value!r:.40}): {type(error).__name__}: {error!s:.90}"
        for name, argument, value, error in outcomes(model, world, WRONG)
        if error is not None
        and (not isinstance(error, HrpsimError) or len(str(error)) > 2000 or "\n" in str(error))
    ]
    assert not raw, "\n".join(raw)


UNBOUNDED = {("Camera", "far"), ("HeightScan", "max_range"), ("cast_rays", "max_range")}
UNBOUNDED |= {
    ("command", "over"),
    ("NoiseLevels", "seed"),
    ("NoiseLevels", "version"),
    ("at", "times"),
}


def test_huge_numbers_are_refused(model, world, tmp_path, monkeypatch):
    """Law: no door takes a number whose square overflows, but where infinity is allowed too."""
    monkeypatch.chdir(tmp_path)
    taken = {
        (name, argument)
        for name, argument, _, error in outcomes(model, world, [1e300, 10**400, [1e300] * 3])
        if error is None and not hasattr(dynamics, name)  # plain functions answer inf
    }
    assert taken <= UNBOUNDED


ONE_TEXT = [
    lambda w: load_model(ARM, base="fixed", package_paths="no_such_folder"),
    lambda w: load_model(ARM, base="fixed", package_paths=["no_such_folder"]),
    lambda w: control.MotionSequence("j", CHANNEL),
    lambda w: fitting.Unknown(1.0, paths="robots.arm.mass_factor"),
    lambda w: fitting.Recording(TIMES, joints="j", positions=np.zeros((5, 1))),
    lambda w: Logger(w, "q"),
]


@pytest.mark.parametrize("number", range(len(ONE_TEXT)))
def test_a_text_is_no_list_of_letters(world, number):
    with pytest.raises(HrpsimError):
        ONE_TEXT[number](world)


def test_equal_objects_are_refused_or_named(model):
    """Law: a second equal object at one place is named in a warning, a world of a batch refused."""
    world = World()
    world.add_ground()
    with pytest.warns(ModelWarning, match="is a Plane with the same size and pose as 'ground'"):
        world.add_ground()
    world.add_ground(-1.0)
    world.add_static(Box((1, 1, 1)), name="table")
    with pytest.warns(ModelWarning, match="is a Box with the same size and pose as 'table'"):
        world.add_static(Box((1, 1, 1)))
    assert len(world.fixed_shapes) == 5
    for name in "ab":
        world.add_body(Box((1, 1, 1)), 1.0, position=[5, 0, 0.5], name=name)
    world.connect("a", "b", "ball")
    with pytest.warns(ModelWarning, match="connection 'ball' joins the same frames already"):
        world.connect("a", "b", "ball")
    world.connect("a", "b", "ball", point=[5, 0, 1])
    with pytest.raises(HrpsimError, match="in the batch twice"):
        Batch.of([world, world])
    with pytest.warns(ModelWarning, match="'b' starts at the place of 'a'"):
        world.check_placed()
    post = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    arm = load_model(f'<robot name="arm"><link name="base">{post}</link></robot>', base="fixed")
    for k in range(2):  # equal robots side by side
        world.add_robot(arm, name=f"arm{k}", position=[0, 9 + 3 * k, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.check_placed()


@pytest.mark.parametrize("period", [0, 0.0, -1.0, float("inf")])
def test_a_period_is_positive(period):
    """Law: no door takes a period of 0 s, or none that ends."""
    from hrpsim.ros import UserCommand

    class Still(control.Controller):
        def control(self, state):
            return control.Command()

    Still.period = period
    robot = World().add_robot(load_model(ARM, base="fixed"))
    doors = [
        lambda: control.Playback(SEQUENCE, period),
        lambda: World(time_step=period),
        lambda: Logger(World(), every=period),
        lambda: UserCommand("true", period=period),
        lambda: control.ControlLoop(robot, Still()),
        lambda: hrpsim.HeightScan(spacing=period),
    ]
    for door in doors:
        with pytest.raises(HrpsimError):
            door()


def test_arguments_that_do_not_fit_are_named(world):
    """Law: a missing or unknown argument of a class is an error of hrpsim, with similar names."""
    doors = {
        "time_step": lambda: World(timestep=0.002),
        "every": lambda: Logger(world, evry=0.01),
        "world": Batch,
        "robot": lambda: control.ControlLoop(controller=None),
        "triangles": lambda: hrpsim.Mesh("cup.stl"),
        "radius": lambda: hrpsim.Sphere(raduis=0.1),
        "length": lambda: hrpsim.Cylinder(0.1),
    }
    for name, door in doors.items():
        with pytest.raises(HrpsimError, match=name) as error:
            door()
        assert isinstance(error.value, TypeError)


def test_names_that_an_object_does_not_have_are_named():
    """Law: reading an unknown attribute names similar attributes, and `hasattr` stays False."""
    world = World()
    with pytest.raises(HrpsimError, match=r"World has no attribute 'steps'. Did you mean 'step'"):
        world.steps  # noqa: B018
    assert not hasattr(world, "steps")
    assert getattr(world, "_nothing", None) is None
