# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The dashboard of the node's page: topics and their rates, diagnostics, saved states."""

import pytest
from ros.test_viewer_beside import node, run_until  # noqa: F401  a fixture

from hrpsim.viewer.panels.markdown import plain

pytest.importorskip("viser", reason="viser is not installed: hrpsim[viewer]")


def dashboard_of(beside):
    (dashboard,) = beside.viewer.panels
    return dashboard


def press(beside, button):
    """Do what a person's click makes the page ask for."""
    for callback in button._impl.update_cb:
        callback(None)


def test_it_tells_state_topics_and_diagnostics(node):  # noqa: F811
    """Law: what it shows is what the node publishes and its services answer."""
    dashboard, simulation = dashboard_of(node._viewer), node.simulation
    run_until(node, lambda: plain("real-time factor") in dashboard.report.content)
    assert "**playing**" in dashboard.state.content and "/hrpsim" in dashboard.state.content
    assert plain("largest penetration [m]") in dashboard.report.content
    run_until(node, lambda: f"| {plain('/clock')} |" in dashboard.topics.content)
    lines = dashboard.topics.content.splitlines()
    rates = {line.split("|")[1].strip(): float(line.split("|")[2]) for line in lines[2:]}
    assert {plain(name) for name in ("/joint_states", "/tf", "/diagnostics")} <= set(rates)
    run_until(node, lambda: clock_rate(dashboard) > 0.0)
    simulation.pause()
    node._diagnostics._next = 0.0
    run_until(node, lambda: "paused" in dashboard.report.content)
    assert "**paused**" in dashboard.state.content or simulation.paused


def clock_rate(dashboard):
    (line,) = (x for x in dashboard.topics.content.splitlines() if plain("/clock") in x)
    return float(line.split("|")[2])


def test_states_are_saved_and_loaded_and_refusals_are_told(node):  # noqa: F811
    beside, simulation = node._viewer, node.simulation
    dashboard = dashboard_of(beside)
    simulation.pause()
    press(beside, dashboard.load)
    run_until(node, lambda: "refused" in dashboard.answer.content)
    dashboard.name.value = "here"
    press(beside, dashboard.save)
    run_until(node, lambda: dashboard.answer.content == "saved here")
    run_until(node, lambda: tuple(dashboard.chosen.options) == ("here",))
    kept = simulation.world.scene.q.copy()
    simulation.world.step(5)
    dashboard.chosen.value = "here"
    press(beside, dashboard.load)
    run_until(node, lambda: dashboard.answer.content == "loaded here")
    assert simulation.world.scene.q.tobytes() == kept.tobytes()
    press(beside, dashboard.clear)
    run_until(node, lambda: dashboard.answer.content == "0 spawned entities deleted")


def test_names_are_shown_as_they_are():
    """Law: what others named is text: no markup and no expressions of the page."""
    assert plain("a{1+1}<b>*c*") == "a&#123;1&#43;1&#125;&#60;b&#62;&#42;c&#42;"
