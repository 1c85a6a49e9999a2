# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Configurations of Isaac Lab and mjlab are tasks, and policies run by OnnxPolicy."""

from contextlib import closing

import numpy as np
import pytest
from learning.env_files import ISAAC_LAB, MJLAB
from learning.walker import WALKER, task

from hrpsim import ModelWarning, StateError
from hrpsim.bridges import OnnxPolicy
from hrpsim.bridges.policy_description import read_policy
from hrpsim.control import ControlLoop
from hrpsim.learning import (
    JointPositionActionCfg,
    ObservationTermCfg,
    RobotCfg,
    TaskBatch,
    UniformVelocityCommandCfg,
    VelocityRanges,
    load_env_config,
    write_policy,
)

ROBOT = RobotCfg("walker", description=WALKER)


def loaded(folder, text, **settings):
    """Return the task of a configuration."""
    path = folder / "env.yaml"
    path.write_text(text)
    return load_env_config(path, ROBOT, **settings)


def test_isaac_lab_s_configuration_is_a_task(tmp_path):
    """Law: each number of the file is that of the running worlds."""
    with pytest.warns(ModelWarning) as told:
        one = loaded(tmp_path, ISAAC_LAB)
    texts = [str(warning.message).partition("env.yaml: ")[2] for warning in told]
    assert texts == [
        "rewards that hrpsim does not have are left out: smoothness (smoothness)",
        "curriculum that hrpsim does not have are left out: terrain_levels (terrain_levels_vel)",
        "entries that hrpsim does not simulate: scene.contact_forces.history_length",
    ]
    assert one.curriculum["weight"].params["num_steps"] == 100 and one.robot.self_collision
    assert (one.time_step, one.decimation, one.episode_length_s) == (0.004, 5, 12.0)
    assert set(one.rewards) == {"track_lin_vel_xy_exp", "feet_air_time"}
    assert one.events["push_robot"].interval_range_s == (10.0, 15.0)
    with closing(TaskBatch(one, 2, threads=1)) as tasks:
        state = tasks.state
        np.testing.assert_allclose(state.default_joint_pos, [0.1, 0.1, -0.2, -0.2])
        np.testing.assert_allclose(state.gains, [[60, 60, 50, 55], [2, 2, 1.5, 1.5]])
        robot = tasks.batch.worlds[0].robots["walker"]
        np.testing.assert_allclose(robot.system.rotor_inertia[6:], [0.01, 0.01, 0, 0])
        np.testing.assert_allclose(robot.q[2:7], [0.23, 0, 0, 0.6, 0.8])
        np.testing.assert_allclose(robot.system.effort_limit[6:], [6, 6, 9, 9])
        np.testing.assert_allclose(robot.system.velocity_limit[6:], [10, 10, 8, 8])
        np.testing.assert_allclose(state.joint_pos_limits, [[-0.9, 0.9]] * 4)
        np.testing.assert_allclose(robot.world.gravity, [0.0, 0.0, -9.81])
        assert tasks.observation_sizes == {"policy": 3 + 9 + 3 + 2 + 4}
        observed = tasks.reset()["policy"]
        assert (np.abs(observed[:, 12:15]) <= [1.0, 0.5, 1.0]).all()
        np.testing.assert_allclose(observed[:, 3:6], [[0, 0, -1]] * 2, atol=0.06)
        tasks.step(np.zeros((2, 4)))


def test_mjlab_s_configuration_is_a_task_in_the_policy_s_order(tmp_path):
    """Law: with `joint_order`, actions and observed joints have the order of the policy."""
    order = ("RR_hip", "FL_hip", "RL_hip", "FR_hip")
    one = loaded(tmp_path, MJLAB, joint_order=order)
    with closing(TaskBatch(one, 2, threads=1)) as tasks:
        assert tasks.action_names == order
        np.testing.assert_allclose(tasks.actions["joint_pos"].scale, [0.5, 0.4, 0.5, 0.4])
        tasks.reset()
        observed, *_ = tasks.step([[0.5, 0.0, 0.0, 0.0]] * 2)
        at = [tasks.state.joint_names.index(name) for name in order]
        np.testing.assert_array_equal(observed["policy"][:, 3:], tasks.state.joint_vel[:, at])
        assert (np.abs(observed["policy"][:, 3]) > np.abs(observed["policy"][:, 4])).all()


@pytest.mark.filterwarnings("ignore::hrpsim.ModelWarning")
@pytest.mark.parametrize(
    "old, new, error",
    [
        ("dt: 0.004", "dt: fast", r"sim\.dt: must be a finite number, got 'fast'"),
        ("decimation: 5\n", "", "the entry 'decimation' is missing"),
        ("observations:base_ang_vel", "observations:mine", "observation 'mine' does not exist"),
        (":JointPositionAction", ":Drag", r"actions\.joint_pos: action 'Drag' does not exist"),
        (":UniformVelocityCommand", ":Pose", "command 'Pose' does not exist"),
        ("      - 0.23\n", "", r"init_state\.pos: must be a list of 3 numbers"),
        ("sim:\n", "sim: 3\nold:\n", r"sim: must be a mapping with names as keys, got 3"),
        ("", "", "actuators: must be a mapping or a list"),
    ],
)
def test_mistakes_name_file_and_entry(tmp_path, old, new, error):
    text = ISAAC_LAB.replace(old, new)
    if "actuators: must" in error:
        text = ISAAC_LAB.partition("    actuators:")[0] + "observations: {}\nactions: {}\n"
    with pytest.raises(StateError, match=error) as caught:
        loaded(tmp_path, text)
    assert str(tmp_path) in str(caught.value)


def network(path, weights):
    """Write the network action = observation W."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    made, kind = onnx.helper, onnx.TensorProto.FLOAT
    observation = made.make_tensor_value_info("obs", kind, [1, len(weights)])
    action = made.make_tensor_value_info("actions", kind, [1, weights.shape[1]])
    node = made.make_node("MatMul", ["obs", "W"], ["actions"])
    given = [onnx.numpy_helper.from_array(weights.astype(np.float32), "W")]
    graph = made.make_graph([node], "policy", [observation], [action], given)
    opset = [made.make_opsetid("", 13)]
    onnx.save(made.make_model(graph, opset_imports=opset, ir_version=8), path)


TERMS = {
    "rate": ObservationTermCfg("base_ang_vel", scale=0.25),
    "gravity": ObservationTermCfg("projected_gravity", clip=(-1.0, 1.0)),
    "command": ObservationTermCfg("generated_commands", {"command_name": "twist"}),
    "positions": ObservationTermCfg("joint_pos_rel", history_length=2),
    "rates": ObservationTermCfg("joint_vel_rel", scale=(0.1,) * 4),
    "action": ObservationTermCfg("last_action"),
}
RANGES = VelocityRanges((0.3, 0.3), (0.1, 0.1), (-0.2, -0.2))


def apart(folder, decimation):
    """Return how far actions and postures of OnnxPolicy are from a task's, by period (3, 2).

    onnxruntime computes both actions, since another library may round the sums differently.
    """
    network = pytest.importorskip("onnxruntime").InferenceSession(folder / "policy.onnx")
    commands = {"twist": UniformVelocityCommandCfg(RANGES)}
    step = 0.02 / decimation
    one = task(observations=TERMS, commands=commands, time_step=step, decimation=decimation)
    with closing(TaskBatch(one, 1, threads=1)) as tasks:
        write_policy(folder / "policy.yaml", tasks, "policy.onnx")
        described = read_policy(folder / "policy.yaml")
        assert described.joints == tasks.action_names and described.decimation == decimation
        robot = tasks.batch.worlds[0].copy().robots["walker"]
        policy, found = OnnxPolicy(), []
        parameters = {
            "description": str(folder / "policy.yaml"),
            "commands": [[0.0, 0.3, 0.1, -0.2]],
        }
        loop = ControlLoop(robot, policy, parameters)
        observed = tasks.reset()["policy"]
        for _ in range(3):
            (action,) = network.run(None, {"obs": observed.astype(np.float32)})
            observed = tasks.step(action)[0]["policy"]
            for _ in range(decimation):
                loop.tick()
            moved = np.abs(robot.joint_positions - tasks.state.joint_pos[0]).max()
            found.append([np.abs(policy.action - action[0]).max(), moved])
    return np.array(found)


def test_a_policy_of_a_task_runs_as_a_controller(tmp_path):
    """Law: OnnxPolicy acts as in the task, up to the first order of the time step.

    The controller's damping acts by torques held over a step, and the task's servo in the step.
    """
    weights = np.random.default_rng(4).uniform(-0.6, 0.6, (25, 4)).astype(np.float32)
    network(tmp_path / "policy.onnx", weights)
    coarse, fine = (apart(tmp_path, decimation) for decimation in (20, 80))
    assert coarse[0, 0] == fine[0, 0] == 0.0
    assert coarse.max() < 0.006
    np.testing.assert_allclose(coarse[1:] / fine[1:], 4.0, rtol=0.25)


@pytest.mark.parametrize(
    "terms, error",
    [
        ({"z": ObservationTermCfg("base_pos_z")}, "have no term for 'base_pos_z'"),
        (
            {"q": ObservationTermCfg("joint_pos_rel", {"joint_names": "F.*"})},
            "other joints than the action",
        ),
        ({"q": ObservationTermCfg("joint_pos_rel", clip=(-1, 2))}, "are not symmetric"),
        ({"q": ObservationTermCfg("joint_pos_rel", clip=(-1, 1), scale=2.0)}, "either clip or"),
    ],
)
def test_what_a_description_cannot_say_is_refused(tmp_path, terms, error):
    with closing(TaskBatch(task(observations=terms), 1, threads=1)) as tasks:
        with pytest.raises(StateError, match=error):
            write_policy(tmp_path / "policy.yaml", tasks, "policy.onnx")
        assert not (tmp_path / "policy.yaml").exists()


def test_a_ramp_of_targets_is_refused_by_the_name_of_the_action(tmp_path):
    ramped = {"hips": JointPositionActionCfg((".*",), scale=0.3, ramp=True)}
    with closing(TaskBatch(task(actions=ramped), 1, threads=1)) as tasks:
        with pytest.raises(StateError, match="action 'hips' has ramp=True"):
            write_policy(tmp_path / "policy.yaml", tasks, "policy.onnx")
