"""E7: a box thrown along a plane follows x0 + v0 t - mu g t^2 / 2 and stops at v0^2 / (2 mu g).

On the constraint solver's contacts, with two integrators, and on penalty contacts.
"""

from __future__ import annotations

import numpy as np

from hrpsim.experiments.experiment import Experiment, Options, Result, Row, at_most, near
from hrpsim.experiments.peers import mujoco_module, peer_name
from hrpsim.experiments.sliding_box import (
    FRICTION,
    GRAVITY,
    MODELS,
    box_on,
    mujoco_box,
    table,
)

CASES = ((9.8, 50), (19.6, 50), (29.4, 50), (19.6, 100), (19.6, 200))  # v0 [m/s], steps a second
DECELERATION = FRICTION * GRAVITY
TOLERANCE = 1e-3
STYLES = {"rk4": "-", "semi_implicit": "--", "penalty": "-.", "mujoco": ":"}
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


def slide(speed: float, rate: int, model: str) -> np.ndarray:
    """Return x and z (steps + 1, 2) [m] from the start on; our box, on one of the `MODELS`."""
    world = table(1.0 / rate, **MODELS[model])
    box = box_on(world, speed)
    path = [box.position[[0, 2]]]
    for _ in range(_steps(speed, rate)):
        world.step()
        path.append(box.position[[0, 2]])
    return np.array(path)


def mujoco_slide(mujoco, speed: float, rate: int) -> np.ndarray:
    """Return x and z (steps + 1, 2) [m] from the start on; MuJoCo's box."""
    model, data = mujoco_box(mujoco, 1.0 / rate, speed)
    path = [data.qpos[[0, 2]]]
    for _ in range(_steps(speed, rate)):
        mujoco.mj_step(model, data)
        path.append(data.qpos[[0, 2]])
    return np.array(path)


def run(options: Options) -> Result:
    """Throw the box in each of the thesis's cases."""
    mujoco = mujoco_module()
    result = Result(peer=peer_name(mujoco, "elliptic cone, implicitfast, default contacts"))
    result.data["paths"] = {}
    for speed, rate in CASES[:1] if options.quick else CASES:
        paths = {name: slide(speed, rate, name) for name in MODELS}
        if mujoco is not None:
            paths["mujoco"] = mujoco_slide(mujoco, speed, rate)
        result.rows += _rows(speed, rate, paths)
        result.data["paths"][speed, rate] = {name: path[:, 0] for name, path in paths.items()}
    result.notes += [
        "the thesis plots its paths and prints no numbers: close to theory, closer at smaller dt",
        "any semi-implicit first-order step stops v0 dt / 2 short where v0 / (mu g dt) is whole",
        "penalty: spring and damper of the default stiffness, 0.5 m / dt^2 for the mass that a "
        "corner feels; the box sinks into them at the start, and swings about its anchors when it "
        "has stopped",
        "where mujoco's box rises and sinks it hops and tumbles, with its default contacts",
    ]
    return result


def _rows(speed: float, rate: int, paths: dict) -> list[Row]:
    """Where the box stops and how far it is from the parabola on its way, for each integrator."""
    expected, half_step = stop_distance(speed), speed / rate / 2
    truth = theory(speed, np.arange(_steps(speed, rate) + 1) / rate)
    stopped = {name: float(path[-1, 0]) for name, path in paths.items()}
    off = {name: float(np.abs(path[:, 0] - truth).max()) for name, path in paths.items()}
    rise = {name: float(np.ptp(path[:, 1])) for name, path in paths.items()}
    bounds = {
        "rk4": TOLERANCE * expected,
        "semi_implicit": half_step * (1.0 + ROUNDING),
        "penalty": half_step * (1.0 + ROUNDING),
    }
    rows = []
    for name, bound in bounds.items():
        case = f"v0 {speed:g} m/s, dt 1/{rate} s, {name}"
        target = near(
            expected, **({"relative": TOLERANCE} if name == "rk4" else {"absolute": bound})
        )
        peer = stopped.get("mujoco")
        rows.append(Row(f"{case}: stops at", "m", stopped[name], target, None, expected, peer))
        rows.append(
            Row(
                f"{case}: farthest from the parabola",
                "m",
                off[name],
                at_most(bound),
                analytic=0.0 if name == "rk4" else half_step,
                peer=off.get("mujoco"),
            )
        )
    for name in ("rk4", "penalty"):
        what = f"v0 {speed:g} m/s, dt 1/{rate} s, {name}: rises and sinks by"
        rows.append(Row(what, "m", rise[name], analytic=0.0, peer=rise.get("mujoco")))
    return rows


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
        for name, style in STYLES.items():
            if name in paths:
                error = np.abs(paths[name] - truth) + 1e-16
                right.semilogy(time, error, style, color=color, lw=1.0)
        right.plot([], [], color=color, label=label)
    for name, style in STYLES.items():
        right.plot([], [], style, color="grey", label=name)
    left.set(title="Path: theory (line), rk4 (circles)", xlabel="time [s]", ylabel="x [m]")
    right.set(title="Distance from theory", xlabel="time [s]", ylabel="|x - theory| [m]")
    right.legend(fontsize=7, frameon=False, ncols=2, loc="center", bbox_to_anchor=(0.55, 0.57))


EXPERIMENT = Experiment("E7", "Sliding and stopping", "thesis, 8.1.1, Figs 8.2 to 8.5", run, draw)
