# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Study files are read whole; the command runs them, shows them, and runs a cell again."""

import json

import numpy as np
import pytest
from sweeps.scenarios import BOX_WORLD, SOURCE

from hrpsim import share_path
from hrpsim.commands.cli import main
from hrpsim.sweeps import SweepError
from hrpsim.sweeps.statistics import share, survival
from hrpsim.sweeps.study_file import read_study

STUDY = f"""
title: falls
function: {SOURCE}:fall
seed: 2
design:
  - {{method: latin_hypercube, count: 12, parameters: {{height: {{uniform: [0.1, 2.9]}}}}}}
  - {{parameters: {{gravity: {{values: [1.6, 9.81]}}}}}}
"""


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "falls.yaml"
    file.write_text(STUDY)
    return file


def test_the_shipped_study_is_read():
    study = read_study(share_path("config/push_study.yaml"))
    columns = study.design.columns(study.seed)
    assert len(columns["pushes.0.impulse"]) == 5 * 2048
    assert columns.keys() <= study.scenario.parameters().keys()
    assert columns["robots.hrp2.xacro_arguments.bush"][:5] == ["true"] * 4 + ["false"]


def test_the_command_runs_shows_and_replays(study, capsys, tmp_path):
    pytest.importorskip("xarray"), pytest.importorskip("zarr")
    engine = "concurrent.futures:ThreadPoolExecutor"
    assert main(["sweep", str(study), "--engine", engine, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["cells"] == report["run_now"] == 24 and report["failed"] == 0
    assert main(["sweep", str(study), "--json"]) == 0  # it is whole: nothing is run
    assert "run_now" not in json.loads(capsys.readouterr().out)
    assert main(["sweep", str(study), "--cell", "3", "--json"]) == 0
    (again,) = json.loads(capsys.readouterr().out)
    assert again["same_bits"] and again["values"]["gravity"] == 9.81
    assert main(["sweep", str(study), "--worst", "2", "--by", "speed", "--json"]) == 0
    worst = json.loads(capsys.readouterr().out)
    assert worst[0]["outcomes"]["speed"] >= worst[1]["outcomes"]["speed"]
    nowhere = tmp_path / "nowhere" / "film.mp4"
    assert main(["sweep", str(study), "--cell", "3", "--film", str(nowhere)]) == 1
    said = capsys.readouterr()
    assert "does not exist" in said.err and said.out == ""  # and the cell was not run again
    assert main(["sweep", str(study), "--summary", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [r["cells"] for r in rows if r["parameter"] == "gravity"] == [12, 12]
    assert main(["sweep", str(study), "--parameters"]) == 0
    assert capsys.readouterr().out.split() == ["height", "gravity", "pause"]
    pytest.importorskip("matplotlib")
    picture = tmp_path / "map.png"
    drawn = ["--plot", str(picture), "--x", "height", "--y", "gravity", "--outcome", "speed"]
    assert main(["sweep", str(study), *drawn]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["sweep", str(study), "--plot", str(picture), "--x", "heigth"]) == 1
    assert "Did you mean 'height'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, message",
    [
        ("design: {}", "a study needs either a `world` or a `function`"),
        ("function: a:b", "missing entry: design"),
        ("function: nowhere:b\ndesign: {}", "No module named 'nowhere'"),
        (f"function: {SOURCE}:fal\ndesign: {{}}", "Did you mean 'fall'"),
        (f"function: {SOURCE}:fall\nduration: 1\ndesign: {{}}", "duration cannot be used with"),
        (f"function: {SOURCE}:fall\ndesing: {{}}", "Did you mean 'design'"),
        (f"function: {SOURCE}:fall\ndesign: {{method: sobl}}", r"y.yaml:2:\d+: design.method"),
        (f"function: {SOURCE}:fall\ndesign: {{table: x.csv}}", "x.csv"),
        ("world: box.yaml\ndesign: {}", r"needs a duration"),
        (
            "world: box.yaml\nduration: 1\ncontroller: {plugin: walk}\ndesign: {}",
            "Name the controlled one",
        ),
        (
            "world: box.yaml\nduration: 1\nmeasured: [time]\ndesign: {}\n"
            "find: {parameter: duration, between: [1, 2], tolerance: 0.1}",
            "outcome 'fell' does not exist",
        ),
    ],
)
def test_what_is_no_study_is_refused(text, message, tmp_path):
    (tmp_path / "box.yaml").write_text(BOX_WORLD)
    file = tmp_path / "y.yaml"
    file.write_text(text)
    with pytest.raises(SweepError, match=message):
        read_study(file)


def test_intervals_of_shares_are_wilson_s():
    """(p + z^2/2n ± z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), z = 1.96: Wilson 1927."""
    found = share(np.array([1] * 3 + [0] * 17))
    z, p, n = 1.959963984540054, 0.15, 20
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * np.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2) / (1 + z * z / n)
    assert (found.low, found.high) == pytest.approx((middle - reach, middle + reach), rel=1e-9)
    assert found.share == 0.15 and share(np.array([])).low == 0.0


def test_survival_without_falls_before_an_end_is_the_share_that_stands():
    """Kaplan and Meier's product with runs that ended at 5 s; and with one that ended early."""
    ended = np.array([1.0, 2.0, 5.0, 5.0])
    fell = np.array([1.0, 2.0, np.nan, np.nan])
    curve = survival(ended, fell)
    assert curve.probability[curve.times <= 2.0].tolist() == [0.75, 0.5]
    early = survival(np.array([1.0, 1.5, 2.0, 5.0]), np.array([1.0, np.nan, 2.0, np.nan]))
    at = dict(zip(early.times.tolist(), early.probability.tolist()))
    assert at[2.0] == pytest.approx(0.75 * 0.5)


@pytest.mark.filterwarnings("error")
def test_after_the_fall_of_all_runs_the_interval_is_the_probability():
    curve = survival(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    assert (curve.probability[-1], curve.low[-1], curve.high[-1]) == (0.0, 0.0, 0.0)
