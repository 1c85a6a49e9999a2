# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of the audit of energy, which are empty in worlds without the audit."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, array, state
from hrpsim.engine.kinematics.forward import KINEMATICS

# Number of intervals of the sliding second, the present one included.
INTERVALS = 9
INTERVAL = 0.125  # [s]

# Smallest reported rise of the energy within a second, as a fraction of the kinetic energy.
REPORTED_GAIN = 1e-3

# State of a body's energy gain: nothing to report; to report; reported.
QUIET, DUE, REPORTED = range(3)

# per body; data of a tree is at its root. Energies and work are in J.
AUDITED = np.dtype(
    [
        ("mass", "f8"),  # [kg]
        ("kinetic", "f8"),  # at the end of the step
        ("potential", "f8"),  # of gravity
        ("elastic", "f8"),
        ("before", "f8"),  # sum of the three energies at the start of the step
        ("work", "f8"),  # of inputs in the step
        ("throughput", "f8"),  # sum of the absolute works of the inputs
        ("corrected", "f8"),  # energy from position corrections; at a representative, of the island
        # of the island, at its representative
        ("island_balance", "f8"),  # change of energy not explained by inputs
        ("island_kinetic", "f8"),
        ("island_throughput", "f8"),
        ("island_mass", "f8"),
        # of the islands that the tree has belonged to
        ("balance", "f8"),  # sum since the last reset
        ("interval", "i8"),  # number of the present interval since the last reset
        ("least", "f8", (INTERVALS,)),  # balance in each interval
        ("largest_kinetic", "f8", (INTERVALS,)),
        ("throughputs", "f8", (INTERVALS,)),
        ("gain", "f8"),  # largest rise within a second since the last reset
        ("gain_fraction", "f8"),  # largest rise per kinetic energy then
        ("report", "i8"),  # QUIET, DUE or REPORTED
    ]
)

# of the world [J]
AUDIT_TOTALS = np.dtype(
    [
        ("work", "f8"),  # in the last step
        ("created", "f8"),
        ("dissipated", "f8"),
        ("corrected", "f8"),
        ("total_work", "f8"),  # since the last reset
        ("total_created", "f8"),
        ("total_dissipated", "f8"),
        ("total_corrected", "f8"),
        ("due_count", "i8"),  # trees with a gain to report
    ]
)


class Audit(NamedTuple):
    """The arrays of a world's energy audit."""

    totals: np.ndarray = state("energies of the world", AUDIT_TOTALS, 1)
    trees: np.ndarray = state("energies of each tree, at the root", AUDITED, Axis.AUDITED_BODY)
    start: np.ndarray = array("each body at the start of the step", KINEMATICS, Axis.AUDITED_BODY)
    end: np.ndarray = array("each body at the end of the step", KINEMATICS, Axis.AUDITED_BODY)
