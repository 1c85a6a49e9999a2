# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Reports of fits: missing effects of the model, updated descriptions, and a page.

`suspects` names effects that a model may lack. `write_model` writes values into a description or a
world file. `write_report` writes a page with figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["Suspect", "suspects", "verdict_rows", "write_model", "write_report"]

if TYPE_CHECKING:
    from hrpsim.fitting.report.html_report import write_report
    from hrpsim.fitting.report.missing_effects import Suspect, suspects
    from hrpsim.fitting.report.model_edit import write_model
    from hrpsim.fitting.report.verdict_table import verdict_rows
else:
    __getattr__, __dir__ = lazy_names(__name__)
