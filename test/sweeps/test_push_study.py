# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The tables of the push study, for falls that are known."""

import numpy as np
import pytest
from grouped import needs

from evidence.benchmarks import push_study

pytestmark = needs("xarray")
BORDERS = {"openhrp": 20.0, "jaxon": 30.0, "rigid": 20.0}  # impulses from which each foot falls
POINTS = 600


def falls():
    """Return a dataset in which every foot falls from its border on."""
    import xarray

    impulses = (np.arange(POINTS) + 0.5) * 60.0 / POINTS
    feet = np.repeat(list(BORDERS), POINTS)
    pushed = np.tile(impulses, len(BORDERS))
    columns = {name: np.tile(np.arange(POINTS) % 3, len(BORDERS)) for name in push_study.FACTORS}
    columns |= {
        push_study.IMPULSE: pushed,
        push_study.FEET[0]: np.where(feet == "rigid", "false", "true"),
        push_study.FEET[1]: np.where(feet == "rigid", "openhrp", feet),
    }
    fell = (pushed > [BORDERS[name] for name in feet]).astype(float)
    return xarray.Dataset(
        {"fell": ("cell", fell), "status": ("cell", np.ones(len(fell), dtype=int))},
        coords={name: ("cell", values) for name, values in columns.items()},
    )


def test_widths_are_the_borders_of_the_falls():
    """Law: where pushes fell from one impulse on, the width is that impulse; pairs tell more."""
    told = push_study.tables(falls()).splitlines()
    rows = {cells[1].strip(): cells for line in told if len(cells := line.split("|")) > 2}
    for name, border in BORDERS.items():
        assert int(rows[name][2]) == POINTS
        assert float(rows[name][5]) == pytest.approx(border, abs=0.01)
    assert float(rows["jaxon"][6].split("±")[0]) == pytest.approx(10.0, abs=0.01)
    assert rows["rigid"][6].strip() == ""  # the same falls as the first
    assert sum(line.startswith("| ---") for line in told) == 1 + len(push_study.FACTORS)


def test_a_study_that_is_not_whole_is_refused():
    """Law: cells that failed or did not run would change what the tables say."""
    found = falls()
    found["status"][7] = 0
    with pytest.raises(SystemExit, match="1 cells failed, or did not run"):
        push_study.tables(found)
