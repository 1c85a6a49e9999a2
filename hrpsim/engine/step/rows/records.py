# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records for the solution of constraint rows."""

import numpy as np

# the worst row of a step that did not converge
WORST_ROW = np.dtype(
    [
        ("residual", "f8"),  # [m/s]
        ("kind", "i8"),  # kind of the row, -1 if unknown
        ("source", "i8"),  # source of the row as in ROW, or the first shape of a contact
        ("other", "i8"),  # second shape of a contact
    ]
)
