# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The audit of energy: closed forms, MuJoCo's energy, who is reported and who is not."""

import math
import warnings

import pytest
from world.scenes import GRAVITY, one_joint

import hrpsim
from hrpsim import Batch, Box, Capsule, ModelWarning, Sphere, World, load_model

STILL = dict(gravity=(0.0, 0.0, 0.0))
SPRING = 1000.0  # [N/m]
UPRIGHT_BUT = (0.0, math.sin(0.2), 0.0, math.cos(0.2))


def arm(**options):
    """A pendulum of 1 kg at 0.5 m; its joint turns about the level y axis."""
    return one_joint(mass=1.0, at="0.5 0 0", moment=0.01, **options)


def pendulum(integrator: str, time_step: float = 1e-3, **options) -> World:
    world = World(time_step, integrator=integrator, audit=True, **options)
    world.add_robot(arm(), q=[0.0], name="pendulum")
    return world


def undamped_spring(integrator: str, time_step: float = 1e-3) -> World:
    """A body of 1 kg on a compliant connection, which swings with 31.6 rad/s."""
    world = World(time_step, integrator=integrator, audit=True, **STILL)
    body = world.add_body(Box((0.1, 0.1, 0.1)), 1.0, velocity=(0.5, 0.0, 0.0), name="weight")
    world.connect(body, None, "fixed", compliance=1.0 / SPRING, damping_time=0.0)
    return world


def silent(world: World, duration: float) -> float:
    """Step, with every warning an error; return the largest gain."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.step(round(duration / world.time_step))
    return world.stats.energy.largest_gain


def check_sum(world: World, start: float) -> None:
    """Check that energies and flows add up."""
    energy = world.stats.energy
    flow = energy.since_reset
    gained = flow.work + flow.created - flow.dissipated + flow.corrected
    scale = max(abs(energy.kinetic), abs(energy.potential), abs(flow.work), 1.0)
    assert energy.total - start == pytest.approx(gained, abs=1e-11 * scale)


# -- what is stored ---------------------------------------------------------------------------

ARM = """<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body pos="0.1 0.2 0.3">
      <joint name="a" type="hinge" axis="0 1 0" armature="0.03" stiffness="4" springref="0.4"/>
      <inertial pos="0.1 0.05 -0.3" mass="1.3" diaginertia="0.02 0.03 0.01"/>
      <body pos="0 0.1 -0.6" quat="0.9 0.1 -0.3 0.2">
        <joint name="b" type="slide" axis="0 0.6 0.8" armature="0.4" stiffness="300"/>
        <inertial pos="0 0.1 0.1" mass="0.7" diaginertia="0.004 0.006 0.005"/>
        <body pos="0.1 0 -0.2">
          <joint name="c" type="hinge" axis="1 0 0" armature="0.002"/>
          <inertial pos="0 0 -0.2" mass="0.5" diaginertia="0.003 0.002 0.001"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler"])
def test_energies_of_a_robot_are_those_of_mujoco(integrator, tmp_path):
    """Kinetic energy with armatures, gravity and joint springs: mj_energyVel and mj_energyPos."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    world = World(integrator=integrator, audit=True)
    robot = world.add_robot(load_model(path, base="fixed"), q=[0.9, 0.02, -1.1])
    peer = mujoco.MjModel.from_xml_string(ARM)
    peer.opt.gravity[:] = world.gravity
    data = mujoco.MjData(peer)
    for _ in range(3):
        world.step(40)
        data.qpos[:], data.qvel[:] = robot.q, robot.v
        mujoco.mj_forward(peer, data)
        mujoco.mj_energyPos(peer, data)
        mujoco.mj_energyVel(peer, data)
        energy = world.stats.energy
        assert energy.kinetic == pytest.approx(data.energy[1], rel=1e-12)
        assert energy.potential + energy.elastic == pytest.approx(data.energy[0], rel=1e-12)


def test_springs_of_connections_and_contacts_store_their_energy():
    """At rest a weight stores (m g)^2 c / 2 in a spring, and a quarter in four contact points."""
    compliance = 1e-4
    world = World(audit=True, sleeping=False)
    world.add_ground()
    world.set_contact("default", "default", compliance=compliance, damping_time=0.05)
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.0, 0.0, 0.1))
    hanging = world.add_body(Sphere(0.1), 1.0, (1.0, 0.0, 1.0))
    world.connect(hanging, None, "fixed", compliance=compliance, damping_time=0.05)
    world.step(3000)
    stored = 0.5 * GRAVITY**2 * compliance
    assert world.stats.energy.elastic == pytest.approx(1.25 * stored, rel=1e-6)
    assert world.stats.energy.kinetic < 1e-12


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "euler"])
def test_the_balance_is_the_change_of_energy(integrator):
    """Of a pendulum, whose energy follows from its state, and which has no inputs."""
    world = pendulum(integrator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        world.step(700)
    robot = world.robots["pendulum"]
    end = sum(hrpsim.energy(robot.model, robot.q, robot.v))
    flow = world.stats.energy.since_reset
    assert world.stats.energy.total == pytest.approx(end, abs=1e-12)
    assert flow.created - flow.dissipated == pytest.approx(end, abs=1e-11)
    assert flow.work == flow.corrected == 0.0


# -- who is silent ------------------------------------------------------------------------------

PASSIVE = {}


def passive(make):
    PASSIVE[make.__name__] = make
    return make


@passive
def double_pendulum(world: World) -> None:
    link = (
        '<link name="{}"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.1" '
        'iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    joint = (
        '<joint name="{0}{1}" type="continuous"><parent link="{0}"/><child link="{1}"/>'
        '<origin xyz="0 0 {2}"/><axis xyz="0 1 0"/></joint>'
    )
    text = '<link name="base"/>' + link.format("a") + link.format("b")
    text += joint.format("base", "a", 0) + joint.format("a", "b", -1)
    model = load_model(f'<robot name="double">{text}</robot>', base="fixed")
    world.add_robot(model, q=[2.0, 1.0])


@passive
def bush(world: World) -> None:
    model = one_joint(
        "prismatic",
        axis="0 0 1",
        mass=29.0,
        extension='<spring stiffness="5e5"/><rotor inertia="0.1"/>',
    )
    world.add_robot(model, q=[0.002])


@passive
def tumbling_box(world: World) -> None:
    world.add_body(Box((0.1, 0.2, 0.4)), 1.0, (0.0, 0.0, 9.0), angular_velocity=(1.0, 30.0, 2.0))


@passive
def elastic_ball(world: World) -> None:
    world.add_ground()
    world.set_friction("default", "default", 0.5, restitution=1.0)
    world.add_body(Sphere(0.1), 1.0, (0.0, 0.0, 0.6))


@passive
def sliding_box(world: World) -> None:
    world.add_ground()
    world.set_friction("default", "default", 0.3)
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.0, 0.0, 0.1), velocity=(2.0, 1.0, 0.0))


@passive
def ball_on_a_spring_floor(world: World) -> None:
    world.add_ground()
    world.set_contact("default", "default", compliance=1e-4, damping_time=0.0)
    world.add_body(Sphere(0.1), 1.0, (0.0, 0.0, 0.2))


@pytest.mark.parametrize("name", PASSIVE)
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_passive_worlds_that_keep_their_energy_are_silent(name, integrator):
    """Swings of a symplectic step, impacts, friction and springs are no creation of energy."""
    world = World(5e-4, integrator=integrator, audit=True)
    PASSIVE[name](world)
    assert silent(world, 1.2) < 3e-4


def test_a_correction_of_penetration_is_counted_apart():
    """A box that starts 1 mm deep is lifted by 1 mm: m g z, without creation."""
    world = World(audit=True, sleeping=False)
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.0, 0.0, 0.099))
    assert silent(world, 1.0) < 1e-6
    lifted = world.bodies["box"].position[2] - 0.099
    assert lifted > 0.9e-3
    assert world.stats.energy.since_reset.corrected == pytest.approx(GRAVITY * lifted, rel=1e-6)


def test_bodies_that_sleep_keep_their_energy():
    """A box that has come to rest is audited no more, and its potential energy counts."""
    world = World(audit=True)
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.0, 0.0, 0.102), name="first")
    world.add_body(Sphere(0.1), 2.0, (3.0, 0.0, 60.0), name="second")
    assert silent(world, 2.0) < 1e-6
    assert world.asleep == ("first",)
    height = 1.0 * world.bodies["first"].position[2] + 2.0 * world.bodies["second"].position[2]
    assert world.stats.energy.potential == pytest.approx(GRAVITY * height, rel=1e-12)


# -- who is reported ----------------------------------------------------------------------------


def test_euler_is_reported_by_name_once_until_the_reset():
    """`euler` gives a pendulum about w^2 h / 2 of its energy in a second."""
    world = pendulum("euler")
    with pytest.warns(ModelWarning, match="robot 'pendulum' gained .* without any input.*rk4"):
        world.step(1500)
    energy = world.stats.energy
    assert energy.gaining == "pendulum"
    assert energy.largest_gain > 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.step(500)
    world.reset()
    assert world.stats.energy.largest_gain == world.stats.energy.since_reset.created == 0.0
    with pytest.warns(ModelWarning, match="'pendulum'"):
        world.step(1500)


def test_the_gain_is_that_of_the_integrator():
    """Explicit Euler multiplies the energy of an undamped swing by 1 + (w h)^2 in a step."""
    h, stiffness = 1e-4, 400.0
    model = one_joint(
        "prismatic", axis="1 0 0", mass=4.0, extension=f'<spring stiffness="{stiffness}"/>'
    )
    world = World(h, integrator="euler", audit=True, **STILL)
    world.add_robot(model, q=[0.1], name="weight")
    with pytest.warns(ModelWarning, match="robot 'weight' gained"):
        world.step(5000)
    start = 0.5 * stiffness * 0.1**2
    expected = start * ((1.0 + stiffness / 4.0 * h**2) ** 5000 - 1.0)
    assert world.stats.energy.since_reset.created == pytest.approx(expected, rel=1e-9)


def test_only_the_body_that_gains_is_named():
    """Two pendulums; one is at rest. Another body slides, and loses more than the first gains."""
    world = pendulum("euler")
    world.add_robot(arm(), q=[math.pi / 2.0], name="hanging")
    world.add_ground(height=-5.0)
    world.add_body(
        Box((0.2, 0.2, 0.2)), 50.0, (0.0, 3.0, -4.9), velocity=(5.0, 0.0, 0.0), name="sliding"
    )
    with pytest.warns(ModelWarning) as caught:
        world.step(1000)
    texts = [str(one.message) for one in caught if "gained" in str(one.message)]
    assert len(texts) == 1
    assert "'pendulum'" in texts[0]
    assert "hanging" not in texts[0] and "sliding" not in texts[0]


def test_a_body_with_inputs_is_measured_and_not_reported():
    """A weight that a slider lifts in `euler`: no warning, the gain is in the statistics."""
    world = World(integrator="euler", audit=True)
    lifted = world.add_body(Box((0.1, 0.2, 0.3)), 1.0, (0.3, 0.0, 1.0), name="lifted")
    connection = world.connect(lifted, None, "slider", axis=(0.0, 0.0, 1.0))
    connection.drive("z", 0.5, 40.0)
    assert silent(world, 0.5) > 0.0
    assert world.stats.energy.gaining == "lifted"


def test_worlds_of_a_batch_are_audited():
    """Each world has its own balance, that of the world alone; the calling thread warns."""
    alone = pendulum("euler")
    batch = Batch(alone, 3, threads=2)
    with pytest.warns(ModelWarning, match="'pendulum' gained"):
        alone.step(400)
    with batch, pytest.warns(ModelWarning, match="'pendulum' gained"):
        batch.step(400)
        assert all(world.stats.energy == alone.stats.energy for world in batch.worlds)


# -- work of inputs -------------------------------------------------------------------------------


def test_a_motor_that_lifts_an_arm_does_the_work_that_it_gains():
    """To the order of the integrator: the energy of the state, by pinocchio's layout."""
    for integrator in ("semi_implicit", "rk4"):
        errors = []
        for h in (2e-3, 1e-3):
            world = World(h, integrator=integrator, audit=True)
            robot = world.add_robot(arm(), q=[0.3])
            robot.drive("j", -2.0, 60.0)
            assert silent(world, 0.5) < 1e-3
            energy = world.stats.energy
            end = sum(hrpsim.energy(robot.model, robot.q, robot.v))
            start = sum(hrpsim.energy(robot.model, [0.3], [0.0]))
            assert energy.since_reset.work > 2.0
            errors.append(abs(energy.since_reset.work - (end - start)))
        assert errors[1] < 1e-3


def test_a_servo_does_the_work_that_an_arm_gains_and_damping_takes():
    """Efforts of gains are an input: no gain is reported while they lift and hold an arm."""
    for integrator in ("semi_implicit", "rk4"):
        world = World(audit=True, integrator=integrator)
        robot = world.add_robot(arm(), q=[0.3])
        robot.set_gains(400.0, 10.0)
        robot.command(positions=[-1.0])
        assert silent(world, 2.0) < 1e-3
        energy = world.stats.energy
        lifted = 0.5 * GRAVITY * (math.sin(0.3) - math.sin(robot.q[0]))
        assert energy.since_reset.work == pytest.approx(lifted, rel=1e-3)
        assert energy.kinetic < 1e-6


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_a_push_does_force_times_distance(integrator):
    """F x of a constant force at a body that is free, and the moment times the angle."""
    world = World(integrator=integrator, audit=True, **STILL)
    body = world.add_body(Sphere(0.1), 2.0)
    for _ in range(500):
        body.apply_wrench((3.0, 0.0, 4.0), (0.0, 0.1, 0.0))
        world.step()
    inertia = 0.4 * 2.0 * 0.1**2
    work = 0.5 * (25.0 / 2.0 + 0.01 / inertia) * 0.5**2
    energy = world.stats.energy
    assert energy.since_reset.work == pytest.approx(work, rel=1e-9)
    assert energy.kinetic == pytest.approx(work, rel=1e-9)
    assert energy.largest_gain < 1e-9


@pytest.mark.parametrize("kind, axis", [("hinge", "rz"), ("slider", "z")])
def test_a_driven_connection_does_the_work_that_its_body_gains(kind, axis):
    """Of a body that is swung about a level hinge, or lifted along a slider."""
    world = World(audit=True)
    body = world.add_body(Box((0.1, 0.2, 0.3)), 1.0, (0.3, 0.0, 1.0))
    across = (0.0, 1.0, 0.0) if kind == "hinge" else (0.0, 0.0, 1.0)
    connection = world.connect(body, None, kind, point=(0.0, 0.0, 1.0), axis=across)
    start = GRAVITY * body.position[2]
    connection.drive(axis, 1.0, 50.0)
    assert silent(world, 1.0) < 1e-3
    energy = world.stats.energy
    assert abs(energy.since_reset.work) > 1.0
    assert energy.total - start == pytest.approx(energy.since_reset.work, abs=2e-3)
    check_sum(world, start)


# -- off, files, snapshots ------------------------------------------------------------------------


def test_the_audit_changes_nothing_and_costs_nothing_where_it_is_off():
    """The same bits with and without; without it, no statistics and no kernel."""
    ends = []
    for audit in (False, True):
        world = World(audit=audit)
        world.add_ground()
        world.add_body(Box((0.2, 0.3, 0.1)), 1.0, (0.0, 0.0, 0.3), UPRIGHT_BUT)
        world.step(400)
        ends.append(world.bodies["box"].q.tobytes() + world.bodies["box"].v.tobytes())
        assert bool(world.scene.lazy_kernels["audit_energy"][0]) == audit
        assert (world.stats.energy is not None) == audit
    assert ends[0] == ends[1]


def test_snapshots_continue_the_balance():
    """A restored world repeats its balance bit for bit, after another body came and went."""
    world = undamped_spring("semi_implicit")
    world.step(100)
    visitor = world.add_body(Capsule(0.1, 0.2), 1.0, (3.0, 0.0, 0.0), name="visitor")
    world.step(10)
    before = world.stats.energy
    world.remove(visitor)
    world.step(1)
    assert world.stats.energy.since_reset.created >= before.since_reset.created
    saved = world.snapshot()
    world.step(300)
    first = world.stats.energy
    world.restore(saved)
    world.step(300)
    assert world.stats.energy == first
    assert first.largest_gain < 1e-3


def test_world_files_have_the_audit(tmp_path):
    """`audit` is an entry of `world`, a truth value."""
    path = tmp_path / "audited.yaml"
    path.write_text("world: {audit: true}\nground: {}\n")
    world = hrpsim.load_world(path)
    world.add_body(Sphere(0.1), 1.0, (0.0, 0.0, 1.0))
    world.step(10)
    assert world.stats.energy.kinetic == pytest.approx(0.5 * (GRAVITY * 0.01) ** 2, rel=1e-9)
    with pytest.raises(hrpsim.WorldError, match="audit"):
        World(audit=2)
