# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a robot and a world refuse, and that nothing changes then."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world.scenes import joint_text, one_joint

from hrpsim import Box, ModelWarning, Sphere, StateError, World, WorldError, load_model
from hrpsim.engine.step.scene.status import LARGEST_COMMAND

PAIR = """<robot name="pair">
  <link name="base"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="a"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hip" type="continuous"><parent link="base"/><child link="a"/></joint>
  <joint name="knee" type="continuous"><parent link="base"/><child link="b"/></joint>
  <hrpsim reference="hip"><gains kp="100" kd="10"/></hrpsim>
</robot>"""


def pair(base: str = "fixed"):
    world = World()
    return world, world.add_robot(load_model(PAIR, base=base))


BAD_COMMANDS = {
    "unknown joint": (dict(positions=[0.1], names=["hop"]), r"'hop'.*hip"),
    "NaN": (dict(positions=[np.nan], names=["hip"]), r"'hip'.*nan"),
    "NaN velocity": (dict(velocities=[np.nan], names=["hip"]), r"velocities for joint 'hip'.*nan"),
    "infinite": (dict(efforts=[0.0, np.inf]), r"'knee'.*inf"),
    "too long": (dict(positions=[0.1, 0.2], names=["hip"]), r"must be 1 numbers.*\(2,\)"),
    "too short": (dict(efforts=[0.1]), r"must be 2 numbers.*\(1,\)"),
    "negative kp": (dict(positions=[0.1], names=["hip"], kp=-1.0), r"kp.*'hip'.*negative"),
    "NaN in kd": (dict(positions=[0.1], names=["hip"], kd=[np.nan]), r"kd.*'hip'.*nan"),
    "too many kp": (dict(positions=[0.1], names=["hip"], kp=[1.0, 2.0]), r"kp.*must be 1 numbers"),
    "gains of zero": (dict(positions=[0.1], names=["hip"], kp=0.0, kd=0.0), r"'hip'.*has no gains"),
    "two at once": (dict(positions=[[0.1, 0.2]]), r"must be 2 numbers.*\(1, 2\)"),
    "too large": (dict(efforts=[1e308], names=["hip"]), r"efforts for joint 'hip'.*at most 1e\+12"),
    "too large kp": (dict(positions=[0.1], names=["hip"], kp=1e308), r"kp.*'hip'.*at most 1e\+50"),
    "repeated": (dict(efforts=[1, 2], names=["knee", "knee"]), r"'knee' is named twice"),
    "no gains": (dict(positions=[0.1], names=["knee"]), r"'knee'.*no gains"),
    "velocity without gains": (dict(velocities=[0.1], names=["knee"]), r"'knee'.*no gains"),
    "text": (dict(positions=["far"], names=["hip"]), r"must be numbers"),
    "nothing": (dict(names=["hip"]), r"needs positions, velocities or efforts"),
    "one good, one bad": (dict(positions=[0.5, 1], efforts=[1, np.nan]), r"'knee'.*nan"),
}


@pytest.mark.parametrize("command, message", BAD_COMMANDS.values(), ids=BAD_COMMANDS)
def test_a_bad_command_is_refused_and_the_last_one_stays(command, message):
    world, robot = pair()
    robot.command(positions=[0.3], velocities=[0.1], names=["hip"])
    robot.command(efforts=[0.2], names=["knee"])
    before = robot._control().copy()
    with pytest.raises(StateError, match=message):
        robot.command(**command)
    assert (robot._control() == before).all()
    world.step()
    assert robot.joint_efforts[robot.joint_names.index("knee")] == 0.2


VALUES = st.sampled_from([np.nan, np.inf, -0.3, 0.0, 0.2])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=2, max_size=2),
    st.sets(st.sampled_from(["positions", "velocities", "efforts"]), min_size=1),
)
def test_nan_holds_commands_each_joint_by_what_it_is_given(rows, arguments):
    """Law: it does what a command for each joint does with its values that are no NaN, or nothing.

    Where one of these commands is refused, all are.
    """
    values = dict(zip(("positions", "velocities", "efforts"), np.array(rows).T))
    values = {argument: values[argument] for argument in sorted(arguments)}
    (_, one), (_, whole) = pair(), pair()
    for robot in (one, whole):
        robot.command(positions=[0.1], velocities=[0.2], names=["hip"])
    before = whole._control().copy()
    refused = False
    for k, name in enumerate(["hip", "knee"]):
        given = {a: [v[k]] for a, v in values.items() if not np.isnan(v[k])}
        try:
            if given:
                one.command(names=[name], **given)
        except StateError:
            refused = True
    if refused:
        with pytest.raises(StateError, match=r"'hip'|'knee'"):
            whole.command(names=["hip", "knee"], nan_holds=True, **values)
        assert (whole._control() == before).all()
    else:
        whole.command(names=["hip", "knee"], nan_holds=True, **values)
        assert (whole._control() == one._control()).all()


def test_a_command_lasts_until_the_next_for_its_joint():
    world, robot = pair()
    robot.command(positions=[0.3], names=["hip"])
    robot.command(efforts=[0.2], names=["knee"])
    world.step(2000)
    hip, knee = (robot.joint_names.index(n) for n in ("hip", "knee"))
    assert robot.joint_positions[hip] == pytest.approx(0.3, abs=1e-3)
    assert robot.joint_velocities[knee] == pytest.approx(0.2 * 2.0 / 0.1, rel=1e-6)


def test_gains_are_checked():
    _, robot = pair()
    with pytest.raises(StateError, match="must not be negative"):
        robot.set_gains(-1.0, 0.0)
    with pytest.raises(StateError, match=r"'knee'.*nan"):
        robot.set_gains([1.0, np.nan], 1.0, names=["hip", "knee"])
    with pytest.raises(StateError, match="'hop'"):
        robot.set_gains(1.0, 1.0, names=["hop"])
    robot.set_gains(5.0, 1.0, names=["knee"])
    robot.command(positions=[0.1], names=["knee"])


BAD_STATES = {
    "short": [0.0] * 8,
    "NaN": [0, 0, np.nan, 0, 0, 0, 1, 0, 0],
    "zero quaternion": [0, 0, 0, 0, 0, 0, 0, 0, 0],
    "text": ["x"] * 9,
}


@pytest.mark.parametrize("q", BAD_STATES.values(), ids=BAD_STATES)
def test_a_bad_configuration_is_refused(q):
    world, robot = pair("free")
    before = robot.q
    with pytest.raises(StateError, match="q of 'pair'"):
        robot.q = q
    with pytest.raises(StateError, match="q of"):
        world.add_robot(robot.model, q=q, name="second")
    assert (robot.q == before).all()
    assert list(world.robots) == ["pair"]


def test_a_quaternion_is_normalised():
    _, robot = pair("free")
    robot.q = [0, 0, 1, 0, 0, 0.6, 0.9, 0, 0]
    assert np.linalg.norm(robot.q[3:7]) == pytest.approx(1.0, abs=1e-15)


def test_bad_velocities_and_efforts_are_refused():
    _, robot = pair("free")
    with pytest.raises(StateError, match=r"v of 'pair'\[2\] is nan"):
        robot.v = [0, 0, np.nan, 0, 0, 0, 0, 0]
    with pytest.raises(StateError, match=r"\(8,\)"):
        robot.v = [0.0]
    with pytest.raises(StateError, match="free base has no actuator"):
        robot.tau = [1, 0, 0, 0, 0, 0, 0, 0]
    with pytest.raises(StateError, match=r"tau of 'pair'"):
        robot.tau = [1.0]


def test_states_that_are_read_cannot_be_written_to():
    """robot.q[0] = 1 would change a copy: it raises instead."""
    _, robot = pair("free")
    for array in (robot.q, robot.v, robot.tau, robot.joint_positions, robot.joint_velocities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_velocities_and_configurations_read_back_as_set():
    world, robot = pair("free")
    q = np.array([1, 2, 3, 0.1, 0.2, 0.3, 0.927361849549570, 0.4, 0.5])
    v = np.arange(1.0, 9.0)
    robot.q = q
    robot.v = v
    np.testing.assert_allclose(robot.q, q, atol=1e-12)
    np.testing.assert_allclose(robot.v, v, atol=1e-12)
    body = world.add_body(Sphere(0.1), 1.0, orientation=q[3:7], velocity=(1, 2, 3))
    np.testing.assert_allclose(body.velocity, (1, 2, 3), atol=1e-12)


BAD_WORLDS = {
    "zero step": (dict(time_step=0.0), "time_step must be positive"),
    "negative step": (dict(time_step=-1e-3), "time_step must be positive"),
    "NaN step": (dict(time_step=np.nan), "time_step must be positive"),
    "integrator": (dict(integrator="rk5"), "'rk5'.*semi_implicit.*rk4"),
    "tolerance": (dict(tolerance=0.0), "tolerance must be positive"),
    "accuracy": (dict(accuracy="good"), "'good'.*fast.*standard.*exact"),
    "both": (dict(accuracy="fast", tolerance=1e-3), "give only one of tolerance=0.001 and acc"),
    "stop": (dict(accuracy="fast", stop="relative_change"), "needs stop='residual'"),
    "sweeps": (dict(sweep_limit=0), "sweep_limit must be at least 1"),
}


@pytest.mark.parametrize("options, message", BAD_WORLDS.values(), ids=BAD_WORLDS)
def test_a_bad_world_is_refused(options, message):
    with pytest.raises(WorldError, match=message):
        World(**options)


def test_bad_gravity_steps_names_and_friction_are_refused():
    with pytest.raises(StateError, match=r"gravity.*\(3,\)"):
        World(gravity=(0.0, 1.0))
    world = World()
    with pytest.raises(WorldError, match="normal"):
        world.add_ground(normal=(0, 0, 0))
    world.add_body(Box((1, 1, 1)), 1.0, name="crate")
    with pytest.raises(WorldError, match="'crate'"):
        world.add_body(Box((1, 1, 1)), 1.0, name="crate")
    assert world.add_body(Box((1, 1, 1)), 1.0).name == "box"
    assert world.add_body(Box((1, 1, 1)), 1.0).name == "box_2"
    for n in (-1, 1.5, np.nan, np.inf):
        with pytest.raises(WorldError, match="whole number"):
            world.step(n)
    for coefficients in (dict(static=-0.1), dict(static=0.5, kinetic=0.6), dict(static=np.nan)):
        with pytest.raises(WorldError, match="friction of 'a' on 'b'"):
            world.set_friction("a", "b", **coefficients)
    with pytest.raises(WorldError, match="restitution"):
        world.set_friction("a", "b", static=0.5, restitution=1.1)


@pytest.mark.parametrize(
    "options",
    [dict(mass=0.0), dict(mass=-1.0), dict(mass=np.nan), dict(mass=1.0, position=(0, 0))],
    ids=["massless", "negative", "NaN", "plane position"],
)
def test_a_bad_body_is_refused(options):
    world = World()
    with pytest.raises(Exception, match=r"mass|position") as caught:
        world.add_body(Box((1, 1, 1)), **options)
    assert type(caught.value).__module__ == "hrpsim.common.errors"
    assert not world.bodies
    world.step()


def test_a_push_of_an_unknown_link_is_refused():
    _, robot = pair()
    with pytest.raises(Exception, match="'hand'"):
        robot.apply_wrench("hand", force=(1, 0, 0))
    with pytest.raises(StateError, match="force"):
        robot.apply_wrench("a", force=(1, 0, np.nan))
    with pytest.raises(WorldError, match="fixed to the world"):
        robot.apply_wrench("base", force=(1, 0, 0))


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "euler"])
def test_a_world_that_diverges_says_so_and_keeps_the_state_before(integrator):
    world = World(integrator=integrator)
    world.add_ground()
    crate = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1), name="crate")
    other = world.add_body(Sphere(0.1), 1.0, position=(1, 0, 2.0))
    world.step(100)
    q, v, time = crate.q, crate.v, world.time
    falling = other.q
    for _ in range(2):
        world.add_wrench(0, (0.05, 0, 0), (1e308, 1e308, 0), (0, 0, 0))  # more than a user may
    with pytest.raises(WorldError, match=r"not finite.*'crate'|not finite"):
        world.step(5)
    assert (crate.q == q).all() and (crate.v == v).all() and (other.q == falling).all()
    assert world.time == time
    world.step(100)  # the push is over: it goes on
    assert np.isfinite(crate.q).all()
    assert np.isfinite([c.force for c in world.contacts]).all()
    assert np.abs(crate.q - q).max() < 1e-6


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "euler"])
def test_the_state_stays_finite_when_a_later_step_fails(integrator):
    """1e308 N for five steps: one may still be done; the last that could be is kept."""
    world = World(integrator=integrator)
    crate = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, name="crate")
    world.add_wrench(0, (0.1, 0, 0), (1e308, 1e308, 0), (0, 0, 0))
    with pytest.raises(WorldError, match="not finite"):
        world.step(500)
    assert np.isfinite(crate.q).all() and np.isfinite(crate.v).all()
    assert world.time < 0.5


def test_a_joint_that_moves_no_inertia_is_named():
    text = joint_text(mass=1.0, at="0 0 0", axis="0 0 1")
    text = text.replace('ixx="0.01" iyy="0.01" izz="0.01"', 'ixx="0" iyy="0" izz="0"')
    try:
        model = load_model(text, base="fixed")
    except Exception as error:  # refused earlier is as good
        assert "arm" in str(error) or "inertia" in str(error)
        return
    world = World()
    world.add_robot(model)
    with pytest.raises(WorldError, match=r"'j'.*no positive inertia"):
        world.step()


def test_the_reference_of_another_world_is_not_mixed_up():
    """A snapshot belongs to one world with one set of entities."""
    world = World()
    world.add_robot(one_joint())
    kept = world.snapshot()
    world.add_body(Sphere(0.1), 1.0)
    with pytest.raises(WorldError, match="snapshot"):
        world.restore(kept)


KINDS = ("positions", "velocities", "efforts")


def expected_control(robot, before, command):
    """What a command makes of the actuators, joint by joint, as the docstring says."""
    after = before.copy()
    names = command.get("names") or robot.joint_names
    kp, kd = robot.gains
    for k, name in enumerate(names):
        place = robot.joint_names.index(name)
        law = after[robot.joint_index.v[place]]
        value = {what: command[what][k] for what in command if what != "names"}
        if "positions" in value:
            law["kp"], law["ramp"] = kp[place], 0.0
        else:
            law["kp"] = 0.0
        law["target_position"] = value.get("positions", 0.0)
        law["kd"] = kd[place] if "positions" in value or "velocities" in value else 0.0
        law["target_velocity"] = value.get("velocities", 0.0)
        law["effort"], law["ramp_steps"] = value.get("efforts", 0.0), 0
        law["given"] = sum({"positions": 1, "velocities": 2, "efforts": 4}[what] for what in value)
    return after


@settings(max_examples=40)
@given(data=st.data())
def test_a_command_sets_what_it_names_and_nothing_else(data):
    """Any joints in any order, any of positions, velocities, efforts, from lists or arrays."""
    world, robot = pair("free")
    robot.set_gains([50.0, 100.0], [5.0, 10.0])
    world.step(3)
    numbers = st.floats(-LARGEST_COMMAND, LARGEST_COMMAND)
    for _ in range(3):
        names = data.draw(st.permutations(robot.joint_names))[: data.draw(st.integers(1, 2))]
        whats = data.draw(
            st.lists(
                st.sampled_from(["positions", "velocities", "efforts"]), min_size=1, unique=True
            )
        )
        command = {what: [data.draw(numbers) for _ in names] for what in whats}
        if len(names) == 2 and data.draw(st.booleans()):
            names = None
        wanted = expected_control(robot, robot._control(), command | {"names": names})
        if data.draw(st.booleans()):  # every second entry of a longer array
            command = {k: np.repeat(values, 2)[::2] for k, values in command.items()}
        robot.command(**command, names=names)
        for field in wanted.dtype.names:
            assert (robot._control()[field] == wanted[field]).all(), field


def test_a_list_of_names_that_changes_is_read_anew():
    _, robot = pair()
    names = ["hip"]
    robot.command(efforts=[1.0], names=names)
    names[0] = "knee"
    robot.command(efforts=[2.0], names=names)
    efforts = {n: robot._control()["effort"][robot.joint_names.index(n)] for n in ("hip", "knee")}
    assert efforts == {"hip": 1.0, "knee": 2.0}
    robot.command(efforts=[3.0, 4.0], names=np.array(["knee", "hip"]))
    assert robot._control()["effort"].tolist() == [4.0, 3.0]


def test_copies_are_commanded_by_themselves():
    """What a robot made ready for its commands is not that of a copy, nor of a world made anew."""
    world, robot = pair()
    robot.command(efforts=[0.1, 0.2])
    copied, unpickled = world.copy(), pickle.loads(pickle.dumps(world))
    for other in (copied, unpickled):
        other.robots["pair"].command(efforts=[1.0, 2.0])
        assert other.scene.control["effort"].tolist() == [1.0, 2.0]
    assert world.scene.control["effort"].tolist() == [0.1, 0.2]
    world.add_body(Sphere(0.1), 1.0)
    robot.command(efforts=[0.3, 0.4])
    assert world.scene.control["effort"][:2].tolist() == [0.3, 0.4]
    world.remove(robot)
    with pytest.raises(WorldError, match="removed"):
        robot.command(efforts=[0.0, 0.0])


def test_a_name_is_a_list_of_one():
    """names="hip" is names=["hip"], in every method."""
    _, robot = pair()
    robot.command(positions=[0.3], names="hip")
    assert robot._control()["target_position"].tolist() == [0.3, 0.0]
    robot.set_gains(5.0, 0.5, names="knee")
    assert robot.gains[0].tolist() == [100.0, 5.0]
    robot.set_joint_properties("knee", damping=2.0)
    assert robot.joint_properties()["damping"].tolist() == [0.0, 2.0]
    robot.lock("hip")
    assert robot.locked == ("hip",)
    with pytest.raises(StateError, match="Did you mean 'hip'"):
        robot.command(positions=[0.3], names="hop")


def test_what_is_read_may_be_assigned():
    """Law: a part of the state reads back as it was set, and the other parts do not change."""
    world, robot = pair("free")
    body = world.add_body(Box((0.1, 0.2, 0.3)), 2.0, velocity=(1, 2, 3), angular_velocity=(4, 5, 6))
    parts = {"position": [1, 2, 3], "orientation": [0.5, -0.5, 0.5, 0.5], "velocity": [3, 1, 2]}
    parts |= {"angular_velocity": [-1, 0.5, 2]}
    for name, value in parts.items():
        before = {other: getattr(body, other).copy() for other in parts}
        setattr(body, name, value)
        for other in parts:
            expected = value if other == name else before[other]
            assert getattr(body, other) == pytest.approx(expected, abs=1e-12)
        with pytest.raises(StateError, match=f"{name} of 'box' must"):
            setattr(body, name, [1.0, 2.0])
        with pytest.raises(ValueError, match="read-only"):
            getattr(body, name)[0] = 1.0
    robot.joint_positions, robot.joint_velocities = [0.1, 0.2], [0.3, 0.4]
    assert robot.joint_positions.tolist() == [0.1, 0.2]
    assert robot.joint_velocities.tolist() == [0.3, 0.4]
    assert robot.q[:7].tolist() == [0, 0, 0, 0, 0, 0, 1]
    with pytest.raises(StateError, match=r"joint_positions for 'pair' must be 2 numbers"):
        robot.joint_positions = 0.1


def test_a_name_that_does_not_exist_is_answered_by_those_that_do():
    """world.robots["hrp"] is a KeyError, as of any mapping, that names what there is."""
    world, _ = pair()
    world.add_body(Box((1, 1, 1)), 1.0, name="crate")
    for mapping, kind in ((world.robots, "robot"), (world.entities, "robot or body")):
        with pytest.raises(KeyError, match=f"^{kind} 'pari' does not exist. Did you mean 'pair'"):
            mapping["pari"]
    with pytest.raises(WorldError, match=r"body 'crat' does not exist. Did you mean 'crate'"):
        world.bodies["crat"]
    with pytest.raises(WorldError, match=r"connection 'c' does not exist. Available: none"):
        world.connections["c"]
    assert "pari" not in world.robots and world.robots.get("pari") is None
    assert dict(pickle.loads(pickle.dumps(world)).entities).keys() == {"pair", "crate"}


def test_a_sensor_has_the_readings_of_its_kind():
    """hasattr is False for those of another kind; to read one names both kinds."""
    text = PAIR.replace(
        "</robot>",
        """<hrpsim reference="base">
      <sensor name="imu" type="imu"/></hrpsim></robot>""",
    )
    sensor = World().add_robot(load_model(text)).sensors["imu"]
    assert hasattr(sensor, "angular_velocity") and not hasattr(sensor, "wrench")
    with pytest.raises(WorldError, match="'imu' is of kind 'imu', not 'force_torque'"):
        sensor.wrench  # noqa: B018


def gains_warnings(act) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        act()
    return [str(one.message) for one in caught if "without gains" in str(one.message)]


def test_joints_that_a_position_does_not_move_are_named_once():
    """Law: one warning a robot, of joints without gains; gains of 0 say that this is meant."""
    _, robot = pair()
    (text,) = gains_warnings(lambda: robot.command(positions=[0.1, 0.2]))
    assert "robot 'pair'" in text and "'knee'" in text and "'hip'" not in text
    assert "gains: {'*': [150, 2]}" in text and "--write-robot" in text
    assert gains_warnings(lambda: robot.command(positions=[0.1, 0.2])) == []
    for prepare in (
        lambda robot: robot.set_gains(0.0, 0.0, names="knee"),
        lambda robot: robot.lock("knee"),
        lambda robot: robot.drive("knee", 0.0, 1.0),
    ):
        _, robot = pair()
        prepare(robot)
        assert gains_warnings(lambda robot=robot: robot.command(velocities=[0.1, 0.2])) == []
    _, robot = pair()
    assert gains_warnings(lambda: robot.command(efforts=[0.1, 0.2])) == []


@pytest.mark.parametrize(
    "joint",
    [
        '<hrpsim reference="knee"><spring stiffness="5"/></hrpsim>',
        '<ros2_control name="c" type="system"><joint name="knee">'
        '<command_interface name="effort"/></joint></ros2_control>',
        '<ros2_control name="c" type="system"><joint name="hip">'
        '<command_interface name="position"/></joint></ros2_control>',
    ],
    ids=["spring", "commanded by effort", "without an actuator"],
)
def test_joints_that_are_not_for_positions_need_no_gains(joint):
    robot = World().add_robot(load_model(PAIR.replace("</robot>", f"{joint}</robot>")))
    assert gains_warnings(lambda: robot.command(positions=[0.1, 0.2])) == []


def test_gains_of_a_command_make_that_oscillator():
    """Law: I q'' = kp (q* - q) - kd q', the damped oscillator, with gains of one command; the next
    command has the robot's own, which do not change."""
    world = World(time_step=1e-4)
    robot = world.add_robot(load_model(PAIR, base="fixed"))
    inertia, kp, kd, target, time = 0.1, 10.0, 0.4, 0.3, 0.5
    robot.command(positions=[target], names=["hip"], kp=kp, kd=[kd])
    world.step(5000)
    decay = kd / (2.0 * inertia)
    frequency = np.sqrt(kp / inertia - decay**2)
    wave = np.cos(frequency * time) + decay / frequency * np.sin(frequency * time)
    expected = target * (1.0 - np.exp(-decay * time) * wave)
    assert robot.joint_positions[0] == pytest.approx(expected, abs=2e-6)
    assert [gains[0] for gains in robot.gains] == [100.0, 10.0]
    robot.command(positions=[target], names=["hip"])
    control = world.scene.control[0]
    assert (control["kp"], control["kd"]) == (100.0, 10.0)


_LARGE = (None, 0.0, 1e9, 1e30, -1e200, 1e308)


@pytest.mark.parametrize("joint", ["hip", "knee"])
def test_no_finite_command_makes_a_step_of_limited_joints_fail(joint):
    """Law: a command is refused whole, or the limits of its joint act."""
    limit = 'type="revolute"><limit lower="-2" upper="2" effort="100" velocity="10"/>'
    world = World()
    robot = world.add_robot(load_model(PAIR.replace('type="continuous">', limit), base="free"))
    robot.set_gains([50.0, 100.0], [5.0, 10.0])
    world.step(3)
    start, refused = world.snapshot(), 0
    for values in itertools.product(_LARGE, repeat=3):
        command = {
            what: [value]
            for what, value in zip(("positions", "velocities", "efforts"), values)
            if value is not None
        }
        world.restore(start)
        if not command:
            continue
        try:
            robot.command(names=[joint], **command)
        except StateError as error:
            refused += 1
            assert f"{joint!r}" in str(error) and "at most 1e+12" in str(error)
            assert max(map(abs, filter(None, values))) > LARGEST_COMMAND
            continue
        world.step(3)
    assert refused > 100


def test_a_failed_step_names_the_command_not_a_contact():
    """Law: a joint without limits obeys; the command is named, with its joint and value."""
    world, robot = unlimited_arm()
    world.add_ground()
    world.add_body(Box((0.1, 0.1, 0.1)), 1.0, (2.0, 0.0, 0.0499))
    world.step(5)
    robot.command(efforts=[1e12])
    with pytest.raises(
        WorldError,
        match=r"probable cause: joint 'shoulder' of 'arm' is commanded to effort 1e[+]12",
    ):
        world.step()


def test_a_ramp_of_any_finite_time_is_taken():
    world, robot = pair()
    robot.command(positions=[0.5], names=["hip"], over=1e308)
    world.step()
    assert abs(robot.q[robot.joint_names.index("hip")]) < 1e-6


def unlimited_arm():
    text = (
        '<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.3"/>'
        '<mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="shoulder" type="continuous"><parent link="base"/>'
        '<child link="rod"/><axis xyz="0 1 0"/></joint></robot>'
    )
    world = World()
    return world, world.add_robot(load_model(text, base="fixed"))
