# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Explain why a policy falls or drifts in hrpsim, but not in MuJoCo or in a recording.

`explanation.explain` is the entry point. `differences` has the kinds of differences between the
simulators. The differences are removed one by one, and together.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = [
    "Case",
    "ExplainError",
    "Explanation",
    "MujocoReference",
    "RecordedReference",
    "explain",
    "write_page",
]

if TYPE_CHECKING:
    from hrpsim.explain.explanation import Explanation, explain
    from hrpsim.explain.page import write_page
    from hrpsim.explain.runs.case import Case, ExplainError
    from hrpsim.explain.runs.mujoco_reference import MujocoReference
    from hrpsim.explain.runs.recorded_reference import RecordedReference
else:
    __getattr__, __dir__ = lazy_names(__name__)
