# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Evaluate a policy in many worlds: falls, tracking, energy, foot forces."""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["RolloutScenario", "rollout", "write_report"]

if TYPE_CHECKING:
    from hrpsim.rollout.report import write_report
    from hrpsim.rollout.rollout_scenario import RolloutScenario
    from hrpsim.rollout.rollouts import rollout
else:
    __getattr__, __dir__ = lazy_names(__name__)
