# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What R1 and R2 fitted to real measurements, fold by fold.

`hrpsim reproduce R1 R2 --fit` fits anew, and its notes have these numbers.
"""

from __future__ import annotations

from hrpsim.experiments.framework.fitting import Values

TOSSES: dict[str, list[Values]] = {}
LANDINGS: dict[str, list[Values]] = {}
