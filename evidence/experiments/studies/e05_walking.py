# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E5: 19 steps in 20 s without and with rubber bushes, without and with a stabiliser."""

import math

import numpy as np

from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.film_strip import draw_film_strip
from evidence.experiments.framework.targets import Target, at_least, at_most, equal_to
from evidence.experiments.scenes import standing
from evidence.experiments.scenes.standing import BUSH_SETS, Conditions, Push, described
from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.control.motion.playback import Playback
from hrpsim.control.pattern.pattern_quality import pattern_quality
from hrpsim.control.pattern.walking_pattern import WalkingPattern, walking_pattern
from hrpsim.control.walk import Walk
from hrpsim.control.walk_trial import Trial, measured_zmp, simulate_walk

IMPULSES = (10.0, 20.0, 30.0, 40.0, 50.0)  # [Ns]
QUARTER = 0.5 * math.pi
SIDES = {"behind": 0.0, "the right": QUARTER, "the front": math.pi, "the left": -QUARTER}
RISES = {"ahead": 0.0, "to the left": QUARTER, "behind": math.pi, "to the right": 1.5 * math.pi}
PUSH_STEP = 4  # number of the single support with the push in the middle
STEPS = 19
DURATION = 20.0  # [s]
SOURCE_FALLS_IN_STEP = 2  # the paper's robot on bushes without a stabiliser
# Gains of other published robots, for comparison, the same for every joint [Nm/rad, Nms/rad].
OTHER_GAINS = {
    "OpenHRP3's SamplePD, 8000/100": (8000.0, 100.0),
    "hrpsys's SampleRobot, 12000/400": (12000.0, 400.0),
}
FILM_FRAMES, FILM_PERIOD = 7, 0.2


def run(options: Options) -> Result:
    """Walk in three ways, with every set of bushes, and against disturbances."""
    model = described(Conditions(bush=False))
    pattern = walking_pattern(model, "E5")
    result = Result(peer="none")
    _add_pattern(result, model, pattern)
    rigid, bushes = Conditions(bush=False), Conditions()
    a, b, c = _playback(pattern, rigid), _playback(pattern, bushes), _stabilised(pattern, bushes)
    all_steps = equal_to(STEPS)
    add = result.of("(a) no bushes, ")
    add("no stabiliser: completed steps", "", a.steps, all_steps, source=STEPS)
    label, falls = "no stabiliser: step of the fall", Target("falls", lambda step: step != "none")
    add = result.of(f"(b) bushes ({BUSH_SETS[0]}), ")
    add(label, "", _falls_in(b), falls, source=SOURCE_FALLS_IN_STEP)
    add = result.of(f"(c) bushes ({BUSH_SETS[0]}), ")
    add("stabiliser: completed steps", "", c.steps, all_steps, source=STEPS)
    trials = {"a": a, "b": b, "c": c}
    for name, done in trials.items():
        _add_tilt(result, f"({name})", done)
    label = "(c) real-time factor, at 1 ms on one core"
    result.add(label, "", c.real_time_factor, at_least(10.0))
    for name in BUSH_SETS[1:]:
        _add_bushes(result, pattern, name)
    if not options.quick:
        for name, gains in OTHER_GAINS.items():
            _add_plain(result, pattern, name, gains)
        _add_plain(result, pattern, "JVRC-1's, 5000/30 to 3000/20", None)
        _add_robustness(result, pattern)
    result.notes += [
        "Playback: joint PD control with the gains of the description (JVRC-1's) on the angles, "
        "velocities and torques of the pattern. All runs have the same pattern and gains.",
        "Bush sets, stiffness and damping in pitch and roll: openhrp 1000/25, jaxon 2500/2.5, "
        "hrp2_soft 350/10, hrp2_stiff 600/60 Nm/rad and Nms/rad. All are published values, "
        "unchanged.",
        "The stabiliser measures joint angles, foot forces and the IMU, but no bush angles.",
        "Servos without the torques of the pattern deflect under the load, by 9 mrad in hip "
        "roll. Walk (a) then falls with JVRC-1's gains. Gains of at least 12000/400 are needed.",
        "Pushes: the analytic value is the largest impulse that the linear inverted pendulum "
        "withstands without a step.",
    ]
    result.data.update(model=model, pattern=pattern, trials=trials)
    return result


def _add_pattern(result: Result, model, pattern: WalkingPattern) -> None:
    add, quality = result.of("pattern: "), pattern_quality(model, pattern)
    add("number of steps", "", len(pattern.footsteps), equal_to(STEPS), source=STEPS)
    add("duration", "s", float(pattern.times[-1]), equal_to(DURATION), source=DURATION)
    for phase in ("single", "double"):
        margin = getattr(quality, f"{phase}_support_margin")
        add(
            f"distance of the full model's ZMP from the edge of the {phase} support",
            "m",
            margin,
            at_least(0.0),
        )
    for quantity, ratio in (("speed", "speed_ratio"), ("torque", "torque_ratio")):
        worst = max(quality.joints, key=lambda joint: getattr(joint, ratio))
        most = getattr(worst, ratio)
        add(f"largest ratio of {quantity} to limit ({worst.name})", "", most, at_most(1.0))
    worst = min((j for j in quality.joints if j.speed_ratio > 0), key=lambda j: j.angle_margin)
    add(
        f"smallest distance from an angle limit ({worst.name})",
        "rad",
        worst.angle_margin,
        at_least(0.0),
    )


def _playback(pattern: WalkingPattern, conditions: Conditions, gains=None, **parameters) -> Trial:
    robot = standing.standing_robot(conditions)
    if gains is not None:
        driven = list(robot.model.gains)
        robot.set_gains(*gains, names=driven)
        targets = dict(zip(robot.joint_names, robot.model.neutral()[7:]))
        targets.update(zip(pattern.sequence.joint_names, pattern.sequence.pos.values[0]))
        robot.command(positions=[targets[name] for name in driven], names=driven)
        robot.world.settle()
    return simulate_walk(robot, Playback(pattern.sequence), parameters)


def _stabilised(pattern: WalkingPattern, conditions: Conditions) -> Trial:
    return simulate_walk(standing.standing_robot(conditions), Walk(pattern.sequence))


def _falls_in(trial: Trial) -> int | str:
    return "none" if trial.fell_at is None else trial.steps + 1


def _add_tilt(result: Result, what: str, trial: Trial) -> None:
    result.add(f"{what} greatest inclination of the trunk", "rad", float(trial.tilt.max()))


def _add_bushes(result: Result, pattern: WalkingPattern, bush_set: str) -> None:
    conditions = Conditions(bush_set=bush_set)
    b, c = _playback(pattern, conditions), _stabilised(pattern, conditions)
    result.add(f"(b) bushes ({bush_set}), no stabiliser: step of the fall", "", _falls_in(b))
    result.add(f"(c) bushes ({bush_set}), stabiliser: completed steps", "", c.steps)
    _add_tilt(result, f"(c) {bush_set}:", c)


def _add_plain(result: Result, pattern: WalkingPattern, name: str, gains) -> None:
    """Add rows of (a) and (b) with servos without feedforward torques, and with other gains."""
    for case, bush in (("a", False), ("b", True)):
        done = _playback(pattern, Conditions(bush=bush), gains, feed_forward=False)
        label = f"({case}) servos without torques, gains of {name}: step of the fall"
        result.add(label, "", _falls_in(done))


def draw(result: Result, figure) -> None:
    """Draw inclination and ZMP of the three runs, and a film strip of the fall."""
    figure.set_size_inches(9.0, 10.0)
    top, middle, bottom = figure.subplots(3, 1, gridspec_kw={"height_ratios": (1.0, 1.6, 1.5)})
    pattern, trials = result.data["pattern"], result.data["trials"]
    labels = {
        "a": "(a) no bushes, no stabiliser",
        "b": "(b) bushes, no stabiliser",
        "c": "(c) bushes, stabiliser",
    }
    for k, (name, trial) in enumerate(trials.items()):
        top.plot(trial.times, np.degrees(trial.tilt), color=f"C{k}", lw=1.2, label=labels[name])
    top.set(xlabel="time [s]", ylabel="inclination [degree]", ylim=(-0.1, 3.0))
    top.set_xlim(0.0, pattern.times[-1])
    top.legend(fontsize=8, loc="upper right")
    _draw_zmp(middle, result, labels)
    b = trials["b"]
    last = np.searchsorted(b.times, b.times[-1] - FILM_PERIOD * np.arange(FILM_FRAMES)[::-1])
    frames = b.q[np.minimum(last, len(b.q) - 1)]
    view = frames[-1][:2] - frames[0][:2]
    conditions = described(Conditions())
    texts = [f"{t:.2f} s" for t in b.times[np.minimum(last, len(b.q) - 1)]]
    draw_film_strip(bottom, conditions, frames, texts, view, spacing=1.0)
    bottom.set_title("(b) falls", fontsize=9)


def _draw_zmp(axes, result: Result, labels) -> None:
    """Draw the lateral ZMP and its reference for the three runs, one above the other."""
    pattern, trials = result.data["pattern"], result.data["trials"]
    models = {"a": result.data["model"], "b": described(Conditions())}
    for k, (name, trial) in enumerate(trials.items()):
        zmp = measured_zmp(models["a" if name == "a" else "b"], trial)
        shift = 0.5 * (len(trials) - 1 - k)
        axes.plot(trial.times, zmp[:, 1] + shift, color=f"C{k}", lw=0.9, label=labels[name])
        axes.plot(pattern.times, pattern.zmp_reference[:, 1] + shift, "k", lw=0.7, alpha=0.7)
        axes.axhline(shift, color="#c9ccd2", lw=0.6)
    axes.set(xlabel="time [s]", ylabel="ZMP y [m], each run 0.5 m apart; black: reference")
    axes.set_xlim(0.0, pattern.times[-1])


EXPERIMENT = Experiment(
    "E5",
    "Nineteen steps: bushes and stabiliser",
    "Nakaoka et al., Fig. 6 and text; LCP and bush paper, section 6",
    run,
    draw,
)


def trial(pattern: WalkingPattern, conditions: Conditions, period: float = 0.005) -> Trial:
    """Return a stabilised walk. The controller knows the description, but not the true robot."""
    robot = standing.standing_robot(conditions)
    push = standing.pushing(robot, conditions.push)
    end = math.inf if conditions.push is None else conditions.push.begin + 5.0
    return simulate_walk(
        robot,
        Walk(pattern.sequence),
        {"period": period},
        model=described(conditions),
        duration=end,
        each_tick=push,
    )


def _add_robustness(result: Result, pattern: WalkingPattern) -> None:
    """Add rows with the outcome of each disturbance, without a target."""
    usual = Conditions()
    cases = {
        "friction 0.3": Conditions(friction=0.3),
        "friction 0.5": Conditions(friction=0.5),
        "friction 1.0": Conditions(friction=1.0),
        "masses 10 % smaller than known": Conditions(mass_factor=0.9),
        "masses 10 % greater than known": Conditions(mass_factor=1.1),
        "plate of 5 mm on the way": Conditions(plate=0.005),
    }
    for way, heading in RISES.items():
        rising = Conditions(slope=math.radians(1.0), slope_heading=heading)
        cases[f"floor that rises by 1 degree {way}"] = rising
    trials = {case: trial(pattern, conditions) for case, conditions in cases.items()}
    for period in (0.001, 0.002):
        trials[f"control period of {1e3 * period:g} ms"] = trial(pattern, usual, period)
    for case, done in trials.items():
        outcome = done.steps if done.fell_at is None else f"falls in step {done.steps + 1}"
        result.add(f"(c) {case}: completed steps", "", outcome)
    _add_pushes(result, pattern)


def _add_pushes(result: Result, pattern: WalkingPattern) -> None:
    """Add the impulses on the waist, over 0.1 s, that the robot survives on two feet and on one."""
    single = [phase for phase in pattern.phases if phase.support != "both"][PUSH_STEP]
    moments = {"standing": 0.5, f"on the {single.support} foot": 0.5 * (single.begin + single.end)}
    for when, begin in moments.items():
        for side, heading in SIDES.items():
            withstood = 0.0
            for impulse in IMPULSES:
                push = Push(impulse, heading, begin)
                if trial(pattern, Conditions(push=push)).fell_at is not None:
                    break
                withstood = impulse
            label = f"(c) push of 0.1 s from {side}, {when}: largest impulse withstood"
            known = _capturable(pattern, heading) if when == "standing" else None
            result.add(label, "Ns", withstood, analytic=known)


def _capturable(pattern: WalkingPattern, heading: float) -> float:
    """Return the impulse that moves the pendulum's capture point to the edge of the soles [Ns].

    The impulse is m omega d, where d is the distance from the ZMP at rest along `heading`. On the
    linear inverted pendulum, no resting foot survives a larger impulse (Pratt et al. 2006).
    """
    along = np.array([math.cos(heading), math.sin(heading)])
    corners = np.concatenate(
        [corner + sole[:2] for corner, sole in zip(pattern.outlines, pattern.soles[0])]
    )
    reach = ((corners - pattern.zmp_reference[0]) @ along).max()
    omega = math.sqrt(STANDARD_GRAVITY / pattern.com[0, 2])
    return described(Conditions()).mass * omega * float(reach)
