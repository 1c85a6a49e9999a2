# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The derivatives of a step by parameters are those of `World.step`: central differences decide."""

import numpy as np
import pytest
from grouped import one_compiles
from world.differences import outputs, tangent

import hrpsim
from evidence.experiments.scenes.standing import half_sitting
from hrpsim import Box, World, WorldError, load_model, share_path

pytestmark = [one_compiles("linearization"), pytest.mark.usefixtures("derivatives_in_python")]

EXACT = {"sleeping": False, "tolerance": 1e-13}
SLOP = 1e-4  # contacts in the middle of it are far from opening and from a correction
STEP = 1e-4  # of factors, and of the differences as a share of other values
HUMANOID = load_model(share_path("urdf/hrp2_like.urdf.xacro"), xacro_arguments={"bush": "true"})
OUTPUTS = ("efforts", "sensors")
JOINT, LINK = "RLEG_JOINT3", "RLEG_LINK3"
OF_JOINT = ("kp", "kd", "damping", "rotor_inertia")
OF_ROBOT = ["mass_factor", "gain_factor", "damping_factor", "spring_factor"]


def scale(world, bodies, share):
    """Change inertias by a share, while what the world remembers of the last steps stays."""
    forest = world.scene.forest
    for body in bodies:
        forest.bodies["mass"][body] *= 1.0 + share
        forest.bodies["inertia"][body] *= 1.0 + share
        at = forest.dofs["body"] == body
        links = forest.dofs["own_inertia"][at] - forest.dofs["rotor_inertia"][at]
        forest.dofs["own_inertia"][at] += share * links
    world.scene.momentum.trees["is_known"] = 0


def set_parameter(world, path, share):
    """Change a parameter by a share of its value; return the change."""
    group, name, *rest = path.split(".")
    if group == "bodies":
        body = world.bodies[name].first_body
        scale(world, [body], share)
        return share / (1.0 + share) * world.scene.forest.bodies["mass"][body]
    if group == "friction":
        static, kinetic = PAIR
        if rest[0] != "kinetic":
            static += share
        if rest[0] != "static":
            kinetic += share
        world.set_friction(*name.split("-"), static, kinetic)
        return share
    robot, kind = world.robots[name], rest[-1]
    if kind == "mass_factor":
        first, count = robot.first_body, len(robot.system.parent)
        only = [first + robot.model.frame(rest[1]).body] if len(rest) > 1 else None
        scale(world, only or range(first, first + count), share)
        return share
    kp, kd = robot.gains
    values = {"kp": kp, "kd": kd, **robot.joint_properties()}
    passive = (kp == 0.0) & (values["stiffness"] > 0.0)
    change = {key: np.zeros(len(kp)) for key in values}
    if rest[0] == "joints":
        k = robot.joint_names.index(rest[1])
        change[kind][k] = found = share * values[kind][k]
    else:
        found = share
        touched = {
            "gain_factor": (("kp", "kd"), kp > 0.0),
            "damping_factor": (("damping",), ~passive),
            "friction_factor": (("friction",), True),
            "spring_factor": (("stiffness", "damping"), passive),
        }[kind]
        for key in touched[0]:
            change[key] = share * values[key] * touched[1]
    new = {key: values[key] + change[key] for key in values}
    scene, at = world.scene, robot.first_v + robot.joint_index.v
    scene.control["kp"][at], scene.control["kd"][at] = new.pop("kp"), new.pop("kd")
    robot.set_joint_properties(**new)
    return found


PAIR = (0.8, 0.5)


def expected(world, paths):
    """Return C of state and outputs (2 nv + r, p) by central differences of copies' steps."""
    found = np.empty((2 * len(world.scene.velocity) + len(outputs(world)), len(paths)))
    for k, path in enumerate(paths):
        ends, change = [], 0.0
        for sign in (1.0, -1.0):
            other = world.copy()
            change += sign * set_parameter(other, path, sign * STEP)
            other.step()
            ends.append((other.scene.q, other.scene.velocity, outputs(other)))
        (*first, read), (*last, other_read) = ends
        away = tangent(world.scene.forest, *first, *last)
        found[:, k] = np.concatenate([away, read - other_read]) / change
    return found


def wrong(world, paths):
    """Return the largest error of a column of C, of state or outputs, by its largest entry."""
    found = world.linearize((), parameters=paths, outputs=OUTPUTS, margin=1e-6)
    assert found.parameters == tuple(paths) and not found.on_edge
    right, errors = expected(world, paths), np.zeros(len(paths))
    for own in filter(len, np.split(right, [len(found.C)])):
        C = found.C if len(own) == len(found.C) else found.outputs.C
        sizes = np.abs(own).max(axis=0)
        assert (sizes > 0.0).all()
        errors = np.maximum(errors, np.abs(C - own).max(axis=0) / sizes)
    return dict(zip(paths, errors))


def standing(world):
    """Return a robot that stands in a world and begins to move by its commands."""
    random = np.random.default_rng(6)
    robot = world.add_robot(HUMANOID, q=half_sitting(HUMANOID))
    world.settle()
    robot.set_joint_properties(JOINT, damping=0.5)
    robot.command(positions=robot.joint_positions + random.uniform(-1e-3, 1e-3, HUMANOID.nv - 6))
    return robot


def follower(robot):
    """Return a joint that moves and whose actuator is at no limit."""
    at = robot.first_v + robot.joint_index.v
    control, moves = robot.world.scene.control[at], np.abs(robot.joint_velocities) > 1e-3
    free = moves & (control["saturated"] == 0) & (control["limiting"] == 0) & (control["kp"] > 0.0)
    return robot.joint_names[int(np.argmax(free))]


def on_floor(slop=SLOP):
    world = World(slop=slop, **EXACT)
    world.add_ground()
    return world


def of(robot, names):
    return [f"robots.{robot.name}.{name}" for name in names]


def test_a_robot_that_moves_freely():
    """Law: C by masses, gains, springs and dampers; momentum of the tree, gravity included."""
    world, random = World(**EXACT), np.random.default_rng(0)
    robot, q = world.add_robot(HUMANOID), half_sitting(HUMANOID)
    system = HUMANOID.system
    q[7:] = np.clip(q[7:], system.lower[6:] + 0.02, system.upper[6:] - 0.02)
    robot.q, robot.v = q, random.uniform(-0.3, 0.3, HUMANOID.nv)
    robot.set_joint_properties(damping=0.5)
    world.step(3)
    joint = follower(robot)
    names = [f"joints.{joint}.{kind}" for kind in OF_JOINT]
    names += [*OF_ROBOT, f"links.{LINK}.mass_factor"]
    found = wrong(world, of(robot, names))
    assert max(found.values()) < 1e-6, found


def test_a_robot_that_stands():
    """Law: C with rigid contacts."""
    world = on_floor()
    robot = standing(world)
    world.scene.q[2] -= SLOP / 2
    world.step(10)
    names = [f"joints.{JOINT}.{kind}" for kind in OF_JOINT]
    names += [*OF_ROBOT, f"links.{LINK}.mass_factor"]
    found = wrong(world, of(robot, names))
    assert max(found.values()) < 1e-6, found


def test_a_position_correction():
    """Law: C of a step that displaces a robot whose contacts are deeper than the slop."""
    world = on_floor(1e-6)
    robot = standing(world)
    world.scene.q[2] -= 1e-4
    world.step(12)
    found = wrong(world, of(robot, [*OF_ROBOT, f"links.{LINK}.mass_factor"]))
    assert max(found.values()) < 1e-6, found


def test_joints_with_dry_friction_and_yielding_limits():
    """Law: C by friction of joints that slide, and by what a damped limit depends on."""
    world = World(**EXACT)
    robot, random = world.add_robot(HUMANOID), np.random.default_rng(2)
    system, q = HUMANOID.system, half_sitting(HUMANOID)
    q[7:] = np.clip(q[7:], system.lower[6:] + 0.02, system.upper[6:] - 0.02)
    k = HUMANOID.joint(robot.joint_names[8])
    q[k.q_index], v = system.upper[k.v_index] + 1e-3, random.uniform(-0.2, 0.2, HUMANOID.nv)
    robot.q, robot.v = q, v
    robot.set_joint_properties(friction=0.5)
    robot.set_constraint("limit", compliance=1e-3, damping_time=0.003)
    world.step(2)
    names = ["mass_factor", "friction_factor", f"joints.{follower(robot)}.kd"]
    found = wrong(world, of(robot, names))
    assert max(found.values()) < 1e-6, found


@pytest.mark.parametrize("compliance", [0.0, 1e-6])
def test_a_box_that_slides(compliance):
    """Law: C by friction and, on a floor that yields, by the mass."""
    world = on_floor()
    world.set_friction("default", "default", *PAIR)
    if compliance:
        world.set_contact("default", "default", compliance=compliance, damping_time=0.003)
    body = world.add_body(Box((0.1, 0.2, 0.3)), 2.0, position=(0, 0, 0.15 - SLOP / 2), name="box")
    body.v = (1, 0.3, 0, 0, 0, 0)
    world.step(2)
    paths = ["friction.default-default.coefficient", "friction.default-default.kinetic"]
    found = wrong(world, [*paths, "bodies.box.mass"] if compliance else paths)
    assert max(found.values()) < 1e-6, found
    assert not world.linearize((), parameters="friction.default-default.static").C.any()


def test_friction_in_closed_form():
    """Law: a box that slides loses mu g dt of its speed, so dv' / dmu = -g dt along the slip."""
    world = on_floor()
    body = world.add_body(Box((0.4, 0.4, 0.01)), 1.0, position=(0, 0, 0.005 - SLOP / 2))
    body.v = (0.6, 0.8, 0, 0, 0, 0)
    found = world.linearize((), parameters="friction.default-default.kinetic").C[6:8, 0]
    assert np.allclose(found, -9.80665 * world.time_step * np.array([0.6, 0.8]), atol=1e-9)


def test_a_changed_mass_counts():
    """Law: a rod of twice the inertia gains half the speed from an effort."""
    world = World(sleeping=False)
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
    link += 'ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis '
    joint += 'xyz="0 0 1"/><limit effort="9" velocity="9"/></joint>'
    text = f'<robot name="r">{link.format("a")}{link.format("b")}{joint}</robot>'
    robot = world.add_robot(hrpsim.load_model(text, base="fixed"))
    robot.command(efforts=[0.0])
    before = world.linearize().B
    robot.scale_inertias(2.0)
    assert np.allclose(world.linearize().B, 0.5 * before, rtol=1e-12)


def test_an_unknown_parameter_is_refused():
    """Law: the error names the path."""
    with pytest.raises(WorldError, match=r"friction\.default-floor\.static"):
        World().linearize(parameters="friction.default-floor.static")
