# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Each setter of a world, a robot, a body and a batch acts at once, and alike at every door.

SETTERS has an entry for each setter; one without an entry fails the first test.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from ros.stand_ins import Log, Topic

import hrpsim
from hrpsim import Actuator, Batch, StateError, WorldError, load_model, load_world
from hrpsim.common.errors import UnknownAttributeError
from hrpsim.model.shapes.placement import Placement
from hrpsim.ros.base.entities import Entities
from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.stamps import MessageQueue
from hrpsim.ros.robot.joint_commands import JointCommands
from hrpsim.ros.robot.placed_joints import PlacedJoints
from hrpsim.sensors import NoiseLevels

STEPS = 40
JOINTS = ["shoulder", "elbow"]
_LINK = '<link name="{}"><inertial><origin xyz="0 0 -0.2"/><mass value="1"/>'
_LINK += '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
_JOINT = '<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>'
_JOINT += '<origin xyz="0 0 {}"/><limit lower="-2" upper="2" effort="100" velocity="10"/></joint>'
ARM = (
    '<robot name="arm"><link name="base"/>'
    + (_JOINT.format("shoulder", "base", "upper", 2) + _LINK.format("upper"))
    + (_JOINT.format("elbow", "upper", "lower", -0.4) + _LINK.format("lower"))
    + '<hrpsim reference="lower"><sensor name="imu" type="imu"/>'
    '<sensor name="scan" type="lidar" columns="4" azimuth="-1 1"/></hrpsim></robot>'
)
HEAVY = ARM.replace('<mass value="', '<mass value="2')
FILE = {
    "ground": {"material": "floor"},
    "robots": [{"name": "arm", "urdf": "arm.urdf", "base": "fixed", "gains": {"*": [60, 4]}}],
    "bodies": [{"name": "box", "shape": {"box": [0.2, 0.2, 0.2]}, "mass": 1.0}],
}
FILE["robots"][0]["joints"] = {"shoulder": 0.4, "elbow": 0.2}
FILE["bodies"][0] |= {"position": [2, 0, 0.1], "material": "wood"}
FILE["world"] = {"gravity": [2, 0, -10]}  # the box is on a slope


def rows(values):
    return np.tile(np.asarray(values, dtype=float), (2, 1))


def placed(**fields):
    """Return what the topic set_joint_states does."""
    return lambda world: _send(PlacedJoints, world, fields)


def commanded(**fields):
    """Return what the topic joint_commands does."""
    return lambda world: _send(JointCommands, world, fields)


def _send(kind, world, fields):
    robot, topic, log = world.robots["arm"], Topic(), Log()
    more = (lambda names: None, log) if kind is JointCommands else ()
    one = kind(MessageQueue(topic), Rejections(log, Faults(lambda: log)), robot, *more)
    given = dict.fromkeys(("position", "velocity", "effort"), ()) | fields
    topic.arrived.append(SimpleNamespace(name=JOINTS, **given))
    one.poll()
    one.apply()
    assert one.accepted_count == 1, log.lines


def moved(**changes):
    """Return what the service set_entity_state does to the box, without the node around it."""

    def move(world):
        entities, box = Entities(world), world.bodies["box"]
        entities.move(box, entities.motion(box)._replace(**changes))

    return move


def mode_parameter(world):
    """Lock the joints where they are, as the parameter modes.JOINT of a node does."""
    pytest.importorskip("rcl_interfaces.msg")
    from hrpsim.ros.robot.part_parameters import JointModes

    node = SimpleNamespace(declare_parameter=lambda name, value, _: SimpleNamespace(value=value))
    modes = JointModes(node, world.robots["arm"], lambda joints: None, "modes.")
    for joint in JOINTS:
        modes.change(f"modes.{joint}", "locked")


def gains_parameter(world):
    """Set gains as the parameter gains.JOINT of a node does."""
    pytest.importorskip("rcl_interfaces.msg")
    from hrpsim.ros.robot.part_parameters import JointGains

    node = SimpleNamespace(declare_parameter=lambda name, value, _: SimpleNamespace(value=value))
    gains = JointGains(node, world.robots["arm"], "gains.")
    for joint in JOINTS:
        gains.change(f"gains.{joint}", [200.0, 9.0])


def setter(python, batch=None, ros=None, **file):
    """Return an entry: what sets it in Python, in a batch, over ROS, and in a world file.

    file: entries of the robot, the body (box_...), or the file (world_...).
    """
    return SimpleNamespace(python=python, batch=batch, ros=ros, file=file)


def assigned(entity, **values):
    """Return what assigns attributes of the arm or the box."""

    def assign(world):
        for name, value in values.items():
            setattr(world.entities[entity], name, value)

    return assign


def called(entity, method, *arguments, **named):
    """Return what calls a method of the arm or the box, or of the world ("")."""
    return lambda world: getattr(world.entities.get(entity, world), method)(*arguments, **named)


Q, SOFT = [0.3, -0.2], {"compliance": 1e-3}
TURNED = [0.0, 0.0, 0.6, 0.8]
POSE = dict(zip(JOINTS, Q))
PUSHED = called("arm", "apply_wrench", "lower", force=(5, 0, 0))
SETTERS = {
    "Robot.q": setter(assigned("arm", q=Q), ros=placed(position=Q), joints=POSE),
    "Robot.joint_positions": setter(
        assigned("arm", joint_positions=Q), ros=placed(position=Q), joints=POSE
    ),
    "Robot.place": setter(called("arm", "place", Q)),
    "Robot.v": setter(assigned("arm", v=Q), ros=placed(velocity=Q)),
    "Robot.joint_velocities": setter(assigned("arm", joint_velocities=Q), ros=placed(velocity=Q)),
    "Robot.tau": setter(
        assigned("arm", tau=Q),
        lambda batch: batch.command("arm", efforts=rows(Q)),
        commanded(effort=Q),
    ),
    "Robot.command": setter(
        called("arm", "command", positions=Q),
        lambda batch: batch.command("arm", positions=rows(Q)),
        commanded(position=Q),
    ),
    "Robot.set_gains": setter(
        called("arm", "set_gains", 200.0, 9.0),
        lambda batch: batch.set_gains("arm", rows([200, 200]), rows([9, 9])),
        gains_parameter,
        gains={"*": [200, 9]},
    ),
    "Robot.set_joint_properties": setter(
        called("arm", "set_joint_properties", damping=3.0),
        lambda batch: batch.set_joint_properties("arm", damping=rows([3, 3])),
    ),
    "Robot.scale_inertias": setter(
        called("arm", "scale_inertias", 2.0), lambda batch: batch.scale_inertias("arm", [2.0, 2.0])
    ),
    "Robot.use_properties_of": setter(
        lambda world: world.entities["arm"].use_properties_of(load_model(HEAVY, "fixed"))
    ),
    "Robot.deform_link": setter(called("arm", "deform_link", "lower", 2.0)),
    "Robot.set_actuator": setter(
        called("arm", "set_actuator", Actuator(coulomb_friction=1.0)),
        actuators={"*": {"coulomb_friction": 1.0}},
    ),
    "Robot.lock": setter(called("arm", "lock", JOINTS, Q), locks=POSE),
    "Robot.lock here": setter(called("arm", "lock", JOINTS), ros=mode_parameter),
    "Robot.drive": setter(
        called("arm", "drive", "elbow", 1.0, 50.0),
        motors={"elbow": {"velocity": 1.0, "force_limit": 50.0}},
    ),
    "Robot.set_constraint": setter(
        lambda world: (
            world.robots["arm"].set_constraint("lock", "elbow", **SOFT),
            world.robots["arm"].lock("elbow", [0.0]),
        ),
        constraints=[{"kind": "lock", "joints": ["elbow"], **SOFT}],
        locks={"elbow": 0.0},
    ),
    "Robot.apply_wrench": setter(
        PUSHED, lambda batch: batch.apply_wrench("arm", (5, 0, 0), link="lower")
    ),
    "Body.q": setter(
        assigned("box", q=[1, 0, 0.4, *TURNED]), box_position=[1, 0, 0.4], box_orientation=TURNED
    ),
    "Body.place": setter(called("box", "place", [1, 0, 0.4, *TURNED])),
    "Body.place_on_floor": setter(
        lambda world: (
            setattr(world.bodies["box"], "position", [1, 0, 2]),
            world.bodies["box"].place_on_floor(),
        ),
        box_position=[1, 0, 2],
        box_on_floor=True,
    ),
    "Robot.place_on_floor": setter(None),  # of a free base: test_place_on_floor
    "Body.v": setter(assigned("box", v=[1, 0, 0, 0, 0, 2])),
    "Body.position": setter(
        assigned("box", position=[1, 0, 0.4]),
        ros=moved(pose=Placement(np.eye(3), np.array([1, 0, 0.4]))),
        box_position=[1, 0, 0.4],
    ),
    "Body.orientation": setter(assigned("box", orientation=TURNED), box_orientation=TURNED),
    "Body.velocity": setter(
        assigned("box", velocity=[0, 1, 0]),
        ros=moved(linear=np.array([0, 1.0, 0])),
        box_velocity=[0, 1, 0],
    ),
    "Body.angular_velocity": setter(
        assigned("box", angular_velocity=[0, 0, 2]),
        ros=moved(angular=np.array([0, 0, 2.0])),
        box_angular_velocity=[0, 0, 2],
    ),
    "Body.apply_wrench": setter(
        called("box", "apply_wrench", (5, 0, 0)), lambda batch: batch.apply_wrench("box", (5, 0, 0))
    ),
    "World.gravity": setter(
        lambda world: setattr(world, "gravity", (0, 0, -3)), world_world={"gravity": [0, 0, -3]}
    ),
    "World.set_friction": setter(
        called("", "set_friction", "wood", "floor", 0.1),
        lambda batch: batch.set_friction("wood", "floor", 0.1),
        world_friction=[{"between": ["wood", "floor"], "static": 0.1}],
    ),
    "World.set_contact": setter(
        called("", "set_contact", "wood", "floor", 1e-3),
        world_contacts=[{"between": ["wood", "floor"], "compliance": 1e-3}],
    ),
    "World.set_penalty": setter(
        lambda world: (
            world.add_solver_rule("penalty", "contact"),
            world.set_penalty("wood", "floor", 1e4),
        ),
        world_solvers=[{"solver": "penalty", "kind": "contact"}],
        world_penalties=[{"between": ["wood", "floor"], "stiffness": 1e4}],
    ),
    "World.add_solver_rule": setter(
        called("", "add_solver_rule", "penalty", "contact"),
        world_solvers=[{"solver": "penalty", "kind": "contact"}],
    ),
    "World.disable_collisions": setter(
        called("", "disable_collisions", "box", "world"), world_no_collisions=[["box", "world"]]
    ),
    "World.sleeping": setter(None, world_world={"sleeping": False}),  # asleep in 0.5 s
    "World.add_wrench": setter(called("", "add_wrench", 2, (0, 0, 0), (5, 0, 0), (0, 0, 0))),
    "Robot.unlock": setter(None),  # of locks: test_what_ends_a_setter
    "Robot.release": setter(None),
    "Batch.set_noise": setter(None),  # of readings: test_noise_of_a_batch
    "Batch.place": setter(None),  # of states: test_batch_readings
}
# Public names that set nothing of the motion, or for which the world has an entry.
BATCH_OF = {name.partition(".")[2] for name, one in SETTERS.items() if one.batch}
READERS = {
    "World": "asleep bodies cast_rays connection_records connections contact_arrays contact_records"
    " contacts contacts_of copy differentiable_parameters drawn entities first_sensor fixed_shapes"
    " check_placed note_placed integrator linearize link_names link_poses link_velocities picture"
    " present_q present_scene ray_caster reader render robots scene shared_by_copies sleeps"
    " snapshot solver_rules stats"
    " step time time_step wake noise_world forget_contacts rebuild_scene refresh_exclusions"
    " lift_to_floor unknown_materials add_watcher remove_watcher"
    " add_body add_frame add_ground add_robot add_static connect frames disconnect remove"
    " remove_static reset"
    " restore settle",
    "Robot": "access acting_actuators actuators constraint_efforts contact_arrays driven"
    " frame_pose gains joint_efforts joint_names joint_properties link_pose link_poses"
    " link_velocities locked measure nq nv sensors tendons transmissions world"
    " warn_of_missing_gains choose_solvers forget_momentum_of initialise initialise_actuators"
    " keep_actuators keep_as_initial keep_holds leave refill_commands restore_gains restore_holds"
    " know_gains_of stand_after refusal report_beyond report_no_limits report_unreached"
    " restart_integrals unreached",
    "Body": "asleep contact_arrays forget_momentum_of initialise keep_as_initial leave"
    " mass nq nv stand_after world",
    "Batch": "close contact_forces efforts link_poses link_velocities map numbers of q reset scan"
    " sensor step v",
}
ACTING = [name for name, one in SETTERS.items() if one.python]


@pytest.mark.parametrize("kind", READERS)
def test_each_public_name_is_a_setter_with_an_entry_or_sets_nothing(kind):
    """Law: a new public name comes with an entry here."""
    public = {name for name in dir(getattr(hrpsim, kind)) if not name.startswith("_")}
    names = [name.split()[0] for name in SETTERS]
    entries = {name.partition(".")[2] for name in names if name.startswith(f"{kind}.")}
    entries |= BATCH_OF if kind == "Batch" else set()
    assert public - entries == set(READERS[kind].split()) & public
    assert entries - public <= ({"tau"} if kind == "Batch" else set()) | BATCH_OF


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a function that makes the world, with other entries of its file."""
    folder = tmp_path_factory.mktemp("setters")
    (folder / "arm.urdf").write_text(ARM)

    def make(**changes):
        file = yaml.safe_load(yaml.safe_dump(FILE))
        for name, value in changes.items():
            part, _, key = name.partition("_")
            places = {"box": file["bodies"][0], "world": file}
            places.get(part, file["robots"][0])[key if part in places else name] = value
        (folder / "world.yaml").write_text(yaml.safe_dump(file))
        return load_world(folder / "world.yaml")

    return make


def motion(world, steps=STEPS):
    """Return all states of some steps (steps, nq)."""
    states = []
    for _ in range(steps):
        world.step()
        states.append(np.concatenate([one.q for one in world.entities.values()]))
    return np.array(states)


@pytest.mark.parametrize("name", ACTING)
def test_a_setter_acts_at_once_and_alike_at_every_door(made, name):
    """Law: the second step differs already; and the same bits follow at all doors."""
    one, plain, world = SETTERS[name], made(), made()
    one.python(world)
    mine = motion(world)
    assert (mine[1] != motion(plain, 2)[1]).any()
    if one.file:
        np.testing.assert_array_equal(motion(made(**one.file)), mine)
    if one.ros:
        other = made()
        one.ros(other)
        np.testing.assert_array_equal(motion(other), mine)
    if one.batch:
        with Batch(made(), 2) as batch:
            one.batch(batch)
            found = motion(SimpleNamespace(step=batch.step, entities=batch.worlds[1].entities))
        np.testing.assert_array_equal(found, mine)


@pytest.mark.parametrize("name", ["Robot.set_gains", "Robot.set_joint_properties"])
def test_properties_outlive_a_reset_and_a_restored_state(made, name):
    """Law: after reset and restore the world moves as one that had them from the start."""
    one, world = SETTERS[name], made()
    start = world.snapshot()
    one.python(world)
    mine = motion(world)
    for back in (world.reset, lambda: world.restore(start)):
        back()
        np.testing.assert_array_equal(motion(world), mine)


def test_gains_reach_what_a_command_uses(made):
    """Law: kp acts on positions, kd on velocities as well, neither on efforts; at once."""
    for command, acting in (
        ({"positions": [0.1, 0.1]}, (200, 9)),
        ({"velocities": [0.1, 0.1]}, (0, 9)),
        ({"efforts": [1.0, 1.0]}, (0, 0)),
        ({"positions": [0.1, 0.1], "kp": 5.0}, (200, 9)),
    ):
        robot = made().robots["arm"]
        robot.command(**command)
        robot.set_gains(200.0, 9.0)
        control = robot._control()
        assert (control["kp"].tolist(), control["kd"].tolist()) == tuple([g] * 2 for g in acting)


def test_own_gains_of_a_command_outlive_a_restored_state(made):
    world = made()
    robot = world.robots["arm"]
    robot.command(positions=[0.1, 0.1], kp=5.0)
    start = world.snapshot()
    mine = motion(world)
    world.restore(start)
    np.testing.assert_array_equal(motion(world), mine)


def test_a_posture_that_is_set_is_held(made):
    """Law: joints come to rest near the posture, as far off as gravity by gains; others stay."""
    world = made(gains={"*": [4000, 200]})
    robot = world.robots["arm"]
    robot.q = Q
    world.step(2000)
    assert np.abs(robot.q - Q).max() < 0.01
    targets = robot._control()["target_position"].copy()
    robot.q = [Q[0], robot.q[1]]
    assert robot._control()["target_position"].tolist() == [Q[0], targets[1]]
    robot.command(velocities=[0.5, 0.5])
    robot.q = [0.0, 0.0]
    assert robot._control()["target_velocity"].tolist() == [0.5, 0.5]


def test_what_ends_a_setter(made):
    """Law: unlock, release and sleeping act at once too."""
    world = made(locks={"elbow": 0.2}, motors={"shoulder": {"velocity": 1.0, "force_limit": 1e4}})
    robot = world.robots["arm"]
    world.step(5)
    assert robot.q[1] == pytest.approx(0.2, abs=1e-9) and robot.v[0] == pytest.approx(1.0)
    robot.unlock()
    robot.release()
    world.step(5)
    assert abs(robot.q[1] - 0.2) > 1e-5 and robot.v[0] != pytest.approx(1.0)
    world = made(world_world={})
    world.step(2000)
    assert world.asleep == ("box",)
    world.sleeping = False
    assert world.asleep == ()


def test_noise_of_a_batch_is_in_the_next_reading(made):
    with Batch(made(), 2) as batch:
        exact = batch.sensor("arm", "imu")
        batch.set_noise("arm", [NoiseLevels(gyro=0.1), NoiseLevels()])
        noisy = batch.sensor("arm", "imu")
    assert (noisy[0] != exact[0]).any() and (noisy[1] == exact[1]).all()


@pytest.mark.parametrize(
    ("what", "name", "similar"),
    [
        (lambda world: world, "timestep", "time_step"),
        (lambda world: world, "gravitiy", "gravity"),
        (lambda world: world.robots["arm"], "joint_position", "joint_positions"),
        (lambda world: world.bodies["box"], "positon", "position"),
        (lambda world: world.robots["arm"].sensors["imu"], "descripton", "description"),
        (lambda world: Batch(world, 1), "world", "worlds"),
        (lambda world: world.connect("arm/lower", "box", "fixed"), "enable", "enabled"),
    ],
)
def test_unknown_attributes_are_refused(made, what, name, similar):
    """Law: a misspelt attribute raises, with a similar name or those that exist."""
    with pytest.raises(UnknownAttributeError, match=f"no attribute '{name}'.*{similar}"):
        setattr(what(made()), name, 1.0)


@pytest.mark.parametrize("copied", ["copy", "batch", "pickle"])
def test_copies_refuse_unknown_attributes_too(made, copied):
    import pickle

    world = made()
    other = {
        "copy": world.copy,
        "batch": lambda: Batch(world, 1).worlds[0],
        "pickle": lambda: pickle.loads(pickle.dumps(world)),
    }[copied]()
    with pytest.raises(UnknownAttributeError):
        other.timestep = 0.01


def test_arrays_that_properties_return_cannot_be_written_to(made):
    """Law: writing to an array of a property raises, or writes through."""
    world = made()
    world.connect("arm/lower", "box", "ball", name="hook", compliance=1e-4)
    world.step()
    objects = [world, *world.entities.values(), *world.connections.values()]
    objects += world.robots["arm"].sensors.values()
    checked = 0
    for one in objects:
        for name in dir(type(one)):
            if name.startswith("_") or not isinstance(getattr(type(one), name), property):
                continue
            try:
                value = getattr(one, name)
            except WorldError:
                continue
            arrays = value if name == "gains" else (value,)
            for array in arrays:
                if isinstance(array, np.ndarray) and array.dtype.names is None and array.size:
                    checked += 1
                    assert not array.flags.writeable, f"{type(one).__name__}.{name}"
    assert checked > 20


@pytest.mark.parametrize("wrong", [1.0, True, np.float64(2.0), "2", -1])
def test_counts_are_integers(made, wrong):
    world = made()
    with pytest.raises(WorldError, match="the number of steps must be a whole number >= 0, got"):
        world.step(wrong)
    with Batch(world, 1) as batch, pytest.raises(WorldError, match="whole number"):
        batch.step(wrong)
    with pytest.raises(WorldError, match="count of a batch must be a whole number >= 1"):
        Batch(world, wrong)
    world.step(np.int64(2))
    assert world.time == pytest.approx(0.002)


def test_a_posture_of_the_wrong_length_changes_nothing(made):
    robot = made().robots["arm"]
    with pytest.raises(StateError):
        robot.place([0.0])
    assert robot.q.tolist() == [0.4, 0.2]
