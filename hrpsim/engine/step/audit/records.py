# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of the audit of energy, which are empty in worlds without the audit."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, array, state
from hrpsim.engine.kinematics.forward import KINEMATICS

# The sliding second: so many intervals, the present one included.
INTERVALS = 9
INTERVAL = 0.125  # [s]

# Rise of the energy within a second, per kinetic energy, from which on a body is reported.
REPORTED_GAIN = 1e-3

# Gain of a body: none to report, to report, reported.
QUIET, DUE, REPORTED = range(3)

# per body; of a tree at its root. Energies and work in J.
AUDITED = np.dtype(
    [
        ("mass", "f8"),  # [kg]
        ("kinetic", "f8"),  # at the end of the step
        ("potential", "f8"),  # of gravity
        ("elastic", "f8"),
        ("before", "f8"),  # all three at the start of the step
        ("work", "f8"),  # of inputs in the step
        ("throughput", "f8"),  # sum of the sizes of the inputs' works
        ("corrected", "f8"),  # by position corrections; at a representative its island's
        # of the island, at its representative
        ("island_balance", "f8"),  # what no input explains
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
    """The audit of energy of a world."""

    totals: np.ndarray = state("energies of the world", AUDIT_TOTALS, 1)
    trees: np.ndarray = state("each tree, at its root", AUDITED, Axis.AUDITED_BODY)
    start: np.ndarray = array("each body at the start of the step", KINEMATICS, Axis.AUDITED_BODY)
    end: np.ndarray = array("each body at the end of the step", KINEMATICS, Axis.AUDITED_BODY)
