# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The zero-moment point of the motion is the one that the simulator's foot sensors measure.

A squat and a sway in place are simulated. What a robot tells, joint positions at 200 Hz, is
differentiated and analysed with the right sole fixed; the base is not told.
"""

import numpy as np
import pytest

import hrpsim
from evidence.experiments.scenes.standing import half_sitting
from hrpsim.analysis import Analyser, FixedPhase
from hrpsim.analysis.motion import motion_of
from hrpsim.control.motion.stand_controller import StandMotion
from robots import HRP2_LIKE

SOLES = {"l_sole": "lfsensor", "r_sole": "rfsensor"}
DURATION, PERIOD = 8.7, 0.005  # [s]: half-sitting, squat, sway


@pytest.fixture(scope="module", params=["rigid", "bush"])
def recording(request):
    """Return the model, configurations (T, nq) and the sensors' wrenches by sole (T, 6)."""
    bush = str(request.param == "bush").lower()
    model = hrpsim.load_model(HRP2_LIKE, xacro_arguments={"bush": bush})
    plan = StandMotion(model)
    world = hrpsim.World()
    world.add_ground()
    robot = world.add_robot(model, q=half_sitting(model))
    world.settle()
    steps = round(PERIOD / world.time_step)
    q, wrenches = [], {sole: [] for sole in SOLES}
    for k in range(round(DURATION / world.time_step)):
        robot.command(positions=plan.joint_positions(world.time), names=list(plan.joint_names))
        if k % steps == 0:
            q.append(robot.q)
        world.step()
        if k % steps == 0:
            for sole, sensor in SOLES.items():
                wrenches[sole].append(robot.sensors[sensor].wrench.copy())
    return model, np.array(q), {sole: np.array(rows) for sole, rows in wrenches.items()}


def measured_zmp(found, wrenches):
    """Return the ZMP (T, 2) of wrenches measured in the soles' frames."""
    total = np.zeros((len(found.q), 6))
    for sole, rows in wrenches.items():
        at = found.support(sole)
        force = np.einsum("tij,tj->ti", at["R"], rows[:, :3])
        moment = np.einsum("tij,tj->ti", at["R"], rows[:, 3:]) + np.cross(at["position"], force)
        total += np.column_stack([force, moment])
    return np.column_stack([-total[:, 4], total[:, 3]]) / total[:, 2:3]


@pytest.mark.quick_cases("bush")
def test_zmp_within_a_tenth_of_a_millimetre(recording):
    model, q, wrenches = recording
    times = PERIOD * np.arange(len(q))
    motion = motion_of(model, "recorded", times, model.joint_names, q[:, 7:])
    place = hrpsim.link_pose(model, q[0], "r_sole")
    found = Analyser(model).analyse(
        motion.q, motion.v, motion.dv, [FixedPhase(0, ("r_sole", "l_sole"), place)]
    )
    zmp = measured_zmp(found, wrenches)
    assert np.ptp(zmp, axis=0) == pytest.approx([0.03, 0.10], rel=0.1), "the motion is another"
    errors = np.linalg.norm(found.samples["zmp"][:, :2] - zmp, axis=1)
    print(f"\n{model.name}: largest error {1e3 * errors.max():.4f} mm", end="")
    assert errors.max() < 1e-4
    force = sum(wrenches.values())[:, 2]
    assert found.samples["force"][:, 2] == pytest.approx(force, abs=0.5)
    assert found.q[:, :3] == pytest.approx(q[:, :3], abs=2e-5)  # soles yield by micrometres
