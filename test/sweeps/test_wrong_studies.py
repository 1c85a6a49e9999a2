# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is wrong with a study, or a store, is said in a line that names what to do."""

import json
import math
import pickle
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from sweeps.scenarios import BOX_WORLD, HEIGHTS, SOURCE, fall, leaves, named

import hrpsim
from hrpsim import HrpsimError
from hrpsim.commands.cli import main
from hrpsim.sweeps import Design, SweepError
from hrpsim.sweeps.boundary import BoundaryScenario
from hrpsim.sweeps.cells import ERROR_LENGTH, FAILED, Cell, run_cell
from hrpsim.sweeps.checksums import seal
from hrpsim.sweeps.executors import named_executor
from hrpsim.sweeps.framework.scenario import FunctionScenario, unknown_parameter
from hrpsim.sweeps.store import open_store
from hrpsim.sweeps.study_file import read_study
from hrpsim.sweeps.sweep import planned
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

BOX = "world: box.yaml\nduration: 0.01\n"
STAND = "world: config/stand.yaml\nduration: 0.01\n"
MASS = "bodies.box.mass"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "box.yaml").write_text(BOX_WORLD)
    (tmp_path / "twice.csv").write_text(f"{MASS},{MASS}\n1,2\n")
    (tmp_path / "cells.csv").write_text(f"{MASS}\n1\n2\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "bad.py").write_text("import nowhere_at_all\n")
    return tmp_path


def study_in(folder, text):
    file = folder / "y.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def values(text):
    return f"design: {{parameters: {{{MASS}: {text}}}}}\n"


@pytest.mark.parametrize(
    "text, message",
    [
        (f"{STAND}controller: wolk\ndesign: {{}}", "'wolk' does not exist. Did you mean 'walk'"),
        (
            f"{STAND}controller: {{plugin: stroll}}\ndesign: {{}}",
            "Available: walk, module:Class, path/to/file.py:Class",
        ),
        (
            f"{STAND}controller: [walk]\ndesign: {{}}",
            "must be a plug-in's name, or a mapping with plugin",
        ),
        (f"{STAND}controller: 'none.py:C'\ndesign: {{}}", "none.py' does not exist"),
        (f"{STAND}controller: 'bad.py:C'\ndesign: {{}}", "bad.py:C': ModuleNotFoundError"),
        ("function: bad.py:f\ndesign: {}", "bad.py:f': ModuleNotFoundError: No module named"),
        (
            f"{STAND}controller: {{plugin: walk, parameters: {{patern: E5}}}}\ndesign: {{}}",
            r"Did you mean 'controller.pattern'.* Available: controller\.(?!.*world)",
        ),
        (f"{BOX}sensors: {{gyro: 1}}\ndesign: {{}}", "sensors: has no effect without a controller"),
        (f"{BOX}delay: {{sensing: 1}}\ndesign: {{}}", "delay: has no effect without a controller"),
        (f"{BOX}measured: []\ndesign: {{}}", "must be a list of at least one outcome, got"),
        (
            f"{BOX}find: {{parameter: {MASS}, between: [1, 2], tolerance: 1, bad: time}}\n"
            + values("3"),
            f"{MASS} is in both the design and `find`",
        ),
        (
            f"{BOX}find: {{parameter: bodies.mass, between: [1, 2], tolerance: 1}}\ndesign: {{}}",
            f"find: parameter 'bodies.mass' .* Did you mean '{MASS}'",
        ),
        (BOX + values("{uniform: [1, 2]}"), r"y.yaml:3:1: design: .*Use uniform with a method .*"),
        (BOX + values("{values: []}"), r"y.yaml:3:1: design: parameter 'bodies.box.mass': values:"),
        (BOX + values("{steps: [1, 2, 2.5]}"), "y.yaml:3:1: .* a whole count from 2"),
        (
            BOX + values("{steps: [1, 2, 2], values: [1]}"),
            "y.yaml:3:1: .* one key from values, steps",
        ),
        (BOX + values("{values: [[0, 0, 1]]}"), "y.yaml:3:1: .* numbers, texts or truth values"),
        (BOX + values("{integers: [0, 1000000000]}"), "with at most 1000000 whole numbers between"),
        (BOX + values("{steps: [1, 2, 1000000000]}"), "a whole count from 2 to 1000000, got"),
        (BOX + values("{uniform: [-1.7e308, 1.7e308]}"), r"at most 1e\+50 in size, got \[-1.7e"),
        (BOX + values("{log_uniform: [1e-308, 1]}"), "low must be 1e-50 or more, got 1e-308"),
        ("function: leaves.py:f\ndesign: {}", "leaves.py:f': SystemExit: 3"),
        (f"{STAND}controller: 'leaves.py:F'\ndesign: {{}}", "leaves.py:F': SystemExit: 3"),
        (f"world: {'x' * 300}\nduration: 1\ndesign: {{}}", "xxx': File name too long"),
        (
            f"{BOX}design: {{method: sobol}}",
            "y.yaml:3:1: .* a design by sobol needs the number of cells",
        ),
        (f"{BOX}design: {{count: 4}}", "a design by grid has no `count`. Only random, .* repeat"),
        (f"{BOX}design: {{method: table}}", "a design by table needs a table of rows"),
        (f"{BOX}design: {{table: cells.csv, method: grid}}", "a design by grid has no table"),
        (f"{BOX}design: {{table: twice.csv}}", f"twice.csv:1: two columns have the name '{MASS}'"),
        (
            f"{BOX}design: {{table: cells.csv, parameters: {{{MASS}: 1}}}}",
            f"'{MASS}' is both in the table and outside it",
        ),
        (f"{BOX}design: {{table: .}}", "Is a directory"),
        ("world: .\nduration: 1\ndesign: {}", "Is a directory"),
        (f"{BOX}größe: 1\ndesign: {{}}", "entry 'größe' does not exist"),
    ],
)
def test_a_study_that_cannot_be_read(text, message, folder):
    with pytest.raises(HrpsimError, match=message):
        read_study(study_in(folder, text))


def test_a_controller_may_be_named_without_a_mapping(folder):
    study = read_study(study_in(folder, f"{STAND}controller: walk\ndesign: {{}}\n"))
    assert study.scenario.controller == "walk" and study.scenario.controller_parameters == {}


PATHS = ["world.time_step", MASS, *(f"bodies.box.position.{k}" for k in range(3))]
PATHS += [f"robots.{name}.mass_factor" for name in "abcdefgh"]


@pytest.mark.parametrize(
    "given, hint",
    [
        ("bodies.Box.mass", f"Did you mean '{MASS}'"),
        ("bödies.box.mass", f"Did you mean '{MASS}'"),
        ("bodies.box.position", "'bodies.box.position.0', 'bodies.box.position.1', 'bodies.box"),
        ("time_step", "Did you mean 'world.time_step'?"),
        ("zzz", "Paths begin with world, bodies, robots"),
    ],
)
def test_an_unknown_path_is_answered_with_the_nearest(given, hint):
    said = unknown_parameter(given, PATHS)
    assert hint in said and said.endswith(f"`hrpsim sweep STUDY --parameters` lists all {13}")
    assert len(said) < 300


def test_few_paths_are_all_named():
    assert unknown_parameter("heigth", ["height", "pause"]).endswith("Available: height, pause")


def test_what_is_wrong_with_the_world_itself_is_not_told_of_a_cell(folder):
    (folder / "box.yaml").write_text(BOX_WORLD + "robots:\n  - urdf: nowhere.urdf\n")
    with pytest.raises(HrpsimError, match=r"^(?!cell).*nowhere\.urdf"):
        study = read_study(study_in(folder, BOX + values("{values: [1, 2]}")))
        planned(study.scenario, study.design, 0)


def test_what_find_cannot_reach_is_told_as_its_own(folder):
    scenario = WorldScenario(folder / "box.yaml", duration=0.1, measured=["time"])
    search = BoundaryScenario(scenario, MASS, (-1.0, 1.0), 0.1, bad="time")
    with pytest.raises(SweepError, match=f"^find: {MASS} = -1: .*must be positive"):
        search.check({})


@pytest.mark.parametrize("key", ["solver", "integrator", "impact_law", "friction_model"])
def test_a_wrong_name_of_a_world_s_setting_names_those_that_exist(folder, key):
    text = f"{BOX}design: {{parameters: {{world.{key}: {{values: [nothing]}}}}}}"
    study = read_study(study_in(folder, text))
    with pytest.raises(SweepError, match=f"cell 0: .*{key}.*'nothing' does not exist. Available: "):
        planned(study.scenario, study.design, 0)


@pytest.mark.parametrize("within", [[5, 6], [-6, -5]])
def test_a_distribution_with_nothing_where_it_is_cut_off(within):
    with pytest.raises(SweepError, match=r"normal: \[0, 0.001\] has no probability within \["):
        Design({"a": {"normal": [0, 1e-3], "within": within}}, "sobol", count=2)


@pytest.mark.parametrize("within", [[0.8, 1.2], [0.0, math.nextafter(1.0, 0.0)]])
def test_a_distribution_keeps_what_lies_where_it_is_cut_off(within):
    design = Design({"a": {"normal": [1.0, 0.1], "within": within}}, "random", count=50)
    assert all(within[0] <= value <= within[1] for value in design.columns(0)["a"])


def test_an_engine_that_cannot_be_made_is_named():
    with pytest.raises(SweepError, match="--engine builtins:getattr: TypeError: getattr expected"):
        with named_executor("builtins:getattr", None):
            pass


def complain(x=0.0):
    raise ValueError("x" * 10 * ERROR_LENGTH)


def test_a_long_error_is_cut_where_one_sees_it():
    result = run_cell(FunctionScenario(complain, {"a": ""}), Cell(0, {}, 0))
    assert result.status == FAILED and len(result.error) == ERROR_LENGTH
    assert result.error.endswith("x ...")


@pytest.mark.parametrize(
    "options, message",
    [
        (["--x", "height"], "--x needs --plot FILE"),
        (["--outcome", "fell", "--summary"], "--outcome needs --plot FILE"),
        (["--by", "fell"], "--by needs --worst N"),
    ],
)
def test_options_that_would_be_overlooked_are_wrong_usage(options, message, capsys):
    """And begin no sweep."""
    with pytest.raises(SystemExit) as end:
        main(["sweep", "study.yaml", *options])
    assert end.value.code == 2 and message in capsys.readouterr().err


class TestStores:
    """Stores with nothing in them, of others, of other values."""

    @pytest.fixture(autouse=True)
    def needs(self):
        pytest.importorskip("xarray"), pytest.importorskip("zarr")

    @pytest.fixture
    def study(self, folder):
        return study_in(folder, BOX + values("{values: [1, 2]}"))

    @pytest.fixture
    def empty(self, study):
        """Begun, and none of its two cells run."""
        from hrpsim.sweeps.store import Store

        read = read_study(study)
        table, identity = planned(read.scenario, read.design, 0)
        store = Store(study.with_suffix(".zarr"), table, identity, "")
        store.abandon()
        return store.path

    def run(self, study, *options):
        return main(
            ["sweep", str(study), *options, "--engine", "concurrent.futures:ThreadPoolExecutor"]
        )

    @pytest.mark.parametrize(
        "options",
        [
            ["--summary"],
            ["--summary", "--json"],
            ["--plot", "x.png", "--x", MASS],
            ["--plot", "x.png", "--survival", MASS],
        ],
    )
    def test_a_sweep_of_which_nothing_is_finished(self, study, empty, options, capsys):
        assert main(["sweep", str(study), *options]) == 1
        said = capsys.readouterr()
        assert said.out == "" and "none of 2 cells is finished yet" in said.err

    def test_cells_that_are_not_there_yet(self, study, empty, capsys):
        assert main(["sweep", str(study), "--worst", "1", "--by", "time"]) == 1
        assert "no cell has an outcome 'time' yet" in capsys.readouterr().err
        assert main(["sweep", str(study), "--cell", "0", "--json"]) == 1
        (again,) = json.loads(capsys.readouterr().out)
        assert again["differs"] == "the store has no result of this cell yet"
        assert again["outcomes"]["time"] == 0.01

    def test_a_sweep_of_which_all_cells_failed(self, folder, capsys):
        walk = "controller: {plugin: walk, parameters: {pattern: E9}}\n"
        study = study_in(folder, f"{STAND}{walk}design: {{}}")
        assert self.run(study) == 1
        capsys.readouterr()
        assert main(["sweep", str(study), "--summary"]) == 1
        said = capsys.readouterr().err
        assert "1 of 1 cells are finished, 1 of them failed. Cell 0: ControllerError" in said

    def test_a_summary_tells_how_far_the_sweep_is(self, study, capsys):
        assert self.run(study) == 0
        capsys.readouterr()
        assert main(["sweep", str(study), "--summary"]) == 0
        said = capsys.readouterr().out.splitlines()
        assert said[0] == "2 of 2 cells are finished, 0 of them failed"
        names = [part.split()[0] for part in said[2].partition("cells, ")[2].split(", ")]
        assert names == sorted(names) and "nan" not in said[2]

    def test_a_store_of_other_values_is_told_by_the_first(self, study, folder):
        assert self.run(study) == 0
        other = folder / "other.yaml"
        other.write_text(BOX + values("{values: [1, 3]}"))
        read = read_study(other)
        from hrpsim import sweep

        with pytest.raises(SweepError, match=f"design: cell 1: {MASS} = 2 there, 3 here"):
            sweep(read.scenario, read.design, store=folder / "y.zarr")

    def test_a_cell_that_is_many_runs_cannot_be_shown(self, folder, capsys):
        find = f"find: {{parameter: {MASS}, between: [1, 2], tolerance: 1, bad: unconverged}}\n"
        study = study_in(folder, f"{BOX}{find}design: {{}}")
        assert self.run(study) == 0
        assert main(["sweep", str(study), "--cell", "0", "--film", str(folder / "x.png")]) == 1
        said = capsys.readouterr().err
        assert f"has many runs. To show one run, use a study with {MASS} in its design" in said

    def test_a_cell_of_another_scenario_says_what_differs(self, study, folder, capsys):
        assert self.run(study) == 0
        study_in(folder, BOX.replace("0.01", "0.02") + values("{values: [1, 2]}"))
        capsys.readouterr()
        assert main(["sweep", str(study), "--cell", "1", "--json"]) == 1
        (again,) = json.loads(capsys.readouterr().out)
        assert again["differs"] == "duration = 0.01 there, duration = 0.02 here"

    @pytest.mark.parametrize("content", ["my diary\n", "my diary", "12345678 {}\n"])
    def test_a_file_that_is_no_journal_is_left_alone(self, tmp_path, content):
        from hrpsim import sweep

        file = tmp_path / "x.zarr.journal"
        file.write_text(content)
        with ThreadPoolExecutor(1) as thread:
            with pytest.raises(SweepError, match=r"x\.zarr\.journal is not the journal of a sweep"):
                sweep(named(fall), HEIGHTS, thread, tmp_path / "x.zarr")
        assert file.read_text() == content

    @pytest.mark.parametrize("length", [0, 1, 8, 9, 10, 40])
    def test_a_header_that_was_cut_short_is_written_again(self, empty, study, length):
        journal = empty.with_name(empty.name + ".journal")
        whole = journal.read_bytes()
        journal.write_bytes(whole[:length])
        shutil.rmtree(empty)
        assert self.run(study) == 0

    @pytest.mark.parametrize("name", ["", "/"])
    def test_a_store_needs_a_name(self, study, name, capsys):
        assert self.run(study, "--store", name) == 1
        assert "a store must be a folder with a name" in capsys.readouterr().err

    def test_a_store_that_is_not_there(self, study, capsys):
        assert main(["sweep", str(study), "--summary"]) == 1
        assert "there is no store" in capsys.readouterr().err

    def test_a_folder_and_a_file_are_no_stores(self, study, tmp_path, capsys):
        (tmp_path / "own").mkdir()
        (tmp_path / "own" / "thesis.txt").write_text("all of it")
        assert self.run(study, "--store", str(tmp_path / "own")) == 1
        assert self.run(study, "--store", str(tmp_path / "own" / "thesis.txt")) == 1
        assert capsys.readouterr().err.count("is not a store of a sweep") == 2
        assert (tmp_path / "own" / "thesis.txt").read_text() == "all of it"


class TestDamagedStores:
    """Stores that others made, or that a disk has damaged."""

    @pytest.fixture
    def store(self, folder):
        pytest.importorskip("xarray"), pytest.importorskip("zarr")
        study = study_in(folder, f"function: {SOURCE}:fall\n{DESIGN}")
        read, self.study = read_study(study), study
        with ThreadPoolExecutor(1) as thread:
            hrpsim.sweep(read.scenario, read.design, thread, study.with_suffix(".zarr"))
        return study.with_suffix(".zarr")

    def change(self, store, name, **entries):
        head = json.loads((store / name).read_text())
        (store / name).write_text(json.dumps(head | entries))
        seal(store)  # as if another program had written it so

    @pytest.mark.parametrize("place", ["filters", "compressor"])
    def test_a_codec_that_runs_programs_is_refused_before_it_is_made(self, store, place):
        """Law: only codecs that pack bytes are read; zarr 2 unpickles by `pickle`."""
        codec = {"id": "pickle", "protocol": 4}
        given = {"compressor": codec} if place == "compressor" else {"filters": [codec]}
        self.change(store, "error/.zarray", dtype="|O", **({"compressor": None} | given))
        (store / "error" / "0").write_bytes(pickle.dumps(Evil(store / "run")))
        with pytest.raises(SweepError, match=r"zarray: the codec 'pickle' is not supported"):
            open_store(store)
        assert not (store / "run").exists()

    @pytest.mark.parametrize(
        "name, entries, message",
        [
            ("error/.zarray", {"dtype": "|O"}, "arrays of type '|O' are not supported"),
            ("speed/.zarray", {"shape": [10**12]}, "STORE_SIZE"),
            ("speed/.zarray", {"shape": None}, "cannot be read"),
            ("speed/.zarray", {"dtype": "<U2"}, "array 'speed' is missing, or of another kind"),
            ("status/.zattrs", {"_ARRAY_DIMENSIONS": ["x"]}, "array 'status' is missing"),
            (".zattrs", {"parameters": "7"}, "'parameters' is missing, or no list"),
            (".zattrs", {"versions": "[1]"}, "'versions' is missing, or no dict"),
        ],
    )
    def test_damage_is_named_whatever_is_done_with_the_store(
        self, store, name, entries, message, capsys
    ):
        self.change(store, name, **entries)
        for options in (["--summary"], ["--cell", "0"], ["--worst", "1", "--by", "speed"], []):
            assert main(["sweep", str(self.study), *options]) == 1
            said = capsys.readouterr().err
            assert message in said and "internal error" not in said

    def test_an_outcome_that_is_gone_is_named(self, store, capsys):
        shutil.rmtree(store / "speed")
        seal(store)
        assert main(["sweep", str(self.study), "--cell", "0"]) == 1
        assert "no outcome 'speed'" in capsys.readouterr().err

    @pytest.mark.parametrize(
        "entry",
        [{}, {"number": -1}, {"number": 9}, {"outcomes": {"depth": 1.0}}, {"error": [1]}, []],
    )
    def test_a_line_of_the_journal_that_is_no_result_is_named(self, store, entry, capsys):
        from hrpsim.sweeps.journal import _line

        whole = {"number": 0, "status": 1, "outcomes": {}, "error": ""}
        entry = whole | entry if entry else entry
        journal = store.with_name(store.name + ".journal")
        attributes = open_store(store).attrs
        identity = {
            k: v if k in ("run", "design") else json.loads(v)
            for k, v in attributes.items()
            if k not in ("title", "complete")
        }
        journal.write_bytes(_line(identity) + _line(entry))
        for options in (["--summary"], []):
            assert main(["sweep", str(self.study), *options]) == 1
            said = capsys.readouterr().err
            assert str(store) in said and "internal error" not in said


DESIGN = "design: {parameters: {height: {values: [0.5, 2.0]}}}\n"


class Evil:
    """Writes a file where it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def test_a_cell_that_asks_to_exit_is_a_result():
    """Law: code of a cell ends that cell, not the sweep: sys.exit in a controller, say."""
    found = hrpsim.sweep(
        leaves, Design({"mode": {"values": ["exit", "stop", "huge"]}}), processes=1
    )
    assert found["status"].values.tolist() == [FAILED] * 3
    exited, stopped, huge = found["error"].values
    assert exited.startswith("SystemExit: 4") and stopped.startswith("GeneratorExit")
    assert "outcome 'size' is not a number" in huge


@pytest.mark.parametrize(
    "design, more, message",
    [
        (None, {}, "design must be a Design or a product of Designs, got None"),
        ({"mode": ["exit"]}, {}, "design must be a Design"),
        (Design(), {"processes": 0}, "processes must be a whole number >= 1, got 0"),
        (Design(), {"per_task": 0}, "per_task must be a whole number >= 1, got 0"),
        (Design(), {"store": "a\0b"}, "a store must be a folder with a name"),
        (Design(), {"store": "a" * 300}, "cannot write"),
        (
            Design({"height": {"values": [2**70]}}),
            {},
            "'height': whole numbers must be at most 2^63 - 1",
        ),
        (Design({"mode": {"values": ["a", "a\0"]}}), {}, "cell 1: a text must not end with a null"),
    ],
)
def test_what_a_sweep_cannot_be_called_with(design, more, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scenario = FunctionScenario(lambda height=1.0, mode="": {"size": 1.0}, {"size": ""})
    with pytest.raises(SweepError, match=re.escape(message)):
        hrpsim.sweep(scenario, design, **more)


def test_an_outcome_without_a_name_is_refused():
    with pytest.raises(SweepError, match="'' is a reserved name"):
        planned(FunctionScenario(lambda height=1.0: {"": height}, {"": "m"}), Design(), 0)


def test_json_and_pictures_bear_what_is_not_finite(folder, capsys, recwarn):
    """Law: any reader takes what --json prints; a picture leaves out what it cannot show."""
    heights = "{values: [1.0, 2.0, 3.0]}"
    text = f"function: {SOURCE}:endless\ndesign: {{parameters: {{height: {heights}}}}}\n"
    study, picture = str(study_in(folder, text)), folder / "size.png"
    runs = (["--processes", "1"], ["--summary"], ["--worst", "3", "--by", "size"])
    for options in runs:
        capsys.readouterr()
        assert main(["sweep", study, *options, "--json"]) == 0
        read = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert [cell["outcomes"]["size"] for cell in read] == [None, 1.0]
    pytest.importorskip("matplotlib")
    recwarn.clear()
    assert main(["sweep", study, "--plot", str(picture), "--x", "height"]) == 0
    assert picture.is_file() and not [
        str(w.message) for w in recwarn if "invalid" in str(w.message)
    ]
