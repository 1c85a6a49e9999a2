# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Several plots that stay, and what becomes of the plots when bodies leave."""

import numpy as np
import pytest
from viewer.visitor import Visitor

from hrpsim import Sphere, World
from hrpsim.viewer import Viewer
from hrpsim.viewer.panels.plots import MOST_PLOTS

pytest.importorskip("viser")
X_A, X_B = "a/odom.position.x [m]", "b/odom.position.x [m]"


@pytest.fixture
def viewer():
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_body(Sphere(0.1), 1.0, (0.0, 0.0, 1.0), velocity=(0.5, 0.0, 0.0), name="a")
    world.add_body(Sphere(0.1), 1.0, (0.0, 2.0, 1.0), velocity=(-2.0, 0.0, 0.0), name="b")
    shown = Viewer(world, port=0)
    yield shown
    shown.stop()


def shown_names(viewer):
    return [plot.name for plot in viewer.controls.plots.plots]


def add(viewer, *names):
    visitor, plots = Visitor(viewer), viewer.controls.plots
    for name in names:
        visitor.use(plots.chosen, name)
        visitor.use(plots.add)


def test_added_plots_stay_and_each_shows_its_signal(viewer):
    """Law: bodies in uniform motion are at v t, in the plot of each."""
    (first,) = shown_names(viewer)
    Visitor(viewer).use(viewer.controls.plots.plots[0].remove)
    add(viewer, X_A, X_B, X_B)
    assert first == X_A and shown_names(viewer) == [X_A, X_B]
    for _ in range(50):
        viewer.session.world.step()
        viewer.controls.update()
    for name, velocity in ((X_A, 0.5), (X_B, -2.0)):
        (plot,) = (plot for plot in viewer.controls.plots.plots if plot.name == name)
        times, values = plot.history.arrays()
        assert len(times) == 50
        np.testing.assert_allclose(values, velocity * times, atol=1e-9)
    assert shown_names(viewer) == [X_A, X_B]


def test_the_page_gets_the_curves_of_a_playing_world(viewer):
    add(viewer, X_A)
    viewer.session.play()
    for _ in range(3):
        viewer.session.world.step()
        Visitor(viewer).look()
    times, values = viewer.controls.plots.plots[-1].curve.data
    assert len(times) >= 3 and values[-1] == pytest.approx(0.5 * times[-1])


def test_a_plot_is_removed_and_the_number_is_bounded(viewer):
    """Law: a ninth plot replaces the oldest, and a signal that does not exist adds none."""
    add(viewer, "no such signal")
    assert len(shown_names(viewer)) == 1
    add(viewer, *tuple(viewer.controls.plots._signals)[: MOST_PLOTS + 1])
    assert len(shown_names(viewer)) == MOST_PLOTS
    last = viewer.controls.plots.plots[-1]
    Visitor(viewer).use(last.remove)
    assert len(shown_names(viewer)) == MOST_PLOTS - 1 and last.name not in shown_names(viewer)


def test_plots_of_a_body_leave_with_the_body(viewer):
    add(viewer, X_A, X_B)
    viewer.session.edit(lambda: viewer.session.world.remove("a"))
    Visitor(viewer).look()
    assert X_A not in shown_names(viewer) and X_B in shown_names(viewer)
    assert X_A not in viewer.controls.plots.chosen.options


def test_the_length_of_a_plot_is_the_chosen_time(viewer):
    """Law: a plot of the last 5 s has no sample older than 5 s."""
    add(viewer, X_A)
    Visitor(viewer).use(viewer.controls.plots.span, "5 s")
    for _ in range(700):
        viewer.session.world.step(10)
        viewer.controls.plots.sample()
    times, _ = viewer.controls.plots.plots[-1].history.arrays()
    assert times[-1] == pytest.approx(7.0) and times[0] == pytest.approx(2.0, abs=0.011)
