# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""R3: a real double pendulum with measured torques, in hrpsim and in MuJoCo, each fitted.

Windows of 0.3 s begin at measured states. The last third of both recordings is held out. The model
is chosen by cross-validation within the first two thirds.

The data and the published identification are from
github.com/dfki-ric-underactuated-lab/double_pendulum: design_A.0, recordings of 2022-08-15,
model_2.0.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from math import pi
from pathlib import Path

import numpy as np

from evidence.experiments.framework.engines import against_mujoco
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.fitting import Parameter, Values
from evidence.experiments.framework.measurements import measurements
from evidence.experiments.framework.targets import at_most
from evidence.experiments.framework.windows import Fitted, Follower, add_fit, fit, root_mean_square
from evidence.experiments.scenes.measured_chains import (
    HrpsimChain,
    MujocoChain,
    blocks,
    window_numbers,
)
from hrpsim.fitting import Recording

SOURCE = "double_pendulum.npz, from github.com/dfki-ric-underactuated-lab/double_pendulum"
RUNS = ("00", "03")
JOINTS = ("shoulder", "elbow")
WINDOW, STEP = 0.3, 1e-3  # [s]
# model_2.0: masses [kg], distances of the centres of mass [m], inertias about the joints [kg m^2],
# length [m], Coulomb friction as cf atan(100 v) [Nm], rotor [kg m^2] and gear ratio.
M1, M2, R1, R2, I1, I2, L1 = 0.55938, 0.60435, 0.3, 0.18378, 0.053471, 0.023924, 0.3
FRICTION, DAMPING, ROTOR = (0.093 * pi / 2, 0.078 * pi / 2), 0.001, 36 * 7.6593e-5
SCALES = np.array([0.02, 0.02, 0.2, 0.2])  # [rad, rad/s]
PUBLISHED = (27.1, 0.222)  # for windows of other recordings [mrad, rad/s]
_J = "robots.pendulum.joints."
_FRICTION = {
    **{f"{_J}{joint}.friction": Parameter(0.0, 0.6) for joint in JOINTS},
    **{f"{_J}{joint}.damping": Parameter(0.0, 0.2) for joint in JOINTS},
}
_ROTOR = {f"{_J}{joint}.rotor_inertia": Parameter(0.0, 0.02) for joint in JOINTS}
_ZEROS = {f"zero.{run}.{joint}": Parameter(-0.2, 0.2) for run in RUNS for joint in JOINTS}
_GAINS = {f"gain.{joint}": Parameter(0.6, 1.6) for joint in JOINTS}
MODELS: dict[str, Mapping[str, Parameter]] = {
    "friction": _FRICTION,
    "friction, rotors": {**_FRICTION, **_ROTOR},
    "friction, gains": {**_FRICTION, **_GAINS},
    "friction, zeros": {**_FRICTION, **_ZEROS},
    "friction, zeros, rotors": {**_FRICTION, **_ZEROS, **_ROTOR},
    "friction, zeros, gains": {**_FRICTION, **_ZEROS, **_GAINS},
}
CHOSEN = "friction, zeros, gains"
_QUICK = ("friction", CHOSEN)
_FOLDS = ((0, 1), (1, 0))  # halves of the first two thirds: fitted, predicted
KINDS = (("position", "mrad", 1e3, slice(0, 2)), ("velocity", "rad/s", 1.0, slice(2, 4)))


def urdf() -> str:
    """Return the pendulum of the published identification, with joint axes along y."""
    dynamics = [f'<dynamics damping="{DAMPING}" friction="{x}"/>' for x in FRICTION]
    inertias = I1 - M1 * R1**2, I2 - M2 * R2**2
    links = "".join(
        f'<link name="{name}"><inertial><origin xyz="0 0 {-r}"/><mass value="{m}"/>'
        f'<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name, r, m, i in zip(("upper", "lower"), (R1, R2), (M1, M2), inertias)
    )
    limit = '<axis xyz="0 1 0"/><limit effort="20" velocity="100"/>'
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 {z}"/>{limit}{own}</joint>'
        f'<hrpsim reference="{name}"><rotor inertia="{ROTOR}"/></hrpsim>'
        for name, parent, child, z, own in (
            ("shoulder", "base", "upper", 0.0, dynamics[0]),
            ("elbow", "upper", "lower", -L1, dynamics[1]),
        )
    )
    return f'<robot name="pendulum"><link name="base"/>{links}{joints}</robot>'


def mjcf() -> str:
    """Return the same pendulum for MuJoCo."""

    def link(name: str, z: float, r: float, mass: float, inertia: float, friction: float) -> str:
        return (
            f'<body pos="0 0 {z}"><joint name="{name}" axis="0 1 0" damping="{DAMPING}" '
            f'frictionloss="{friction}" armature="{ROTOR}"/><inertial pos="0 0 {-r}" '
            f'mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>'
        )

    upper = link("shoulder", 0.0, R1, M1, I1 - M1 * R1**2, FRICTION[0])
    lower = link("elbow", -L1, R2, M2, I2 - M2 * R2**2, FRICTION[1])
    motors = "".join(f'<motor joint="{joint}"/>' for joint in JOINTS)
    return (
        f'<mujoco><option timestep="{STEP}" gravity="0 0 -9.80665" integrator="implicitfast"/>'
        f"<worldbody>{upper}{lower}</body></body></worldbody><actuator>{motors}</actuator></mujoco>"
    )


def read_recordings(path: Path) -> list[Recording]:
    """Return the recordings of double_pendulum.npz. Torques are constant between samples."""
    with np.load(path) as stored:
        return [
            Recording(
                stored[f"time_{run}"],
                JOINTS,
                stored[f"position_{run}"],
                stored[f"velocity_{run}"],
                command_time=stored[f"time_{run}"],
                command_efforts=stored[f"torque_{run}"],
                name=run,
            )
            for run in RUNS
        ]


def followers(folder: Path, mujoco=None) -> list[Follower]:
    """Return the followers of hrpsim and, if given, MuJoCo. World files are written to `folder`."""
    (folder / "pendulum.urdf").write_text(urdf())
    world = folder / "pendulum.yaml"
    robot = "{name: pendulum, urdf: pendulum.urdf, base: fixed, gains: {'*': [0, 0]}}"
    world.write_text(f"world: {{time_step: {STEP}}}\nrobots:\n  - {robot}\n")
    engines = [Follower("hrpsim", HrpsimChain(world, "pendulum", WINDOW).follow, SCALES)]
    if mujoco is not None:
        chain = MujocoChain(mujoco, mjcf(), "pendulum", WINDOW)
        engines.append(Follower("mujoco", chain.follow, SCALES))
    return engines


def start_of(parameters: Mapping[str, Parameter]) -> Values:
    """Return the published values of parameters."""
    known = {"rotor_inertia": ROTOR, "damping": DAMPING}
    for joint, friction in zip(JOINTS, FRICTION):
        known[f"{joint}.friction"] = friction
        known[joint] = 0.0

    def value(name: str) -> float:
        if name.startswith("zero."):
            return 0.0
        if name.startswith("gain."):
            return 1.0
        return next(x for key, x in known.items() if name.endswith(f".{key}"))

    return {name: value(name) for name in parameters}


def fitted_to(follower: Follower, recordings: Sequence[Recording], model: str) -> Fitted:
    """Return the fit of one of the MODELS."""
    parameters = MODELS[model]
    windows = window_numbers(recordings, WINDOW)
    return fit(follower, recordings, parameters, start_of(parameters), windows)


def run(options: Options) -> Result:
    """Choose a model by cross-validation, fit the model, and evaluate the fit on the last third."""
    (path,) = measurements(options.data, ("double_pendulum.npz",), SOURCE)
    mujoco, result = against_mujoco("implicitfast, 1 ms, fitted by the same least squares")
    recordings = read_recordings(path)
    seen = [recording.part(end=recording.time[-1] * 2 / 3) for recording in recordings]
    unseen = [recording.part(begin=recording.time[-1] * 2 / 3) for recording in recordings]
    halves = list(zip(*(blocks(recording, (0.0, 0.5, 1.0)) for recording in seen)))
    with tempfile.TemporaryDirectory() as folder:
        own, *others = followers(Path(folder), mujoco)
        _choice_rows(result, own, halves, _QUICK if options.quick else tuple(MODELS))
        _held_out_rows(result, [own, *others], seen, unseen)
    result.notes += [
        f"Windows of {WINDOW:g} s. {sum(len(part.time) for part in unseen)} samples are held out.",
        "Each recording has its own unknown encoder offsets: the encoders are zeroed while dry "
        "friction holds the pendulum away from the vertical.",
        f"Published, on other recordings: {PUBLISHED[0]} mrad and {PUBLISHED[1]} rad/s.",
    ]
    return result


def _choice_rows(result: Result, ours: Follower, halves, models: Sequence[str]) -> None:
    """Add rows of the errors in the first two thirds.

    Each half is predicted by a fit to the other.
    """
    scores = {}
    for model in models:
        parts = []
        for fold, other in _FOLDS:
            fitted = fitted_to(ours, halves[fold], model)
            parts.append(ours.errors(fitted.values, halves[other]))
        errors = np.concatenate(parts)
        scores[model] = root_mean_square(errors / SCALES)
        for label, unit, factor, columns in KINDS:
            value = factor * root_mean_square(errors[:, columns])
            result.add(f"cross-validation, {model}: {label} error", unit, value)
    result.data["scores"] = scores
    best = min(scores, key=lambda model: scores[model])
    result.add("model with the smallest error in cross-validation", "", best)


def _held_out_rows(
    result: Result,
    engines: Sequence[Follower],
    seen: Sequence[Recording],
    rest: Sequence[Recording],
) -> None:
    """Add rows of the errors in the last third, and whether the intervals hold there."""
    bounds = {"position": at_most(25.0), "velocity": at_most(0.2)}
    fits: dict[str, Fitted] = {}
    for model in (None, "friction", CHOSEN):
        label = model or "published values"
        if model:
            fits = {engine.name: fitted_to(engine, seen, model) for engine in engines}
        errors = {
            engine.name: engine.errors(fits[engine.name].values if model else {}, rest)
            for engine in engines
        }
        for quantity, unit, factor, columns in KINDS:
            rms = {name: factor * root_mean_square(e[:, columns]) for name, e in errors.items()}
            bound = bounds[quantity] if model == CHOSEN else None
            text = f"last third, {label}: {quantity} error"
            result.add(text, unit, rms["hrpsim"], bound, peer=rms.get("mujoco"))
        result.data[label] = errors["hrpsim"]
    add_fit(result, fits, fitted_to(engines[0], rest, CHOSEN), 4, _J)


def draw(result: Result, figure) -> None:
    """Draw errors by sample of the last third on the left, and by model on the right."""
    left, right = figure.subplots(1, 2)
    for name in ("published values", "friction", CHOSEN):
        errors = np.sort(np.abs(result.data[name][:, :2]).ravel())
        left.plot(1e3 * errors, np.linspace(0.0, 1.0, len(errors)), label=name)
    left.set(title="Last third", xlabel="position error [mrad]", ylabel="share of the samples")
    left.legend(fontsize=8, frameon=False)
    scores = result.data["scores"]
    right.barh(list(scores), list(scores.values()))
    right.set(title="Cross-validation", xlabel="root mean square error / scale")


EXPERIMENT = Experiment(
    "R3",
    "A real double pendulum",
    "DFKI RIC Underactuated Robotics Lab, double_pendulum (2022)",
    run,
    draw,
)
