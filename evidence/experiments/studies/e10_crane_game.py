# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E10: the crane holds box, girder and heart, carries, and drops objects at abrupt motions."""

import time

import numpy as np

from evidence.crane import scene as scene
from evidence.crane.scene import LARGEST_SLIP, CraneScene, lifting, slip_between
from evidence.crane.score import in_goal
from evidence.crane.script import Go, Grip, Jerk, Wait
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.film_strip import CORNERS, Parts, draw_solids
from evidence.experiments.framework.targets import at_most, equal_to, near
from evidence.experiments.scenes import crane_hooks as hooks
from hrpsim import link_pose
from hrpsim.world.objects.body import rotation_matrix

_MOMENTS = ("gripped", "held for {:.0f} s", "over the goal", "released", "after an abrupt move")
_SPACING = 0.36  # distance between the drawn moments [m]
_ROPE = 0.3  # height above which parts are not drawn [m]
_RIGHT = np.array([0.6, 0.8, 0.0])  # right direction of the view
_COLOURS = {"box": "#e38b4f", "girder": "#5689b9", "heart": "#c2436b"}
_STYLES = ("-", "--", ":")
_GOAL_COLOUR, _PAD_COLOUR, _EDGE = "#8fbf8f", "#33333a", "#2b2f38"
_PAD = (0.020, 0.012)  # edges of a claw seen from above [m]
_FLOOR = 1e-13  # drawn value of slips below the resolution of floating-point numbers [m]
RATES = (50, 100, 1000)  # steps per second
STUCK = 60.0  # [s]
BRAKE = 6.0  # deceleration of the hand after a jerk, less than gravity [m/s^2]
JERK = 0.1  # duration of jerks [s]
SLIDE = 1.5  # times the critical acceleration: the box slides and is held again
ABRUPT = 3.0 * scene.GRAVITY  # upward acceleration, at which the box slides out [m/s^2]
ABRUPT_FOR = 0.06  # [s]
BISECTIONS = 7
AXES = {"up": (2, scene.critical_lift()), "along the pads": (0, scene.critical_shift())}
_CARRY = 0.14  # height of the pads on the way to the goal [m]


def draw(result: Result, figure) -> None:
    """Draw the figure of E10.

    The upper row has snapshots of the box. The lower row has the held girder, the held heart-shaped
    body, and the slip of all held bodies against time.
    """
    figure.set_size_inches(9.0, 6.6)
    grid = figure.add_gridspec(2, 3, height_ratios=(1.25, 1.0), width_ratios=(1.0, 1.0, 2.2))
    parts = Parts(result.data["model"])
    duration = next(iter(result.data["held"].values())).times[-1]
    labels = [moment.format(duration) for moment in _MOMENTS]
    _draw_moments(figure.add_subplot(grid[0, :]), parts, result.data["postures"], labels)
    hooked = result.data["hooked"]
    _draw_girder(figure.add_subplot(grid[1, 0]), parts, *hooked["girder"])
    _draw_heart(figure.add_subplot(grid[1, 1]), result.data["model"], *hooked["heart"])
    _draw_slips(figure.add_subplot(grid[1, 2]), result.data["held"])


def _crane_solids(parts: Parts, crane: np.ndarray) -> list:
    return [(p, c) for p, c in parts.placed(crane) if np.ptp(p[:, 2]) < _ROPE]


def _draw_moments(axes, parts: Parts, postures, labels: list[str]) -> None:
    for k, ((crane, box), label) in enumerate(zip(postures, labels)):
        middle = np.array([crane[0], crane[1], 0.0])
        shift = k * _SPACING - middle @ _RIGHT
        corners = box[:3] + scene.EDGE * CORNERS @ rotation_matrix(box[3:]).T
        solids = [*_crane_solids(parts, crane), (corners, _COLOURS["box"])]
        if np.linalg.norm(middle[:2] - scene.GOAL) < 0.1:
            goal = np.array([*scene.GOAL, scene.GOAL_SIZE[2] / 2]) + CORNERS * scene.GOAL_SIZE
            solids.append((goal, _GOAL_COLOUR))
        draw_solids(axes, solids, _RIGHT, shift)
        axes.text(k * _SPACING, -0.03, label, ha="center", va="top", fontsize=8)
    axes.axhline(0.0, color="black", lw=1.0)
    axes.set(xlim=(-0.6 * _SPACING, 4.6 * _SPACING), ylim=(-0.06, 0.65), aspect="equal")
    axes.set_axis_off()


def _draw_girder(axes, parts: Parts, crane: np.ndarray, girder: np.ndarray) -> None:
    """Draw crane and girder seen along x."""
    draw_solids(axes, _crane_solids(parts, crane), np.array([0.0, 1.0, 0.0]), 0.0)
    vertices = hooks.girder_load().shape.vertices
    ring = vertices[: len(vertices) // 2] @ rotation_matrix(girder[3:]).T + girder[:3]
    _fill(axes, ring[:, 1:], _COLOURS["girder"], 3)
    _finish(axes, "girder, hung by its flange")


def _draw_heart(axes, model, crane: np.ndarray, heart: np.ndarray) -> None:
    """Draw the pads of the claws and the heart-shaped body, seen from above."""
    vertices = hooks.heart_load().shape.vertices
    ring = vertices[: len(vertices) // 2 - 1] @ rotation_matrix(heart[3:]).T + heart[:3]
    _fill(axes, ring[:, :2], _COLOURS["heart"], 2)
    corners = 0.5 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * _PAD
    for claw in scene.CLAWS:
        position, R = link_pose(model, crane, claw)
        _fill(axes, position[:2] + corners @ R[:2, :2].T, _PAD_COLOUR, 3)
    _finish(axes, "heart from above,\npads in its notch and at its tip")


def _fill(axes, ring: np.ndarray, colour: str, order: int) -> None:
    axes.fill(*ring.T, facecolor=colour, edgecolor=_EDGE, lw=0.6, zorder=order)


def _finish(axes, title: str) -> None:
    axes.set(aspect="equal")
    axes.set_title(title, fontsize=8)
    axes.set_axis_off()


def _draw_slips(axes, held: dict) -> None:
    rates = list(dict.fromkeys(rate for _, rate in held))
    styles = dict(zip(rates, _STYLES))
    for (name, rate), watched in held.items():
        slips = 1e3 * np.maximum(watched.slips, _FLOOR)
        axes.semilogy(watched.times, slips, styles[rate], color=_COLOURS[name], lw=1.2)
    axes.axhline(1e3 * scene.LARGEST_SLIP, color="black", lw=0.8)
    axes.text(0.0, 1.3e3 * scene.LARGEST_SLIP, "largest allowed", fontsize=7)
    for name, colour in _COLOURS.items():
        axes.plot([], [], color=colour, label=name)
    for rate in rates:
        axes.plot([], [], styles[rate], color="grey", label=f"dt 1/{rate} s")
    axes.legend(fontsize=7, frameon=False, ncol=2, loc=(0.52, 0.08))
    axes.set(xlabel="time held [s]", ylabel="slip in the claws [mm]")


def jerked(time_step: float, axis: int, acceleration: float, duration: float = JERK) -> CraneScene:
    """Jerk the lifted box along an axis, and wait until the motion ends. Return the scene.

    `slip` is the slip of the box in the claws since the lift [m].
    """
    push, brake = np.zeros(3), np.zeros(3)
    push[axis], brake[axis] = acceleration, -BRAKE
    slowing = round(acceleration * duration / BRAKE / time_step) * time_step
    after = [Jerk(tuple(push), duration), Jerk(tuple(brake), slowing), Wait(0.5)]
    run = CraneScene(time_step, [*lifting(), Wait(0.5), *after])
    run.play_until(5)
    corners = run.corners()
    run.play_until(8)
    run.slip = slip_between(corners, run.corners())
    return run


def threshold(time_step: float, axis: int, critical: float) -> float:
    """Find by bisection the smallest acceleration of a jerk at which the box slips [m/s^2]."""
    low, high = 0.8 * critical, 1.2 * critical
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if jerked(time_step, axis, middle).slip > LARGEST_SLIP:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def slide_theory() -> tuple[float, float]:
    """Return distance [m] and largest speed [m/s] of the box's slide for the acceleration SLIDE.

    Relative to the hand, the box accelerates with a - a_c for JERK, and then decelerates with mu 2
    N/m - g + BRAKE.
    """
    critical = scene.critical_lift()
    gain = (SLIDE - 1.0) * critical
    speed = gain * JERK
    return 0.5 * gain * JERK**2 + speed**2 / (2.0 * (critical + BRAKE)), speed


def hold(time_step: float, duration: float) -> dict:
    """Grip, lift and hold the box. Return the slip, and the pads' normal forces."""
    run = CraneScene(time_step, [*lifting(), Wait(duration)])
    run.play_until(3)
    gripped, seen = run.corners(), [run.posture()]
    run.play_until(4)
    lift_slip = slip_between(gripped, run.corners())
    start, begin = run.world.time, time.perf_counter()
    watched = run.watch_until(5)
    took = time.perf_counter() - begin
    return {
        "lift_slip": lift_slip,
        "held": watched,
        "postures": [*seen, run.posture()],
        "real_time_factor": (run.world.time - start) / took,
    }


def carry(time_step: float) -> dict:
    """Carry the lifted box to the goal and release it. Return the bodies in the goal."""
    x, y = scene.GOAL
    down = scene.EDGE / 2 + scene.GOAL_SIZE[2]
    moves = [
        Go((0.0, 0.0, _CARRY)),
        Go((x, y, _CARRY), 0.5),
        Go((x, y, down + 0.002), 0.5),
        Grip(False, 1.0),
        Go((x, y, _CARRY + 0.05)),
        Wait(0.5),
    ]
    run = CraneScene(time_step, [*lifting(), *moves])
    run.play_until(6)
    over = run.posture()
    run.play_until(len(run.crane.script))
    return {"in_goal": in_goal(run.world), "postures": [over, run.posture()]}


def run(options: Options) -> Result:
    """Play all scenes with each time step."""
    result = Result()
    result.data = {"held": {}, "postures": []}
    duration = 5.0 if options.quick else STUCK
    for rate in RATES[:1] if options.quick else RATES:
        step, add = 1.0 / rate, result.of(f"dt 1/{rate} s: ")
        holding, carried = hold(step, duration), carry(step)
        _add_held(result, rate, holding)
        result.data["held"]["box", rate] = holding["held"]
        hooks.add(result, rate, duration)
        falling = jerked(step, 2, ABRUPT, ABRUPT_FOR)
        add("object in the goal", "", ", ".join(carried["in_goal"]) or "nothing", equal_to("box"))
        _add_jerks(result, rate, options.quick)
        height, half_edge = float(falling.box.position[2]), scene.EDGE / 2
        label, target = "height of the box after the abrupt move", near(half_edge, absolute=1e-4)
        add(label, "m", height, target, source="it falls", analytic=half_edge)
        result.data["postures"] = [*holding["postures"], *carried["postures"], falling.posture()]
    result.data["model"] = falling.robot.model
    result.notes += [
        f"The box has {scene.MASS:g} kg and friction {scene.FRICTION:g}. Each pad presses with "
        f"{scene.GRIP:.4g} N, {scene.SAFETY:g} times the force that the weight needs.",
        f"The box slips if the hand accelerates upwards by {scene.critical_lift():.4g} m/s^2 (2 "
        f"mu N = m (g + a)), or along the pads by {scene.critical_shift():.4g} m/s^2.",
        f"The abrupt move accelerates upwards by {ABRUPT:.4g} m/s^2 for {ABRUPT_FOR:g} s.",
        f"An object slips if a corner moves by more than {1e3 * LARGEST_SLIP:g} mm relative to "
        "the claws. The figure draws slips below 1e-10 mm as 1e-10 mm.",
        f"Girder and heart have {hooks.MASS:g} kg. The slots of the girder are "
        f"{1e3 * hooks.SLOT:g} mm high and the pads {1e3 * hooks.PAD_HEIGHT:g} mm, so the flange "
        f"rests on the pads. {hooks.GIRDER_GRIP:g} N with friction {hooks.SLIPPERY:g} carry "
        f"{2 * hooks.SLIPPERY * hooks.GIRDER_GRIP:.2g} N of the weight of "
        f"{hooks.MASS * scene.GRAVITY:.3g} N.",
        f"The heart is flat. The pads press with {hooks.HEART_GRIP:.4g} N in the notch and at the "
        "tip, and friction carries the weight.",
    ]
    return result


def _add_held(result: Result, rate: int, seen: dict) -> None:
    case, watched = f"dt 1/{rate} s: ", seen["held"]
    off, bound = float(np.abs(watched.forces - scene.GRIP).max()), at_most(0.01 * scene.GRIP)
    hooks.add_slip(result, case, "box held by friction alone", watched)
    add = result.of(f"{case}box: ")
    add("slip during the lift", "m", seen["lift_slip"], at_most(LARGEST_SLIP))
    add("error of a pad's force", "N", off, bound, analytic=0.0)
    add("real-time factor, controller included", "", seen["real_time_factor"])


def _add_jerks(result: Result, rate: int, quick: bool) -> None:
    step, add = 1.0 / rate, result.of(f"dt 1/{rate} s: ")
    gentle = jerked(step, 2, 0.5 * scene.critical_lift()).slip
    label = "slip in a jerk of half the critical acceleration"
    add(label, "m", gentle, at_most(LARGEST_SLIP), analytic=0.0)
    for direction, (axis, critical) in AXES.items():
        if quick and axis == 0:
            continue
        label = f"smallest acceleration {direction} that causes slip"
        acceleration = threshold(step, axis, critical)
        add(label, "m/s^2", acceleration, near(critical, relative=0.03), analytic=critical)
    far, speed = slide_theory()
    slide = jerked(step, 2, SLIDE * scene.critical_lift()).slip
    target = near(far, relative=0.01, absolute=0.5 * speed * step)
    what = f"slip in a jerk of {SLIDE:g} times the critical acceleration"
    add(what, "m", slide, target, analytic=far)


EXPERIMENT = Experiment("E10", "Virtual crane game", "thesis, 8.3, Figs 8.14 to 8.16", run, draw)
