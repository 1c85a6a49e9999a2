# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E2 and E14: the linkage's exact motion, loops that stay closed, and grips that do not slip."""

import numpy as np
import pytest

from evidence.experiments.framework.experiment import Options
from evidence.experiments.framework.reproduce import save_figure
from evidence.experiments.scenes import four_bar, gripper
from evidence.experiments.studies import e02_four_bar as e02
from evidence.experiments.studies import e14_gripper as e14

QUICK = Options(quick=True)
CRANKS = np.linspace(-np.pi, np.pi, 13)


def test_the_bars_close_the_loop_at_every_angle_of_the_crank():
    assert four_bar.loop_gap(four_bar.angles_of(CRANKS)).max() < 1e-15


def test_rates_are_the_derivatives_of_the_angles():
    e = 1e-6
    first, second = four_bar.angle_rates(four_bar.angles_of(CRANKS))
    after, before = four_bar.angles_of(CRANKS + e), four_bar.angles_of(CRANKS - e)
    np.testing.assert_allclose(first, (after - before) / (2 * e), atol=1e-8)
    change = four_bar.angle_rates(after)[0] - four_bar.angle_rates(before)[0]
    np.testing.assert_allclose(second, change / (2 * e), atol=1e-8)


def test_the_reduced_inertia_and_height_are_those_of_the_bars():
    inertia, bend, height, lift = four_bar.reduced(CRANKS)
    angles = four_bar.angles_of(CRANKS)
    kinetic, potential = four_bar.energies(angles, four_bar.angle_rates(angles)[0])
    np.testing.assert_allclose(kinetic, inertia / 2, rtol=1e-13)
    np.testing.assert_allclose(potential, height, rtol=1e-13, atol=1e-13)
    e = 1e-6
    after, before = four_bar.reduced(CRANKS + e), four_bar.reduced(CRANKS - e)
    np.testing.assert_allclose(bend, (after[0] - before[0]) / (2 * e), atol=1e-8)
    np.testing.assert_allclose(lift, (after[2] - before[2]) / (2 * e), atol=1e-8)


def test_the_exact_motion_keeps_its_energy():
    exact = four_bar.exact_motion(2.0)
    times = np.linspace(0.0, 2.0, 501)[1:-1]
    e = 1e-4
    rate = 8 * (exact(times + e) - exact(times - e)) - exact(times + 2 * e) + exact(times - 2 * e)
    inertia, _, height, _ = four_bar.reduced(exact(times))
    energy = 0.5 * inertia * (rate / (12 * e)) ** 2 + height
    start = four_bar.reduced(four_bar.START)[2]
    assert np.abs(energy - start).max() < 1e-7 * np.ptp(height)


@pytest.mark.parametrize("kind", [four_bar.Tree, four_bar.Bars])
def test_projected_loops_stay_closed_and_swing_as_newton_says(kind):
    """Half a swing at 1 and 0.25 ms: the crank's error falls with the square of the step."""
    exact = four_bar.exact_motion(0.5)
    errors = []
    for h in (1e-3, 2.5e-4):
        motion = e02.our_motion(kind, 0.5, time_step=h, position_projection=True)
        assert motion.largest_gap < 1e-12
        errors.append(motion.angle_error(exact))
    assert errors[0] < 1e-3 and errors[1] < 0.07 * errors[0]


def test_a_linkage_without_projection_is_off_by_less_than_a_micrometre():
    motion = e02.our_motion(four_bar.Tree, 1.0, time_step=1e-3)
    assert 1e-12 < motion.largest_gap < 1e-5


def test_tree_bars_and_mujoco_begin_alike():
    mujoco = pytest.importorskip("mujoco")
    model, data = four_bar.mujoco_linkage(mujoco, 1e-3)
    tree, bars = four_bar.Tree(), four_bar.Bars()
    np.testing.assert_allclose(tree.look(), bars.look(), atol=1e-15)
    np.testing.assert_allclose(data.qpos, tree.robot.q, atol=1e-15)
    assert model.neq == 1 and np.abs(data.efc_pos).max() < 1e-15


@pytest.mark.long
@pytest.mark.parametrize("module", [e02, e14])
def test_the_quick_run_meets_its_targets_and_draws(module, tmp_path):
    pytest.importorskip("matplotlib")
    result = module.run(QUICK)
    assert result.met, [row for row in result.rows if row.met is False]
    assert save_figure(module.EXPERIMENT, result, tmp_path).stat().st_size < 150_000


@pytest.mark.quick_cases("rubber-hybrid", "rigid-direct")
@pytest.mark.parametrize("kind", ["hybrid", "direct"])
@pytest.mark.parametrize("compliance", [gripper.PAD_COMPLIANCE, 0.0], ids=["rubber", "rigid"])
def test_pads_hold_a_box_that_they_had_to_turn(kind, compliance):
    """2.5 times the friction that is needed; pads that are rigid touch a micrometre off flat."""
    scene = gripper.Scene(kind, count=0, turn=e14.TURNED, compliance=compliance)
    run = e14.OurRun(scene, 3500, held_from=gripper.DRAGGED[1])
    for _ in range(0, 3500, e14.TURN):
        run.advance()
    assert run.largest_slip < e14.LARGEST_SLIP
    assert scene.box.position[2] == pytest.approx(gripper.EDGE / 2 + gripper.LIFT, abs=1e-5)


def test_all_corners_of_a_pad_press():
    """The force acts at a pad's middle, the floor carries the box: a quarter of it a corner.

    Rigid points may share otherwise; where one carries all, the box turns about it when lifted.
    """
    scene = gripper.Scene(count=0, compliance=0.0)
    while scene.time < 1.0:
        scene.steer()
        scene.step()
    forces = [
        float(contact.force @ contact.normal)
        for contact in scene.world.contacts
        if "gripper" in (contact.a[0], contact.b[0])
    ]
    assert len(forces) == 8
    np.testing.assert_allclose(forces, gripper.GRIP / 4, rtol=1e-3)


def test_the_hand_goes_where_it_is_to_and_shakes_with_half_g():
    times = np.arange(0.0, 3.5, 1e-4)
    speeds = np.array([gripper.hand_speeds(t) for t in times])
    way = speeds.sum(axis=0) * 1e-4
    np.testing.assert_allclose(way, [gripper.DRAG, gripper.LIFT], atol=1e-6)  # whole periods
    late = times > gripper.SHAKEN
    accelerations = np.diff(speeds[late, 0]) / 1e-4
    assert np.abs(accelerations).max() == pytest.approx(0.5 * gripper.GRAVITY, rel=1e-3)


def test_objects_start_clear_of_each_other_the_hand_and_the_floor():
    mujoco = pytest.importorskip("mujoco")
    scene = gripper.MujocoScene(mujoco)
    pairs = scene.data.contact.geom[: scene.data.ncon]
    box = scene.model.nbody - gripper.OBJECTS - 1
    touching = {int(scene.model.geom_bodyid[g]) for pair in pairs for g in pair}
    assert touching <= {0, box}
