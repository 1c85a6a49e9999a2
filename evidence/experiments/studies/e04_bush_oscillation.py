# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E4: a humanoid on feet with bushes, tilted and released, sways as three masses predict."""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evidence.experiments.framework.engines import against_mujoco
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.targets import at_most, near
from evidence.experiments.scenes import standing, three_mass
from evidence.experiments.scenes.standing import BUSH_SETS, Conditions, described
from evidence.experiments.scenes.three_mass import Mode, Sway, slowest_mode
from hrpsim import Model
from hrpsim.common.errors import WorldError

TIME_STEP = 1e-3
RK4_STEPS = {"hrp2_stiff": 0.5e-3}  # their dampers are too stiff for 1 ms
RK4_REACH = 2.785  # times 1 / dt: the fastest decay at which the method is stable
TOLERANCE = 0.05
STEPPED = 1e-3  # largest relative change of the damping ratio by steps of TIME_STEP
PRESSURE = 0.03  # shift of the bushes' centre of pressure by the tilt [m], the heels are at 0.10
PERIODS = 4.5
SETTLED = 0.25  # time at which the faster modes have decayed [s]
SMALLEST = 0.02  # smallest measured oscillation, relative to the first
EVERY = 20  # number of steps between readings of the contact points
FLAT = 1e-5  # [m]
PEER_CONTACT = 2e-3  # the stiffest contact that mujoco has at this step
PEER_REST = 20.0  # time of standing before the tilt in mujoco [s]


class Swing(NamedTuple):
    """Measurements after the release."""

    time: np.ndarray  # (count,) [s]
    moment: np.ndarray  # pitch moment of the left foot minus its value at rest (count,) [Nm]
    mode: Mode
    opened: float | None = None  # largest gap under the soles [m]


def standing_on(bush_set: str) -> Model:
    """Return hrp2_like with these bushes."""
    return described(Conditions(bush_set=bush_set))


def tilt_of(model: Model) -> float:
    """Return the pitch [rad] at which the bushes exert a moment of PRESSURE times the weight."""
    stiffness = model.system.stiffness[model.joint("LLEG_BUSH_PITCH").v_index]
    return PRESSURE * model.mass * three_mass.GRAVITY / (2.0 * stiffness)


def tilted(model: Model, q: np.ndarray, sole_position: np.ndarray) -> np.ndarray:
    """Return q (nq,) with everything above the bushes rotated forward about the bushes' pitch axis.

    sole_position: position (3,) of a sole link's frame, which is on the axis [m].
    """
    angle = tilt_of(model)
    c, s = math.cos(angle), math.sin(angle)
    q = q.copy()
    x, z = q[0] - sole_position[0], q[2] - sole_position[2]
    q[0], q[2] = sole_position[0] + c * x + s * z, sole_position[2] - s * x + c * z
    x, y, z, w = q[3:7]
    c, s = math.cos(angle / 2), math.sin(angle / 2)
    q[3:7] = c * x + s * z, c * y + s * w, c * z - s * x, c * w - s * y
    for side in "LR":
        q[model.joint(f"{side}LEG_BUSH_PITCH").q_index] -= angle
    return q


def measured(time: np.ndarray, moment: np.ndarray) -> Mode:
    """Return the mode of a decaying oscillation about zero.

    The period is fitted to the zero crossings, and the damping ratio to the logarithms of the
    extrema between crossings. Both are least-squares fits. Small extrema are ignored.
    """
    late = time > SETTLED
    t, y = time[late], moment[late]
    before = np.flatnonzero(y[:-1] * y[1:] < 0.0)
    crossings = t[before] - y[before] * (t[before + 1] - t[before]) / (y[before + 1] - y[before])
    peaks = [_peak(np.abs(y[i + 1 : j + 1])) for i, j in pairwise(before)]
    if len(peaks) < 3:
        return Mode("does not oscillate", math.nan, math.nan)
    small = np.flatnonzero(np.array(peaks) < SMALLEST * peaks[0])
    count = small[0] if len(small) else len(peaks)
    half = np.polyfit(np.arange(count + 1), crossings[: count + 1], 1)[0]
    decrement = -np.polyfit(np.arange(count), np.log(peaks[:count]), 1)[0]
    return Mode("oscillates", 2.0 * half, decrement / math.hypot(math.pi, decrement))


def _peak(values: np.ndarray) -> float:
    """Return the maximum of the parabola through the largest value and both neighbours."""
    i = min(max(int(values.argmax()), 1), len(values) - 2)
    before, top, after = values[i - 1 : i + 2]
    return top - (after - before) ** 2 / (8.0 * (before - 2.0 * top + after))


def our_swing(model: Model, duration: float, **options) -> Swing:
    """Release the robot in hrpsim. Raises WorldError if the integrator is unstable.

    options: options of World.
    """
    world, robot = standing.our_standing(model, **options)
    world.step()
    rest = robot.sensors["lfsensor"].wrench[4]
    world.reset()
    robot.q = tilted(model, robot.q, robot.link_pose("LLEG_SOLE")[0])
    moment, opened = np.empty(round(duration / world.time_step)), 0.0
    for k in range(len(moment)):
        world.step()
        moment[k] = robot.sensors["lfsensor"].wrench[4] - rest
        if k % EVERY == 0:
            opened = max(opened, *(contact.gap for contact in world.contacts))
    time = (np.arange(len(moment)) + 0.5) * world.time_step  # a reading is the mean over its step
    return Swing(time, moment, measured(time, moment), opened)


def mujoco_swing(mujoco, model: Model, duration: float, contact_time: float) -> Swing:
    """Release the robot in MuJoCo. Return the moment of the left bush minus its moment at rest.

    contact_time: first number of solref [s], at least two time steps. MuJoCo's default is 0.02.
    """
    mj_model, data = standing.mujoco_standing(
        mujoco, model, standing.half_sitting(model), TIME_STEP
    )
    mj_model.geom_solref[:, 0] = contact_time
    for _ in range(round(PEER_REST / TIME_STEP)):
        mujoco.mj_step(mj_model, data)
    bush, bush_model = data.joint("LLEG_BUSH_PITCH"), mj_model.joint("LLEG_BUSH_PITCH")
    rest = float(bush.qpos[0])
    joints = [mj_model.joint(k).name for k in range(1, mj_model.njnt)]
    at = [model.joint(name).q_index for name in joints]
    q = np.empty(model.nq)
    q[:7] = data.qpos[[0, 1, 2, 4, 5, 6, 3]]
    q[at] = [data.joint(name).qpos[0] for name in joints]
    q = tilted(model, q, data.body("LLEG_SOLE").xpos)
    data.qpos[:7] = q[[0, 1, 2, 6, 3, 4, 5]]
    for name, value in zip(joints, q[at], strict=True):
        data.joint(name).qpos[0] = value
    data.qvel[:] = 0.0
    moment = np.empty(round(duration / TIME_STEP))
    for k in range(len(moment)):
        mujoco.mj_step(mj_model, data)
        spring = float(bush_model.stiffness[0]) * (bush.qpos[0] - rest)
        moment[k] = spring + float(bush_model.damping[0]) * bush.qvel[0]
    time = (np.arange(len(moment)) + 1.0) * TIME_STEP
    return Swing(time, moment, measured(time, moment))


def run(options: Options) -> Result:
    """Tilt the robot on each set of bushes, with both integrators."""
    settings = f"implicitfast, {TIME_STEP:g} s, contacts with solref {PEER_CONTACT:g} s"
    mujoco, result = against_mujoco(settings)
    result.data.update(swings={}, curves={})
    for bush_set in BUSH_SETS[:1] if options.quick else BUSH_SETS:
        model = standing_on(bush_set)
        sway = three_mass.three_masses(model)
        estimate = slowest_mode(sway.poles())
        duration = PERIODS * estimate.period
        peer = mujoco and mujoco_swing(mujoco, model, duration, PEER_CONTACT)
        step = RK4_STEPS.get(bush_set, TIME_STEP)
        swings = {
            "rk4": our_swing(model, duration, integrator="rk4", time_step=step),
            "semi_implicit": our_swing(model, duration, time_step=TIME_STEP),
        }
        _add_mode(result, f"{bush_set}, rk4, {1e3 * step:g} ms", swings["rk4"], estimate, peer)
        _add_stepped(result, bush_set, swings["semi_implicit"], sway, peer)
        opened = max(swing.opened for swing in swings.values())
        gap = f"{bush_set}: largest gap under the soles, both integrators"
        result.add(gap, "m", opened, at_most(FLAT), analytic=0.0)
        result.notes.append(_note_of_estimate(bush_set, model, estimate))
        result.data["swings"][bush_set] = swings
        time = swings["rk4"].time
        result.data["curves"][bush_set] = time, 0.5 * sway.moment(tilt_of(model), time)
    if not options.quick:
        _add_divergence(result)
    result.notes += _notes(mujoco)
    return result


def _add_mode(result: Result, name: str, swing: Swing, estimate: Mode, peer: Swing | None) -> None:
    """Compare the measured mode with the estimate."""
    other = peer.mode if peer else Mode("", None, None)
    for quantity, unit in (("period", "s"), ("damping_ratio", "")):
        ours, expected = getattr(swing.mode, quantity), getattr(estimate, quantity)
        target, theirs = near(expected, relative=TOLERANCE), getattr(other, quantity)
        label = f"{name}: {quantity.replace('_', ' ')}"
        result.add(label, unit, ours, target, analytic=expected, peer=theirs)


def _add_stepped(result: Result, bush_set: str, swing: Swing, sway: Sway, peer) -> None:
    """Compare the mode with the estimate for the same time steps.

    This estimate hardly differs from continuous time.
    """
    name = f"{bush_set}, semi_implicit, {1e3 * TIME_STEP:g} ms"
    stepped = slowest_mode(sway.stepped_poles(TIME_STEP))
    ratio = slowest_mode(sway.poles()).damping_ratio
    _add_mode(result, name, swing, stepped, peer)
    ours, expected = swing.mode.damping_ratio / ratio, stepped.damping_ratio / ratio
    label = f"{name}: damping ratio / estimate in continuous time"
    result.add(label, "", ours, near(expected, relative=TOLERANCE), analytic=expected)
    label = f"{name}: estimated damping ratio in time steps / in continuous time"
    result.add(label, "", expected, near(1.0, absolute=STEPPED), analytic=1.0)


def _add_divergence(result: Result) -> None:
    """Add rows for rk4 at TIME_STEP with bushes that need smaller steps, with the reason."""
    for bush_set in RK4_STEPS:
        try:
            our_swing(standing_on(bush_set), 1.0, integrator="rk4", time_step=TIME_STEP)
            outcome = "holds"
        except WorldError:
            outcome = "diverges"
        result.add(f"{bush_set}, rk4, {1e3 * TIME_STEP:g} ms: outcome", "", outcome)
    decays = ", ".join(f"{name}: {sole_decay(standing_on(name)):.0f}" for name in BUSH_SETS)
    result.notes.append(
        f"A roll bush damps the rotation of a sole in the air at the rates ({decays}) /s. At 1 "
        f"ms, rk4 is stable up to {RK4_REACH / TIME_STEP:.0f} /s, so hrp2_stiff runs with half of "
        "that step."
    )


def sole_decay(model: Model) -> float:
    """Return the decay rate of a sole in the air due to the damping of a roll bush [1/s]."""
    _, damping, _, least = three_mass.hinge_law(model, model.joint("LLEG_BUSH_ROLL"))
    return damping / least


def _note_of_estimate(bush_set: str, model: Model, estimate: Mode) -> str:
    finer = slowest_mode(three_mass.five_masses(model).poles())
    period = 100.0 * (finer.period / estimate.period - 1.0)
    ratio = 100.0 * (finer.damping_ratio / estimate.damping_ratio - 1.0)
    return (
        f"{bush_set}: the slowest mode of the estimate {estimate.kind}. The robot is tilted by "
        f"{tilt_of(model):.4f} rad. The larger estimate differs by {period:+.1f} % in the period "
        f"and by {ratio:+.1f} % in the damping ratio."
    )


def _notes(mujoco) -> list[str]:
    notes = [
        "The larger estimate includes the masses between bushes and ankles, and a compliant waist.",
        "The robot starts at rest in half-sitting. The body above the bushes is rotated forward "
        "about the pitch axis of the bushes until the centre of pressure has moved by "
        f"{100 * PRESSURE:g} cm, and is released. The soles stay in place.",
        "The paper shows a curve without numbers (Fig. 5), and its robot stands upright. Here "
        "the knees are bent, because straight knees would rest on their limits.",
        "The period comes from zero crossings of the pitch moment of the left foot, less the "
        "moment at rest. The damping ratio is the logarithmic decrement. Both use the signal "
        f"from {SETTLED:g} s until the amplitude is {100 * SMALLEST:g} % of the first swing.",
        "semi_implicit integrates springs by the trapezoidal rule, which adds no damping, and "
        "dampers to second order. The reference is an estimate with the same masses and steps. "
        f"This estimate agrees with continuous time within {100 * STEPPED:g} %.",
    ]
    if mujoco is not None:
        model = standing_on(BUSH_SETS[0])
        soft = mujoco_swing(mujoco, model, 6.0, 0.02).mode
        notes.append(
            "With MuJoCo's default contacts (solref 0.02 s) the floor is compliant too: "
            f"{BUSH_SETS[0]} then has a period of {soft.period:.3f} s and a damping ratio of "
            f"{soft.damping_ratio:.3f}."
        )
    return notes


def draw(result: Result, figure) -> None:
    """Draw the left foot's pitch moment against time, with the prediction of three masses."""
    swings = result.data["swings"]
    axes = figure.subplots(2, 2, squeeze=False).ravel() if len(swings) > 1 else [figure.subplots()]
    for ax, (bush_set, both) in zip(axes, swings.items(), strict=True):
        time, curve = result.data["curves"][bush_set]
        for name, swing in both.items():
            ax.plot(swing.time, swing.moment, lw=1.4, label=name)
        ax.plot(time, curve, ":", color="black", lw=1.2, label="three masses")
        ax.set(title=bush_set, xlabel="time [s]", ylabel="pitch moment [Nm]")


EXPERIMENT = Experiment(
    "E4", "Sway on rubber bushes", "LCP and bush paper (AIST), section 6, Fig. 5", run, draw
)
