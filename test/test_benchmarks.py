# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The benchmarks' harness on made-up times, and one case as a user runs it; never its times."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evidence.benchmarks import registry, report, tables
from evidence.benchmarks.comparison import THRESHOLD, compare, comparison_lines, confirmed
from evidence.benchmarks.results import CaseResult, Claim, exponent, fit, quartiles
from evidence.benchmarks.timing import LEAST_ROUNDS, Effort, Subject, interleave
from evidence.benchmarks.yardstick import NAME as YARDSTICK

ROOT = Path(__file__).resolve().parent.parent


class Clock:
    """A clock that only subjects move."""

    def __init__(self):
        self.now, self.order = 0.0, []

    def __call__(self):
        return self.now

    def subject(self, name, seconds, **options):
        def run(count):
            self.now += seconds * count * options.get("each", 1)
            self.order.append(name)

        return Subject(name, run, **options)


def made_up(ratio=1.0, spread=0.02) -> CaseResult:
    """Return a case in which ours takes `ratio` of a peer's 2 us."""
    result = CaseResult("standing", "Standing")
    wobble = 1.0 + spread * np.linspace(-1.0, 1.0, 9)
    times = {"hrpsim": 2e-6 * ratio * wobble, "peer": np.full(9, 2e-6)}
    exact = {"hrpsim": {"residual [m/s]": 1e-13}, "peer": {"residual [m/s]": 0.0}}
    result.note("8 points", times, "peer", {"hrpsim": True}, exact)
    return result


def test_times_are_of_one_operation_whatever_a_turn_holds():
    clock = Clock()
    subjects = [
        clock.subject("a", 1e-5),
        clock.subject("b", 3e-3, most=2),
        clock.subject("c", 1e-6, each=50),
    ]
    times = interleave(subjects, Effort(rounds=7, slice=0.01, clock=clock))
    assert {name: t.shape for name, t in times.items()} == dict.fromkeys("abc", (7,))
    for name, seconds in {"a": 1e-5, "b": 3e-3, "c": 1e-6}.items():
        assert times[name] == pytest.approx(np.full(7, seconds), rel=1e-9)


def test_subjects_take_turns():
    clock = Clock()
    interleave([clock.subject("a", 1e-2), clock.subject("b", 1e-2)], Effort(rounds=4, clock=clock))
    assert clock.order[-8:] == ["a", "b"] * 4


def test_slow_subjects_get_few_rounds():
    slow = Subject("slow", lambda n: sum(range(300_000 * n)))
    times = interleave([slow], Effort(rounds=50, slice=1e-6, budget=1e-6))
    assert len(times["slow"]) == LEAST_ROUNDS


def test_a_reset_comes_before_every_turn_and_is_not_timed():
    clock, resets = Clock(), []

    def reset():
        resets.append(len(clock.order))
        clock.now += 100.0

    subject = clock.subject("a", 1e-2, reset=reset)
    times = interleave([subject], Effort(rounds=4, clock=clock))
    assert times["a"] == pytest.approx(np.full(4, 1e-2))
    assert resets == list(range(len(clock.order)))


def test_quartiles_and_ratio_are_of_rounds():
    one = made_up(0.5).of("8 points", "hrpsim")
    assert one.times["median"] == pytest.approx(1e-6) and one.times["best"] < one.times["low"]
    assert one.ratio["median"] == pytest.approx(0.5) and one.ours and one.reference == "peer"
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == {"median": 3, "low": 2, "high": 4, "best": 1}


def test_without_a_peer_the_yardstick_is_the_reference():
    result = CaseResult("standing", "Standing")
    alone = Subject("hrpsim", lambda n: sum(range(1000 * n)), ours=True)
    result.measure("8 points", [alone], Effort(rounds=3, slice=1e-3))
    assert result.of("8 points", "hrpsim").reference == YARDSTICK
    assert result.of("8 points", YARDSTICK).ratio["median"] == 1.0


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_a_power_law_is_found_again(power):
    sizes = np.array([10.0, 30.0, 100.0, 1000.0])
    assert exponent(sizes, 3e-6 * sizes**power) == pytest.approx(power, abs=1e-12)
    noisy = [3e-6 * size**power * np.array([0.9, 1.0, 5.0]) for size in sizes]
    found = fit("ours", "joints", sizes, noisy)  # medians, so one bad round does no harm
    assert found.exponent == pytest.approx(power, abs=1e-12)


def test_claims_look_at_their_side():
    assert Claim("", 2.0, 2.5).met and not Claim("", 3.0, 2.5).met
    assert Claim("", 3.0, 2.5, at_least=True).met and not Claim("", 2.0, 2.5, at_least=True).met


def run_of(*results) -> dict:
    return json.loads(report.to_json(report.as_data(results, quick=False)))


@pytest.mark.parametrize(
    "ratio, spread, slower, faster",
    [(1.0, 0.02, 0, 0), (1.5, 0.02, 1, 0), (0.5, 0.02, 0, 1), (THRESHOLD * 0.99, 0.02, 0, 0)],
)
def test_the_comparison_finds_what_changed(ratio, spread, slower, faster):
    found = compare(run_of(made_up()), run_of(made_up(ratio, spread)))
    assert (len(found.slower), len(found.faster), found.compared) == (slower, faster, 1)
    if slower:
        assert found.slower[0].factor == pytest.approx(ratio, rel=1e-6)
        assert "SLOWER  standing, 8 points, hrpsim: 1.50" in "\n".join(
            comparison_lines(found, run_of(made_up()))
        )


def test_a_slower_machine_or_much_noise_is_no_regression():
    slow = made_up()
    for k, one in enumerate(slow.measurements):
        times = {name: 3.0 * value for name, value in one.times.items()}
        slow.measurements[k] = dataclasses.replace(one, times=times)
    assert not compare(run_of(made_up()), run_of(slow)).slower
    assert not compare(run_of(made_up()), run_of(made_up(1.2, spread=0.9))).slower


def scaled(result: CaseResult, factors) -> CaseResult:
    """Return a case whose subjects take so many times longer, their ratios accordingly."""
    for k, one in enumerate(result.measurements):
        own = factors[one.subject]
        times = {name: own * value for name, value in one.times.items()}
        ratio = {name: own / factors[one.reference] * value for name, value in one.ratio.items()}
        result.measurements[k] = dataclasses.replace(one, times=times, ratio=ratio)
    return result


@pytest.mark.parametrize("ours, slower", [(1.3, 0), (1.6, 1)])
def test_a_peer_that_scales_otherwise_with_the_clock_is_no_regression(ours, slower):
    """At another clock all takes 1.3 times as long, but for one peer that waits for memory."""

    def run(speed):
        rest = [scaled(made_up(), {"hrpsim": speed[0], "peer": speed[1]}) for _ in range(2)]
        for k, result in enumerate(rest):
            result.name = f"other{k}"
        return run_of(scaled(made_up(), {"hrpsim": speed[2], "peer": speed[3]}), *rest)

    found = compare(run((1.0, 1.0, 1.0, 1.0)), run((1.3, 1.3, ours, 1.0)))
    assert [change.case for change in found.slower] == ["standing"] * slower
    if slower:
        assert found.slower[0].factor == pytest.approx(1.6 / 1.3, rel=1e-6)


def test_only_what_is_slower_again_is_called_so():
    stored = run_of(made_up())
    first, again = (compare(stored, run_of(made_up(ratio))) for ratio in (1.6, 1.3))
    assert confirmed(first, again).slower == again.slower
    assert not confirmed(first, compare(stored, run_of(made_up(1.1)))).slower


def test_what_takes_next_to_no_time_may_vary_more():
    before, after = made_up(), made_up(1.5)
    for result in (before, after):
        for k, one in enumerate(result.measurements):
            times = {name: 0.01 * value for name, value in one.times.items()}
            result.measurements[k] = dataclasses.replace(one, times=times)
    assert not compare(run_of(before), run_of(after)).slower


def test_other_cases_and_other_references_are_not_compared():
    other = made_up(9.0)
    other.measurements[0] = dataclasses.replace(other.measurements[0], reference="another")
    assert compare(run_of(made_up()), run_of(other)).compared == 0
    renamed = made_up(9.0)
    renamed.name = "walking"
    assert compare(run_of(made_up()), run_of(renamed)).compared == 0


def test_tables_hold_medians_ratios_and_exactness():
    result = made_up(0.5)
    result.claims.append(Claim("twice as fast", 2.0, 2.5, at_least=True))
    result.fits.append(fit("hrpsim", "points", (8, 16), (1e-6, 2e-6)))
    result.notes.append("made up")
    text = "\n".join(tables.case_lines(result))
    assert "1.00 ±1%" in text and "2.00 ±0% (2.00)" in text and "1.0e-13" in text
    assert "**missed**" in text and "- made up" in text and "8 .. 16" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for row in rows:
        assert row.endswith("|")
    failed = CaseResult("standing", "Standing", failed="ValueError: no")
    assert "Failed: ValueError: no" in "\n".join(tables.case_lines(failed))


@pytest.mark.parametrize(
    "value, text",
    [(0.0, "0"), (1.234, "1.23"), (12.34, "12.3"), (1234.0, "1234"), (1e-3, "1.0e-03"), (7, "7")],
)
def test_numbers_have_three_digits(value, text):
    assert tables.number(value) == text


def test_only_what_is_between_the_marks_is_replaced():
    page = f"# Head\n\n{report.BEGIN}\n\nold\n\n{report.END}\n\n## ROS node\n"
    new = report.replace_measured(page, ["new", ""])
    assert new == f"# Head\n\n{report.BEGIN}\n\nnew\n\n{report.END}\n\n## ROS node\n"
    with pytest.raises(ValueError, match="no lines"):
        report.replace_measured("# Head\n", ["new"])


def test_the_stored_run_and_the_page_belong_together():
    stored = report.load(ROOT / "docs" / "benchmarks.json")
    assert stored is not None and set(stored["cases"]) == set(registry.NAMES) - set(registry.LONG)
    assert not stored["quick"] and stored["machine"]["processor"]
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert stored["date"] in page
    for name, case in stored["cases"].items():
        assert f"(`{name}`)" in page and not case["failed"]


def bench(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "hrpsim", "bench", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.mark.long
def test_the_command_lists_its_cases_and_refuses_others():
    assert [line.split()[0] for line in bench("--list").stdout.splitlines()] == list(registry.NAMES)
    refused = bench("sitting")
    assert refused.returncode == 2 and "'sitting'" in refused.stderr
    assert "standing" in refused.stderr
    assert "all cases" in bench("standing", "--write").stderr


@pytest.mark.long
def test_a_case_from_end_to_end(tmp_path):
    stored, figures = tmp_path / "stored.json", tmp_path / "figures"
    done = bench("pairs", "--quick", "--json", "--compare", str(stored), "--figures", str(figures))
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    measured = data["cases"]["pairs"]["measurements"]
    assert {m["subject"] for m in measured if m["ours"]} == {"hrpsim"}
    assert all(m["times"]["best"] > 0.0 and m["rounds"] >= LEAST_ROUNDS for m in measured)
    stored.write_text(done.stdout)
    again = bench("pairs", "--quick", "--compare", str(stored))
    assert again.returncode == 0
    assert f"{sum(m['ours'] for m in measured)} ratios to a reference" in again.stdout
