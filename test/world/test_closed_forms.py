# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Classical scenes whose motion or limit is known in closed form."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

from hrpsim import Box, Capsule, Cylinder, Sphere, World, load_model
from hrpsim.model.shapes.solid_inertia import solid_inertia

GRAVITY = 9.80665


def pinched(shape, share, solver, guided):
    """Return a body of 45 g between two plates, and what presses them for some steps.

    m g = 2 mu N is critical for the grip N. `guided` plates cannot turn.
    """
    mass, mu = 0.045, 0.5
    grip = share * mass * GRAVITY / (2.0 * mu)
    world = World(1e-3, sleeping=False)
    world.set_friction("default", "default", static=mu)
    if solver != "iterative":
        world.add_solver_rule(solver, "contact")
    body = world.add_body(
        shape,
        mass,
        position=(0.0, 0.0, 1.0),
        orientation=(math.sin(math.pi / 4), 0.0, 0.0, math.cos(math.pi / 4)),
    )
    plates = [
        world.add_body(Box((0.02, 0.2, 0.4)), 0.5, position=(0.02 * side, 0.0, 1.0))
        for side in (-1, 1)
    ]
    for plate in plates:
        world.connect(None, plate, axes=("y", "z", "rx", "ry", "rz")[: 5 if guided else 4])

    def pinch(steps):
        for side, plate in zip((-1, 1), plates):
            plate.apply_wrench(force=(-side * grip, 0.0, 0.0))
        world.step(steps)

    return body, pinch


@pytest.mark.parametrize("share", [0.9, 0.98, 1.02, 1.1])
@pytest.mark.parametrize(
    ("shape", "solver", "guided"),
    [
        (Capsule(0.01, 0.06), "iterative", False),
        (Capsule(0.01, 0.06), "iterative", True),
        (Capsule(0.01, 0.06), "direct", True),
        (Capsule(0.01, 0.06), "split", True),
        (Cylinder(0.01, 0.06), "iterative", True),
        (Cylinder(0.01, 0.06), "direct", True),
    ],
    ids=["pivoting", "guided", "direct", "split", "guided-cylinder", "direct-cylinder"],
)
def test_a_pinched_body_holds_above_the_critical_grip_and_slips_below(shape, solver, guided, share):
    """Two plates press with N each: below m g / 2 mu it falls at g (1 - N / N_c), above it holds.

    Holding, it creeps by less than 1 um/s, the mean over a second. Plates that pivot press both
    ends alike. With guided ones any division s : 1 - s of N over both ends of a side is an
    equilibrium, and the body holds only if each end bears half of the weight, |s - 1/2| <=
    (1 - N_c / N) / 2: the direct solvers divide evenly, the iterative one finds such a division
    when an end begins to slip. Where there is none, the fall may have a turn besides.
    """
    body, pinch = pinched(shape, share, solver, guided)
    pinch(100)
    height, speed = body.position[2], body.velocity[2]
    pinch(200 if share < 1.0 else 1000)
    if share < 1.0:
        fall = (speed - body.velocity[2]) / 0.2
        least = GRAVITY * (1.0 - share)
        assert fall > (1.0 - 1e-4) * least
        if solver != "iterative" or not guided:
            assert fall == pytest.approx(least, rel=1e-4)
    else:
        assert abs(body.position[2] - height) < 1e-6


GRIPPER = """
<robot name="gripper">
  <link name="palm"/>
  {fingers}
</robot>
"""
FINGER = """
  <link name="finger_{name}">
    <inertial><mass value="0.5"/>
      <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.02 0.2 0.4"/></geometry></collision>
  </link>
  <joint name="{name}" type="prismatic">
    <parent link="palm"/><child link="finger_{name}"/>
    <origin xyz="{x} 0 1"/><axis xyz="{way} 0 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="10"/>
  </joint>
"""


@pytest.mark.parametrize("share", [0.98, 1.02, 1.1])
def test_fingers_on_prismatic_joints_hold_what_they_grip_hard_enough(share):
    """The grip rises to m g share / 2 mu within 0.1 s from what holds nothing, then stays."""
    mass, mu = 0.045, 0.5
    sides = (("left", -0.02, 1), ("right", 0.02, -1))
    fingers = "".join(FINGER.format(name=name, x=x, way=way) for name, x, way in sides)
    world = World(1e-3, sleeping=False)
    world.set_friction("default", "default", static=mu)
    robot = world.add_robot(load_model(GRIPPER.format(fingers=fingers), base="fixed"))
    half = math.sqrt(0.5)
    body = world.add_body(
        Capsule(0.01, 0.06), mass, position=(0.0, 0.0, 1.0), orientation=(half, 0.0, 0.0, half)
    )
    shelf = world.connect(None, body, kind="fixed")
    grip = share * mass * GRAVITY / (2.0 * mu)
    for k in range(100):
        robot.command(efforts=2 * [grip * (k + 1) / 100], names=["left", "right"])
        world.step()
    shelf.enabled = False
    height = body.position[2]
    world.step(500)
    if share < 1.0:
        assert height - body.position[2] > 0.4 * GRAVITY * (1.0 - share) * 0.5**2
    else:
        assert abs(body.position[2] - height) < 1e-6


def test_dzhanibekov_body_follows_the_elliptic_functions():
    """A free body spun about its middle axis flips over and over, as Jacobi's functions say."""
    moments = np.array([1.0, 2.0, 3.0])
    spin = np.array([0.02, 3.0, 0.0])
    world = World(1e-3, gravity=(0.0, 0.0, 0.0), integrator="rk4", sleeping=False)
    body = world.add_body(Box((0.1,) * 3), 1.0, angular_velocity=spin, inertia=np.diag(moments))
    a, b, c = moments
    energy, square = moments @ spin**2, (moments * spin) @ (moments * spin)  # 2 T, L^2
    # L^2 > 2 T b would turn about the axis of c; here it is about that of a or c by its sign
    if square < energy * b:
        a, c = c, a
    rate = math.sqrt((c - b) * (square - energy * a) / (a * b * c))
    m = (b - a) * (energy * c - square) / ((c - b) * (square - energy * a))
    largest = math.sqrt((energy * c - square) / (b * (c - b)))
    quarter = ellipk(m) / rate
    assert 4.0 * quarter < 16.0  # it flips within the test
    start = quarter if spin[1] > 0.0 else -quarter
    worst = 0.0
    for k in range(1, 33):
        world.step(500)
        sn, _, _, _ = ellipj(rate * (0.5 * k + start), m)
        R = Rotation.from_quat(body.orientation).as_matrix()
        worst = max(worst, abs((R.T @ body.angular_velocity)[1] - largest * sn))
    assert worst < 1e-6


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_spinning_top_precesses_steadily(integrator):
    """I_t W^2 cos a - I_s s W + m g l = 0 for a top on its tip at the angle a, W its precession."""
    mass, arm, tilt, axial, across = 0.5, 0.1, 0.4, 8e-4, 6e-4  # `across` about the centre
    about_tip, spin = across + mass * arm**2, 200.0
    root = math.sqrt((axial * spin) ** 2 - 4.0 * about_tip * math.cos(tilt) * mass * GRAVITY * arm)
    slow = (axial * spin - root) / (2.0 * about_tip * math.cos(tilt))
    # with s the spin about the axis in space: I_s s W - I_t W^2 cos a = m g l
    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    spins = np.array([0.0, 0.0, slow])
    spins += (spin - spins @ axis) * axis
    world = World(1e-4, integrator=integrator, sleeping=False)
    top = world.add_body(
        Sphere(0.02),
        mass,
        position=tuple(arm * axis),
        orientation=(0.0, math.sin(0.5 * tilt), 0.0, math.cos(0.5 * tilt)),
        velocity=tuple(np.cross(spins, arm * axis)),
        angular_velocity=tuple(spins),
        inertia=np.diag([across, across, axial]),
    )
    world.connect(None, top, kind="ball", point=(0.0, 0.0, 0.0))
    for k in range(1, 6):
        world.step(1000)
        p = top.position / arm
        assert math.acos(p[2]) == pytest.approx(tilt, abs=1e-5)
        angle = math.atan2(p[1], p[0]) - slow * 0.1 * k
        assert abs(math.remainder(angle, 2.0 * math.pi)) < 1e-4


def test_slider_crank_keeps_its_geometry_and_energy():
    """x = r cos a + sqrt(l^2 - r^2 sin^2 a) at every angle a, and no energy is lost."""
    r, length = 0.1, 0.3
    world = World(1e-4, gravity=(0.0, 0.0, 0.0), integrator="rk4", sleeping=False)
    crank = world.add_body(Box((r, 0.02, 0.02)), 1.0, position=(0.5 * r, 0.0, 0.0))
    rod = world.add_body(Box((length, 0.02, 0.02)), 1.0, position=(r + 0.5 * length, 0.0, 0.1))
    block = world.add_body(Box((0.04,) * 3), 2.0, position=(r + length, 0.0, 0.2))
    world.connect(None, crank, kind="hinge", point=(0.0, 0.0, 0.0))
    world.connect(crank, rod, axes=("x", "y"), point=(r, 0.0, 0.1))
    world.connect(None, rod, axes=("z", "rx", "ry"))
    world.connect(rod, block, axes=("x", "y"), point=(r + length, 0.0, 0.1))
    world.connect(None, block, kind="slider", axis=(1.0, 0.0, 0.0))
    spin = 10.0
    crank.v = np.array([0.0, 0.5 * r * spin, 0.0, 0.0, 0.0, spin])
    rod.v = np.array([0.0, 0.5 * r * spin, 0.0, 0.0, 0.0, -r * spin / length])
    bodies = ((crank, r, 1.0), (rod, length, 1.0), (block, 0.04, 2.0))

    def kinetic() -> float:
        total = 0.0
        for body, edge, mass in bodies:
            moment = mass / 12.0 * (edge**2 + min(edge, 0.02 if body is not block else 0.04) ** 2)
            total += 0.5 * mass * body.velocity @ body.velocity
            total += 0.5 * moment * body.angular_velocity[2] ** 2
        return total

    start, turned = kinetic(), 0.0
    for _ in range(60):
        world.step(250)
        angle = math.atan2(crank.position[1], crank.position[0])
        reach = r * math.cos(angle) + math.sqrt(length**2 - (r * math.sin(angle)) ** 2)
        assert block.position[0] == pytest.approx(reach, abs=1e-6)
        assert kinetic() == pytest.approx(start, rel=1e-5)
        turned += abs(crank.angular_velocity[2]) * 0.025
    assert turned > 2.0 * math.pi


def test_chain_of_100_links_hangs_by_its_weight():
    """The k-th joint from below carries k weights, and no joint opens."""
    world = World(1e-3, sleeping=False)
    above, joints = None, []
    for k in range(100):
        link = world.add_body(Capsule(0.01, 0.06), 0.1, position=(0.0, 0.0, -0.05 - 0.1 * k))
        joints.append(world.connect(above, link, kind="ball", point=(0.0, 0.0, -0.1 * k)))
        above = link
    world.step(100)
    pulls = np.array([joint.wrench[2] for joint in joints])
    np.testing.assert_allclose(pulls, 0.1 * GRAVITY * np.arange(100, 0, -1), rtol=1e-9)
    assert abs(above.position[2] + 0.05 + 9.9) < 1e-9


@pytest.mark.parametrize("beyond", [-0.03, 0.03])
def test_rod_in_a_corner_stands_to_the_limit_of_friction(beyond):
    """A ladder on floor and wall of the same mu slips below tan a = (1 - mu^2) / (2 mu)."""
    mu, length, radius = 0.4, 1.0, 0.01
    limit = math.atan((1.0 - mu * mu) / (2.0 * mu))
    angle = limit + beyond
    world = World(1e-3, sleeping=False)
    world.set_friction("default", "default", static=mu)
    world.add_ground()
    world.add_ground(normal=(-1.0, 0.0, 0.0))
    along = np.array([math.cos(angle), 0.0, math.sin(angle)])
    middle = 0.5 * length * along
    turn = 0.5 * (0.5 * math.pi - angle)
    rod = world.add_body(
        Capsule(radius, length),
        1.0,
        position=(-radius - middle[0], 0.0, radius + middle[2]),
        orientation=(0.0, math.sin(turn), 0.0, math.cos(turn)),
    )
    start = rod.position
    world.step(500)
    moved = np.linalg.norm(rod.position - start)
    assert moved < 1e-6 if beyond > 0.0 else moved > 1e-2


def test_rod_that_slides_where_painleve_finds_no_force():
    """A rod that slides leaning backward under mu = 2: rigid bodies have no finite force for it.

    What is left is an impact without a collision: it neither sinks nor gains energy.
    """
    length, radius, angle = 1.0, 0.01, 1.1
    world = World(1e-4, sleeping=False)
    world.set_friction("default", "default", static=2.0)
    world.add_ground()
    along = np.array([math.cos(angle), 0.0, math.sin(angle)])
    turn = 0.5 * (0.5 * math.pi - angle)
    rod = world.add_body(
        Capsule(radius, length),
        1.0,
        position=(0.0, 0.0, radius + 0.5 * length * along[2]),
        orientation=(0.0, math.sin(turn), 0.0, math.cos(turn)),
        velocity=(-2.0, 0.0, 0.0),
    )
    energy = _rod_energy(rod, length, radius)
    for _ in range(50):
        world.step(100)
        now = _rod_energy(rod, length, radius)
        assert np.isfinite(now) and now < energy + 1e-3
        energy = min(energy, now)
        assert world.stats.max_penetration < 1e-4


def _rod_energy(rod, length: float, radius: float) -> float:
    moment = solid_inertia(Capsule(radius, length), 1.0)[0, 0]
    kinetic = 0.5 * rod.velocity @ rod.velocity + 0.5 * moment * rod.angular_velocity[1] ** 2
    return kinetic + GRAVITY * rod.position[2]
