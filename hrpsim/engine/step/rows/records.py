# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of the solution of rows."""

import numpy as np

# the worst row of the steps of a call that did not converge
WORST_ROW = np.dtype(
    [
        ("residual", "f8"),  # [m/s]
        ("kind", "i8"),  # -1: not known
        ("source", "i8"),  # what it belongs to, as in ROW; of a contact, its first shape
        ("other", "i8"),  # of a contact, its second shape
    ]
)
