# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E3: a humanoid on feet with bushes steps in place, and the force sensors show no chatter."""

from typing import NamedTuple

import numpy as np
from scipy.signal import butter, sosfiltfilt

from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.targets import at_most, below, equal_to
from evidence.experiments.scenes.standing import Conditions, described, our_standing
from hrpsim import Model, center_of_mass, link_pose
from hrpsim.common.constants import STANDARD_GRAVITY as GRAVITY
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.pattern import footsteps
from hrpsim.control.pattern.walking_pattern import WalkingPattern, walking_pattern
from hrpsim.control.walk import Walk
from hrpsim.world.fall import FallWatch, clearance

SENSORS = ("lfsensor", "rfsensor")
SOLES = ("LLEG_SOLE", "RLEG_SOLE")
HALF_WIDTH = 0.07  # half width of a sole [m]
CASES = (  # bushes (None: without), integrator
    ("openhrp", "semi_implicit"),
    ("openhrp", "rk4"),
    ("jaxon", "semi_implicit"),
    ("hrp2_soft", "semi_implicit"),
    ("hrp2_stiff", "semi_implicit"),
    (None, "semi_implicit"),
)
WEIGHED = CASES[:2]  # cases in which the sum of the feet is compared with the momentum
CUTOFF = 100.0  # [Hz]
NEAR_CHANGE = 0.05  # [s] before and after a planned change of contact
LARGEST_CHATTER = 0.01  # rms, relative to the weight, or to the weight times HALF_WIDTH
LOADED = 0.02  # load of a supporting foot, as a fraction of the weight
MOMENTUM_ERROR = 1e-3  # rms, relative to the weight
MEAN_ERROR = 1e-4
QUICK_STEPS = 3


class Stepping(NamedTuple):
    """Measurements of every step of the simulation. Row 0 of a pair belongs to the left foot."""

    time: np.ndarray  # (n,) [s]
    wrenches: np.ndarray  # readings of the foot sensors, force then torque (n, 2, 6) [N, Nm]
    motion: np.ndarray  # configurations after the steps (n, nq)
    fell: bool

    @property
    def time_step(self) -> float:
        """Time between two readings [s]."""
        return float(self.time[1] - self.time[0])


def robot_model(bush_set: str | None) -> Model:
    """Return hrp2_like with these bushes, or without bushes."""
    return described(Conditions(bush_set=bush_set) if bush_set else Conditions(bush=False))


def stepping(model: Model, pattern: WalkingPattern, **options) -> Stepping:
    """Play the pattern by joint PD control with target-ZMP feedback, with options of World."""
    world, robot = our_standing(model, **options)
    controller, watch = Walk(pattern.sequence), FallWatch(lambda: clearance(robot))
    wrenches, motion = [], []
    with ControlLoop(robot, controller) as loop:
        while not controller.finished:
            loop.control()
            for _ in range(loop.steps_per_period):
                world.step()
                wrenches.append([robot.sensors[name].wrench for name in SENSORS])
                motion.append(robot.q)
            watch.add(motion[-1][2], motion[-1][3:7])
    time = (np.arange(len(motion)) + 0.5) * world.time_step  # a reading is the mean over its step
    return Stepping(time, np.array(wrenches), np.array(motion), watch.fallen)


def planned_changes(pattern: WalkingPattern) -> np.ndarray:
    """Return the planned times (k,) [s] at which a foot leaves or touches the floor."""
    changed = np.any(pattern.contacts[1:] != pattern.contacts[:-1], axis=1)
    return 0.5 * (pattern.times[1:] + pattern.times[:-1])[changed]


def away_from(changes: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return whether each time (n,) differs by more than NEAR_CHANGE from all of `changes`."""
    return (np.abs(time[:, None] - changes) > NEAR_CHANGE).all(axis=1)


def fast_part(signal: np.ndarray, time_step: float) -> np.ndarray:
    """Return the high-frequency part of a signal (n, ...), above CUTOFF, without delay.

    A Butterworth filter is applied forward and backward.
    """
    sections = butter(4, CUTOFF, "high", fs=1.0 / time_step, output="sos")
    return sosfiltfilt(sections, signal, axis=0)


def weight_of(model: Model) -> float:
    """Return the weight m g of the robot [N]."""
    return model.mass * GRAVITY


def momentum_force(model: Model, motion: np.ndarray, time_step: float) -> np.ndarray:
    """Return the force m g + m a that the sensors should read (n - 2,) [N], from reading 2 on.

    The sensors are above the soles. The sum of their tared readings is the whole weight plus the
    momentum rate of all links except the soles. The momentum rate is computed from the positions in
    three successive steps.
    """
    lifted = np.array([model.mass * center_of_mass(model, q)[2] for q in motion])
    for sole in SOLES:
        frame = model.frame(sole)
        mass, com = model.system.mass[frame.body], model.system.com[frame.body]
        local = frame.R.T @ (com - frame.p)
        for k, q in enumerate(motion):
            p, R = link_pose(model, q, sole)
            lifted[k] -= mass * (p[2] + R[2] @ local)
    return weight_of(model) + np.diff(lifted, 2) / time_step**2


def seen_changes(force: np.ndarray, time: np.ndarray, weight: float) -> np.ndarray:
    """Return the times at which a foot's force (n,) [N] crosses LOADED times the weight [s]."""
    stands = force > LOADED * weight
    return time[1:][stands[1:] != stands[:-1]]


def run(options: Options) -> Result:
    """Step in place with each set of bushes and without bushes.

    The bushes "openhrp" are used with both integrators.
    """
    result = Result(data={"runs": {}})
    steps = footsteps.Footsteps((footsteps.in_place(QUICK_STEPS),)) if options.quick else "stepping"
    pattern = walking_pattern(robot_model(CASES[0][0]), steps)
    changes = planned_changes(pattern)
    for case in CASES[:1] if options.quick else CASES:
        bush_set, integrator = case
        model = robot_model(bush_set)
        done = stepping(model, pattern, integrator=integrator)
        name = f"{bush_set or 'no bushes'}, {integrator}"
        _add_chatter(result, name, model, done, changes, bush_set is not None)
        if case in WEIGHED:
            _add_weight(result, name, model, done)
        result.data["runs"][name] = done
    result.data["changes"] = changes
    result.notes += _notes(changes, result.data["runs"])
    return result


def _add_chatter(result: Result, name: str, model: Model, done: Stepping, changes, judged) -> None:
    """Add rows for the worse foot: force above CUTOFF, changes of contact, largest force."""
    add, weight = result.of(f"{name}: "), weight_of(model)
    force = fast_part(done.wrenches[:, :, 2], done.time_step) / weight
    moment = fast_part(done.wrenches[:, :, 3], done.time_step) / (weight * HALF_WIDTH)
    away = away_from(changes, done.time)
    little = below(LARGEST_CHATTER) if judged else None
    for label, signal in (("vertical force", force), ("roll moment", moment)):
        for when, part in (("away from changes", signal[away]), ("whole run", signal)):
            add(f"rms of the {label} above 100 Hz, {when}", "", _worst(part), little, analytic=0.0)
    forces = done.wrenches[:, :, 2]
    count = sum(len(seen_changes(force, done.time, weight)) for force in forces.T)
    planned = equal_to(len(changes)) if judged else None
    add("number of lift-offs and touch-downs", "", count, planned)
    add("largest vertical force on a foot / weight", "", float(forces.max()) / weight)
    add("number of falls", "", int(done.fell), equal_to(0) if judged else None)


def _worst(signals: np.ndarray) -> float:
    """Return the largest root mean square of the columns."""
    return float(np.sqrt((signals**2).mean(axis=0)).max())


def _add_weight(result: Result, name: str, model: Model, done: Stepping) -> None:
    """Compare the sum of both feet's forces with the momentum rate, and its mean with m g."""
    add, weight = result.of(f"{name}: "), weight_of(model)
    total = done.wrenches[:, :, 2].sum(axis=1)
    error = (total[2:] - momentum_force(model, done.motion, done.time_step)) / weight
    worst, mean = _worst(error[:, None]), abs(float(total.mean()) / weight - 1.0)
    label = "rms of (sum of foot forces - m (g + a)) / weight"
    add(label, "", worst, at_most(MOMENTUM_ERROR), analytic=0.0)
    what = "mean of (sum of foot forces - m g) / weight"
    add(what, "", mean, at_most(MEAN_ERROR), analytic=0.0)


def _notes(changes: np.ndarray, runs: dict[str, Stepping]) -> list[str]:
    first = next(iter(runs.values()))
    away = 100.0 * float(away_from(changes, first.time).mean())
    return [
        "The papers show curves without numbers (Fig. 4, Figs 6, 7). The robot here steps in "
        f"place {len(changes) / 2:g} times under joint PD control with target-ZMP feedback. "
        "Forces are sampled in every step of 1 ms.",
        "'Above 100 Hz' is the worse foot after a Butterworth high-pass filter of fourth order, "
        f"run forward and backward. 'Away from changes' leaves out {1e3 * NEAR_CHANGE:g} ms "
        f"before and after each lift-off and touch-down of the pattern, which keeps {away:.0f} % "
        "of the time. 'The whole run' leaves nothing out.",
        "The roll moment is relative to the weight times half the width of a sole, "
        f"{HALF_WIDTH:g} m.",
        f"A foot lifts off or touches down when its force crosses {100 * LOADED:g} % of the "
        f"weight. The pattern has {len(changes)} such changes. Chatter would add more.",
        "The acceleration a belongs to the mass above the sensors, and follows from the "
        "positions of three steps. The weight of the soles, below the sensors, is tared.",
        "The run with hard soles, without bushes, is a comparison without targets.",
    ]


def draw(result: Result, figure) -> None:
    """Draw force and roll moment of the left foot: the whole run, and some steps enlarged."""
    changes, runs = result.data["changes"], result.data["runs"]
    axes = figure.subplots(2, 2, sharex="col", gridspec_kw={"width_ratios": (1.6, 1.0)})
    drawn = list(runs.items())[:2]
    begin, end = changes[1] - 0.2, changes[4] + 0.4
    for row, (component, label) in enumerate(((2, "vertical force [N]"), (3, "roll moment [Nm]"))):
        full, near = axes[row]
        full.plot(drawn[0][1].time, drawn[0][1].wrenches[:, 0, component], lw=0.8)
        for name, done in drawn:
            part = (done.time > begin) & (done.time < end)
            near.plot(done.time[part], done.wrenches[part, 0, component], lw=0.9, label=name)
        full.set(ylabel=label)
    axes[0, 1].legend(fontsize=7, frameon=False, loc="lower center")
    axes[0, 0].set(title=f"Left foot's sensor, every 1 ms: {drawn[0][0]}")
    axes[0, 1].set(title="Enlarged")
    for ax in axes[1]:
        ax.set(xlabel="time [s]")


EXPERIMENT = Experiment(
    "E3",
    "Stepping in place on rubber bushes",
    "extended PGS paper, Fig. 4; LCP and bush paper, Figs 6, 7",
    run,
    draw,
)
