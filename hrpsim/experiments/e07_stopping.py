"""E7: a box thrown along a plane follows x0 + v0 t - mu g t^2 / 2 and stops at v0^2 / (2 mu g)."""

from __future__ import annotations

import numpy as np

from hrpsim.experiments.experiment import Experiment, Options, Result, Row, at_most, near
from hrpsim.experiments.peers import mujoco_module, peer_name
from hrpsim.experiments.sliding_box import FRICTION, GRAVITY, box_on, mujoco_box, table

CASES = ((9.8, 50), (19.6, 50), (29.4, 50), (19.6, 100), (19.6, 200))  # v0 [m/s], steps a second
DECELERATION = FRICTION * GRAVITY
TOLERANCE = 1e-3
ROUNDING = 1e-9  # the half step is met with equality where v0 / (mu g dt) is whole


def stop_distance(speed: float) -> float:
    """Return v0^2 / (2 mu g) [m] (thesis, eq. 8.2)."""
    return speed**2 / (2.0 * DECELERATION)


def theory(speed: float, time: np.ndarray) -> np.ndarray:
    """Return x(t) [m] of the thesis's eqs. 8.1 and 8.2, from x0 = 0."""
    t = np.minimum(time, speed / DECELERATION)
    return speed * t - 0.5 * DECELERATION * t * t


def _steps(speed: float, rate: int) -> int:
    return round(1.25 * speed / DECELERATION * rate)


def slide(speed: float, rate: int, integrator: str) -> np.ndarray:
    """Return x [m] after each step, the start first; our box."""
    world = table(1.0 / rate, integrator)
    box = box_on(world, speed)
    path = [0.0]
    for _ in range(_steps(speed, rate)):
        world.step()
        path.append(box.position[0])
    return np.array(path)


def mujoco_slide(mujoco, speed: float, rate: int) -> np.ndarray:
    """Return x [m] after each step, the start first; MuJoCo's box."""
    model, data = mujoco_box(mujoco, 1.0 / rate, speed)
    path = [0.0]
    for _ in range(_steps(speed, rate)):
        mujoco.mj_step(model, data)
        path.append(data.qpos[0])
    return np.array(path)


def run(options: Options) -> Result:
    """Throw the box in each of the thesis's cases."""
    mujoco = mujoco_module()
    result = Result(peer=peer_name(mujoco, "elliptic cone, implicitfast, default contacts"))
    result.data["paths"] = {}
    for speed, rate in CASES[:1] if options.quick else CASES:
        case = f"v0 {speed:g} m/s, dt 1/{rate} s"
        expected, half_step = stop_distance(speed), speed / rate / 2
        truth = theory(speed, np.arange(_steps(speed, rate) + 1) / rate)
        paths = {"rk4": slide(speed, rate, "rk4"), "semi": slide(speed, rate, "semi_implicit")}
        off = {name: float(np.abs(path - truth).max()) for name, path in paths.items()}
        other = stopped = None
        if mujoco is not None:
            paths["mujoco"] = mujoco_slide(mujoco, speed, rate)
            stopped = float(paths["mujoco"][-1])
            other = float(np.abs(paths["mujoco"] - truth).max())
        result.rows += [
            Row(
                f"{case}: stops at, rk4",
                "m",
                float(paths["rk4"][-1]),
                near(expected, relative=TOLERANCE),
                analytic=expected,
                peer=stopped,
            ),
            Row(
                f"{case}: farthest from the parabola, rk4",
                "m",
                off["rk4"],
                at_most(TOLERANCE * expected),
                analytic=0.0,
                peer=other,
            ),
            Row(
                f"{case}: stops at, semi_implicit",
                "m",
                float(paths["semi"][-1]),
                near(expected, absolute=half_step * (1.0 + ROUNDING)),
                analytic=expected,
                peer=stopped,
            ),
            Row(
                f"{case}: farthest from the parabola, semi_implicit",
                "m",
                off["semi"],
                at_most(half_step * (1.0 + ROUNDING)),
                analytic=half_step,
                peer=other,
            ),
        ]
        result.data["paths"][speed, rate] = paths
    result.notes += [
        "the thesis plots its paths and prints no numbers: close to theory, closer at smaller dt",
        "any semi-implicit first-order step stops v0 dt / 2 short where v0 / (mu g dt) is whole",
    ]
    return result


def draw(result: Result, figure) -> None:
    """Paths on the left, their distance from theory on the right."""
    left, right = figure.subplots(1, 2)
    for k, ((speed, rate), paths) in enumerate(result.data["paths"].items()):
        time = np.arange(len(paths["rk4"])) / rate
        truth = theory(speed, time)
        color = f"C{k}"
        label = f"v0 {speed:g} m/s, dt 1/{rate} s"
        left.plot(time, truth, color="black", lw=0.8)
        left.plot(time[::8], paths["rk4"][::8], "o", color=color, ms=3 + 1.5 * (4 - k), mfc="none")
        for name, style in {"rk4": "-", "semi": "--", "mujoco": ":"}.items():
            if name in paths:
                error = np.abs(paths[name] - truth) + 1e-16
                right.semilogy(time, error, style, color=color, lw=1.0)
        right.plot([], [], color=color, label=label)
    for name, style in {"rk4": "-", "semi_implicit": "--", "mujoco": ":"}.items():
        right.plot([], [], style, color="grey", label=name)
    left.set(title="Path: theory (line), rk4 (circles)", xlabel="time [s]", ylabel="x [m]")
    right.set(title="Distance from theory", xlabel="time [s]", ylabel="|x - theory| [m]")
    right.legend(fontsize=7, frameon=False)


EXPERIMENT = Experiment("E7", "Sliding and stopping", "thesis, 8.1.1, Figs 8.2 to 8.5", run, draw)
