# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The forces of every solver, and of solvers mixed, keep the laws of contacts and constraints.

Each step is put together again as a dense problem (laws.py) and the impulses and velocities that
the step ended with are held against it.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solvers.laws import law_errors, problem_of, solved_velocity
from world.scenes import GRAVITY, momenta, one_joint, show
from world.scripted import pile

from evidence.experiments.scenes.standing import half_sitting
from hrpsim import Box, Sphere, World
from hrpsim.world.prepared_step import prepared
from robots import humanoid

TIGHT = dict(tolerance=1e-8, sweep_limit=2000)
EXACT = ("pull", "bounds", "cone", "momentum")  # hold whether or not the solution converged
SOLVERS = {
    "auto": "auto",
    "iterative": "iterative",
    "newton": "newton",
    "direct": "direct",
    "split": "split",
    "mixed": [
        dict(solver="direct", kind="contact", bodies=("box*", "world/*")),
        dict(solver="split", bodies=("sphere*", "*")),
        dict(solver="direct", bodies=("capsule*", "box*")),
    ],
}
each_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
examples = settings(max_examples=4)
seeds = st.integers(0, 10_000)


class Worst(dict):
    """The largest error of every law over steps, and how many steps were seen."""

    steps = solved = rows = 0

    def see_step(self, world):
        """Step once, holding the step against its laws; where it was solved, against all."""
        problem = problem_of(prepared(world))
        start = world.scene.velocity.copy()
        world.step()
        scene, stats = world.scene, world.stats
        tolerance = 10.0 * float(scene.settings["tolerance"][0])
        self.steps += 1
        self.solved += stats.residual <= tolerance
        if not stats.row_count:
            return
        self.rows = max(self.rows, stats.row_count)
        impulses = scene.rows.rows["impulse"][: stats.row_count]
        # Redundant rows may have left targets on which they disagree, within the slop.
        left, dt = scene.rows.rows["target"][: stats.row_count], world.time_step
        assert np.abs(left - problem.rows["target"]).max() * dt <= scene.settings["slop"][0]
        problem.rows["target"] = left
        errors = law_errors(problem, impulses, solved_velocity(scene, start))
        rest = max(errors[law] for law in ("normal", "friction", "others"))
        mixed = (
            stats.direct_rows + stats.split_rows + stats.newton_islands > 0
        )  # else it is the last sweep's change
        # Each sweep adds to the velocities of rows, which rounds them. Direct rows and sweeps in
        # turn leave up to a tenth of the solver's tolerance.
        speed = np.abs(problem.J @ scene.velocity).max()
        rounding = 1e-12 + stats.iterations * np.finfo(float).eps * max(1.0, speed)
        rounding += 0.01 * tolerance if mixed else 0.0
        assert rest <= (1.5 if mixed else 10.0) * stats.residual + rounding, f"{errors} {stats}"
        for law, error in errors.items():
            if law in EXACT or stats.residual <= tolerance:
                self[law] = max(self.get(law, 0.0), error)

    def expect(self, share=1.0, velocity=1e-8):
        """Assert errors [m/s], and the share of the steps that was solved to the tolerance."""
        text = ", ".join(f"{law} {error:.1e}" for law, error in self.items())
        assert self, "no rows were seen"
        show(f"solved {self.solved} of {self.steps}, {self.rows} rows", text)
        assert self["momentum"] < 1e-9
        assert self["pull"] <= 0.0
        assert self["bounds"] < 1e-15
        assert self["cone"] < 1e-9
        for law in ("normal", "friction", "others", "stick"):
            assert self.get(law, 0.0) < velocity, law
        assert self["slide"] < 100 * velocity
        assert self["rub"] < velocity
        assert self.solved >= share * self.steps


def watch(world, steps, **bounds):
    worst = Worst()
    for _ in range(steps):
        worst.see_step(world)
    worst.expect(**bounds)
    return worst


@pytest.mark.quick_cases("iterative", "direct", "split")
@each_solver
@examples
@given(seed=seeds)
def test_piles_of_all_shapes(solver, seed):
    world = World(solver=solver, **TIGHT)
    world.set_friction("pile", "pile", static=0.5, kinetic=0.3)
    world.set_friction("pile", "default", static=0.6, kinetic=0.4)
    world.add_ground()
    pile(world, 8, seed)
    world.step(250)
    watch(world, 50, share=0.8)


@pytest.mark.quick_cases("direct", "iterative", "newton")
@each_solver
def test_bodies_of_mass_ratio_1000(solver):
    """1 kg on 1 g on 1 kg, and side by side, sliding and at rest."""
    world = World(solver=solver, tolerance=1e-8, sweep_limit=20_000)
    world.add_ground()
    for k, mass in enumerate((1.0, 1e-3, 1.0)):
        world.add_body(Box((0.2, 0.2, 0.1)), mass, position=(0, 0, 0.05 + 0.1 * k))
        world.add_body(
            Box((0.2, 0.2, 0.1)), mass, position=(0.3 * k, 1, 0.05), velocity=(0.5, 0, 0)
        )
    watch(world, 50, share=0.8)


@pytest.mark.quick_cases("direct", "iterative", "newton")
@each_solver
def test_a_humanoid_stands_and_is_pushed_until_its_feet_slide(solver):
    world = World(solver=solver, **TIGHT)
    world.add_ground(material="floor")
    world.set_friction("floor", "default", static=0.25)
    robot = world.add_robot(humanoid(False), q=half_sitting(humanoid(False)))
    worst = Worst()
    for push in (0.0, 0.0, 400.0, 400.0):
        world.step(15)
        for _ in range(10):
            robot.apply_wrench("BODY", force=(0.3 * push, push, 0.0))
            worst.see_step(world)
    worst.expect(share=0.8)
    assert world.stats.contact_count >= 4


@pytest.mark.quick_cases("iterative", "direct", "newton")
@each_solver
def test_a_chain_that_lies_on_boxes(solver):
    """Ball joints, contacts and a motor in one island; connections hold their rows."""
    world = World(solver=solver, **TIGHT)
    world.add_ground()
    world.add_body(Box((0.3, 0.3, 0.1)), 2.0, position=(0.35, 0, 0.05), name="step")
    links = [
        world.add_body(Box((0.18, 0.04, 0.04)), 0.5, position=(0.2 * k, 0, 0.121), name=f"box{k}")
        for k in range(5)
    ]
    world.connect(None, links[0], "hinge", point=(-0.1, 0, 0.121), axis=(0, 1, 0))
    for k, (a, b) in enumerate(pairwise(links)):
        world.connect(a, b, "ball", point=(0.2 * k + 0.1, 0, 0.121), compliance=1e-7 * k)
    world.step(100)
    worst = watch(world, 40, share=0.8 if solver == "direct" else 0.3)
    assert worst.rows >= 5 + 12 + 3 * 4
    for connection in world.connections.values():
        assert np.abs(connection.error).max() < 1e-3


@pytest.mark.quick_cases("3.0-iterative", "3.0-direct", "-3.0-newton", "-3.0-split")
@each_solver
@pytest.mark.parametrize("effort", [-3.0, 3.0])
def test_joint_limits_and_friction_are_complementary(solver, effort):
    """A pushed arm with dry friction comes to its limit and leaves it again."""
    limit = 'lower="-0.02" upper="0.03" effort="50" velocity="50"'
    world = World(solver=solver, **TIGHT)
    arm = world.add_robot(one_joint(limit=limit, dynamics='friction="0.2"', at="0.1 0 0"))
    if solver not in ("iterative", "newton", "direct"):
        arm.set_constraint("friction", solver="iterative")  # predicted friction has no row
    arm.command(efforts=[effort])
    worst = Worst()
    for k in range(200):
        if k == 120:
            arm.command(efforts=[-effort])
        worst.see_step(world)
    worst.expect(velocity=1e-10)
    assert worst.rows == 2
    assert -0.0201 < arm.joint_positions[0] < 0.0301


def test_random_rules_and_connections():
    """Boxes and spheres, some joined, each pair with a solver drawn at random."""
    worst = Worst()
    for seed in range(8):
        world = random_rules_and_connections(seed)
        world.step(250)
        for _ in range(40):
            worst.see_step(world)
    worst.expect(share=0.8)


def random_rules_and_connections(seed):
    rng = np.random.default_rng(seed)
    rules = [
        dict(solver=str(rng.choice(["direct", "split", "iterative"])), kind="contact", bodies=pair)
        for pair in (("b0", "*"), ("b1", "world/*"), ("b2", "b?"), ("*", "world/*"), ("*", "*"))
    ]
    world = World(solver=rules, **TIGHT)
    world.add_ground()
    bodies = []
    for k in range(6):
        shape = Box(tuple(rng.uniform(0.1, 0.2, 3))) if k % 3 else Sphere(0.07)
        place = (*rng.uniform(-0.06, 0.06, 2), 0.1 + 0.16 * k)
        mass = float(10.0 ** rng.uniform(-1, 1))
        spin = rng.uniform(-1, 1, 3)
        bodies.append(world.add_body(shape, mass, place, name=f"b{k}", angular_velocity=spin))
    kinds = ("ball", "hinge", "fixed", "distance", "universal", "slider")
    for a in (0, 3):
        world.connect(
            bodies[a],
            bodies[a + 1],
            str(rng.choice(kinds)),
            solver=str(rng.choice(["direct", "iterative"])),
            compliance=float(rng.choice([0.0, 1e-6])),
        )
    return world


@pytest.mark.quick_cases("split", "iterative", "auto")
@each_solver
def test_momentum_changes_by_gravity_and_the_ground_alone(solver):
    """Newton's third law: forces between bodies cancel out of the sum over all bodies."""
    world = World(solver=solver, **TIGHT)
    world.add_ground()
    bodies = pile(world, 6, seed=11)
    world.connect(bodies[1], bodies[4], "distance")
    world.step(200)
    for _ in range(100):
        before = momenta(bodies)[0]
        world.step()
        after = momenta(bodies)[0]
        force = np.array([0.0, 0.0, -GRAVITY * sum(b.mass for b in bodies)])
        for contact in world.contacts:
            if contact.b[0] == "world":
                force += contact.force
            elif contact.a[0] == "world":
                force -= contact.force
        size = max(1.0, np.abs(force).max())
        np.testing.assert_allclose(after - before, force * world.time_step, atol=1e-12 * size)


def test_the_laws_notice_forces_that_break_them():
    """A solved problem passes; the same with one force changed does not."""
    world = World(solver="direct", **TIGHT)
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.1)), 1.0, position=(0, 0, 0.05), velocity=(1, 0, 0))
    scene = prepared(world)
    problem = problem_of(scene)
    world.step()
    impulses = scene.rows.rows["impulse"][: len(problem.rows)].copy()
    good = law_errors(problem, impulses, scene.velocity)
    assert max(good.values()) < 1e-9
    normal = int(np.argmax(impulses[0::3])) * 3
    changes = {
        "pull": (normal, -impulses[normal] - 1e-6),
        "normal": (normal, 1e-6),
        "cone": (normal + 1, math.copysign(1e-6, impulses[normal + 1])),
        "slide": (normal + 2, 1e-6),
    }
    for law, (row, change) in changes.items():
        wrong = impulses.copy()
        wrong[row] += change
        velocity = problem.free + np.linalg.solve(problem.M, problem.J.T @ wrong)
        assert law_errors(problem, wrong, velocity)[law] > 1e-7, law
