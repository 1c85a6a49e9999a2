# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Copies of a world step as each would alone, differ as they are told to, and fail alone."""

import signal

import numpy as np
import pytest
from meshes import angle_bracket
from world.scenes import INTEGRATORS
from world.scripted import bits, everything

import hrpsim
from hrpsim.engine.compile.fields import Life, at, declared_fields
from hrpsim.engine.step.arrays import Scene
from robots import HRP2_LIKE


def box_world():
    world = hrpsim.World()
    world.add_ground()
    world.add_body(hrpsim.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0.0, 0.0, 0.3), name="crate")
    return world


def standing_world():
    world = hrpsim.World()
    world.add_ground()
    model = hrpsim.load_model(HRP2_LIKE)
    q = model.neutral()
    q[2] = 0.75
    world.add_robot(model, q=q, name="hrp2")
    return world


@pytest.mark.parametrize("make, name", [(box_world, "crate"), (standing_world, "hrp2")])
def test_copies_step_as_the_world_itself(make, name):
    """The same bits from a copy made in mid-motion, contacts and commands included."""
    world = make()
    world.step(120)
    with hrpsim.Batch(world, 5, threads=2) as batch:
        batch.step(7)
        batch.step(150)
        world.step(157)
        for copy in batch.worlds:
            assert copy.time == world.time
            np.testing.assert_array_equal(copy.entities[name].q, world.entities[name].q)
            np.testing.assert_array_equal(copy.entities[name].v, world.entities[name].v)
        np.testing.assert_array_equal(batch.q(name), [world.entities[name].q] * 5)
        np.testing.assert_array_equal(batch.v(name), [world.entities[name].v] * 5)


def test_states_are_those_of_every_world_after_its_arrays_were_remade():
    """Law: rows are the bits of `q` and `v` of each world, whatever is added or removed."""
    with hrpsim.Batch(standing_world(), 3, threads=1) as batch:
        for k, world in enumerate(batch.worlds):
            world.robots["hrp2"].v = 0.1 * (k + 1) * np.ones(world.robots["hrp2"].nv)
        for change in (None, "add", "remove"):
            world = batch.worlds[1]
            if change == "add":
                world.add_body(hrpsim.Sphere(0.1), 1.0, position=(3, 0, 1), name="ball")
            elif change == "remove":
                world.remove(world.bodies["ball"])
            batch.step(3)
            for read, name in ((batch.q, "q"), (batch.v, "v")):
                expected = [getattr(world.robots["hrp2"], name) for world in batch.worlds]
                np.testing.assert_array_equal(read("hrp2"), expected)
                filled = np.zeros(np.shape(expected))
                assert read("hrp2", out=filled) is filled
                np.testing.assert_array_equal(filled, expected)


def test_states_go_to_other_frameworks_without_a_copy():
    with hrpsim.Batch(box_world(), 2, threads=1) as batch:
        q = batch.q("crate")
        assert np.shares_memory(np.from_dlpack(q), q)


@pytest.mark.parametrize(
    "out", [np.zeros((2, 6)), np.zeros((2, 7), np.float32), np.zeros((2, 14))[:, ::2], "array"]
)
def test_an_array_that_does_not_fit_is_refused(out):
    with hrpsim.Batch(box_world(), 2, threads=1) as batch:
        with pytest.raises(hrpsim.StateError, match=r"shape \(2, 7\)"):
            batch.q("crate", out=out)


def test_worlds_that_differ_step_as_each_would_alone():
    """The same bits with masses, gains, friction, speeds and pushes of their own, in contact."""
    world, count = standing_world(), 4
    world.step(200)
    robot = world.robots["hrp2"]
    random = np.random.default_rng(3)
    factors, static = random.uniform(0.8, 1.2, count), random.uniform(0.4, 1.0, count)
    pushes = 30.0 * random.normal(size=(count, 3))
    speeds = 0.1 * random.normal(size=(count, robot.model.nv))
    kp, kd = (np.outer(factors, gains) for gains in robot.gains)

    def vary(one, k):
        own = one.robots["hrp2"]
        own.scale_inertias(factors[k])
        own.set_gains(kp[k], kd[k])
        one.set_friction("default", "default", static[k])
        own.v = speeds[k]

    with hrpsim.Batch(world, count, threads=2) as batch:
        batch.scale_inertias("hrp2", factors)
        batch.set_gains("hrp2", kp, kd)
        batch.set_friction("default", "default", static)
        for k, one in enumerate(batch.worlds):
            one.robots["hrp2"].v = speeds[k]
        batch.apply_wrench("hrp2", pushes, link=robot.model.base_link)
        batch.step(150)
        found = batch.q("hrp2"), batch.v("hrp2")
    for k in range(count):
        alone = world.copy()
        vary(alone, k)
        alone.robots["hrp2"].apply_wrench(robot.model.base_link, pushes[k])
        alone.step(150)
        np.testing.assert_array_equal(alone.robots["hrp2"].q, found[0][k])
        np.testing.assert_array_equal(alone.robots["hrp2"].v, found[1][k])
        assert len(alone.contacts) > 0
    assert len(np.unique(found[0][:, 0])) == count


@pytest.mark.quick_cases("semi_implicit")
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_scene_of_everything_steps_as_alone(integrator):
    """The same bits from a pile, bushes, limits and sensors, where arrays grow in mid-run."""
    world = everything(integrator)
    forces = np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0], [-2.0, 4.0, 1.0]])
    alone = [world.copy() for _ in forces]
    with hrpsim.Batch(world, len(forces), threads=1) as batch:
        for steps in (1, 149, 150, 1):
            batch.apply_wrench("hrp2_like", 10.0 * forces, link="BODY")
            batch.step(steps)
            for one, force in zip(alone, forces, strict=True):
                if force.any():
                    one.robots["hrp2_like"].apply_wrench("BODY", 10.0 * force)
                one.step(steps)
        for one, in_batch in zip(alone, batch.worlds, strict=True):
            assert bits(one) == bits(in_batch)
            assert one.stats == in_batch.stats
    assert len({bits(one) for one in alone}) == len(forces)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_step_depends_on_no_intermediate_result_of_the_last_one(integrator):
    """So that worlds may share their memory: the same bits where they are not numbers before."""
    world = everything(integrator)
    vertices, triangles = angle_bracket()
    bracket = hrpsim.Mesh(0.2 * vertices, triangles)
    for height in (0.1, 0.4):
        world.add_body(bracket, 1.0, position=(-1.0, 0.0, height), material="pile")
    work = [path for path, field in declared_fields(Scene) if field.life is Life.WORK]
    other = world.copy()
    for steps in (1,) * 20 + (60,) * 5:
        world.step(steps)
        for path in work:
            array = at(other.scene, path)
            if array.dtype == np.float64:
                array[...] = 7.0  # the rest of a row for whole vectors is multiplied by 0
            else:
                array.view(np.uint8)[...] = 0xFF
        other.step(steps)
    assert bits(world) == bits(other)


def test_bodies_of_a_batch_sleep_and_wake_as_alone():
    """The same are asleep at the same times, all of them too, and what is pushed wakes."""
    world = box_world()
    world.add_body(hrpsim.Box((0.1, 0.1, 0.1)), 1.0, position=(1.0, 0.0, 0.05), name="other")
    seen = set()
    with hrpsim.Batch(world, 2, threads=1) as batch:
        for one in (world, *batch.worlds):
            one.bodies["other"].apply_wrench((20.0, 0.0, 0.0))
        for steps in (200, 400, 400, 400, 400):
            batch.step(steps)
            world.step(steps)
            seen.add(world.asleep)
            for one in batch.worlds:
                assert one.asleep == world.asleep and one.time == world.time
                assert bits(one) == bits(world)
        for one in (world, *batch.worlds):
            one.bodies["crate"].apply_wrench((50.0, 0.0, 0.0))
        batch.step(100)
        world.step(100)
        assert "crate" not in world.asleep
        for one in batch.worlds:
            assert bits(one) == bits(world)
    assert {(), ("crate", "other")} <= seen


def test_pushes_end_with_a_call():
    """Also with one of no steps, and each in its own world: a push of 1 N for 10 ms, then none."""
    world = hrpsim.World(gravity=(0.0, 0.0, 0.0))
    world.add_body(hrpsim.Sphere(0.1), mass=1.0, name="ball")
    with hrpsim.Batch(world, 3, threads=2) as batch:
        batch.apply_wrench("ball", [(1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (2.0, 0.0, 0.0)])
        batch.step(10)
        batch.step(10)
        np.testing.assert_allclose(batch.v("ball")[:, 0], [0.01, 0.0, 0.02], atol=1e-15)
        batch.apply_wrench("ball", (1.0, 0.0, 0.0))
        batch.step(0)
        batch.step(10)
        np.testing.assert_allclose(batch.v("ball")[:, 0], [0.01, 0.0, 0.02], atol=1e-15)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_leaves_worlds_at_a_time_that_their_states_agree_with(threads):
    """Free fall is exact: v = -t; what was asked for can be asked for again."""

    class Enough(Exception):
        pass

    def handler(number, frame):
        raise Enough

    world = hrpsim.World(gravity=(0.0, 0.0, -1.0))
    world.add_body(hrpsim.Sphere(0.1), 1.0, name="ball")
    before = signal.signal(signal.SIGVTALRM, handler)
    try:
        with hrpsim.Batch(world, 4, threads=threads) as batch:
            batch.step()
            with pytest.raises(Enough):
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
                batch.step(10**9)
            batch.step(5)
            times = np.array([one.time for one in batch.worlds])
            assert times.max() > 0.006
            np.testing.assert_allclose(batch.v("ball")[:, 2], -times, rtol=1e-9)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def test_worlds_share_the_solids_that_no_step_writes():
    """Law: copies have one memory for heights and meshes, and a shape more in one changes one."""
    world = box_world()
    world.add_static(hrpsim.HeightField(np.zeros((40, 40)), spacing=0.1), position=(0.0, 0.0, 0.1))
    world.step()
    copy = world.copy()
    one, other = (w.scene.collision.polyhedra for w in (world, copy))
    shared = [name for name in one._fields if getattr(one, name) is getattr(other, name)]
    assert shared == ["corners", "solids", "heights", "facets"]
    assert copy.fixed_shapes[1] is world.fixed_shapes[1]
    copy.add_static(hrpsim.Mesh(*angle_bracket()), position=(3.0, 0.0, 0.0))
    alone = world.copy()
    for w in (copy, world, alone):
        w.step(5)
    assert bits(world) == bits(alone)
    assert len(world.scene.collision.polyhedra.solids) < len(copy.scene.collision.polyhedra.solids)


def test_a_copy_shares_no_state():
    world = standing_world()
    world.step(10)
    before = world.robots["hrp2"].q.copy()
    copy = world.copy()
    copy.robots["hrp2"].q = copy.robots["hrp2"].model.neutral()
    copy.add_body(hrpsim.Sphere(0.1), mass=1.0)
    copy.set_friction("default", "default", 0.1)
    copy.step(50)
    np.testing.assert_array_equal(world.robots["hrp2"].q, before)
    assert not world.bodies and world.time == pytest.approx(0.01)
    assert copy.robots["hrp2"].world is copy
    assert copy.robots["hrp2"].sensors["lfsensor"].wrench.shape == (6,)


def test_a_study_over_friction():
    """Boxes thrown at 1 m/s stop after v^2 / (2 mu g), each in its own world."""
    world = hrpsim.World(integrator="rk4")
    world.add_ground()
    world.add_body(
        hrpsim.Box((0.2, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.05), velocity=(1, 0, 0), name="box"
    )
    friction = np.linspace(0.2, 1.0, 6)
    with hrpsim.Batch(world, len(friction)) as batch:
        for copy, mu in zip(batch.worlds, friction, strict=True):
            copy.set_friction("default", "default", mu)
        batch.step(1000)
        np.testing.assert_allclose(batch.q("box")[:, 0], 0.5 / (friction * 9.80665), rtol=1e-3)
        assert batch.map(lambda world, k: (k, world.time)) == [(k, 1.0) for k in range(6)]


def test_a_step_after_a_reset_uses_the_references_that_exist():
    """To make them takes as long as many steps of a robot."""
    with hrpsim.Batch(standing_world(), 2, threads=1) as batch:
        batch.step(3)
        before = [one._stepping.reference() for one in batch.worlds]
        batch.reset()
        batch.worlds[0].reset()
        for one, reference in zip(batch.worlds, before, strict=True):
            assert one._stepping.reference() is reference


def test_worlds_are_reset_by_number_or_by_truth_values():
    """A truth value for each is not taken for the numbers 0 and 1."""
    with hrpsim.Batch(box_world(), 3) as batch:
        for chosen, left in (
            ([2], [0, 1]),
            (np.array([True, False, True]), [1]),
            (np.zeros(3, dtype=bool), [0, 1, 2]),
            ([], [0, 1, 2]),
            (None, []),
        ):
            batch.reset()
            batch.step(3)
            batch.reset(chosen)
            assert [k for k, world in enumerate(batch.worlds) if world.time > 0.0] == left
        for wrong in ([True, False], [0.5], [3], [-1], 1, "all", [[0]]):
            with pytest.raises(hrpsim.WorldError, match=r"3 truth values|in a batch of 3"):
                batch.reset(wrong)


@pytest.mark.parametrize(
    "use",
    [
        lambda batch: batch.q("box"),
        lambda batch: batch.command("box", positions=np.zeros((2, 1))),
        lambda batch: batch.scale_inertias("box", [1.0, 1.0]),
        lambda batch: batch.set_gains("box", np.ones((2, 1)), np.ones((2, 1))),
        lambda batch: batch.sensor("box", "imu"),
        lambda batch: batch.apply_wrench("box", (1, 0, 0)),
        lambda batch: batch.apply_wrench("box", (1, 0, 0), link="BODY"),
    ],
)
def test_an_unknown_name_is_told_with_those_that_exist(use):
    with hrpsim.Batch(box_world(), 2) as batch:
        with pytest.raises(hrpsim.WorldError, match=r"'box' does not exist. .*(crate|none)"):
            use(batch)


def test_what_a_batch_cannot_take_is_told():
    batch = hrpsim.Batch(box_world(), 2)
    for force in ((1, 0), np.ones((3, 3))):
        with pytest.raises(hrpsim.StateError, match=r"force of 2 worlds must have shape \(3,\) or"):
            batch.apply_wrench("crate", force)
    batch.close()
    with pytest.raises(hrpsim.WorldError, match="the batch is closed"):
        batch.step()
    with pytest.raises(hrpsim.WorldError, match="must be a whole number >= 1, got '3'"):
        hrpsim.Batch(box_world(), "3")


def test_commands_go_row_by_row():
    with hrpsim.Batch(standing_world(), 3) as batch:
        efforts = np.arange(3.0)[:, None]
        batch.command("hrp2", names=["CHEST_JOINT0"], efforts=efforts)
        batch.step(1)
        joint = batch.worlds[0].robots["hrp2"].joint_names.index("CHEST_JOINT0")
        applied = [world.robots["hrp2"].joint_efforts[joint] for world in batch.worlds]
        np.testing.assert_allclose(applied, [0.0, 1.0, 2.0], atol=1e-12)
        with pytest.raises(hrpsim.StateError, match=r"shape \(3, joints\), got \(2, 1\)"):
            batch.command("hrp2", names=["CHEST_JOINT0"], efforts=efforts[:2])


def test_one_that_fails_does_not_hold_up_the_others():
    with hrpsim.Batch(box_world(), 4, threads=2) as batch:
        crate = batch.worlds[2].bodies["crate"]
        crate.world.add_wrench(crate.first_body, (0, 0, 0), (1e308, 0.0, 0.0), (0, 0, 0))
        with pytest.raises(
            hrpsim.WorldError, match=r"1 of 4 worlds could not be stepped: 2. World 2"
        ):
            batch.step(20)
        assert [world.time for k, world in enumerate(batch.worlds) if k != 2] == [0.02] * 3


def test_a_world_that_another_thread_steps_is_refused_alone():
    with hrpsim.Batch(box_world(), 3, threads=2) as batch:
        batch.worlds[1]._contents.is_stepping = True  # as in a call of its own
        with pytest.raises(hrpsim.WorldError, match=r"1 of 3 .* another thread"):
            batch.step(5)
        batch.worlds[1]._contents.is_stepping = False
        batch.step(5)
        assert [world.time for world in batch.worlds] == [0.01, 0.005, 0.01]


def test_a_batch_that_is_being_stepped_is_refused():
    with hrpsim.Batch(box_world(), 2) as batch, batch._one_call:
        with pytest.raises(hrpsim.WorldError, match="another thread is stepping"):
            batch.step(5)
        assert [world.time for world in batch.worlds] == [0.0, 0.0]


@pytest.mark.parametrize("wrong", [-1, 1.5, float("nan"), "two"])
def test_a_number_of_steps_is_whole(wrong):
    with hrpsim.Batch(box_world(), 2) as batch, pytest.raises(hrpsim.WorldError, match="whole"):
        batch.step(wrong)


@pytest.mark.parametrize("wrong", [{"count": 0}, {"count": 2, "threads": 0}])
def test_nothing_to_step(wrong):
    with pytest.raises(hrpsim.WorldError, match="must be a whole number >= 1"):
        hrpsim.Batch(box_world(), **wrong)
