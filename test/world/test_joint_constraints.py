# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Locks, velocity motors and yielding joint constraints, against closed forms."""

import math

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, one_joint, show, weightless

from hrpsim import StateError, World, WorldError, load_model

MOMENT = 0.01  # of one_joint's link about its joint


def turning(integrator: str = "semi_implicit", **options):
    """A weightless link that turns about y."""
    world = weightless(1e-3, integrator)
    return world, world.add_robot(one_joint(moment=MOMENT, **options))


def push(world, robot, torque: float, steps: int) -> None:
    for _ in range(steps):
        robot.apply_wrench("arm", torque=(0, torque, 0))
        world.step()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_lock_holds_a_joint_under_load(integrator):
    world = World(integrator=integrator)
    robot = world.add_robot(one_joint(mass=2.0, at="0.5 0 0", moment=0.05), q=[0.3])
    robot.lock("j")
    world.step(1000)
    assert robot.locked == ("j",)
    assert robot.q[0] == pytest.approx(0.3, abs=1e-12)
    weight = 2.0 * GRAVITY * 0.5 * math.cos(0.3)
    assert robot.constraint_efforts("lock") == pytest.approx([-weight])
    robot.unlock()
    world.step(10)
    assert robot.locked == () and robot.v[0] > 0.1


def test_a_lock_takes_a_joint_to_its_position():
    world, robot = turning()
    robot.lock(["j"], [0.2])
    world.step(100)
    assert robot.q[0] == pytest.approx(0.2, abs=1e-9)


def test_a_soft_lock_turns_by_torque_times_compliance():
    world, robot = turning()
    robot.set_constraint("lock", "j", compliance=1e-2, damping_time=0.05)
    robot.lock("j")
    push(world, robot, 3.0, 1000)
    assert robot.q[0] == pytest.approx(0.03, rel=1e-9)


def test_a_lock_slips_at_its_force_limit():
    world, robot = turning()
    robot.lock("j")
    robot.set_constraint("lock", force_limit=2.0)
    push(world, robot, 3.0, 100)
    assert robot.v[0] == pytest.approx((3.0 - 2.0) / MOMENT * 0.1)


def test_a_motor_keeps_its_speed_up_to_its_force_limit():
    world, robot = turning()
    robot.drive("j", 5.0, force_limit=1.0)
    world.step(20)
    assert robot.v[0] == pytest.approx(1.0 / MOMENT * 0.02)
    world.step(100)
    assert robot.v[0] == pytest.approx(5.0, abs=1e-9) and robot.driven == ("j",)
    push(world, robot, -1.5, 50)
    assert robot.v[0] == pytest.approx(5.0 - 0.5 / MOMENT * 0.05)
    assert robot.constraint_efforts("motor") == pytest.approx([1.0])
    robot.release()
    before = robot.v[0]
    push(world, robot, -1.5, 10)
    assert robot.v[0] == pytest.approx(before - 1.5 / MOMENT * 0.01)


def test_a_soft_motor_slips_with_its_load():
    """By compliance / (damping time + h / 4) for each Nm."""
    world, robot = turning()
    robot.set_constraint("motor", compliance=1e-3, damping_time=0.02)
    robot.drive("j", 1.0, np.inf)
    push(world, robot, 4.0, 1000)
    assert robot.v[0] - 1.0 == pytest.approx(4.0 * 1e-3 / (0.02 + 0.25e-3), rel=1e-9)


def test_a_soft_limit_yields_by_torque_times_compliance():
    world, robot = turning(limit='lower="-0.5" upper="0.1" effort="1e9" velocity="1e9"')
    robot.set_constraint("limit", compliance=1e-3, damping_time=0.01)
    push(world, robot, 3.0, 2000)
    assert robot.q[0] == pytest.approx(0.1 + 3e-3, rel=1e-6)
    assert robot.constraint_efforts("limit") == pytest.approx([-3.0], rel=1e-4)
    robot.set_constraint("limit", compliance=0.0)
    push(world, robot, 3.0, 2000)
    assert robot.q[0] == pytest.approx(0.1, abs=1e-5)


GEARED = """<robot name="gears"><link name="base"/>{links}
  <joint name="a" type="continuous"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="b" type="continuous"><parent link="base"/><child link="two"/><axis xyz="0 0 1"/>
    <mimic joint="a" multiplier="-2"/></joint></robot>"""


def geared():
    links = "".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" '
        'izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name in ("one", "two")
    )
    return load_model(GEARED.format(links=links), base="fixed")


def test_a_soft_gear_twists_by_torque_times_compliance():
    """b = -2 a: locked at a, b under torque T leaves its place by T times the compliance."""
    world = weightless()
    robot = world.add_robot(geared())
    robot.lock("a")
    robot.set_constraint("mimic", "b", compliance=5e-3, damping_time=0.02)
    for _ in range(1000):
        robot.apply_wrench("two", torque=(0, 0, 2.0))
        world.step()
    assert robot.joint_positions == pytest.approx([0.0, 0.01], abs=1e-9)
    # the gear turns 2 Nm on b into -4 Nm on a
    assert robot.constraint_efforts("lock")[0] == pytest.approx(4.0, rel=1e-6)


def test_locks_and_motors_are_part_of_state_and_reset():
    world, robot = turning()
    robot.drive("j", 1.0, 10.0)
    world.step(10)
    snapshot = world.snapshot()
    robot.release("j")
    robot.lock("j")
    world.step(10)
    world.restore(snapshot)
    assert (robot.locked, robot.driven) == ((), ("j",))
    world.add_robot(one_joint())
    assert robot.driven == ("j",)
    robot.keep_as_initial()
    robot.release("j")
    world.reset()
    assert robot.driven == ("j",)


def test_constraints_set_before_a_robot_joins_are_kept():
    world, robot = turning()
    robot.set_constraint(
        "lock", compliance=0.25, damping_time=0.5, force_limit=3.0, solver="direct"
    )
    other = world.add_robot(one_joint())
    world.step()
    parameters = world.scene.joint_parameters[:, 3]
    assert parameters[robot.first_v].tolist() == (0.25, 0.5, 3.0, 1)
    assert parameters[other.first_v].tolist()[:3] == (0.0, 2e-3, math.inf)


@pytest.mark.parametrize(
    "call, named",
    [
        (lambda r: r.lock("k"), ["k", "j"]),
        (lambda r: r.lock("j", [1, 2]), ["positions"]),
        (lambda r: r.lock("j", math.nan), ["positions", "nan"]),
        (lambda r: r.drive("j", math.inf, 1.0), ["velocities", "inf"]),
        (lambda r: r.drive("j", 1.0, -1.0), ["force_limit", "-1"]),
        (lambda r: r.drive("j", 1.0, math.nan), ["force_limit", "nan"]),
        (lambda r: r.drive(["j", "j"], 1.0, 1.0), ["twice"]),
        (lambda r: r.set_constraint("lok"), ["lok", "lock", "motor"]),
        (lambda r: r.set_constraint("lock", compliance=-1), ["compliance", "-1"]),
        (lambda r: r.set_constraint("lock", damping_time=math.nan), ["damping_time", "nan"]),
        (lambda r: r.set_constraint("lock", damping_time=1e-5), ["damping_time", "0.001"]),
        (lambda r: r.set_constraint("lock", force_limit="x"), ["force_limit", "x"]),
        (lambda r: r.set_constraint("limit", solver="split"), ["split", "contacts"]),
        (lambda r: r.set_constraint("limit", solver="penalty"), ["penalty", "direct"]),
        (lambda r: r.constraint_efforts("spring"), ["spring", "friction"]),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(call, named):
    world, robot = turning()
    world.step()
    before = [array.tobytes() for array in world.snapshot()["arrays"]]
    with pytest.raises((StateError, WorldError)) as error:
        call(robot)
    assert all(part in str(error.value) for part in named)
    assert before == [array.tobytes() for array in world.snapshot()["arrays"]]


LINK = """<link name="{name}"><inertial><origin xyz="{half} 0 0"/><mass value="1"/>
  <inertia ixx="0.001" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
BARS = {"crank": 0.2, "coupler": 0.6, "rocker": 0.5}
BASE = 0.7
FOUR_BAR = f"""<robot name="four_bar"><link name="base"/>
  {"".join(LINK.format(name=name, half=length / 2) for name, length in BARS.items())}
  <joint name="crank" type="continuous"><parent link="base"/><child link="crank"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="elbow" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="{BARS["crank"]} 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="rocker" type="continuous"><parent link="base"/><child link="rocker"/>
    <origin xyz="{BASE} 0 0"/><axis xyz="0 0 1"/></joint>
  <hrpsim reference="coupler">
    <connection to="rocker" axes="x y" xyz="{BARS["coupler"]} 0 0" to_xyz="{BARS["rocker"]} 0 0"/>
  </hrpsim></robot>"""


def closed_four_bar(crank: float) -> np.ndarray:
    """Joint positions (crank, elbow, rocker) of the closed loop, the upper branch."""
    tip = BARS["crank"] * np.array([math.cos(crank), math.sin(crank)])
    across = np.array([BASE, 0.0]) - tip
    d = np.linalg.norm(across)
    along = (BARS["coupler"] ** 2 - BARS["rocker"] ** 2 + d**2) / (2 * d)
    up = math.sqrt(BARS["coupler"] ** 2 - along**2)
    meet = tip + (along * across + up * np.array([-across[1], across[0]])) / d
    coupler = math.atan2(*(meet - tip)[::-1])
    return np.array([crank, coupler - crank, math.atan2(meet[1], meet[0] - BASE)])


@pytest.mark.parametrize("projected, largest", [(False, 1e-8), (True, 1e-12)])
def test_a_loop_closed_on_a_tree_moves_as_a_four_bar(projected, largest):
    """The crank driven at 2 rad/s for two turns: the other angles are those of the geometry."""
    world = weightless(tolerance=1e-10, position_projection=projected)
    robot = world.add_robot(load_model(FOUR_BAR, base="fixed"), q=closed_four_bar(0.3))
    loop = world.connections["four_bar/coupler-rocker"]
    robot.drive("crank", 2.0, 1e6)
    gap, off = 0.0, 0.0
    order = [robot.joint_names.index(name) for name in ("crank", "elbow", "rocker")]
    for _ in range(630):
        world.step(10)
        gap = max(gap, np.abs(loop.error).max())
        q = robot.joint_positions[order]
        turned = (q - closed_four_bar(q[0]) + math.pi) % (2 * math.pi) - math.pi
        off = max(off, np.abs(turned).max())
    show(f"four-bar, projection {projected}: gap [m], angles off the geometry [rad]", gap, off)
    # a motor holds a speed, not a place: what the corrections moved the crank by stays
    # and takes hold in the middle of the first step.
    assert q[0] == pytest.approx(0.3 + 2.0 * (6.3 - 0.5e-3), abs=1e-5)
    assert gap < largest and off < 10.0 * largest
