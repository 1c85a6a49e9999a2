# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""200 boxes, and 50 meshes, some of them concave, fall into a bin and come to rest."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evidence.benchmarks.bin_scene import GRAVITY, TIME_STEP, BinScene, boxes, energies, meshes
from evidence.benchmarks.engines.bins import BulletBin, DartBin, HrpsimBin, MujocoBin
from evidence.benchmarks.engines.bullet_scenes import bullet_module
from evidence.benchmarks.engines.dart_scenes import dart_module
from evidence.benchmarks.figures import draw_bars
from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.tables import number
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.framework.engines import mujoco_module

OURS = ("hrpsim", "hrpsim, sleeping")
SECONDS, FALLING = 3.0, 1.5  # simulated time, and the part that counts as falling [s]
TURN = 25  # number of steps of an engine before the next engine's turn
SAMPLE = 5  # number of steps between two searches for overlaps
LONGEST = 20.0  # processor time of steps after which an engine is stopped [s]
REST = 1e-2  # [m/s]: a body is at rest if its centre's speed and its spin times radius are lower
IMPACT = 5.0 * GRAVITY * TIME_STEP  # [m/s]: a larger change of speed in a step is an impact
FASTEST = 1e-2  # largest speed at the end [mm/s]
DEEPEST = 1.0  # largest depth at the end [mm]
RISE = 1e-6  # allowed increase of the energy after the last impact, relative to the lost energy


@dataclass
class Fall:
    """The fall of the solids in one engine, advanced in turns of TURN steps."""

    engine: object
    scene: BinScene
    radii: np.ndarray
    times: list[float] = field(default_factory=list)  # time of a step in each turn [s]
    depths: list[float] = field(default_factory=list)  # [m]
    total: list[float] = field(default_factory=list)  # energy after each step [J]
    kinetic: list[float] = field(default_factory=list)
    fastest: list[float] = field(default_factory=list)  # [m/s]
    changes: list[float] = field(default_factory=list)  # largest change of speed in a step [m/s]

    def __post_init__(self) -> None:
        self._before = self.engine.motion()
        kinetic, potential = energies(self.scene, *self._before)
        self.begin = kinetic + potential

    def turn(self, overlap, effort: Effort) -> None:
        """Make and time TURN steps, and measure each state.

        overlap: measures overlaps in some of the states, or None.
        """
        spent = 0.0
        for k in range(TURN):
            begin = effort.clock()
            self.engine.step(1)
            spent += effort.clock() - begin
            motion = self.engine.motion()
            kinetic, potential = energies(self.scene, *motion)
            self.total.append(kinetic + potential)
            self.kinetic.append(kinetic)
            self.fastest.append(float(self._speeds(motion[2], motion[3]).max()))
            change = self._speeds(motion[2] - self._before[2], motion[3] - self._before[3])
            self.changes.append(float(change.max()))
            self._before = motion
            if overlap is not None and k % SAMPLE == SAMPLE - 1:
                self.depths.append(overlap.deepest(motion[0], motion[1]))
        self.times.append(spent / TURN)

    def _speeds(self, velocities, spins) -> np.ndarray:
        linear, turning = (np.linalg.norm(v, axis=1) for v in (velocities, spins))
        return linear + self.radii * turning

    @property
    def too_slow(self) -> bool:
        """Whether the engine has used more than the allowed time."""
        return sum(self.times) * TURN > LONGEST

    @property
    def rest(self) -> float:
        """Time after which all solids stay slower than REST [s].

        Infinite if the last step is faster.
        """
        moving = np.flatnonzero(~(np.array(self.fastest) < REST))
        if moving.size and moving[-1] == len(self.fastest) - 1:
            return np.inf
        return TIME_STEP * (moving[-1] + 1) if moving.size else 0.0

    @property
    def last_impact(self) -> int:
        """Index of the step after the last impact."""
        impacts = np.flatnonzero(~(np.array(self.changes) < IMPACT))
        return int(impacts[-1]) + 1 if impacts.size else 0

    @property
    def regained(self) -> float:
        """Sum of all energy increases in single steps after the last impact [J]."""
        return float(np.maximum(np.diff(self.total[self.last_impact :]), 0.0).sum())

    @property
    def lost(self) -> float:
        """Total energy lost since the start [J]."""
        return self.begin - self.total[-1]

    def row(self) -> list[str]:
        """Return the row of the table for this engine."""
        until = TIME_STEP * len(self.total)
        left = until < SECONDS and self.too_slow
        cells = [self.engine.name, f"stopped at {until:.2f}" if left else "never"]
        if np.isfinite(self.rest):
            cells[1] = f"{self.rest:.2f}"
        deepest, end = (1e3 * max(d, default=np.nan) for d in (self.depths, self.depths[-20:]))
        cells += [number(deepest), number(end), number(1e3 * self.fastest[-1])]
        cells += [number(self.kinetic[-1]), number(self.lost)]
        return [*cells, f"{TIME_STEP * self.last_impact:.2f}", number(self.regained)]


HEAD = [
    "time until rest [s]",
    "largest overlap [mm]",
    "overlap in the last 0.1 s [mm]",
    "largest speed at the end [mm/s]",
    "kinetic energy [J]",
    "energy lost [J]",
    "time of the last impact [s]",
    "energy regained after the last impact [J]",
]


def engines(scene: BinScene, cut: bool) -> list:
    """Return the bins of every installed engine.

    cut: whether to add bins with concave solids divided into convex parts.
    """
    bins = [HrpsimBin(scene, False), HrpsimBin(scene, True)]
    ways = (False, True) if cut else (False,)
    if (mujoco := mujoco_module()) is not None:
        bins += [MujocoBin(mujoco, scene, parts) for parts in ways]
    if (pybullet := bullet_module()) is not None:
        bins += [BulletBin(pybullet, scene, parts) for parts in ways]
    if (dart := dart_module()) is not None:
        bins += [DartBin(dart, scene, dantzig) for dantzig in (False, True)]
    return bins


def run(result: CaseResult, effort: Effort) -> None:
    """Drop the same objects in all engines in turn. Then time the engines at rest."""
    counts = (12, 6) if effort.quick else (200, 50)
    seconds = 0.3 if effort.quick else SECONDS
    scenes = {f"{counts[0]} boxes": boxes(counts[0]), f"{counts[1]} meshes": meshes(counts[1])}
    for name, scene in scenes.items():
        falls = let_fall(scene, "meshes" in name, round(seconds / (TURN * TIME_STEP)), effort)
        _report(result, name, falls, effort)
        for fall in falls:
            fall.engine.close()
    result.notes += _notes()


def let_fall(scene: BinScene, cut: bool, turns: int, effort: Effort) -> list[Fall]:
    """Let the solids fall in all engines, with the same steps unless an engine is too slow."""
    overlap = _overlap(scene)
    radii = np.array([solid.radius for solid in scene.solids])
    falls = [Fall(engine, scene, radii) for engine in engines(scene, cut)]
    for fall in falls:
        fall.engine.step(1)  # compiles and allocates
    for _ in range(turns):
        for fall in falls:
            if not fall.too_slow:
                fall.turn(overlap, effort)
    return falls


def _overlap(scene: BinScene):
    """Return a coal model of a scene that measures overlaps, or None if coal is not installed."""
    try:
        from evidence.benchmarks.overlap import Overlap
    except ImportError:
        return None
    return Overlap(scene)


def _report(result: CaseResult, name: str, falls: list[Fall], effort: Effort) -> None:
    turns = max(len(fall.times) for fall in falls)
    done = [fall for fall in falls if len(fall.times) == turns]
    reference = next((f.engine.name for f in done if f.engine.name not in OURS), OURS[0])
    is_ours = {fall.engine.name: fall.engine.name in OURS for fall in done}
    falling = max(1, min(turns, round(FALLING / (TURN * TIME_STEP))))
    times = {fall.engine.name: np.array(fall.times[:falling]) for fall in done}
    result.note(f"{name}, falling", times, reference, is_ours, {})
    result.measure(
        f"{name}, at the end",
        [Subject(f.engine.name, f.engine.step, ours=f.engine.name in OURS) for f in done],
        effort,
    )
    result.extra.append(([name, *HEAD], [fall.row() for fall in falls]))
    for fall in () if effort.quick else falls[: len(OURS)]:
        who = f"{name}, {fall.engine.name}"
        result.claims += [
            Claim(f"{who}: largest speed at the end [mm/s]", 1e3 * fall.fastest[-1], FASTEST),
            Claim(f"{who}: energy regained / energy lost", fall.regained / fall.lost, RISE),
        ]
        if fall.depths:
            deepest = 1e3 * max(fall.depths[-20:])
            result.claims.append(Claim(f"{who}: largest overlap at rest [mm]", deepest, DEEPEST))


def _notes() -> list[str]:
    return [
        "The bin is 0.7 m wide. Boxes have edges of 0.06 to 0.12 m. Half of the meshes are "
        "concave (L, U, rings, hearts), half are bricks and hexagonal prisms, 0.1 to 0.17 m. "
        "500 kg/m^3, friction 0.5, 1 ms. Masses, inertias and poses are the same in all engines",
        f"falling: rounds of {TURN} steps in the first {FALLING:g} s, from free fall to a full "
        "bin, hence the spread. at the end: after 3 s, at rest or not. Each step is a call from "
        "Python",
        f"overlap: coal's depth between convex parts, every {SAMPLE} steps",
        f"at rest: no centre, and no spin times radius, faster than {1000.0 * REST:g} mm/s until "
        f"the end. impact: a step that changes this speed by more than {1000.0 * IMPACT:.0f} "
        "mm/s, five times the effect of gravity. energy: kinetic and potential, without the "
        "energy of soft contacts",
        "meshes: concave triangles in hrpsim and dart (Bullet's GImpact). mujoco and bullet use "
        "the convex hull, or the decomposition (convex parts)",
        "bullet's hulls are rounded by a margin that keeps them apart. mujoco: CG, elliptic "
        "cone, default softness. dart: its matrix-free contact solver (30 iterations) and its "
        f"default, Dantzig's. An engine stops after {LONGEST:g} s of processor time and has no "
        "time then",
    ]


def draw(result: CaseResult, figure) -> None:
    """Draw the times as bars, with separate plots for boxes and meshes."""
    for axes, kind in zip(figure.subplots(1, 2), ("boxes", "meshes")):
        quantities = [m.quantity for m in result.measurements if kind in m.quantity]
        draw_bars(result, axes, list(dict.fromkeys(quantities)))


CASE = Case("Things falling into a bin", run, draw, unit="ms", scale=1e3)
