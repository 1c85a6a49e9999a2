# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is hardly meant is refused, or warned of once, in the same words at all doors."""

import math
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ros.stand_ins import Log, Topic

import hrpsim
from hrpsim import Batch, Box, ModelWarning, World, WorldError, load_model, load_world
from hrpsim.control import Command, Controller, ControllerError, ControlLoop
from hrpsim.fitting import FitError, Recording
from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock
from hrpsim.ros.robot.joint_commands import JointCommands
from hrpsim.ros.robot.joint_trajectory import JointTrajectories
from hrpsim.ros.robot.placed_joints import PlacedJoints
from hrpsim.world.objects.plausibility import contradiction

ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<origin xyz="0 0 -0.3"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="j" type="revolute"><parent link="base"/><child link="rod"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="50" velocity="5"/></joint>
<hrpsim reference="j"><gains kp="60" kd="4"/></hrpsim></robot>"""
TWENTY = "position 20 of 'j' is not within -1 to 1 (if 20 degrees are meant, write 0.3491)"


def arm(world=None):
    return (world or World()).add_robot(load_model(ARM, base="fixed"))


def told(act) -> list[str]:
    """Return the ModelWarnings of an action."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(one.message) for one in caught if issubclass(one.category, ModelWarning)]


def sent(kind, message) -> list[str]:
    """Send a message to an input of the arm; return what is logged."""
    robot, topic, log = arm(), Topic(), Log()
    more = {JointCommands: (lambda names: None, log), JointTrajectories: (SimulationClock(0.001),)}
    one = kind(
        MessageQueue(topic), Rejections(log, Faults(lambda: log)), robot, *more.get(kind, ())
    )
    topic.arrived.append(message)
    assert told(one.poll) == []
    return log.lines


def state(**fields):
    return SimpleNamespace(**dict(name=["j"], position=(), velocity=(), effort=()) | fields)


def trajectory(*points):
    """Return a message from (time, position) or (time, position, velocity)."""
    found = [
        SimpleNamespace(
            time_from_start=SimpleNamespace(sec=int(t), nanosec=int(1e9 * (t % 1.0))),
            positions=[q],
            velocities=list(v),
            accelerations=(),
            effort=(),
        )
        for t, q, *v in points
    ]
    stamp = SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=0))
    return SimpleNamespace(joint_names=["j"], header=stamp, points=found)


def world_file(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    file = tmp_path / "arm.yaml"
    file.write_text("robots: [{name: arm, urdf: arm.urdf, base: fixed, joints: {j: 20}}]\n")
    return file


def moved_to(value):
    robot = arm()
    robot.q = [value]
    robot.world.step()


def added_at(value):
    world = World()
    world.add_robot(load_model(ARM, base="fixed"), q=[value])
    world.step()


def in_a_batch(value):
    with Batch(arm().world, 2) as batch:
        batch.command("arm", positions=[[value], [0.0]])


def by_a_controller(value):
    class Wrong(Controller):
        def control(self, state):
            return Command(positions=np.array([value]))

    with ControlLoop(arm(), Wrong()) as loop:
        loop.tick()


WARNING_DOORS = {
    "command": lambda path: arm().command(positions=[20.0]),
    "batch": lambda path: in_a_batch(20.0),
    "controller": lambda path: by_a_controller(20.0),
    "q": lambda path: moved_to(20.0),
    "add_robot": lambda path: added_at(20.0),
    "world file": lambda path: load_world(world_file(path)),
}
LOGGING_DOORS = {
    "joint_commands": (JointCommands, state(position=[20.0])),
    "set_joint_states": (PlacedJoints, state(position=[20.0])),
    "joint_trajectory": (JointTrajectories, trajectory((1.0, 20.0))),
}


@pytest.mark.parametrize("door", WARNING_DOORS)
def test_degrees_are_warned_of_once_by_name_at_every_door(tmp_path, door):
    (text,) = told(lambda: WARNING_DOORS[door](tmp_path))
    assert "'arm'" in text and TWENTY in text


@pytest.mark.parametrize("door", LOGGING_DOORS)
def test_degrees_have_the_same_words_over_ros(door):
    (line,) = sent(*LOGGING_DOORS[door])
    assert TWENTY in line


def test_a_recording_in_degrees_is_refused_in_the_same_words(tmp_path):
    world_file(tmp_path).write_text("robots: [{name: arm, urdf: arm.urdf, base: fixed}]\n")
    time = 0.01 * np.arange(100)
    path = "robots.arm.joints.j.damping"
    for columns in (
        {"positions": 20.0 * np.cos(time)[:, None]},
        {"positions": time[:, None], "command_time": time, "command_positions": [[20.0]] * 100},
    ):
        recording = Recording(time, ("j",), **columns)
        with pytest.raises(FitError) as refused:
            hrpsim.fit(tmp_path / "arm.yaml", [recording], {path: 0.1})
        assert TWENTY in str(refused.value)


def test_each_joint_and_kind_of_target_is_told_once():
    """Law: the same target is told once, another kind again; limits hold all the while."""
    robot = arm()
    assert len(told(lambda: robot.command(positions=[1.5]))) == 1
    assert told(lambda: robot.command(positions=[1.7])) == []
    (text,) = told(lambda: robot.command(efforts=[60.0]))
    assert "effort 60 of 'j' is not within -50 to 50" in text
    (text,) = told(lambda: robot.command(velocities=[-6.0]))
    assert "velocity -6 of 'j' is not within -5 to 5" in text
    for command in ({"positions": [1.0]}, {"velocities": [5.0]}, {"efforts": [-50.0]}):
        assert told(lambda command=command: arm().command(**command)) == []


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ([(1.0, 0.5), (2.0, 1.2)], "point 1: position 1.2 of 'j' is not within -1 to 1"),
        ([(1.0, 0.5, 9.0), (2.0, 0.5, 0.0)], "point 0: velocity 9 of 'j' is not within -5 to 5"),
        (
            [*((t, 0.01 * t, 0.57) for t in (1.0, 2.0, 3.0)), (4.0, 0.04, 0.0)],
            "joint 'j': velocities contradict positions, which change 0.0203 times as fast",
        ),
        ([(1.0, 0.5, 0.4)], "the last point has the velocity 0.4 of joint 'j'. It must be 0"),
    ],
)
def test_trajectories_beyond_limits_are_refused(points, text):
    (line,) = sent(JointTrajectories, trajectory(*points))
    assert line.startswith("/joint_commands rejected") and text in line


def test_trajectories_within_limits_are_followed():
    for points in ([(1.0, 1.0)], [(0.5, 0.2, 0.4), (1.0, 0.4, 0.4), (1.5, 0.4, 0.0)]):
        assert sent(JointTrajectories, trajectory(*points)) == []


def test_a_velocity_contradicts_positions_by_a_factor_alone():
    """Law: sines with their derivatives agree, at noise and few samples; factors are named."""
    time = np.linspace(0.0, 3.0, 40)
    q, v = np.sin(2.0 * time), 2.0 * np.cos(2.0 * time)
    noise = np.random.default_rng(0).normal(0.0, 0.1, (2, 40))
    assert contradiction(time, q, v) == contradiction(time, q + noise[0], v + noise[1]) == ""
    assert contradiction(time, q, 0.0 * v) == contradiction(time[:2], q[:2], v[:2]) == ""
    assert "change 0.0175 times" in contradiction(time, q, np.degrees(v))
    assert "change 57.4 times" in contradiction(time, np.degrees(q), v)
    assert "change -1 times" in contradiction(time, q, -v)


@pytest.mark.parametrize("put", ["add_body", "position", "q", "batch"])
def test_a_body_in_the_floor_is_told_of_once_before_the_next_step(put):
    """Law: a box of 0.3 m at height 0 is 0.15 m deep; whichever way it came there."""
    world = World()
    world.add_ground()
    box = world.add_body(Box((0.3, 0.3, 0.3)), 1.0, position=(0, 0, 0.2 * (put != "add_body")))
    step = world.step
    if put == "position":
        box.position = (0, 0, 0)
    elif put == "q":
        box.q = [0, 0, 0, 0, 0, 0, 1]
    elif put == "batch":
        batch = Batch(world, 2)
        batch.worlds[1].bodies["box"].position = (0, 0, 0)
        step = batch.step
    (text,) = told(step)
    assert text.startswith("'box' starts 0.15 m inside 'world/ground', with 'box'")
    box.position = (0, 0, 0)
    assert told(step) == [] or put == "batch"


def test_what_lies_on_the_floor_is_not_told_of():
    world = World()
    world.add_ground()
    box = world.add_body(Box((0.3, 0.3, 0.3)), 1.0, position=(0, 0, 0.149))
    arm(world).q = [1.0]
    assert told(world.step) == []
    box.position = (0, 0, 5)
    assert told(world.step) == []


@pytest.mark.parametrize("period", [200, 50.0, 12.0])
def test_a_period_in_hertz_is_refused_with_the_period(period):
    class Wrong(Controller):
        def control(self, state):
            return Command(positions=state.joint_positions)

    controller = Wrong()
    controller.period = period
    with pytest.raises(ControllerError, match=f"Wrong is {period:g} s.* Hz {1 / period:g}$"):
        ControlLoop(arm(), controller)
    controller.period = 5.0
    (text,) = told(lambda: ControlLoop(arm(), controller))
    assert "If 5 ms are meant, write 0.005" in text


@pytest.mark.parametrize("name", ["perod", "peroid", "need", "finsihed"])
def test_a_misspelt_attribute_of_a_controller_is_refused(name):
    """Law: names that resemble the interface are refused unless declared; all others are free."""

    class Own(Controller):
        periods: list

        def __init__(self):
            self.periods, self.gain, self.initialized = [], 1.0, True

        def control(self, state):
            return Command()

    with pytest.raises(AttributeError, match=f"no attribute {name!r}. Did you mean"):
        setattr(Own(), name, 0.01)
    with pytest.raises(AttributeError, match=f"no attribute {name!r}. Did you mean"):
        type("Wrong", (Own,), {name: 0.01})
    with pytest.raises(AttributeError, match="Did you mean 'initialize'"):
        type("Wrong", (Own,), {"initialise": lambda self, state: None})


def recorded(tmp_path, **changes):
    """Return a recording of the arm with damping 0.3, and the fit of it."""
    world_file(tmp_path).write_text("robots: [{name: arm, urdf: arm.urdf, base: fixed}]\n")
    robot = load_world(tmp_path / "arm.yaml").robots["arm"]
    robot.set_joint_properties(damping=0.3)
    rows = []
    for k in range(150):
        target = 0.5 * math.sin(0.1 * k)
        rows.append((robot.world.time, robot.q[0], robot.v[0], target))
        robot.command(positions=[target])
        robot.world.step(20)
    time, q, v, target = np.array(rows).T
    columns = dict(positions=q[:, None], velocities=v[:, None])
    columns |= dict(command_time=time, command_positions=target[:, None])
    return Recording(**dict(time=time, joints=("j",)) | columns | changes)


def fitted(tmp_path, recording, **options):
    path = "robots.arm.joints.j.damping"
    return hrpsim.fit(tmp_path / "arm.yaml", [recording], {path: 0.1}, **options)


def test_a_fit_says_what_it_explains(tmp_path):
    result = fitted(tmp_path, recorded(tmp_path))
    assert result.explains and result.explained() > 0.999
    assert result.verdict().startswith("The model explains 100 % of the measured motion.")
    assert result.values[0] == pytest.approx(0.3, rel=1e-2)


def test_a_fit_that_explains_nothing_says_so(tmp_path):
    """Law: with the sign of the commands turned, or without them, the share is below nothing."""
    good = recorded(tmp_path)
    for wrong in (
        {"command_positions": -good.command_positions},
        {"command_time": None, "command_positions": None},
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = fitted(tmp_path, recorded(tmp_path, **wrong))
        assert not result.explains and " 0 % of the measured motion. The values" in result.verdict()
        assert "robots.arm.joints.j.damping is not determined" in result.verdict()
        missing = any("has no commands of j" in str(one.message) for one in caught)
        assert missing == ("command_time" in wrong)


@pytest.mark.parametrize(
    ("change", "options", "text"),
    [
        (lambda r: {"time": 1e3 * r.time}, {}, "the interval of samples is 20 s.*write 0.02"),
        (lambda r: {"velocities": np.degrees(r.velocities)}, {}, "contradict positions"),
        (lambda r: {}, {"window": 500.0}, r"window is 500 s, longer.*write 0.5"),
    ],
)
def test_recordings_in_other_units_are_refused(tmp_path, change, options, text):
    good = recorded(tmp_path)
    changes = change(good)
    if "time" in changes:
        changes["command_time"] = changes["time"]
    with pytest.raises(FitError, match=text):
        fitted(tmp_path, recorded(tmp_path, **changes), **options)


def test_a_policy_of_degrees_is_warned_of_in_the_same_words():
    limits = arm().limits
    assert limits.beyond(["j"], {"positions": np.array([20.0])}) == [TWENTY]
    with pytest.raises(WorldError):
        arm().place([np.inf])


def of_gravity(gravity):
    World().gravity = gravity


def with_body(size=0.1, mass=1.0, velocity=(0.0, 0.0, 0.0), orientation=(0.0, 0.0, 0.0, 1.0)):
    world = World()
    world.add_body(Box((size, size, size)), mass, (0.0, 0.0, size), orientation, velocity)
    world.step()


def with_robot(**changes):
    text = ARM
    for old, new in changes.values():
        text = text.replace(old, new)
    world = World()
    world.add_robot(load_model(text, base="fixed"))
    world.step()


def from_world_file(path, text):
    (path / "w.yaml").write_text(text)
    load_world(path / "w.yaml").step()


BOX = "bodies: [{shape: {box: [%s, %s, %s]}, mass: %s, position: [0, 0, 1], orientation: [%s]}]"
INERTIA = ('ixx="0.02" iyy="0.02" izz="0.02"', 'ixx="2e4" iyy="2e4" izz="2e4"')
MASS = ('<mass value="1"/>', '<mass value="5e6"/>')
SHAPE = (
    "</inertial>",
    "</inertial><collision><geometry><box size='300 9 9'/></geometry></collision>",
)
IMPLAUSIBLE = {
    "upward": (lambda path: World(gravity=(0, 0, 9.81)), "gravity (0, 0, 9.81) points upward"),
    "upward later": (lambda path: of_gravity((0, 0, 9.81)), "gravity (0, 0, 9.81) points upward"),
    "mm/s^2": (lambda path: World(gravity=(0, 0, -9810)), "The unit is m/s^2"),
    "heavy": (lambda path: with_body(mass=1e9), "denser than any metal"),
    "mm": (lambda path: with_body(size=100.0), "lighter than gas. Sizes are in m"),
    "mm in a file": (
        lambda path: from_world_file(path, BOX % (100, 100, 100, 1, "0, 0, 0, 1")),
        "lighter than gas. Sizes are in m",
    ),
    "w x y z": (lambda path: with_body(orientation=(1, 0, 0, 0)), "The order is x y z w"),
    "w x y z in a file": (
        lambda path: from_world_file(path, BOX % (1, 1, 1, 1e3, "1, 0, 0, 0")),
        "The order is x y z w",
    ),
    "mm/s": (lambda path: with_body(velocity=(1000, 0, 0)), "1000 m/s"),
    "rough": (lambda path: World().set_friction("a", "default", 50.0), "is 50. Coefficients"),
    "rough in a file": (
        lambda path: from_world_file(
            path, "ground: {}\nfriction: [{between: [default, default], static: 50}]"
        ),
        "is 50. Coefficients",
    ),
    "ramp": (lambda path: arm().command(positions=[0.5], over=200), "over is 200 s, too long"),
    "ramp in a batch": (
        lambda path: Batch(arm().world, 2).command("arm", positions=[[0.5]] * 2, over=200),
        "over is 200 s, too long",
    ),
    "gains": (lambda path: arm().set_gains(4.0, 600.0), "kp 4 and kd 600 of 'j'"),
    "g mm^2": (lambda path: with_robot(inertia=INERTIA), "Moments are in kg m^2"),
    "mg": (lambda path: with_robot(mass=MASS), "Masses are in kg"),
    "mesh in mm": (lambda path: with_robot(shape=SHAPE), "'rod' 300 m long. Sizes are in m"),
    "slow": (lambda path: arm().command(velocities=[0.5]), "may be slower by"),
    "slow in a batch": (
        lambda path: Batch(arm().world, 1).command("arm", velocities=[[0.5]]),
        "may be slower by",
    ),
    "limits": (
        lambda path: with_robot(limit=('lower="-1" upper="1"', 'lower="-90" upper="90"')),
        "joint 'j': limits such as -90 to 90 rad are over two turns: if -90 degrees are meant",
    ),
    "rpy": (
        lambda path: with_robot(rpy=('<origin xyz="0 0 -0.3"/>', '<origin rpy="0 90 0"/>')),
        "rpy 90 is more than a turn: if 90 degrees are meant, write 1.571",
    ),
    "pose": (
        lambda path: with_robot(
            pose=(
                "<hrpsim",
                "<gazebo reference='rod'><sensor name='i' type='imu'><pose>0 0 0 90 0 0</pose>"
                "</sensor></gazebo><hrpsim",
            )
        ),
        "angle of a <pose> 90 is more than a turn",
    ),
}


@pytest.mark.parametrize("mistake", IMPLAUSIBLE)
def test_other_units_signs_and_orders_are_warned_of_once(tmp_path, mistake):
    """Law: one warning names the value and the cure."""
    act, text = IMPLAUSIBLE[mistake]
    (told_text,) = told(lambda: act(tmp_path))
    assert text in told_text


@pytest.mark.parametrize(
    "act",
    [
        lambda: World(gravity=(0.0, -9.81, 0.0)),
        lambda: with_body(size=0.5, mass=2.0, velocity=(20.0, 0.0, 0.0)),
        lambda: with_body(orientation=(-1, 0, 0, 0)),
        lambda: World().set_friction("a", "default", 1.5),
        lambda: arm().command(positions=[0.5], over=5.0),
        lambda: arm().set_gains(0.0, 5.0),
        lambda: arm(World(gravity=(0.0, 0.0, 0.0))).command(velocities=[0.5]),
        lambda: arm().command(velocities=[4.0], efforts=[2.0]),
        lambda: with_robot(limit=('lower="-1" upper="1"', 'lower="-12.56" upper="12.56"')),
        lambda: with_robot(rpy=('<origin xyz="0 0 -0.3"/>', '<origin rpy="0 -6.283 0"/>')),
    ],
)
def test_plausible_values_are_not_warned_of(act):
    assert told(act) == []


def test_a_velocity_that_is_not_reached_has_the_same_words_over_ros():
    (line,) = sent(JointCommands, state(velocity=[0.5]))
    (warning,) = told(lambda: arm().command(velocities=[0.5]))
    assert warning.removeprefix("robot 'arm': ") in line


@pytest.mark.parametrize(
    "text, said",
    [
        (
            '<mujoco><worldbody><body><joint name="a" range="-1.57 1.57"/><geom size=".1"/><body>'
            '<joint name="b" range="-3.14 3.14"/><geom size=".1"/></body></body></worldbody>'
            "</mujoco>",
            "no limit of 2 rotations is over 0.0548 rad",
        ),
        (
            '<mujoco><worldbody><body><joint range="-1.57 1.57"/><geom size=".1"/></body>'
            "</worldbody></mujoco>",
            "no limit of 1 rotation is over 0.0274 rad",
        ),
        (
            '<mujoco><worldbody><body name="x" euler="1.5708 0 0"><joint/><geom size=".1"/></body>'
            "</worldbody></mujoco>",
            "euler (1: x): read in degrees",
        ),
        (
            '<mujoco><compiler angle="radian"/><worldbody><body><joint name="a" range="-90 90"/>'
            '<geom size=".1"/></body></worldbody></mujoco>',
            "-90 to 90 rad are over two turns",
        ),
    ],
)
def test_degrees_and_radians_of_an_mjcf_are_told_apart(text, said):
    pytest.importorskip("mujoco")
    (told_text,) = told(lambda: load_model(text))
    assert said in told_text


def test_a_world_gives_its_robots_by_name_and_names_the_cure_of_wrong_arguments():
    world = World()
    robot = arm(world)
    assert world["arm"] is robot
    for act, text in (
        (lambda: world["arn"], "Did you mean 'arm'"),
        (lambda: World("stand.yaml"), "Use `load_world` for a world file"),
        (lambda: Batch(robot, 2), "a batch copies a World"),
        (lambda: hrpsim.Sphere("0.1"), "radius must be positive"),
        (lambda: load_model(Path("foot.stl")), "is a mesh"),
    ):
        with pytest.raises(hrpsim.common.errors.HrpsimError, match=text):
            act()
