# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Learning tasks: many humanoids in a Batch, as environments of gymnasium.

`import hrpsim.learning` registers the environments if gymnasium is installed (pip install
'hrpsim[learning]'). `Humanoids` needs NumPy only.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.learning.environments import HumanoidEnv as HumanoidEnv
    from hrpsim.learning.environments import HumanoidVectorEnv as HumanoidVectorEnv
    from hrpsim.learning.humanoids import Humanoids as Humanoids
    from hrpsim.learning.tasks import TASKS as TASKS
    from hrpsim.learning.tasks import Task as Task
    from hrpsim.learning.tasks import Variation as Variation
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)

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
            f"{__name__}:HumanoidEnv",
            vector_entry_point=f"{__name__}:HumanoidVectorEnv",
            kwargs={"task": _task},
        )
