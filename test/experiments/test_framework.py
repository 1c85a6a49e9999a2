# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim reproduce: statuses, tables, JSON, figures, and what it says when something is missing."""

import json
import math
import sys
from types import ModuleType

import pytest

from evidence.experiments.framework import reproduce as framework
from evidence.experiments.framework.experiment import Experiment, Result, Row
from evidence.experiments.framework.reproduce import shown
from evidence.experiments.framework.targets import at_least, at_most, below, equal_to, near
from hrpsim import WorldError
from hrpsim.commands.cli import main

ROW_KEYS = {"what", "unit", "source", "analytic", "ours", "peer", "target", "met"}


@pytest.fixture
def invented(monkeypatch):
    """Let only experiments of the test's own exist: E90 meets, E91 misses, E92 fails to run."""

    def result(ours: float) -> Result:
        row = Row("|height|", "m", ours, at_most(1.0), source=2.0, analytic=0.5, peer="none yet")
        return Result([row, Row("steps", "", 12)], ["measured twice"], "another 1.0")

    def draw(result, figure):
        figure.subplots().plot([0.0, 1.0])

    def fail(options):
        raise WorldError("the step from t = 0 s would give numbers that are not finite")

    modules = {}
    for name, run in {
        "E90": lambda options: result(0.5 if not options.quick else 0.25),
        "E91": lambda options: result(1.5),
        "E92": fail,
    }.items():
        module = ModuleType(f"invented_{name}")
        module.EXPERIMENT = Experiment(name, f"Test {name}", "nowhere", run, draw)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        modules[name] = module.__name__
    monkeypatch.setattr(framework, "available", lambda: modules)


@pytest.fixture
def reproduce(tmp_path, capsys):
    """Run the command; return (status, standard output, standard error)."""

    def run(*arguments):
        status = main(["reproduce", *arguments, "--output", str(tmp_path / "figures")])
        return status, *capsys.readouterr()

    return run


def test_it_prints_a_table_and_returns_0_when_every_target_is_met(invented, reproduce):
    status, out, _ = reproduce("E90")
    assert status == 0
    title, source, peer, head, row, plain, *_ = out.splitlines()
    assert title == "E90: Test E90" and source.endswith("nowhere") and peer.endswith("another 1.0")
    assert head.split() == ["unit", "source", "analytic", "hrpsim", "peer", "target", "met"]
    assert row.split() == "|height| m 2 0.5 0.5 none yet <= 1 yes".split()
    assert plain.split() == ["steps", "-", "-", "-", "12", "-"]
    assert head.index("hrpsim") + 6 == row.index(" 0.5  none") + 4, "columns are aligned"
    assert "1 of 1 targets met" in out and "note: measured twice" in out


@pytest.mark.parametrize("names", [["E91"], ["E90", "E91"], ["E91", "E90"], ["all"], ["E92"]])
def test_one_missed_target_gives_status_1(names, invented, reproduce):
    status, out, _ = reproduce(*names)
    assert status == 1
    assert "NO" in out or "failed" in out


def test_an_experiment_that_cannot_run_is_a_miss_and_the_others_still_run(invented, reproduce):
    status, out, _ = reproduce("E92", "E90")
    assert status == 1
    assert "failed: WorldError: the step from t = 0 s" in out and "1 of 1 targets met" in out


def test_names_may_be_written_small_and_are_run_once(invented, reproduce):
    assert reproduce("e90", "E90")[1].count("E90: Test") == 1
    assert [e.name for e in framework.find(["E91", "all"])] == ["E91", "E90", "E92"]


def test_an_unknown_name_lists_what_exists_before_anything_runs(invented, reproduce):
    status, out, error = reproduce("E90", "E77")
    assert status == 1 and out == ""
    assert error.count("\n") == 1
    assert "'E77'" in error and "E90, E91, E92, all" in error


def test_json_has_every_row_versions_and_times(invented, reproduce):
    status, out, error = reproduce("all", "--json", "--quick")
    data = json.loads(out)
    assert status == 1 and data["met"] is False and "E90: Test" in error
    assert {"python", "numba", "numpy", "mujoco"} <= data["versions"].keys()
    met, missed, failed = data["experiments"]
    assert met["met"] is True and missed["met"] is False and failed["met"] is False
    assert failed["error"].startswith("WorldError") and met["error"] is None
    assert met["seconds"] >= 0.0 and met["notes"] == ["measured twice"]
    assert all(row.keys() == ROW_KEYS for row in met["rows"])
    first, second = met["rows"]
    assert (first["ours"], first["target"], first["met"]) == (0.25, "<= 1", True)
    assert (second["ours"], second["target"], second["met"]) == (12, None, None)


def test_the_page_links_its_figure_from_where_it_lies(invented, reproduce, tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "docs" / "page.md"
    reproduce("E90", "--markdown", str(page))
    text = page.read_text()
    assert "### E90: Test E90" in text and "](../figures/e90.png)" in text
    assert r"| \|height\| | m | 2 | 0.5 | 0.5 | none yet | <= 1 | yes |" in text
    assert (tmp_path / "figures" / "e90.png").stat().st_size > 1000


def test_each_experiment_has_a_page_of_its_own(invented, reproduce, tmp_path):
    """Law: the page has the section that --markdown writes, under a heading of the first level."""
    whole, folder = tmp_path / "docs" / "whole.md", tmp_path / "docs"
    reproduce("E90", "E91", "--markdown", str(whole), "--pages", str(folder))
    sections = whole.read_text().split("### ")[1:]
    for name, section in zip(("e90", "e91"), sections, strict=True):
        text = (folder / f"{name}.md").read_text()
        title, body = section.split("\n", 1)
        assert text.startswith(f"# {title}\n\nMeasured by `hrpsim reproduce {name.upper()}`")
        assert text.endswith(body.rstrip("\n") + "\n")


def test_without_matplotlib_the_table_is_printed_and_the_figure_left_out(
    invented, reproduce, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    status, out, _ = reproduce("E90")
    assert status == 0 and "no figure: pictures need matplotlib" in out
    assert not (tmp_path / "figures").exists()


def test_without_mujoco_the_peer_is_said_to_be_missing(reproduce, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    status, out, error = reproduce("E7", "--quick", "--json")
    (experiment,) = json.loads(out)["experiments"]
    assert status == 0 and "not installed" in error and "not installed" in experiment["peer"]
    assert all(row["peer"] is None for row in experiment["rows"])


@pytest.mark.parametrize(
    "target, met, missed",
    [
        (at_most(1.0), [1.0, -5.0], [1.001, math.nan, None]),
        (below(1.0), [0.999], [1.0, math.nan]),
        (at_least(1.0), [1.0, 7], [0.999, math.nan]),
        (equal_to("static"), ["static"], ["dynamic", None]),
        (near(10.0, relative=1e-3), [10.01, 9.99], [10.0101, 9.9899, math.inf]),
        (near(0.0, absolute=0.1), [0.1, -0.1], [0.11]),
    ],
)
def test_targets_judge(target, met, missed):
    assert all(Row("x", "", ours, target).met for ours in met)
    assert not any(Row("x", "", ours, target).met for ours in missed)


def test_numbers_are_short_but_keep_five_digits():
    values = [None, 4.90116, 0.0, 1.23456e-9, 9.8e9, 12, "static", math.nan]
    assert [shown(v) for v in values] == [
        "-", "4.9012", "0", "1.23e-09", "9.80e+09", "12", "static", "nan",
    ]  # fmt: skip


def test_every_experiment_here_is_complete():
    modules = framework.available()
    assert {"E1", "E2", "E6", "E7", "E8", "E12", "E13", "E14"} <= modules.keys()
    for name, experiment in zip(modules, framework.find(["all"]), strict=True):
        assert experiment.name == name and experiment.title and experiment.source
