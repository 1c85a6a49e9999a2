# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tasks for learning: many humanoids in a Batch, as environments of gymnasium.

`humanoids.Humanoids` needs NumPy alone; `environments` needs gymnasium: pip install
'hrpsim[learning]'.
"""
