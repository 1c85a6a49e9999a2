# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E11: the fixed foot goes from right to left and stays where it is while it is fixed."""

import numpy as np
import pytest

from evidence.experiments.framework.experiment import Options
from evidence.experiments.framework.reproduce import save_figure
from evidence.experiments.studies import e11_support_switch as e11

MAX_FIGURE_BYTES = 100_000


@pytest.fixture(scope="module")
def result():
    return e11.run(Options(quick=True))


def test_targets_are_met(result):
    missed = [row for row in result.rows if row.met is False]
    assert [row.what for row in missed if "time" not in row.what] == []
    by_name = {row.what: row for row in result.rows}
    assert by_name["moving links"].ours == 37


def test_one_foot_after_the_other_is_fixed(result):
    found = result.data["analysed"].found
    right, left = (found.fixed[:, found.links.index(link)] for link in (e11.RIGHT, e11.LEFT))
    alone = [int((right & ~left).sum()), int((left & ~right).sum())]
    assert min(alone) > 40 and (right | left).all()
    assert right[0] and not left[0] and left[-1] and not right[-1]
    references = [phase.links[0] for phase in found.phases]
    assert sorted(set(references), key=references.index) == [e11.RIGHT, e11.LEFT]


def test_the_free_foot_is_in_the_air_as_planned(result):
    found = result.data["analysed"].found
    heights = {link: found.support(link)["height"] for link in (e11.RIGHT, e11.LEFT)}
    assert heights[e11.LEFT][0] == pytest.approx(e11.LIFT, abs=1e-4)
    assert heights[e11.RIGHT][-1] == pytest.approx(e11.LIFT, abs=1e-4)
    assert min(h.min() for h in heights.values()) > -1e-5


def test_the_center_of_mass_goes_from_foot_to_foot(result):
    found = result.data["analysed"].found
    y = found.samples["com"][:, 1]
    feet = [found.support(link)["position"][100, 1] for link in (e11.RIGHT, e11.LEFT)]
    assert np.interp([y[0], y[-1]], feet, [0.0, 1.0]) == pytest.approx([0.0, 1.0], abs=0.1)
    assert (np.diff(y) > -1e-6).all()


def test_it_draws(result, tmp_path):
    pytest.importorskip("matplotlib")
    assert save_figure(e11.EXPERIMENT, result, tmp_path).stat().st_size < MAX_FIGURE_BYTES
