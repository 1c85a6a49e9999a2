# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Experiments and their results: rows to compare, notes, and data for a figure.

    def run(options: Options) -> Result: ...
    def draw(result: Result, figure) -> None: ...   # on a matplotlib figure

    EXPERIMENT = Experiment("E7", "Stopping distance", "thesis, Figs 8.2-8.5", run, draw)

A row without a target informs; a row with one is met or missed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hrpsim.errors import HrpsimError, WorldError

if TYPE_CHECKING:
    from hrpsim.world.world import World

VARIABLE = "HRPSIM_MEASUREMENTS"
_BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[4] / "shared" / "data"


class MeasurementsAbsent(HrpsimError):
    """Measurements that an experiment needs are not on this machine; the message names them."""


NOT_INSTALLED = "not installed"
MUJOCO_FORM = "dense up to 60 degrees of freedom, sparse above"  # jacobian="auto"
Value = float | int | str | None


@dataclass(frozen=True)
class Target:
    """The condition on our value of a row, as text and as a test."""

    text: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Row:
    """One result: ours, the source document's, theory's and another engine's.

    `unit` is SI ("" for counts and ratios). None: there is no such value. Without
    a `target` the row is for information.
    """

    what: str
    unit: str
    ours: Value
    target: Target | None = None
    source: Value = None
    analytic: Value = None
    peer: Value = None

    @property
    def met(self) -> bool | None:
        """Whether ours satisfies the target; None without a target."""
        if self.target is None:
            return None
        if self.ours is None or (isinstance(self.ours, float) and math.isnan(self.ours)):
            return False
        return bool(self.target.holds(self.ours))


@dataclass(frozen=True)
class Options:
    """Options of an experiment: `quick` takes fewer or shorter cases, same targets.

    `data` is the folder of measurements (`measurements` says what None is); with `fit`
    parameters are fitted to them again, which takes long.
    """

    quick: bool = False
    data: Path | None = None
    fit: bool = False


@dataclass
class Result:
    """Rows and notes of one run, which engine `peer` is, and `data` that the figure is drawn of."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    peer: str = "none"
    data: dict[str, Any] = field(default_factory=dict)

    def add(
        self, what: str, unit: str, ours: Value, target: Target | None = None, **others: Value
    ) -> None:
        """Add a row; others: its `source`, `analytic` and `peer`."""
        self.rows.append(Row(what, unit, ours, target, **others))

    def of(self, case: str) -> Callable[..., None]:
        """Return `add` for rows of one case, whose names begin with `case`."""
        return lambda what, *values, **others: self.add(case + what, *values, **others)

    @property
    def met(self) -> bool:
        """Whether no row misses its target."""
        return all(row.met is not False for row in self.rows)


@dataclass(frozen=True)
class Experiment:
    """An experiment of the source documents, or on measurements; `source` says where it is from."""

    name: str
    title: str
    source: str
    run: Callable[[Options], Result]
    draw: Callable[[Result, Any], None]


def at_most(bound: float) -> Target:
    """Ours <= bound."""
    return Target(f"<= {bound:g}", lambda ours: ours <= bound)


def at_least(bound: float) -> Target:
    """Ours >= bound."""
    return Target(f">= {bound:g}", lambda ours: ours >= bound)


def below(bound: float) -> Target:
    """Ours < bound."""
    return Target(f"< {bound:g}", lambda ours: ours < bound)


def equal_to(value: Value) -> Target:
    """Ours is exactly this."""
    return Target(f"= {value}", lambda ours: ours == value)


def near(value: float, *, relative: float = 0.0, absolute: float = 0.0) -> Target:
    """|ours - value| <= relative |value| + absolute."""
    width = relative * abs(value) + absolute
    parts = [f"{100 * relative:g} %"] * (relative > 0) + [f"{absolute:g}"] * (absolute > 0)
    text = f"{value:.5g} +- {' +- '.join(parts) or '0'}"
    return Target(text, lambda ours: abs(ours - value) <= width)


def mujoco_module() -> ModuleType | None:
    """Return the module mujoco, or None if it is not installed."""
    return _module("mujoco")


def pinocchio_module() -> ModuleType | None:
    """Return the module pinocchio, or None if it is not installed."""
    return _module("pinocchio")


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


def peer_name(module: ModuleType | None, settings: str = "", name: str = "mujoco") -> str:
    """Return "mujoco 3.1.0, settings", or that it is not installed.

    Of mujoco it says which form its Jacobian has: its own choice, if the settings name none.
    """
    if module is None:
        return f"{name}: {NOT_INSTALLED}"
    parts = [f"{name} {module.__version__}", *([settings] if settings else [])]
    if name == "mujoco" and "sparse" not in settings:
        parts.append(MUJOCO_FORM)
    return ", ".join(parts)


def against_mujoco(settings: str) -> tuple[ModuleType | None, Result]:
    """Return mujoco, None if it is not installed, and a result whose peer it is with `settings`."""
    mujoco = mujoco_module()
    return mujoco, Result(peer=peer_name(mujoco, settings))


def steps_through(world: World, count: int = 1) -> bool:
    """Do steps of a world; return whether all were finite."""
    try:
        world.step(count)
    except WorldError:
        return False
    return True


def measurements(folder: Path | None, names: tuple[str, ...], source: str) -> list[Path]:
    """Return the files `names` of `folder`.

    None is the folder that the variable HRPSIM_MEASUREMENTS names, or else
    ../shared/data next to the checkout. Raises MeasurementsAbsent, with `source`, where a file is
    not there.
    """
    named = os.environ.get(VARIABLE)
    folder = folder or (Path(named) if named else _BESIDE_THE_CHECKOUT)
    paths = [folder / name for name in names]
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        raise MeasurementsAbsent(
            f"{', '.join(missing)} not found in {folder} (--data FOLDER, or {VARIABLE}); {source}"
        )
    return paths
