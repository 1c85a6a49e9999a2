# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The derivatives of a step are those of `World.step`: central differences decide."""

import subprocess
import sys

import numpy as np
import pytest
from grouped import one_compiles
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreted import interpreted
from scipy.spatial.transform import Rotation
from world.differences import differences, error, input_differences

import hrpsim
from evidence.experiments.scenes.gripper import Scene
from evidence.experiments.scenes.standing import half_sitting
from hrpsim import Box, Capsule, Cylinder, Sphere, World, WorldError, load_model, share_path
from hrpsim.control import ControlLoop, Walk
from hrpsim.derivatives.finish import write_exponential
from hrpsim.derivatives.motion_derivatives import PANEL, factorise_mass
from hrpsim.derivatives.room import new_room
from hrpsim.derivatives.solve import solve
from hrpsim.world.arrays.assemble import joined_system

pytestmark = [one_compiles("linearization"), pytest.mark.usefixtures("derivatives_in_python")]

solve_rows = interpreted(solve)
REACH = 1e-4  # of these differences: a position may change velocities by so much [m/s]
EXACT = {"sleeping": False, "tolerance": 1e-13}
SLOP = 1e-4  # contacts in the middle of it are far from opening and from a correction
STEP = 1e-7
HUMANOID = load_model(share_path("urdf/hrp2_like.urdf.xacro"), xacro_arguments={"bush": "true"})


def on_floor(slop=SLOP, **options):
    world = World(slop=slop, **EXACT, **options)
    world.add_ground()
    return world


def wrong(world, step=STEP, margin=1e-6):
    """Return the error of A and what is on an edge."""
    found = world.linearize(margin=margin)
    nv = len(world.scene.velocity)
    return error(found.A, differences(world, np.full(2 * nv, step))), found.on_edge


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3), st.integers(0, 2))
def test_jacobian_of_the_exponential_is_its_derivative(rotation, axis):
    """Law: exp(r + e) = exp(J e) exp(r) to first order, and exp is that of Rotation."""
    rotation, e = np.array(rotation), 1e-6 * np.eye(3)[axis]
    found = np.empty((3, 12))
    interpreted(write_exponential)(rotation / 0.5, 0, 0.5, found)
    exp, jacobian = found[:, :3], found[:, 3:6]
    assert np.allclose(exp, Rotation.from_rotvec(rotation).as_matrix(), atol=1e-14)
    ends = [Rotation.from_rotvec(rotation + sign * e) for sign in (1.0, -1.0)]
    moved = (ends[0] * ends[1].inv()).as_rotvec() / 2e-6
    assert np.allclose(jacobian[:, axis], moved, atol=1e-8)


@pytest.mark.parametrize("rate", [1.0, 100.0])
def test_a_body_that_tumbles(rate):
    """Law: A of a free body that turns freely, by up to 0.7 rad in a step."""
    world = World(**EXACT)
    body = world.add_body(Box((0.1, 0.2, 0.3)), 2.0, position=(0, 0, 3))
    body.v = (1.0, -0.5, 2.0, 3.0 * rate, -4.0 * rate, 5.0 * rate)
    world.step(3)
    assert wrong(world, 1e-6 * rate)[0] < 1e-8  # velocities are rounded


@pytest.mark.quick_cases("1.0")
@pytest.mark.parametrize("speed", [0.3, 1.0])
def test_a_robot_that_moves_freely(speed):
    """Law: A with joints, springs, gains, predicted velocities and momentum of the tree.

    At the higher speed some joints are at their velocity limits.
    """
    world = World(**EXACT)
    robot, random = world.add_robot(HUMANOID), np.random.default_rng(0)
    system, q = HUMANOID.system, half_sitting(HUMANOID)
    q[7:] = np.clip(q[7:], system.lower[6:] + 0.02, system.upper[6:] - 0.02)
    robot.q = q
    robot.v = random.uniform(-speed, speed, HUMANOID.nv)
    world.step(3)
    assert wrong(world, 1e-6)[0] < 1e-7


@pytest.mark.parametrize(
    "v", [(0, 0, 0, 0, 0, 0), (1, 0.3, 0, 0, 0, 0.7), (0, 0, 0, 0, 0, 2), (-0.2, 0.1, 0, 0, 0, -1)]
)
def test_a_box_rests_slides_and_spins_on_a_floor(v):
    """Law: A with four redundant rigid contacts, sticking or sliding in any direction."""
    world = on_floor()
    body = world.add_body(Box((0.1, 0.2, 0.3)), 2.0, position=(0, 0, 0.15 - SLOP / 2))
    body.v = v
    world.step(2)
    found, edges = wrong(world)
    assert found < 1e-6 and not edges


@pytest.mark.parametrize("rate", [0.0, 10.0])
@pytest.mark.parametrize("compliance", [0.0, 1e-6])
def test_a_ball_rolls_and_slides(rate, compliance):
    """Law: A with a contact point that moves over the body; compliant ones depend on its mass."""
    world = on_floor()
    if compliance:
        world.set_contact("default", "default", compliance=compliance, damping_time=0.003)
    body = world.add_body(Sphere(0.1), 2.0, position=(0, 0, 0.1 - SLOP / 2))
    body.v = (1.0, 0.3, 0.0, 0.2, rate, 0.7)
    world.step(2)
    assert wrong(world)[0] < 1e-6


BOWL = hrpsim.ConvexHull([(x, y, z) for x in (-0.1, 0.1) for y in (-0.07, 0.1) for z in (0, 0.1)])


@pytest.mark.quick_cases("box", "hull")
@pytest.mark.parametrize(
    "shape, height, turn",
    [
        (Box((0.1, 0.12, 0.1)), 0.05, (0, 0, 0.1, 0.995)),
        (Sphere(0.1), 0.1, (0, 0, 0, 1)),
        (hrpsim.Capsule(0.05, 0.2), 0.05, (0.0, 0.7071067811865476, 0.0, 0.7071067811865476)),
        (hrpsim.Cylinder(0.05, 0.1), 0.05, (0, 0, 0, 1)),
        (BOWL, 0.0, (0, 0, 0, 1)),
    ],
    ids=["box", "sphere", "capsule", "cylinder", "hull"],
)
def test_shapes_on_a_body_that_moves(shape, height, turn):
    """Law: A with points, normals and gaps that move with both bodies."""
    world = World(slop=SLOP, **EXACT)
    world.set_contact("default", "default", compliance=1e-6, damping_time=0.003)
    plate = world.add_body(Box((1, 1, 0.1)), 5.0, position=(0, 0, -0.05), name="plate")
    on_it = world.add_body(shape, 1.0, position=(0.1, 0.2, height - 2e-5), orientation=turn)
    for body, z in ((plate, 0.02), (on_it, 0.0)):
        body.v = (0.1, 0.2, z, 0.1, 0.2, 0.3)
    world.step(2)
    assert world.stats.contact_count
    found, edges = wrong(world)
    assert found < 1e-6 and not edges


def test_contacts_deeper_than_the_slop_are_corrected():
    """Law: A with the position correction, which displaces a robot without a velocity."""
    world = on_floor(1e-6)
    robot = world.add_robot(HUMANOID, q=half_sitting(HUMANOID))
    world.settle()
    world.scene.q[2] -= 1e-4
    world.step(3)
    found, edges = wrong(world)
    assert found < 1e-6 and not edges
    assert robot.world.stats.max_penetration > 1e-5


def dry(world, robot):
    robot.set_joint_properties(friction=0.5)


def locked(world, robot):
    names = robot.joint_names
    robot.lock(names[:2])
    robot.drive(names[3:5], 0.1, force_limit=1e3)


def locked_softly(world, robot):
    locked(world, robot)
    robot.set_constraint("lock", compliance=1e-3, damping_time=0.003)


def weak(world, robot):
    robot.command(positions=robot.joint_positions + 1.0)


def at_limits(compliance):
    def put(world, robot):
        joint = robot.model.joint(robot.joint_names[8])
        limits = robot.model.system
        q, k = robot.q.copy(), joint.v_index
        q[joint.q_index] = limits.upper[k] - 0.5e-4 * (compliance == 0.0) + 1e-4 * compliance
        robot.q = q
        v = robot.v.copy()
        v[k] = 0.5
        robot.v = v
        if compliance:
            robot.set_constraint("limit", compliance=compliance, damping_time=0.003)

    return put


@pytest.mark.quick_cases("dry", "locked", "locked_softly", "*put0")
@pytest.mark.parametrize(
    "change",
    [dry, locked, locked_softly, weak, at_limits(0.0), at_limits(1e-3)],
    ids=lambda f: f.__qualname__,
)
def test_joints_with_friction_locks_motors_and_limits(change):
    """Law: A with rows of joints; locked joints, saturated actuators."""
    world = World(**EXACT)
    robot, random = world.add_robot(HUMANOID), np.random.default_rng(2)
    system, q = HUMANOID.system, half_sitting(HUMANOID)
    q[7:] = np.clip(q[7:], system.lower[6:] + 0.02, system.upper[6:] - 0.02)
    robot.q = q
    robot.v = random.uniform(-0.2, 0.2, HUMANOID.nv)
    change(world, robot)
    world.step(2)
    assert change is not weak or world.scene.control["saturated"].any()
    found, edges = wrong(world)
    assert found < 1e-6, edges


def test_joints_that_stick():
    """Law: A of a standing robot whose joints dry friction locks; their velocities end as zero."""
    world = on_floor()
    robot = world.add_robot(HUMANOID, q=half_sitting(HUMANOID))
    world.settle()
    robot.set_joint_properties(friction=2.0)
    world.scene.q[2] -= SLOP / 2
    world.step(5)
    assert np.isinf(world.scene.work.joint_inertia).any()
    found, edges = wrong(world)
    # how eight points share the weight is not determined: one of them may carry none
    assert found < 1e-6 and all(edge.name.startswith("contact") for edge in edges)


CONNECTIONS = ["fixed", "hinge", "ball", "slider", "cylindrical", "universal"]


@pytest.mark.quick_cases("fixed-0.0001", "hinge-0.0", "universal-0.0", "slider-0.0001")
@pytest.mark.parametrize("compliance", [0.0, 1e-4])
@pytest.mark.parametrize("kind", CONNECTIONS)
def test_connected_bodies_that_turn(kind, compliance):
    """Law: A with connections, whose errors curve with the velocities."""
    world, bodies = World(**EXACT), []
    for y in (0.0, 0.3):
        bodies.append(world.add_body(Box((0.1, 0.2, 0.3)), 2.0 - y, position=(0, y, 3)))
        bodies[-1].v = (0.1, 0.2, 0.3, 1.0, 2.0, -1.0)
    soft = {"compliance": compliance, "damping_time": 0.003} if compliance else {}
    world.connect(*bodies, kind, point=(0, 0.15, 3), axis=(1, 0, 0), **soft)
    world.step(5)
    assert wrong(world, 1e-6)[0] < 1e-7


def test_a_robot_hangs_on_a_bush():
    """Law: A with a soft connection between a robot and the world."""
    world = World(**EXACT)
    robot = world.add_robot(HUMANOID, q=half_sitting(HUMANOID))
    base = f"{robot.name}/{HUMANOID.base_link}"
    world.connect(None, base, "fixed", compliance=1e-5, damping_time=0.01)
    world.step(30)
    assert wrong(world, 1e-6)[0] < 1e-7


def lifted(time):
    """Return the gripper's world while the hand holds a box, the mimic joint off by 2e-5 m."""
    scene = Scene(count=0)
    world = scene.world
    world.sleeping = False
    world.scene.settings["tolerance"] = 1e-12
    while world.time < time:
        scene.steer()
        world.step()
    world.scene.q[3] -= 2e-5
    return world


def test_a_gripper_that_holds_a_box():
    """Law: A with direct and iterative rows, motors, a mimic joint, compliant pads that stick."""
    found, edges = wrong(lifted(2.9))
    assert found < 1e-6 and not edges


def walking(count, seed):
    """Yield worlds of a walk on rubber bushes, with soles in the middle of the slop."""
    path = share_path("config/walking_demo.yaml")
    world = hrpsim.load_world(path, xacro_arguments={"bush": "true"})
    (robot,) = world.robots.values()
    world.sleeping, random = False, np.random.default_rng(seed)
    with ControlLoop(robot, Walk()) as loop:
        for _ in range(count):
            for _ in range(int(random.integers(20, 60))):
                loop.tick()
            start = world.snapshot()
            world.scene.settings["slop"], world.scene.settings["tolerance"] = SLOP, 1e-12
            world.scene.q[2] -= 0.3 * SLOP
            yield world
            world.restore(start)


@pytest.mark.long
def test_some_states_of_a_walk():
    """Law: A of a robot on bushes that stands on one foot or both, but for states on an edge."""
    found = [wrong(world, margin=REACH) for world in walking(6, 3)]
    clear = [one for one, edges in found if not edges]
    assert max(clear) < 1e-6 and len(clear) >= 4


def sliding_box(k):
    """Return the world of a box that slides; it turns too, on a floor that yields, if k is odd."""
    world, random, spin = on_floor(), np.random.default_rng(k), 0.0
    if k % 2:
        world.set_contact("default", "default", compliance=1e-6, damping_time=0.003)
        spin = random.uniform(-3, 3)
    size, turn = random.uniform(0.1, 0.4, 3), random.uniform(0, 6)
    at, quaternion = (0, 0, size[2] / 2 - SLOP / 2), (0, 0, np.sin(turn), np.cos(turn))
    body = world.add_body(Box(size), 1.0, position=at, orientation=quaternion)
    body.v = (*random.uniform(-1, 1, 2), 0, 0, 0, spin)
    world.step(2)
    return world


@pytest.mark.long
def test_two_hundred_states():
    """Law: A of 100 states of walking, 50 of grasping, 50 of sliding boxes; edges are rare."""
    found = [wrong(world, margin=REACH) for world in walking(100, 4)]
    world = lifted(2.5)
    for _ in range(50):
        world.step(7)
        start = world.snapshot()
        world.scene.q[3] -= 2e-5
        found.append(wrong(world, margin=REACH))
        world.restore(start)
    found += [wrong(sliding_box(k), margin=REACH) for k in range(50)]
    clear = [one for one, edges in found if not edges]
    assert max(clear) < 1e-6 and len(clear) > 150


@pytest.mark.quick_cases("damping*", "positions*", "kd*")
@pytest.mark.parametrize(
    "kind, field",
    [
        ("efforts", "effort"),
        ("positions", "target_position"),
        ("velocities", "target_velocity"),
        ("kp", "kp"),
        ("kd", "kd"),
        ("stiffness", "stiffness"),
        ("damping", "damping"),
    ],
)
def test_inputs_of_joints(kind, field):
    """Law: B by commands, gains, springs and dampers of a robot that stands and moves."""
    world, random = on_floor(), np.random.default_rng(6)
    robot = world.add_robot(HUMANOID, q=half_sitting(HUMANOID))
    world.settle()
    world.scene.q[2] -= SLOP / 2
    robot.command(positions=robot.joint_positions + random.uniform(-1e-3, 1e-3, HUMANOID.nv - 6))
    robot.set_joint_properties("CHEST_JOINT0", stiffness=5.0, damping=0.5)
    world.step(10)
    found = world.linearize(kind)
    assert not found.on_edge
    joints = [robot.first_v + HUMANOID.joint(name).v_index for _, _, name in found.inputs]
    expected = input_differences(world, field, joints, 1e-4)
    assert np.allclose(found.B, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max() + 1e-10)
    assert {one for one, _, _ in found.inputs} == {kind}


@pytest.mark.parametrize("steps", [0, 1, 3, 5])
@pytest.mark.parametrize(
    "shape, tilt, height",
    [
        (Cylinder(0.1, 0.3), np.pi / 2, 0.1),
        (Capsule(0.1, 0.3), np.pi / 2, 0.1),
        (Cylinder(0.1, 0.02), 1.0, 0.1 * np.sin(1.0) + 0.01 * np.cos(1.0)),
        (Sphere(0.1), 0.0, 0.1),
    ],
    ids=["roller", "capsule", "coin", "ball"],
)
def test_what_rolls_and_rocks(shape, tilt, height, steps):
    """Law: A of round shapes that turn while they roll, from their first contact on."""
    world = on_floor()
    world.set_friction("default", "default", 0.8)
    turn = Rotation.from_euler("z", 0.3) * Rotation.from_euler("x", tilt)
    at = (0, 0, height - SLOP / 2)
    body = world.add_body(shape, 1.0, position=at, orientation=turn.as_quat())
    body.velocity, body.angular_velocity = (0.5, 0.2, 0), (-2.0, 5.0, 0.4)
    world.step(steps)
    found, edges = wrong(world, 1e-6, margin=REACH)
    assert found < 1e-7 and not edges


SWUNG_LINK = """<link name="{0}"><inertial><origin xyz="{1} 0.02 0.03"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0.001" ixz="0" iyz="0"/></inertial>{2}</link>
<joint name="at_{0}" type="continuous"><parent link="{3}"/><child link="{0}"/>
<origin xyz="{4} 0 0"/><axis xyz="{5}"/></joint>"""
BASE = """<inertial><mass value="2"/>
<inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial>"""


@pytest.mark.parametrize("steps", [0, 2])
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_what_rolls_on_a_tray_that_a_robot_swings(base, steps):
    """Law: A of a cylinder that turns on a link that turns, of a robot with and without a base."""
    tray = '<collision><geometry><box size="0.6 0.6 0.02"/></geometry></collision>'
    links = SWUNG_LINK.format("arm", 0.2, "", "a", 0.0, "0 -1 0")
    links += SWUNG_LINK.format("tray", 0.0, tray, "arm", 0.5, "0 -1 0.2")
    text = f'<robot name="r"><link name="a">{BASE if base == "free" else ""}</link>{links}</robot>'
    world = World(slop=SLOP, **EXACT)
    robot = world.add_robot(load_model(text, base=base))
    turn = Rotation.from_euler("z", 0.3) * Rotation.from_euler("x", 90, degrees=True)
    at = (0.5, 0, 0.11 - SLOP / 2)
    body = world.add_body(Cylinder(0.1, 0.3), 1.0, position=at, orientation=turn.as_quat())
    robot.v = [*([0.2, 0.1, 0.05, 0.3, -0.2, 0.4] if base == "free" else []), 0.3, -0.5]
    body.velocity, body.angular_velocity = (0.5, 0.2, 0.1), (-2.0, 4.0, 1.4)
    world.step(steps)
    found, edges = wrong(world, margin=REACH)
    assert found < 1e-7 and not edges


def test_a_sliding_box_in_closed_form():
    """Law: v' = v - mu g dt d with d = v / |v|; its derivative is 1 - mu g dt (1 - d d') / |v|."""
    world = on_floor()
    body = world.add_body(Box((0.4, 0.4, 0.01)), 1.0, position=(0, 0, 0.005 - SLOP / 2))
    body.v = (0.6, 0.8, 0, 0, 0, 0)
    mu = float(world.scene.materials[0, 0]["kinetic"])
    found = world.linearize().A[6:8, 6:8]
    loss, d = mu * 9.80665 * world.time_step, np.array([0.6, 0.8])
    expected = np.eye(2) - loss * (np.eye(2) - np.outer(d, d))
    assert np.allclose(found, expected, atol=1e-6)


def test_states_on_an_edge_are_named():
    """Law: a contact that just closes, one that just sticks and a redundant one are reported."""
    world = on_floor(1e-6)
    body = world.add_body(Box((0.1, 0.2, 0.3)), 2.0, position=(0, 0, 0.15), name="box")
    world.step(3)
    edges = world.linearize().on_edge
    assert {edge.name for edge in edges} == {"contact of world/ground and box/box"}
    assert {(edge.side, edge.other) for edge in edges} == {("gap closed", "gap open")}
    world = on_floor()
    body = world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=(0, 0, 0.05 - SLOP / 2))
    mu, dt = float(world.scene.materials[0, 0]["static"]), world.time_step
    body.v = (mu * 9.80665 * dt * (1.0 + 1e-9), 0, 0, 0, 0, 0)
    assert {edge.side for edge in world.linearize().on_edge} & {"sticking", "sliding"}


def test_a_load_that_slides_in_several_directions_is_named():
    """Law: how four rigid points share a load is not unique, and friction depends on it."""
    world = on_floor()
    body = world.add_body(Box((0.3, 0.2, 0.04)), 2.0, position=(0, 0, 0.02 - SLOP / 2))
    body.v = (1.0, 0.3, 0.0, 0.0, 0.0, 3.0)
    world.step(2)
    assert {edge.side for edge in world.linearize().on_edge} == {"shares a load"}


def test_the_world_does_not_change():
    """Law: a run with derivatives between its steps has the bits of one without."""
    worlds = []
    for differentiates in (False, True):
        world = World(sleeping=False)
        world.add_ground()
        robot = world.add_robot(HUMANOID, q=half_sitting(HUMANOID))
        for _ in range(5):
            if differentiates:
                try:
                    world.linearize()
                except WorldError as refused:
                    assert "linearize" in str(refused)
            world.step()
        worlds.append((robot.q, robot.v))
    assert all(np.array_equal(a, b) for a, b in zip(*worlds))


def bounces(world):
    world.set_friction("default", "default", static=0.5, restitution=0.5)
    world.bodies["box"].v = (0, 0, -1, 0, 0, 0)
    world.bodies["box"].position = (0, 0, 0.0605)


def lands_softly(world):
    world.set_contact("default", "default", compliance=1e-5)
    world.bodies["box"].v = (0, 0, -1, 0, 0, 0)
    world.bodies["box"].position = (0, 0, 0.0602)


def passes(world):
    world.add_body(Box((1, 1, 1e-3)), 1.0, position=(0, 0, 2), name="plate")
    world.bodies["box"].position = (0, 0, 1.9)
    world.bodies["box"].v = (0, 0, 300, 0, 0, 0)


@pytest.mark.parametrize(
    "options, change, why",
    [
        ({"integrator": "rk4"}, None, "rk4"),
        ({"solver": "penalty"}, None, "penalty"),
        ({"friction_model": "pyramid"}, None, "friction law"),
        ({"stop": "relative_change"}, None, "relative_change"),
        ({}, lambda world: world.bodies["box"].apply_wrench((1, 0, 0)), "push"),
        ({}, lambda world: world.step(2000), "sleep"),
        ({}, bounces, "restitution"),
        ({}, lands_softly, "met within the step"),
        ({}, passes, "fast"),
    ],
)
def test_what_is_not_differentiated_is_refused_by_name(options, change, why):
    """Law: never wrong in silence."""
    world = World(**options)
    world.add_ground()
    world.add_body(Box((0.1, 0.2, 0.12)), 1.0, position=(0, 0, 0.06 - 1e-7), name="box")
    if change is not None:
        change(world)
    with pytest.raises(WorldError, match=why):
        world.linearize()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 40))
def test_redundant_rows_hold_exactly(seed, count):
    """Law: M dv - J' l = r and J dv = b for rigid rows that agree, whatever their number.

    They read twelve coordinates of one free body, which six degrees of freedom move.
    """
    random, world = np.random.default_rng(seed), World(sleeping=False)
    body = world.add_body(Box((0.1, 0.2, 0.3)), 2.0)
    room = new_room(joined_system([body]), world.scene.forest, 7, 12, count, 0, 0)
    root, C = random.normal(size=(6, 6)), random.normal(size=(count, 12))
    mass = root @ root.T + np.eye(6)
    room.Z[:] = np.concatenate([np.eye(6), random.normal(size=(6, 6))])
    J = C @ room.Z
    room.held["J"][:], room.held["F"][:], room.held["at"][:] = C, C, (0, 6)
    room.held["inverse_mass"][:] = np.einsum("ki,ij,kj->k", J, np.linalg.inv(mass), J)
    balance = random.normal(size=(3, 6, 6))
    room.target[:] = J @ random.normal(size=(6, 12))
    room.space.factor[:] = mass
    factorise_mass.py_func(room.space.above, room.space.factor)  # called by kernels only
    columns = np.empty((6, 2 * PANEL))
    solve_rows(room, 12, count, balance, np.zeros((0, 6)), columns)
    change, r = columns[:, :12], np.concatenate([balance[0], balance[1]], axis=1)
    assert np.allclose(J @ change, room.target, rtol=0.0, atol=1e-7)
    _, size, directions = np.linalg.svd(J)
    free = directions[int((size > 1e-9).sum()) :]  # where no row pushes
    assert np.allclose(free @ (mass @ change - r), 0.0, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(0, 8))
def test_rows_that_slide_and_yield_solve_their_equations(seed, rigid, soft):
    """Law: M dv - F' dl = r and J dv + S dl = b, as numpy solves them, to rounding.

    Rigid rows push along other directions than they hold, as sliding contacts do.
    """
    random, world, count = np.random.default_rng(seed), World(sleeping=False), rigid + soft
    body = world.add_body(Box((0.1, 0.2, 0.3)), 2.0)
    room = new_room(joined_system([body]), world.scene.forest, 7, 12, count, 0, 2)
    root, J = random.normal(size=(6, 6)), random.normal(size=(count, 6))
    mass = root @ root.T + np.eye(6)
    F = J + 0.1 * random.normal(size=J.shape)
    compliance = np.where(np.arange(count) < rigid, 0.0, random.uniform(0.01, 10.0, count))
    room.Z[:6], room.held["at"][:] = np.eye(6), (0, -1)
    room.held["J"][:, :6], room.held["F"][:, :6] = J, F
    room.held["inverse_mass"][:] = np.einsum("ki,ij,kj->k", J, np.linalg.inv(mass), J)
    room.held["compliance"][:] = compliance
    balance, given = random.normal(size=(3, 6, 6)), random.normal(size=(2, 6))
    room.target[:] = random.normal(size=room.target.shape)
    room.space.factor[:] = mass
    factorise_mass.py_func(room.space.above, room.space.factor)
    columns = np.empty((6, 4 * PANEL))
    solve_rows(room, 6, count, balance, given, columns)
    whole = np.block([[mass, -F.T], [J, np.diag(compliance)]])
    sides = np.zeros((6 + count, 14))
    sides[:6], sides[6:, :12] = np.hstack([balance[0], balance[1], given.T]), room.target
    expected = np.linalg.solve(whole, sides)[:6]
    error = np.abs(columns[:, :14] - expected).max() / np.abs(expected).max()
    assert error < 1e-13 * np.linalg.cond(whole)


@pytest.mark.long
def test_kernels_need_no_numba():
    """Law: stored machine code runs in a process that does not import numba."""
    text = (
        "import sys, hrpsim; world = hrpsim.World(); world.add_body(hrpsim.Sphere(0.1), 1.0)\n"
        "world.step(); assert world.linearize().A.shape == (12, 12); print('numba' in sys.modules)"
    )
    for _ in range(2):  # the first may compile
        found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == "False"


def test_an_empty_world_has_empty_matrices():
    """Law: nothing moves, nothing depends on anything."""
    found = World().linearize()
    assert found.A.shape == (0, 0) and found.inputs == ()


def test_an_unknown_input_is_refused():
    """Law: the error names what exists."""
    with pytest.raises(WorldError, match="efforts"):
        World().linearize("effort")
