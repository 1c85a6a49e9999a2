# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Any robot is a task: from a description, from a world file, and with errors that name parts."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from learning.walker import BENT, LEGS, ROBOT, TURNED, WALKER, task

from hrpsim import StateError, mass_matrix
from hrpsim.learning import (
    EventTermCfg,
    GaussianNoiseCfg,
    JointEffortActionCfg,
    JointPositionActionCfg,
    JointVelocityActionCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    RobotCfg,
    Task,
    TaskBatch,
    TerminationTermCfg,
    TerrainCfg,
    UniformNoiseCfg,
    velocity_task,
)
from hrpsim.learning.terms.rotations import rotation_matrices


def test_a_description_and_a_world_file_are_the_same_task(tmp_path):
    """Law: the same robot on the same ground moves bit for bit alike."""
    (tmp_path / "walker.urdf").write_text(WALKER)
    (tmp_path / "world.yaml").write_text(
        "world: {accuracy: fast}\nground: {material: floor}\n"
        "robots:\n  - {urdf: walker.urdf, name: walker, on_floor: true, gains: {'*': [1, 1]},"
        " joints: {FL_hip: 0.1, FR_hip: 0.1, RL_hip: 0.1, RR_hip: 0.1}}\n"
    )
    robot = RobotCfg("walker", stiffness=60.0, damping=2.0)
    actions = np.random.default_rng(0).uniform(-1, 1, (10, 2, 4))
    seen = []
    for one in (task(), task(world=tmp_path / "world.yaml", robot=robot)):
        with closing(TaskBatch(one, 2, threads=1)) as tasks:
            tasks.reset()
            for action in actions:
                tasks.step(action)
            seen.append(tasks.state.q.copy())
    np.testing.assert_array_equal(*seen)


@pytest.mark.parametrize(
    "cfg, what",
    [
        (JointVelocityActionCfg(scale=0.5, joint_names="F.*"), "target_velocity"),
        (JointEffortActionCfg(scale=2.0, offset={"FL_hip": 1.0}, joint_names="F.*"), "effort"),
        (JointPositionActionCfg(scale={"FL_hip": 0.1}, joint_names="F.*"), "target_position"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*may be slower by:hrpsim.ModelWarning")
def test_actions_command_their_joints(cfg, what):
    """Law: a joint's command is offset + scale * action, and other joints keep theirs."""
    with closing(TaskBatch(task(actions={"front": cfg}), 2, threads=1)) as tasks:
        tasks.reset()
        assert tasks.action_names == ("FL_hip", "FR_hip")
        before = tasks.batch.worlds[1].robots["walker"]._control()[what].copy()
        tasks.step([[0.0, 0.0], [0.5, -0.3]])
        control = tasks.batch.worlds[1].robots["walker"]._control()[what]
        expected = {
            "target_velocity": [0.25, -0.15],
            "effort": [2.0, -0.6],
            "target_position": [0.1 + 0.05, 0.1 - 0.3],
        }[what]
        np.testing.assert_allclose(control[6:8], expected)
        np.testing.assert_array_equal(control[8:], before[8:])


def test_resets_of_chosen_worlds_leave_the_others():
    """Law: worlds that are not chosen go on bit for bit; chosen worlds get their next episode."""
    events = {"turned": TURNED, "bent": BENT}
    with closing(TaskBatch(task(events=events), 4, seed=5, threads=1)) as tasks:
        first = tasks.reset()["policy"]
        for _ in range(5):
            tasks.step(np.full((4, 4), 0.3))
        before = tasks.state.q.copy()
        observed = tasks.reset(np.array([False, True, False, True]))["policy"]
        assert observed.shape == (2, first.shape[1])
        np.testing.assert_array_equal(tasks.state.q[[0, 2]], before[[0, 2]])
        assert (np.abs(observed - first[[1, 3]]).max(axis=1) > 1e-3).all()
        np.testing.assert_array_equal(tasks.state.random.episodes, [0, 1, 0, 1])
        np.testing.assert_array_equal(tasks.state.episode_length, [5, 0, 5, 0])
        tasks.seed(5)
        np.testing.assert_array_equal(tasks.reset()["policy"], first)


def test_states_and_commands_are_shared_with_other_frameworks():
    """Law: an array taken once by __dlpack__ sees each later state, so nothing is copied."""
    with closing(TaskBatch(task(), 3, threads=1)) as tasks:
        tasks.reset()
        state = tasks.state
        taken = {name: np.from_dlpack(getattr(state, name)) for name in ("q", "v", "action")}
        targets = np.from_dlpack(tasks.actions["hips"].targets)
        tasks.step(np.full((3, 4), 0.5))
        for name, array in taken.items():
            assert np.shares_memory(array, getattr(state, name))
            np.testing.assert_array_equal(array, getattr(state, name))
        np.testing.assert_array_equal(taken["q"], tasks.batch.q("walker"))
        np.testing.assert_allclose(targets, 0.1 + 0.25 * 0.5)


def test_torch_tensors_are_taken_and_given_without_a_copy():
    torch = pytest.importorskip("torch")
    with closing(TaskBatch(task(), 3, threads=1)) as tasks:
        tasks.reset()
        q = torch.from_dlpack(tasks.state.q)
        tasks.step(torch.full((3, 4), 0.5))
        assert q.data_ptr() == tasks.state.q.ctypes.data
        np.testing.assert_array_equal(q.numpy(), tasks.batch.q("walker"))


def test_observations_have_noise_then_clip_then_scale_then_history():
    """Law: the definition of each, for a term that counts the steps."""

    def count(state):
        return np.column_stack([state.episode_length, 10.0 + state.episode_length])

    term = ObservationTermCfg(count, clip=(0.0, 11.5), scale=(1.0, 2.0), history_length=3)
    noisy = ObservationTermCfg(count, noise=UniformNoiseCfg(-0.1, 0.1))
    normal = ObservationTermCfg(count, noise=GaussianNoiseCfg(0.0, 0.1))
    groups = {
        "policy": ObservationGroupCfg({"count": term, "noisy": noisy, "normal": normal}),
        "critic": ObservationGroupCfg({"noisy": noisy}, enable_corruption=False, history_length=2),
    }
    with closing(TaskBatch(task(observations=groups), 50, threads=1)) as tasks:
        assert tasks.observation_sizes == {"policy": 10, "critic": 4}
        first = tasks.reset()
        np.testing.assert_array_equal(first["policy"][:, :6], [[0, 20, 0, 20, 0, 20]] * 50)
        np.testing.assert_array_equal(first["critic"], [[0, 10, 0, 10]] * 50)
        observed = first
        for _ in range(2):
            observed, *_ = tasks.step(np.zeros((50, 4)))
        np.testing.assert_array_equal(observed["policy"][:, :6], [[0, 20, 1, 22, 2, 23]] * 50)
        np.testing.assert_array_equal(observed["critic"], [[1, 11, 2, 12]] * 50)
        noise = observed["policy"][:, 6:8] - [2, 12]
        assert 0.05 < np.abs(noise).max() <= 0.1
        assert 0.07 < (observed["policy"][:, 8:] - [2, 12]).std() < 0.13


def test_rewards_are_weighted_sums_per_second():
    """Law: a weight times a term times the control period, as Isaac Lab and mjlab sum."""
    rewards = {
        "alive": RewardTermCfg("is_alive", 2.0),
        "own": RewardTermCfg(lambda state, size: np.full(state.count, size), -1.0, {"size": 0.5}),
    }
    for by_dt, factor in ((True, 0.02), (False, 1.0)):
        one = task(rewards=rewards, scale_rewards_by_dt=by_dt)
        with closing(TaskBatch(one, 2, threads=1)) as tasks:
            tasks.reset()
            _, reward, _, _ = tasks.step(np.zeros((2, 4)))
            np.testing.assert_allclose(reward, 1.5 * factor)
            np.testing.assert_allclose(tasks.reward_terms, [[2.0 * factor, -0.5 * factor]] * 2)


def test_a_push_has_its_impulse():
    """Law: momentum of a robot in the air grows by the impulse."""
    push = {"impulse_range": (2.0, 2.0), "link": "body", "duration": 0.06}
    events = {
        "push": EventTermCfg("push_by_impulse", "interval", (0.12, 0.12), push),
        "high": EventTermCfg("reset_root_state_uniform", params={"pose_range": {"z": (5.0, 5.0)}}),
    }
    with closing(TaskBatch(task(events=events, terminations={}), 3, threads=1)) as tasks:
        tasks.reset()
        speeds = []
        for _ in range(10):
            tasks.step(np.zeros((3, 4)))
            moved = np.array([momentum(w) for w in tasks.batch.worlds])
            speeds.append(np.linalg.norm(moved[:, :2], axis=1))
        # The first push is drawn after 6 periods and lasts for 3.
        np.testing.assert_allclose(speeds[5], 0.0, atol=1e-9)
        np.testing.assert_allclose(speeds[8], 2.0, rtol=1e-6)
        np.testing.assert_allclose(speeds[9], 2.0, rtol=1e-6)


def test_a_set_velocity_is_added_to_the_base():
    """Law: the world's velocity of the base changes at once by the drawn velocity."""
    change = {"velocity_range": {"x": (0.5, 0.5), "yaw": (0.2, 0.2)}}
    event = EventTermCfg("push_by_setting_velocity", "interval", (0.06, 0.06), change)
    quiet = TaskBatch(task(events={"turned": TURNED}), 2, seed=3, threads=1)
    pushed = TaskBatch(task(events={"turned": TURNED, "push": event}), 2, seed=3, threads=1)
    with closing(quiet), closing(pushed):
        for tasks in (quiet, pushed):
            tasks.reset()
            for _ in range(3):
                tasks.step(np.zeros((2, 4)))
        difference = pushed.state.root_lin_vel_w - quiet.state.root_lin_vel_w
        np.testing.assert_allclose(difference, [[0.5, 0.0, 0.0]] * 2, atol=1e-12)
        difference = pushed.state.root_ang_vel_w - quiet.state.root_ang_vel_w
        np.testing.assert_allclose(difference, [[0.0, 0.0, 0.2]] * 2, atol=1e-12)


def momentum(world):
    """Return the momentum of the walker along the world's axes (3,) [kg m/s]."""
    robot = world.robots["walker"]
    in_base = (mass_matrix(robot.model, robot.q) @ robot.v)[:3]
    return rotation_matrices(robot.q[None, 3:7])[0] @ in_base


def test_parameters_are_drawn_within_their_bounds():
    events = {
        "friction": EventTermCfg(
            "randomize_rigid_body_material", params={"static_friction_range": (0.3, 0.5)}
        ),
        "mass": EventTermCfg(
            "randomize_rigid_body_mass",
            params={
                "mass_distribution_params": (0.5, 1.5),
                "operation": "add",
                "link_names": "body",
            },
        ),
        "gains": EventTermCfg(
            "randomize_actuator_gains", params={"stiffness_distribution_params": (0.8, 1.2)}
        ),
    }
    with closing(TaskBatch(task(events=events), 6, threads=1)) as tasks:
        tasks.reset()
        masses = [w.robots["walker"].system.mass[0] for w in tasks.batch.worlds]
        assert len(set(masses)) == 6 and 4.5 <= min(masses) and max(masses) < 5.5
        kp = np.array([w.robots["walker"].gains for w in tasks.batch.worlds])
        assert (kp[:, 0] >= 48.0).all() and (kp[:, 0] < 72.0).all() and kp[:, 0].std() > 1.0
        np.testing.assert_array_equal(kp[:, 1], 2.0)
        found = [w.scene.materials["static"].min() for w in tasks.batch.worlds]
        assert len(set(found)) == 6 and 0.3 <= min(found) and max(found) < 0.5


def test_a_terrain_is_below_the_robot():
    one = task(terrain=TerrainCfg("boxes", {"length": 4, "width": 4, "height": 0.05, "size": 0.5}))
    with closing(TaskBatch(one, 1, threads=1)) as tasks:
        assert "terrain" in {shape.name for shape in tasks.batch.worlds[0].fixed_shapes}


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"robot": RobotCfg(description=WALKER, joint_pos={"knee": 0.1})}, "joint 'knee' does not"),
        ({"robot": replace(ROBOT, stiffness={".*": 1.0, "FL_.*": 2.0})}, "'FL_hip' fits '.*' and"),
        ({"robot": replace(ROBOT, damping={"(": 1.0})}, "is not a regular expression"),
        ({"rewards": {"a": RewardTermCfg("alive", 1.0)}}, "reward 'a': term 'alive' does"),
        ({"rewards": {"a": RewardTermCfg("posture", 1.0)}}, "term has the arguments: std, joint_n"),
        ({"observations": {"o": ObservationTermCfg("joint_pos", {"joint_names": "x"})}}, "'x'"),
        (
            {"observations": {"o": ObservationTermCfg("base_lin_vel", scale=(1, 2))}},
            "has 2 numbers",
        ),
        ({"observations": {}}, "has no terms"),
        ({"events": {"e": EventTermCfg("push_by_impulse", params={"link": "b"})}}, "'impulse_ra"),
        ({"world": "config/stand.yaml"}, "give either a world file"),
        ({"decimation": 0}, "decimation at least 1"),
        ({"episode_length_s": 0.001}, "at least a control period"),
        ({"terrain": TerrainCfg("hill")}, "terrain 'hill' does not exist"),
        ({"terrain": TerrainCfg("stairs", {"steps": 3})}, "terrain has the arguments: count"),
        (
            {"actions": {k: JointEffortActionCfg() for k in "ab"}},
            "two joints of the task's actions have the name 'FL_hip'",
        ),
        (
            {"terminations": {"t": TerminationTermCfg("bad_orientation", {"limit_angle": 70})}},
            "termination 't': limit_angle must be .*at most 3.14159 rad, got 70",
        ),
        (
            {
                "events": {
                    "e": EventTermCfg(
                        "push_by_impulse", params={"link": "b", "impulse_range": (9, 1)}
                    )
                }
            },
            "event 'e': impulse_range must be a range with the lower bound first",
        ),
    ],
)
def test_mistakes_are_named(settings, error):
    with pytest.raises(StateError, match=error):
        TaskBatch(task(**settings), 1, threads=1).reset()


def test_bad_actions_name_world_and_joint():
    with closing(TaskBatch(task(), 3, threads=1)) as tasks:
        tasks.reset()
        actions = np.zeros((3, 4))
        actions[2, 1] = np.nan
        with pytest.raises(StateError, match="world 2, joint 'FR_hip', is nan"):
            tasks.step(actions)
        with pytest.raises(StateError, match=r"shape \(3, 4\), got \(3, 5\)"):
            tasks.step(np.zeros((3, 5)))
    with pytest.raises(StateError, match=r"task 'stand' does not exist. Did you mean 'standing'"):
        TaskBatch("stand", 1)


def test_a_fixed_base_has_no_terms_of_a_base(tmp_path):
    """Law: a pendulum is a task too, and a term of the base is refused by name."""
    text = (
        '<robot name="rod"><link name="world"/><link name="rod"><inertial><origin xyz="0 0 0.5"/>'
        '<mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="hinge" type="revolute"><parent link="world"/>'
        '<child link="rod"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9"'
        ' velocity="9"/></joint></robot>'
    )
    hinge = Task(
        robot=RobotCfg(description=text),
        observations={"q": ObservationTermCfg("joint_pos")},
        actions={"torque": JointEffortActionCfg()},
    )
    with closing(TaskBatch(hinge, 2, threads=1)) as tasks:
        tasks.reset()
        observed, *_ = tasks.step([[1.0], [-1.0]])
        assert observed["policy"][0] > 0.0 > observed["policy"][1]
    wrong = replace(hinge, observations={"v": ObservationTermCfg("base_lin_vel")})
    with pytest.raises(StateError, match="'rod' has a fixed base"):
        TaskBatch(wrong, 1, threads=1)


def test_velocity_tracking_is_a_task_of_any_robot():
    """Law: an episode begins in a random posture, with the lowest foot on the floor."""
    one = velocity_task(ROBOT, ".*_foot", trunk="body")
    with closing(TaskBatch(one, 2, threads=1)) as tasks:
        sizes = tasks.observation_sizes
        assert sizes == {"policy": 9 + 3 * len(LEGS), "critic": 12 + 3 * len(LEGS)}
        tasks.reset()
        feet = [min(lowest(world)) for world in tasks.batch.worlds]
        np.testing.assert_allclose(feet, 0.0, atol=1e-9)
        _, reward, terminated, truncated = tasks.step(np.zeros((2, 4)))
        assert reward.shape == (2,) and not (terminated | truncated).any()


def lowest(world):
    """Return the heights of the soles of the walker's feet [m]."""
    robot = world.robots["walker"]
    return [robot.link_pose(f"{leg}_foot")[0][2] - 0.02 for leg in LEGS]


def test_a_fixed_base_of_a_world_file_has_no_position(tmp_path):
    """Law: a position that cannot act is refused, and no joint takes its numbers."""
    (tmp_path / "walker.urdf").write_text(WALKER)
    (tmp_path / "world.yaml").write_text(
        "robots: [{name: walker, urdf: walker.urdf, base: fixed, gains: {'*': [60, 2]}}]"
    )
    robot = RobotCfg(name="walker", position=(0.1, 0.2, 0.3))
    with pytest.raises(StateError, match=r"fixed base\. Give the position in the world file"):
        TaskBatch(task(world=tmp_path / "world.yaml", robot=robot), 1)
