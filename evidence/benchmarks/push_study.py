# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures of config/push_study.yaml: python -m evidence.benchmarks.push_study STORE [PAGE]

The script reads the store of `hrpsim sweep`, draws into ../images, relative to PAGE
(docs/explanation/push_study.md), and writes the tables between the page's marks. An incomplete
store is refused.

Impulses are drawn uniformly between 0 and the largest impulse. For given heading, time and factors,
the robot falls if the impulse exceeds a threshold. The mean threshold is therefore the fraction of
survivors times the largest impulse. A threshold beyond the largest impulse counts as the largest
impulse.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.sweeps.cells import DONE
from hrpsim.sweeps.statistics import draw, draw_survival, levels, share
from hrpsim.sweeps.store import open_store

PAGE = Path(__file__).parents[2] / "docs/explanation/push_study.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
IMPULSE, HEADING = "pushes.0.impulse", "pushes.0.heading"
FEET = "robots.hrp2.xacro_arguments.bush", "robots.hrp2.xacro_arguments.bush_set"
FACTORS = {
    "friction.sole-floor.coefficient": "friction of sole and floor",
    "delay.sensing": "delay of what is measured [periods of 5 ms]",
    "controller.dcm_rate": "`dcm_rate` [1/s]",
    "controller.torque_time": "`torque_time` [s]",
    "pushes.0.begin": "begin of the push [s]",
    HEADING: "heading of the push from x [rad]",
}
_NORMAL = 1.96  # quantile for 95 %


def feet_of(found: Any) -> np.ndarray:
    """Return the kind of foot in each cell."""
    has_bushes, kind = (found[name].values for name in FEET)
    return np.where(has_bushes == "true", kind, "rigid")


def table_of_feet(found: Any, survived: np.ndarray, largest: float) -> list[str]:
    """Return rows that compare each kind of foot with the first kind at the same design points."""
    feet = feet_of(found)
    names = list(dict.fromkeys(feet.tolist()))
    lines = [
        "| feet | cells | survived | 95 % interval | width [Ns] | wider than the first by [Ns] |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    by_feet = [survived[feet == name].astype(float) for name in names]
    for name, outcomes in zip(names, by_feet, strict=True):
        difference = outcomes - by_feet[0]
        reach = _NORMAL * difference.std(ddof=1) / math.sqrt(len(difference))
        more = f"{largest * difference.mean():+.1f} ± {largest * reach:.1f}"
        lines.append(f"| {name} {_row(outcomes, largest)} | {more if difference.any() else ''} |")
    return lines


def table_of_factor(found: Any, name: str, survived: np.ndarray, largest: float) -> list[str]:
    """Return one row for each value, or bin of values, of a factor."""
    lines = [
        f"| {FACTORS[name]} | cells | survived | 95 % interval | width [Ns] |",
        "| --- | --- | --- | --- | --- |",
    ]
    for label, chosen in levels(found[name].values):
        lines.append(f"| {label} {_row(survived[chosen], largest)} |")
    return lines


def _row(survived: np.ndarray, largest: float) -> str:
    survival = share(survived)
    interval = f"{survival.low:.3f} to {survival.high:.3f}"
    return (
        f"| {survival.total} | {survival.share:.3f} | {interval} | {largest * survival.share:.1f}"
    )


def tables(found: Any) -> str:
    """Return all tables as Markdown text."""
    failed = int((found["status"].values != DONE).sum())
    if failed:
        raise SystemExit(f"{failed} cells failed, or did not run: the study is not whole")
    survived = found["fell"].values == 0.0
    largest = float(np.ceil(found[IMPULSE].values.max()))
    lines = [
        f"{len(survived)} walks, impulses from 0 to {largest:g} Ns: {(~survived).sum()} falls.",
        "",
        *table_of_feet(found, survived, largest),
    ]
    for name in FACTORS:
        lines += ["", *table_of_factor(found, name, survived, largest)]
    return "\n".join(lines)


def main() -> None:
    """Draw the pictures, and write the tables into the page."""
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    page = Path(sys.argv[2]) if len(sys.argv) > 2 else PAGE
    runs = open_store(sys.argv[1])
    numbers = tables(runs)
    runs = runs.assign_coords(feet=("cell", feet_of(runs)))
    images = page.parent.parent / "images"
    images.mkdir(exist_ok=True)
    draw(runs, images / "push_study_map.png", IMPULSE, HEADING)
    draw(runs, images / "push_study_impulse.png", IMPULSE)
    draw_survival(runs, images / "push_study_feet.png", "feet")
    text = page.read_text(encoding="utf-8")
    before, following = text.split(BEGIN)
    _, after = following.split(END)
    pictures = "\n\n".join(
        f"![{caption}](../images/push_study_{name}.png)"
        for name, caption in (
            ("map", "probability of a fall by impulse and heading"),
            ("impulse", "probability of a fall by impulse"),
            ("feet", "how long walks last on each kind of foot"),
        )
    )
    page.write_text(f"{before}{BEGIN}\n\n{numbers}\n\n{pictures}\n\n{END}{after}", encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
