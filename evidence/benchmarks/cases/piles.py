# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The time of a step with 10 to 1000 cubes on the floor: in a heap, and scattered."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.engines.bullet_scenes import bullet_cubes, bullet_module
from evidence.benchmarks.engines.dart_scenes import dart_cubes, dart_module
from evidence.benchmarks.figures import draw_against_size
from evidence.benchmarks.results import Case, CaseResult, Claim, fit
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.framework.engines import mujoco_module
from hrpsim import Box, World

EDGE, MASS, FRICTION = 0.1, 1.0, 0.5
COUNTS = (10, 30, 100, 300, 1000)
OURS = "hrpsim"
SLOWEST = 0.008  # time of a step, above which an engine is omitted in larger piles [s]
WARM, LONGEST_WARM_UP = 20, 2.0  # steps; [s]
_GAP = 0.18


def let_go(count: int):
    """Return positions (n, 3) and random orientations (n, 4) of cubes above the floor."""
    random = np.random.default_rng(1)
    per_row = max(round((count / 2) ** (1 / 3)), 2)
    k = np.arange(count)
    grid = np.column_stack([k % per_row, k // per_row % per_row, k // per_row**2]).astype(float)
    grid[:, :2] -= 0.5 * (per_row - 1)
    positions = _GAP * grid + random.uniform(-0.01, 0.01, (count, 3)) + [0.0, 0.0, 0.1]
    quaternions = random.normal(size=(count, 4))
    return positions, quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)


def heap(count: int, time_step: float = 5e-3, seconds: float = 3.0):
    """Return positions (n, 3) and quaternions (n, 4) of cubes in a random heap.

    hrpsim simulates the fall in long steps. The remaining motion is ignored.
    """
    world = our_cubes(*let_go(count), time_step)
    world.step(int(seconds / time_step))
    bodies = world.bodies.values()
    return np.array([b.position for b in bodies]), np.array([b.orientation for b in bodies])


def scattered(count: int):
    """Return positions (n, 3) and quaternions (n, 4) of separate cubes on the floor."""
    per_row = int(np.ceil(np.sqrt(count)))
    k = np.arange(count)
    positions = np.column_stack(
        [0.2 * (k % per_row), 0.2 * (k // per_row), np.full(count, EDGE / 2)]
    )
    return positions, np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))


def our_cubes(positions, quaternions, time_step: float = 1e-3, **options) -> World:
    """Return an hrpsim world with the cubes at rest. options: further arguments of `World`."""
    world = World(time_step, sleeping=False, **options)
    world.set_friction("default", "default", static=FRICTION)
    world.add_ground()
    for p, o in zip(positions, quaternions):
        world.add_body(Box((EDGE,) * 3), MASS, position=p, orientation=o)
    return world


def mujoco_cubes(mujoco, positions, quaternions, solver: str):
    """Return functions (step(n), deepest(), places()) of the cubes in MuJoCo.

    Contacts have elliptic friction cones.
    """

    def numbers(values) -> str:
        return " ".join(f"{value:.17g}" for value in values)

    half = EDGE / 2
    bodies = [
        f'<body pos="{numbers(p)}" quat="{numbers(np.roll(o, 1))}"><freejoint/>'
        f'<geom type="box" size="{half} {half} {half}" mass="{MASS}"/></body>'
        for p, o in zip(positions, quaternions)
    ]
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="1e-3" gravity="0 0 -9.80665" cone="elliptic" '
        f'solver="{solver}"/><default><geom friction="{FRICTION} 0 0" condim="3"/></default>'
        f'<size memory="2G"/><worldbody><geom type="plane" size="0 0 1"/>{"".join(bodies)}'
        "</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)

    def deepest():
        return float(max(-data.contact.dist.min(), 0.0)) if data.ncon else 0.0

    def places():
        return data.qpos.reshape(-1, 7)[:, :3].copy()

    return lambda n: mujoco.mj_step(model, data, nstep=n), deepest, places


class Cubes:
    """Cubes in an engine, after some warm-up steps."""

    def __init__(self, name: str, step, deepest, places, warm: int, effort: Effort) -> None:
        self.name, self.step, self.deepest, self.places = name, step, deepest, places
        began = effort.clock()
        for _ in range(warm):
            step(1)
            if effort.clock() - began > LONGEST_WARM_UP:
                break

    def exact(self) -> dict:
        """Return the deepest penetration [m], and the remaining speed after a step [m/s].

        Both are 0 if the cubes are exactly at rest.
        """
        before = self.places()
        self.step(1)
        moved = np.linalg.norm(self.places() - before, axis=1)
        return {
            "penetration [m]": float(self.deepest()),
            "speed, rms [m/s]": float(np.sqrt((moved**2).mean())) / 1e-3,
        }


def engines(positions, quaternions, slow: set, effort: Effort):
    """Return hrpsim's world, and the Cubes of every installed engine that is not in `slow`."""
    world = our_cubes(positions, quaternions)

    def our_places():
        return np.array([body.position for body in world.bodies.values()])

    makers = {OURS: lambda: (world.step, lambda: world.stats.max_penetration, our_places)}
    if (mujoco := mujoco_module()) is not None:
        for solver in ("CG", "Newton"):
            makers[f"mujoco {solver}"] = lambda solver=solver: mujoco_cubes(
                mujoco, positions, quaternions, solver
            )
    scene = (EDGE, MASS, positions, quaternions, FRICTION)
    if (pybullet := bullet_module()) is not None:
        makers["bullet"] = lambda: bullet_cubes(pybullet, *scene)
    if (dart := dart_module()) is not None:
        makers["dart"] = lambda: dart_cubes(dart, *scene)
        makers["dart, sleeping"] = lambda: dart_cubes(dart, *scene, sleeping=True)
    warm = {name: 600 if name == "dart, sleeping" else WARM for name in makers}
    return world, [
        Cubes(name, *make(), warm[name], effort)
        for name, make in makers.items()
        if name not in slow
    ]


def run(result: CaseResult, effort: Effort) -> None:
    """Time every engine in turn, heap by heap. An engine that is too slow skips larger heaps."""
    counts, rows = (10, 100) if effort.quick else COUNTS, []
    for scene, make in (("heap", heap), ("scattered", scattered)):
        slow: set[str] = set()
        times: dict[str, list] = {}
        for count in counts:
            world, piles = engines(*make(count), slow, effort)
            subjects = [Subject(c.name, c.step, ours=c.name == OURS) for c in piles]
            new = result.measure(
                f"{scene} of {count}",
                subjects,
                effort,
                lambda piles=piles: {cubes.name: cubes.exact() for cubes in piles},
            )
            rows.append(_our_row(f"{scene} of {count}", world, float(np.median(new[OURS]))))
            for name, values in new.items():
                times.setdefault(name, []).append(values)
            slow |= {name for name in new if np.median(new[name]) > SLOWEST and name != OURS}
        _add_fits(result, scene, counts, times)
    head = ["hrpsim", "contacts", "sweeps", "residual [m/s]", "ns a contact", "and sweep"]
    result.extra.append((head, rows))
    result.notes += [
        f"Cubes of {EDGE} m and {MASS:g} kg, friction {FRICTION}, 1 ms. The heap is dropped at "
        "random and comes to rest in hrpsim. All engines begin with this heap",
        f"An engine with steps longer than {1000.0 * SLOWEST:g} ms does not simulate more cubes",
        "dart uses at most 1000 contacts, with a warning. Sleeping is its default, measured "
        "after 0.6 s of rest",
        "Bullet has maximal coordinates and 50 iterations. Each engine computes its penetration",
        "speed: of all centres in the step after timing. The exact value is 0. Soft contacts "
        "still yield at that time",
    ]


def _add_fits(result: CaseResult, scene: str, counts, times: dict[str, list]) -> None:
    for name, values in times.items():
        if len(values) > 1:
            measured = counts[: len(values)]
            result.fits.append(fit(f"{name}, {scene}", "cubes", measured, values, name == OURS))
    exponent = next(f.exponent for f in result.fits if f.subject == f"{OURS}, {scene}")
    result.claims.append(Claim(f"exponent of hrpsim, {scene}", exponent, 1.0))


def _our_row(scene: str, world, seconds: float) -> list[str]:
    """Return hrpsim's table row of contacts, sweeps, residual and times, over 20 steps."""
    sweeps, residuals = [], []
    for _ in range(20):
        world.step()
        sweeps.append(world.stats.iterations)
        residuals.append(world.stats.residual)
    contacts = world.stats.contact_count
    return [
        scene,
        str(contacts),
        f"{np.mean(sweeps):.1f}",
        f"{np.max(residuals):.1e}",
        f"{1e9 * seconds / contacts:.0f}",
        f"{1e9 * seconds / (contacts * np.mean(sweeps)):.0f}",
    ]


def draw(result: CaseResult, figure) -> None:
    """Draw times for heaps on the left, and for scattered cubes on the right."""
    for axes, scene in zip(figure.subplots(1, 2, sharey=True), ("heap", "scattered")):
        sizes = {f"{scene} of {count}": float(count) for count in COUNTS}
        draw_against_size(result, axes, sizes, f"cubes, {scene}")


CASE = Case("Many cubes on the floor", run, draw)
