# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Learning tasks: any robot in a Batch, as environments of gymnasium.

`import hrpsim.learning` registers the environments if gymnasium is installed (pip install
'hrpsim[learning]'). `TaskBatch` needs only NumPy.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = [
    "ACTIONS",
    "COMMANDS",
    "CURRICULA",
    "CurriculumTermCfg",
    "EVENTS",
    "EventTermCfg",
    "GaussianNoiseCfg",
    "JointEffortActionCfg",
    "JointPositionActionCfg",
    "JointVelocityActionCfg",
    "OBSERVATIONS",
    "ObservationGroupCfg",
    "ObservationTermCfg",
    "REWARDS",
    "RewardTermCfg",
    "RobotCfg",
    "TASKS",
    "TERMINATIONS",
    "Task",
    "TaskBatch",
    "TaskEnv",
    "TaskState",
    "TaskVectorEnv",
    "TerminationTermCfg",
    "TerrainCfg",
    "UniformNoiseCfg",
    "UniformVelocityCommandCfg",
    "VelocityRanges",
    "load_env_config",
    "policy_description",
    "velocity_task",
    "write_policy",
]

if TYPE_CHECKING:
    from hrpsim.learning.configs import (
        CurriculumTermCfg,
        EventTermCfg,
        GaussianNoiseCfg,
        ObservationGroupCfg,
        ObservationTermCfg,
        RewardTermCfg,
        RobotCfg,
        TerminationTermCfg,
        TerrainCfg,
        UniformNoiseCfg,
    )
    from hrpsim.learning.env_config import load_env_config
    from hrpsim.learning.environments import TaskEnv, TaskVectorEnv
    from hrpsim.learning.policy_file import policy_description, write_policy
    from hrpsim.learning.standard_tasks import TASKS, velocity_task
    from hrpsim.learning.task import Task
    from hrpsim.learning.task_batch import TaskBatch
    from hrpsim.learning.terms.actions import (
        ACTIONS,
        JointEffortActionCfg,
        JointPositionActionCfg,
        JointVelocityActionCfg,
    )
    from hrpsim.learning.terms.commands import COMMANDS, UniformVelocityCommandCfg, VelocityRanges
    from hrpsim.learning.terms.curriculum import CURRICULA
    from hrpsim.learning.terms.events import EVENTS
    from hrpsim.learning.terms.observations import OBSERVATIONS
    from hrpsim.learning.terms.rewards import REWARDS
    from hrpsim.learning.terms.task_state import TaskState
    from hrpsim.learning.terms.terminations import TERMINATIONS
else:
    __getattr__, __dir__ = lazy_names(__name__)

if find_spec("gymnasium"):
    import gymnasium

    for _name, _task in (
        ("hrpsim/Standing-v0", "standing"),
        ("hrpsim/PushRecovery-v0", "push_recovery"),
        ("hrpsim/Walking-v0", "walking"),
        ("hrpsim/RoughWalking-v0", "rough_walking"),
    ):
        gymnasium.register(
            _name,
            f"{__name__}:TaskEnv",
            vector_entry_point=f"{__name__}:TaskVectorEnv",
            kwargs={"task": _task},
        )
