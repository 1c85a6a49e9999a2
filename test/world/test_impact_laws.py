# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What happens where an impact finds several contacts closed: at once, or one after the other."""

import numpy as np
import pytest
from world.collisions import collide_at_once, collide_in_pairs, line_of_balls, speeds
from world.test_impacts import ALL, SOLVERS, energy

from hrpsim import Sphere, World, WorldError, load_world


def cradle(masses, moving, restitution=1.0, steps=5, **options):
    """Velocities of touching balls after the first `moving` of them came with 1 m/s."""
    velocities = [1.0] * moving + [0.0] * (len(masses) - moving)
    world, balls = line_of_balls(
        masses, [0.0] * (len(masses) - 1), velocities, restitution, **options
    )
    world.step(steps)
    return speeds(balls), np.array(velocities)


@pytest.mark.parametrize("integrator", ALL)
@pytest.mark.parametrize("solver", SOLVERS)
def test_three_equal_balls(solver, integrator):
    for law, expected in (("simultaneous", (-1 / 3, 2 / 3, 2 / 3)), ("sequential", (0, 0, 1))):
        v, _ = cradle([1.0] * 3, 1, impact_law=law, solver=solver, integrator=integrator)
        np.testing.assert_allclose(v, expected, atol=1e-12)


@pytest.mark.parametrize("moving", [1, 2, 3])
@pytest.mark.parametrize("count", range(2, 8))
def test_cradles(count, moving):
    """As many leave as came, one after the other; all at once by Newton's law for them together."""
    if moving >= count:
        return
    masses = [1.0] * count
    v, start = cradle(masses, moving, impact_law="sequential")
    np.testing.assert_allclose(v, start[::-1], atol=1e-12)
    v, start = cradle(masses, moving, impact_law="simultaneous")
    np.testing.assert_allclose(v, collide_at_once(masses, start, 1.0), atol=1e-12)
    assert energy(masses, v) == pytest.approx(energy(masses, start), rel=1e-12)


@pytest.mark.parametrize("restitution", [1.0, 0.8, 0.5])
@pytest.mark.parametrize("masses", [[1, 2, 3], [3, 1, 2, 1], [0.2, 1, 5, 1, 0.2], [1, 10, 0.1, 2]])
def test_different_masses(masses, restitution):
    for law in ("simultaneous", "sequential"):
        v, start = cradle(masses, 1, restitution, impact_law=law)
        assert np.dot(masses, v) == pytest.approx(np.dot(masses, start), abs=1e-12)
        if law == "sequential":
            expected, _, _ = collide_in_pairs(
                masses, [0.0] * (len(masses) - 1), start, restitution, 5e-3
            )
        else:
            expected = collide_at_once(masses, start, restitution)
        np.testing.assert_allclose(v, expected, atol=1e-9)
        assert energy(masses, v) <= energy(masses, start) * (1 + 1e-12)


@pytest.mark.parametrize("law", ["simultaneous", "sequential"])
def test_a_symmetric_break_stays_symmetric(law):
    """A ball strikes a touching triangle of ten along its axis: mirror images to rounding."""
    world = World(1e-3, gravity=(0, 0, 0), impact_law=law)
    world.set_friction("default", "default", 0.0, restitution=0.95)
    world.add_body(Sphere(0.05), 1.0, position=(-0.103, 0, 0), velocity=(3.0, 0, 0), name="cue")
    for row in range(4):
        for k in range(row + 1):
            place = (0.1 * row * np.sqrt(0.75), 0.05 * (2 * k - row), 0.0)
            world.add_body(Sphere(0.05), 1.0, position=place, name=f"{row}:{k}")
    world.step(60)
    moved = 0.0
    for row in range(4):
        for k in range(row + 1):
            one, other = world.bodies[f"{row}:{k}"], world.bodies[f"{row}:{row - k}"]
            moved = max(moved, abs(one.velocity[1]))
            np.testing.assert_allclose(one.velocity * (1, -1, 1), other.velocity, atol=1e-11)
    assert moved > 0.1
    assert abs(world.bodies["cue"].velocity[1]) < 1e-11
    momentum = sum(body.velocity for body in world.bodies.values())
    np.testing.assert_allclose(momentum, (3.0, 0, 0), atol=1e-12)


def test_a_pair_may_have_its_own_law():
    for pair, whole, expected in (
        ("sequential", "simultaneous", (0, 0, 1)),
        ("simultaneous", "sequential", (-1 / 3, 2 / 3, 2 / 3)),
        (None, "sequential", (0, 0, 1)),
    ):
        world, balls = line_of_balls([1.0] * 3, [0.0] * 2, [1.0, 0, 0], 1.0, impact_law=whole)
        world.set_friction("ball", "ball", 0.0, restitution=1.0, impact_law=pair)
        world.step(2)
        np.testing.assert_allclose(speeds(balls), expected, atol=1e-12)


def test_unknown_laws_are_refused_with_those_that_exist():
    with pytest.raises(WorldError, match="simultaneous, sequential"):
        World(impact_law="poisson")
    world = World()
    with pytest.raises(WorldError, match="simultaneous, sequential"):
        world.set_friction("a", "b", 0.5, restitution=1.0, impact_law="newton")
    assert "a" not in world._contents.materials.index


def test_world_files_choose_the_law(tmp_path):
    path = tmp_path / "cradle.yaml"
    balls = "\n".join(
        f"  - {{shape: {{sphere: 0.05}}, mass: 1, position: [{0.1 * k}, 0, 0], "
        f"velocity: [{1.0 if k == 0 else 0.0}, 0, 0]}}"
        for k in range(3)
    )
    for world_law, pair_law, last in (
        ("sequential", "", 1.0),
        ("simultaneous", "", 2 / 3),
        ("simultaneous", ", impact_law: sequential", 1.0),
    ):
        path.write_text(
            f"world: {{gravity: [0, 0, 0], impact_law: {world_law}}}\n"
            "friction:\n"
            f"  - {{between: [default, default], static: 0, restitution: 1{pair_law}}}\n"
            f"bodies:\n{balls}\n"
        )
        world = load_world(path)
        world.step(3)
        assert world.bodies["sphere_3"].velocity[0] == pytest.approx(last, abs=1e-12)
