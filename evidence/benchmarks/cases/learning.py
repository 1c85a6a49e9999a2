# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The time of a world-step of the Go2's velocity tracking: hrpsim.learning, MuJoCo, gymnasium."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree

from evidence.benchmarks.results import Case, CaseResult, Claim, median_ratio
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.framework.engines import mujoco_module
from evidence.experiments.scenes.standing import mujoco_spec

if TYPE_CHECKING:  # needs the extra `rl`
    from hrpsim.learning import Task, TaskBatch

VARIABLE = "HRPSIM_GO2"  # path of the manufacturer's description, go2_description/urdf
WORLDS, PERIODS = 64, 25  # worlds and periods of a call
NOISE = 0.5  # standard deviation of the actions
BEFORE = 20  # calls before the first measured call, during which memory grows
OURS, ALONE = "TaskVectorEnv", "hrpsim.Batch alone"
ROLLOUT, GYMNASIUM = "mujoco.rollout", "gymnasium's SyncVectorEnv of MujocoEnv"


def described() -> str | None:
    """Return the Go2's URDF without visuals and meshes, or None if no file is named."""
    if not os.environ.get(VARIABLE):
        return None
    root = etree.parse(os.environ[VARIABLE]).getroot()
    for element in [*root.iter("visual"), *root.iter("collision")]:
        if element.tag == "visual" or element.find("geometry/mesh") is not None:
            element.getparent().remove(element)
    return etree.tostring(root, encoding="unicode")


def tracking(description: str) -> Task:
    """Return the task: 50 Hz, steps of 5 ms, posture and gains of Isaac Lab, no pushes."""
    from hrpsim.learning import RobotCfg, velocity_task

    posture = {".*L_hip_joint": 0.1, ".*R_hip_joint": -0.1, ".*_calf_joint": -1.5}
    posture |= {"F[LR]_thigh_joint": 0.8, "R[LR]_thigh_joint": 1.0}
    go2 = RobotCfg(
        "go2",
        description,
        position=(0.0, 0.0, 0.4),
        on_floor=True,
        joint_pos=posture,
        stiffness=25.0,
        damping=0.5,
        armature=0.01,
        meshes="none",
    )
    task = velocity_task(go2, feet=".*_foot", trunk="base")
    quiet = {name: event for name, event in task.events.items() if name != "push"}
    return dataclasses.replace(task, events=quiet)


class Ours:
    """The task in hrpsim, as an environment with observations and rewards, or as steps only."""

    def __init__(self, task: Task, actions: np.ndarray) -> None:
        from hrpsim.learning import TaskVectorEnv

        self.env = TaskVectorEnv(WORLDS, task, threads=1, autoreset_mode="SameStep")
        self.actions, self.tasks = actions, self.env.tasks
        self.reset()
        for _ in range(BEFORE):
            self.act(1)

    def reset(self) -> None:
        """Restart with the first episodes."""
        self.env.reset(seed=1)

    def act(self, calls: int) -> None:
        """Apply all actions `calls` times through the environment."""
        for _ in range(calls):
            for action in self.actions:
                self.env.step(action)

    def follow(self, calls: int) -> None:
        """Apply all actions `calls` times through the batch alone."""
        state, batch = self.tasks.state, self.tasks.batch
        for _ in range(calls):
            for targets in state.default_joint_pos + 0.25 * self.actions:
                batch.command("go2", state.joint_names, positions=targets)
                batch.step(self.tasks.task.decimation)


class InMujoco:
    """The robot in MuJoCo, with the same gains, limits and targets."""

    def __init__(self, mujoco, tasks: TaskBatch, actions: np.ndarray) -> None:
        robot = tasks.batch.worlds[0].robots["go2"]
        state, self.decimation = tasks.state, tasks.task.decimation
        gains = dict(zip(state.joint_names, np.transpose(state.gains).tolist()))
        model = dataclasses.replace(robot.model, gains=gains)
        self.spec = mujoco_spec(mujoco, model, tasks.task.time_step)
        for actuator in self.spec.actuators:
            limit = robot.system.effort_limit[robot.model.joint(actuator.name).v_index]
            actuator.forcelimited, actuator.forcerange = True, [-limit, limit]
        self.mujoco, self.mj = mujoco, self.spec.compile()
        self.data = mujoco.MjData(self.mj)
        q = tasks.batch.q("go2")[0]
        self.data.qpos[:3], self.data.qpos[3:7] = q[:3], [1, 0, 0, 0]
        for name, angle in zip(state.joint_names, state.default_joint_pos):
            self.data.joint(name).qpos[:] = angle
        mujoco.mj_forward(self.mj, self.data)
        order = [state.joint_names.index(self.mj.actuator(k).name) for k in range(self.mj.nu)]
        self.targets = (state.default_joint_pos + 0.25 * actions)[..., order]

    def rollout(self) -> Subject:
        """Return a subject that passes all targets to mujoco.rollout in one call."""
        from mujoco.rollout import Rollout

        full = self.mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.zeros(self.mujoco.mj_stateSize(self.mj, full))
        self.mujoco.mj_getState(self.mj, self.data, state, full)
        begin = np.tile(state, (WORLDS, 1))
        control = np.repeat(np.swapaxes(self.targets, 0, 1), self.decimation, axis=1)
        pool, scratch = Rollout(nthread=0), [self.mujoco.MjData(self.mj)]

        def run(calls: int) -> None:
            for _ in range(calls):
                pool.rollout(self.mj, scratch, begin, control)

        return Subject(ROLLOUT, run, most=1, each=_steps(self.decimation))

    def gymnasium(self, folder: Path) -> Subject:
        """Return a subject with gymnasium's vector of environments that observe the state."""
        import gymnasium
        from gymnasium.envs.mujoco import MujocoEnv

        path, data, decimation = folder / "go2.xml", self.data, self.decimation
        path.write_text(self.spec.to_xml(), encoding="utf-8")
        seen = gymnasium.spaces.Box(-np.inf, np.inf, (self.mj.nq + self.mj.nv,))

        class Go2(MujocoEnv):
            metadata = {"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"]}

            def __init__(self) -> None:
                super().__init__(str(path), decimation, seen)
                self.init_qpos = data.qpos.copy()

            def _state(self) -> np.ndarray:
                return np.concatenate([self.data.qpos, self.data.qvel]).astype(np.float32)

            def reset_model(self) -> np.ndarray:
                self.set_state(self.init_qpos, self.init_qvel)
                return self._state()

            def step(self, targets):
                self.do_simulation(targets, decimation)
                return self._state(), 0.0, False, False, {}

        envs = gymnasium.vector.SyncVectorEnv([Go2] * WORLDS)

        def run(calls: int) -> None:
            for _ in range(calls):
                for targets in self.targets:
                    envs.step(targets)

        each = _steps(self.decimation)
        return Subject(GYMNASIUM, run, False, lambda: envs.reset(seed=1), 1, each)


def _steps(decimation: int) -> int:
    return WORLDS * PERIODS * decimation


def run(result: CaseResult, effort: Effort) -> None:
    """Time 25 control periods of 64 worlds, with the engines in turn."""
    description = described()
    if description is None or find_spec("gymnasium") is None:
        result.notes.append(f"needs gymnasium, and the Go2's URDF in the variable {VARIABLE}")
        return
    task, mujoco = tracking(description), mujoco_module()
    actions = NOISE * np.random.default_rng(0).standard_normal((PERIODS, WORLDS, 12))
    learner, each = Ours(task, actions), _steps(task.decimation)
    subjects = [
        Subject(OURS, learner.act, True, learner.reset, 1, each),
        Subject(ALONE, learner.follow, True, learner.reset, 1, each),
    ]
    with tempfile.TemporaryDirectory() as folder:
        if mujoco is not None:
            theirs = InMujoco(mujoco, learner.tasks, actions)
            subjects += [theirs.rollout(), theirs.gymnasium(Path(folder))]
        times = result.measure("Go2, 64 worlds", subjects, effort)
    for ours_, other in ((ALONE, ROLLOUT), (OURS, GYMNASIUM)):
        if other in times:
            ratio = median_ratio(times, ours_, other)
            result.claims.append(Claim(f"time of {ours_} over {other}", ratio, 1.0))
    learner.env.close()
    result.notes += [
        f"{WORLDS} worlds, one thread, {PERIODS} control periods a call, targets drawn about the"
        f" posture with a deviation of {0.25 * NOISE:.3g} rad, 50 Hz, steps of 5 ms",
        f"{OURS}: observations of 45 and 48 numbers, 9 rewards, 3 terminations, resets. {GYMNASIUM}"
        " observes the state, and has neither rewards nor resets",
        "memory of the worlds has grown before the first measured call",
    ]


CASE = Case("A world-step of velocity tracking", run)
