# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E9: a two-link pendulum with dry friction, with three kinds of hinges, and Lagrange's equations.

The models are a robot (articulated bodies), boxes with the constraint solver's hinges, and boxes
hung on springs, with the extensions w and the time steps of the thesis.
"""

import math
from itertools import product

import numpy as np

from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.targets import at_least, at_most
from evidence.experiments.scenes import double_pendulum as pendulum

RATES = (50, 100, 200)  # steps per second
# The error from a reversal of dry friction depends on the time of the reversal within the step. The
# order is therefore visible only over many steps.
FINER_RATES = (400, 800, 1600)
LEAST_ORDER = {"rk4": 3.8, "semi_implicit": 1.95, "hinged": 1.95, "sprung": 0.9}  # without friction
FRICTION_ORDER = 0.9  # of all methods, because a step with a reversal of friction has first order
LARGEST_ERROR = {"rk4": 1e-6, "semi_implicit": 5e-5, "hinged": 5e-5}  # no friction, 200 / s [rad]
EXTENSIONS = (0.4, 0.2, 0.1, 0.05)  # w at dt 1/50 s [m]
SMALLEST = EXTENSIONS[-1]
DURATION = 5.0  # [s]
STRONG = 20.0  # friction that stops a single link in its second swing [Nm]
STOPPED = 6.0  # [s]
_BESIDE = {"textcoords": "offset points", "fontsize": 8}
NAMES = {
    "rk4": "robot, rk4",
    "semi_implicit": "robot, semi_implicit",
    "hinged": "boxes on direct hinges, semi_implicit",
    "sprung": f"boxes on springs, w {SMALLEST} m",
}


def error_of(model, truth: pendulum.Lagrange, duration: float) -> tuple[float, np.ndarray]:
    """Return the largest error of any angle during the motion [rad], and the simulated angles."""
    path = pendulum.swing(model, duration)
    exact = truth.angles(pendulum.times(model.world.time_step, duration))
    return float(np.abs(path - exact).max()), path


def order_of(errors: dict[int, float]) -> float:
    """Return the slope of log error over log dt.

    errors: errors by number of steps per second.
    """
    rates = np.array(list(errors))
    return float(-np.polyfit(np.log(rates), np.log(list(errors.values())), 1)[0])


def _models(kind: str, rate: int, **options):
    if kind == "sprung":
        return pendulum.Sprung(1.0 / rate, SMALLEST, **options)
    if kind == "hinged":
        return pendulum.Hinged(1.0 / rate, **options)
    return pendulum.Tree(1.0 / rate, kind, **options)


def _convergence_rows(result: Result, duration: float) -> None:
    """Add rows of the error at each dt and of the order, with the thesis's friction and without."""
    truths = {friction: pendulum.Lagrange(friction=friction) for friction in (0.3, 0.0)}
    result.data["errors"] = {}
    for (kind, name), (friction, truth) in product(NAMES.items(), truths.items()):
        errors = {}
        finer = FINER_RATES if _needs_finer_rates(kind, friction) else ()
        for rate in (*RATES, *finer):
            model = _models(kind, rate, friction=friction)
            errors[rate], path = error_of(model, truth, duration)
            if rate in RATES and friction:
                result.data["paths"][kind, rate] = path
        case = f"{name}, friction {friction:g} Nm"
        result.data["errors"][case] = {rate: errors[rate] for rate in RATES}
        for rate in RATES if friction else RATES[-1:]:
            label = f"{case}, dt 1/{rate} s: largest error of an angle"
            result.add(label, "rad", errors[rate], _bound(kind, friction, rate), analytic=0.0)
        least = FRICTION_ORDER if friction else LEAST_ORDER[kind]
        label = f"{case}: order of the error in dt, 1/{min(errors)} to 1/{max(errors)} s"
        result.add(label, "", order_of(errors), at_least(least))


def _needs_finer_rates(kind: str, friction: float) -> bool:
    """Return whether the order can be measured only with shorter time steps.

    The error at a reversal of friction depends on the time within a step. Hinges correct errors
    over two steps, which adds a term of third order. This term reduces the order by 0.08 between
    1/50 and 1/200 s.
    """
    return kind != "sprung" if friction else kind in ("semi_implicit", "hinged")


def _bound(kind: str, friction: float, rate: int):
    """Return the target of an error.

    With friction or springs, the error is of first order in dt.
    """
    if kind == "sprung":
        return at_most(0.05 * 50 / rate)
    return at_most(2e-3 * 50 / rate if friction else LARGEST_ERROR[kind])


def _extension_rows(result: Result, duration: float) -> None:
    """Add rows of the error for each w of the thesis at the largest dt, and of the order in w."""
    truth, errors = pendulum.Lagrange(), {}
    for w in EXTENSIONS:
        model = pendulum.Sprung(pendulum.SPRING_STEP, w)
        errors[1.0 / w], path = error_of(model, truth, duration)
        result.data["paths"]["sprung", w] = path
        add = result.of(f"boxes on springs, w {w} m, dt 1/50 s: ")
        add("largest error of an angle", "rad", errors[1.0 / w], at_most(w), analytic=0.0)
        add("longest extension", "m", model.longest, at_most(1.02 * w), source=w)
    label = "boxes on springs, dt 1/50 s: order of the error in w"
    result.add(label, "", order_of(errors), at_least(0.9))


def _sticking_rows(result: Result) -> None:
    """Add rows for one link that friction stops away from the bottom. The link must stay there."""
    start = pendulum.START[:1]
    truth = pendulum.Lagrange(start, STRONG).angles(pendulum.times(0.02, STOPPED))[-1, 0]
    most = math.asin(min(1.0, STRONG / (5.0 * 9.8 * 2.0)))
    for kind, name in NAMES.items():
        model = _models(kind, 200, start=start, friction=STRONG)
        path = pendulum.swing(model, STOPPED)
        late = path[round(0.75 * len(path)) :, 0]
        add = result.of(f"one link, friction {STRONG:g} Nm, dt 1/200 s, {name}: ")
        add("angle at rest", "rad", float(late[-1]), analytic=float(truth))
        add(
            "error of the angle at rest",
            "rad",
            float(abs(late[-1] - truth)),
            at_most(0.02),
            analytic=0.0,
        )
        add("range of the angle at rest", "rad", float(np.ptp(late)), at_most(1e-6))
    result.notes.append(f"A friction of {STRONG:g} Nm holds the link up to {most:.4f} rad.")


def run(options: Options) -> Result:
    """Simulate every model, and integrate Lagrange's equations for comparison."""
    result = Result(data={"paths": {}})
    duration = 3.0 if options.quick else DURATION
    _convergence_rows(result, duration)
    _extension_rows(result, duration)
    _sticking_rows(result)
    seen = pendulum.times(1.0 / 200, duration)
    truth = pendulum.Lagrange().angles(seen)
    printed = pendulum.Lagrange(inertia=pendulum.PRINTED_INERTIA).angles(seen)
    label = (
        "Lagrange's equations: effect of the printed inertia, 100/3 instead of 110/3, on the angles"
    )
    result.add(label, "rad", float(np.abs(printed - truth).max()))
    result.data |= {"truth": (seen, truth), "printed": printed}
    result.notes += [
        f"The moment of inertia about a joint axis is {pendulum.INERTIA:.4f} kg m^2 for the "
        "simulated box, with 2 m from axis to centre and 4 m between the axes. The thesis prints "
        "100/3.",
        "Lagrange's equations are integrated by DOP853 with a tolerance of 1e-12, and stopped at "
        "every change of sign of the friction. A joint at rest stays at rest while friction can "
        "hold the joint.",
        "The thesis plots angles without numbers. Its angles are close to theory, and closer at "
        "smaller w and dt. The stiffness of its springs and the width of its hinges are not "
        "given.",
        "Each hinge consists of two compliant ball connections, 1 m from its centre on either "
        "side. w is the deflection of one connection under the whole weight below. The thesis "
        "has explicit springs with a constraint at the extension w, because explicit springs "
        "stiffer than 1 / dt^2 diverge. The springs here are implicit, so w sets their "
        "stiffness, proportional to 1 / dt^2 as in the thesis.",
        "If a joint reverses within a step, dry friction has the wrong sign for a part of the "
        "step. This is an error of first order in dt, both in rk4 and in semi_implicit.",
        f"The motion takes {duration:g} s.",
    ]
    return result


def draw(result: Result, figure) -> None:
    """Draw angles on the left (the thesis's Figs 8.8 to 8.13), and errors over dt on the right."""
    left, right = figure.subplots(1, 2)
    seen, truth = result.data["truth"]
    paths = result.data["paths"]
    finest = max(rate for kind, rate in paths if kind == "rk4")
    drawn = {
        "w 0.4 m, dt 1/50 s": (paths["sprung", 0.4], 50, "C1"),
        f"w 0.05 m, dt 1/{finest} s": (paths["sprung", finest], finest, "C0"),
    }
    for joint in range(2):
        left.plot(seen, truth[:, joint], color="black", lw=1.4)
        left.plot(seen, result.data["printed"][:, joint], color="grey", lw=0.8, ls=":")
        left.annotate(f"joint {joint + 1}", (0.0, truth[0, joint]), (6, 4), **_BESIDE)
        for name, (path, rate, color) in drawn.items():
            label = name if joint == 0 else None
            at = np.arange(len(path)) / rate
            left.plot(at, path[:, joint], "--", color=color, lw=1.0, label=label)
    left.plot([], [], color="black", label="Lagrange")
    left.plot([], [], color="grey", ls=":", label="Lagrange, printed inertia")
    left.set(title="Joint angles, springs", xlabel="time [s]", ylabel="angle [rad]")
    left.legend(fontsize=7, frameon=False, loc="upper center")
    _draw_errors(right, result.data["errors"])


def _draw_errors(axes, errors_of: dict[str, dict[int, float]]) -> None:
    """Draw one colour for each model, with full lines for friction and dashed lines without."""
    colours = {name: f"C{k}" for k, name in enumerate(NAMES.values())}
    for case, errors in errors_of.items():
        name = next(name for name in colours if case.startswith(f"{name}, friction"))
        style = "--" if case.endswith("friction 0 Nm") else "-"
        steps = 1.0 / np.array(list(errors))
        axes.loglog(
            steps, list(errors.values()), f"o{style}", ms=3, lw=1.0, color=colours[name], label=case
        )
    axes.set_xticks([1.0 / rate for rate in RATES], [f"1/{rate}" for rate in RATES])
    axes.set_xticks([], minor=True)
    axes.set(title="Largest error of an angle", xlabel="dt [s]", ylabel="error [rad]")
    axes.legend(fontsize=6, frameon=False, loc="center left", bbox_to_anchor=(0.0, 0.42))


EXPERIMENT = Experiment("E9", "A two-link pendulum", "thesis, 8.2, Figs 8.7 to 8.13", run, draw)
