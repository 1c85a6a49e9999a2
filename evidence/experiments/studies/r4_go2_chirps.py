# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""R4: a real Unitree Go2 with a fixed base follows chirps, in hrpsim and in MuJoCo, each fitted.

Windows of 0.25 s begin at measured states. The last third is held out. The model is chosen by
predictions of later samples within the first two thirds. The chirps become faster, so the held-out
part is an extrapolation.

The data and the model are from github.com/iit-DLSLab/sim2real-robot-identification: datasets/go2,
robot_model/go2/go2.xml, and the gains of config.py.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from lxml import etree

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
from hrpsim.common.errors import ModelError
from hrpsim.common.foreign.text import read_text
from hrpsim.common.foreign.xml_text import xml_root
from hrpsim.fitting import Recording

SOURCE = (
    "go2_chirps.npz and go2.xml (robot_model/go2), from "
    "github.com/iit-DLSLab/sim2real-robot-identification"
)
WINDOW, STEP = 0.25, 1e-3  # [s]
KP, KD = 20.0, 1.5  # of the robot's servos [Nm/rad, Nms/rad]
KINDS = ("hip", "thigh", "calf")
JOINTS = tuple(f"{leg}_{kind}_joint" for leg in ("FL", "FR", "RL", "RR") for kind in KINDS)
SCALES = np.full(len(JOINTS), 0.01)  # [rad]
# For the last 7.8 of 23.5 s: unchanged MJCF, hrpsim.fit, and scipy with MuJoCo, by joint type.
PUBLISHED = "MJCF 14.59, fitted by joint type 10.48 in hrpsim and 10.65 in MuJoCo"
GOAL, GOAL_OF_MJCF = 10.0, 14.59  # [mrad], of the same part
_J = "robots.go2.joints."
_BOUNDS = {
    "friction": Parameter(0.0, 3.0),
    "damping": Parameter(0.0, 2.0),
    "rotor_inertia": Parameter(0.0, 0.1),
    "kp": Parameter(10.0, 40.0),
}
_DESCRIBED = {"friction": 0.2, "damping": 0.6, "rotor_inertia": 0.01, "kp": KP}
_EACH, _TYPE = "of each joint", "by type"
# Fitted properties, for each joint or for the four joints of a type.
MODELS: dict[str, dict[str, str]] = {
    "by type": {"friction": _TYPE, "damping": _TYPE, "rotor_inertia": _TYPE},
    "by type, gains": dict.fromkeys(_BOUNDS, _TYPE),
    "friction of each joint": {"friction": _EACH, "damping": _TYPE, "rotor_inertia": _TYPE},
    "friction of each joint, gains": {**dict.fromkeys(_BOUNDS, _TYPE), "friction": _EACH},
}
CHOSEN = "friction of each joint, gains"
_FORWARD = ((0.5, 0.75), (0.75, 1.0))  # end of the fitted part, end of the predicted part
_LEFT_OUT = ("geom", "asset", "actuator", "keyframe", "contact", "sensor", "freejoint", "site")


def held_model(path: Path) -> etree._Element:
    """Return the MJCF without collision shapes, motors and the free joint of the base."""
    root = xml_root(read_text(path, ModelError, "XML_SIZE"), path, ModelError)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in _LEFT_OUT:
                parent.remove(child)
    return root


def servo_model(root: etree._Element) -> str:
    """Return the text of a fixed-base model with the robot's servos, for MuJoCo."""
    option = root.find("option")
    if option is None:
        option = etree.SubElement(root, "option")
    option.set("timestep", str(STEP))
    option.set("integrator", "implicitfast")
    option.set("gravity", "0 0 -9.80665")
    actuators = etree.SubElement(root, "actuator")
    for joint in JOINTS:
        servo = {"joint": joint, "biastype": "affine", "gaintype": "fixed"}
        servo |= {"gainprm": str(KP), "biasprm": f"0 {-KP} {-KD}"}
        etree.SubElement(actuators, "general", servo)
    return etree.tostring(root, encoding="unicode")


def read_recording(path: Path) -> Recording:
    """Return the recording of go2_chirps.npz."""
    with np.load(path) as stored:
        time = stored["time"].astype(float)
        return Recording(
            time,
            JOINTS,
            stored["position"],
            command_time=time,
            command_positions=stored["command"],
            name="chirps",
        )


def followers(folder: Path, model: Path, mujoco=None) -> list[Follower]:
    """Return the followers of hrpsim and, if given, MuJoCo. World files are written to `folder`."""
    mjcf = held_model(model)
    (folder / "go2.xml").write_text(etree.tostring(mjcf, encoding="unicode"))
    world = folder / "go2.yaml"
    gains = f"gains: {{'*': [{KP}, {KD}]}}"
    posture = ", ".join(f"{joint}: -1.5" for joint in JOINTS if "calf" in joint)
    robot = f"{{name: go2, urdf: go2.xml, base: fixed, {gains}, joints: {{{posture}}}}}"
    world.write_text(f"world: {{time_step: {STEP}}}\nrobots:\n  - {robot}\n")
    engines = [Follower("hrpsim", HrpsimChain(world, "go2", WINDOW).follow, SCALES)]
    if mujoco is not None:
        chain = MujocoChain(mujoco, servo_model(mjcf), "go2", WINDOW)
        engines.append(Follower("mujoco", chain.follow, SCALES))
    return engines


def parameters_of(model: str) -> dict[str, Parameter]:
    """Return the parameters of a model: JOINT.PROPERTY or TYPE.PROPERTY."""
    parameters = {}
    for field, whose in MODELS[model].items():
        owners = JOINTS if whose == _EACH else KINDS
        parameters |= {f"{owner}.{field}": _BOUNDS[field] for owner in owners}
    return parameters


def by_path(values: Values) -> Values:
    """Return the values of a model by path. The value of a joint type is set at four joints."""
    value_of = {}
    for name, value in values.items():
        owner, _, field = name.rpartition(".")
        for joint in JOINTS:
            if joint == owner or f"_{owner}_" in joint:
                value_of[f"{_J}{joint}.{field}"] = value
    return value_of


def of_models(one: Follower) -> Follower:
    """Wrap a follower to accept values of models."""

    def follow(many: Sequence[Values], recordings: Sequence[Recording]) -> list[np.ndarray]:
        return one.follow([by_path(values) for values in many], recordings)

    return Follower(one.name, follow, one.scales)


def fitted_to(follower: Follower, recordings: Sequence[Recording], model: str) -> Fitted:
    """Return the fit of one of the MODELS."""
    parameters = parameters_of(model)
    start = {name: _DESCRIBED[name.rpartition(".")[2]] for name in parameters}
    legs = np.repeat(np.arange(len(JOINTS) // 3), 3)  # legs are independent with a fixed base
    clusters = window_numbers(recordings, WINDOW)[:, None] * 4 + legs
    return fit(follower, recordings, parameters, start, clusters)


def run(options: Options) -> Result:
    """Choose a model by later samples, fit the model, and evaluate the fit on the last third."""
    data, model = measurements(options.data, ("go2_chirps.npz", "go2.xml"), SOURCE)
    mujoco, result = against_mujoco("implicitfast, 1 ms, fitted by the same least squares")
    recording = read_recording(data)
    seen, unseen = blocks(recording, (0.0, 2 / 3, 1.0))
    with tempfile.TemporaryDirectory() as folder:
        own, *others = map(of_models, followers(Path(folder), model, mujoco))
        if not options.quick:
            _choice_rows(result, own, seen)
        _held_out_rows(result, [own, *others], seen, unseen, options.quick)
    span = f"{recording.time[0]:.1f} to {recording.time[-1]:.1f} s"
    result.notes += [
        f"Windows of {WINDOW:g} s. The recording goes from {span}, and its last third is held "
        "out. 'Prediction error': the model is fitted to a part of the first two thirds and "
        "predicts the samples after that part.",
        f"Earlier results for the last 7.8 s of the whole 23.5 s, in mrad: {PUBLISHED}.",
    ]
    return result


def _choice_rows(result: Result, ours: Follower, seen: Recording) -> None:
    """Add rows of the errors of later samples within the first two thirds."""
    scores = {}
    for model in MODELS:
        parts = []
        for split, later in _FORWARD:
            first, second, *_ = blocks(
                seen, (0.0, split, later, 1.0) if later < 1 else (0, split, 1)
            )
            fitted = fitted_to(ours, [first], model)
            parts.append(ours.errors(fitted.values, [second]))
        scores[model] = 1e3 * root_mean_square(np.concatenate(parts))
        result.add(f"prediction error in the first two thirds, {model}", "mrad", scores[model])
    best = min(scores, key=lambda model: scores[model])
    result.add("model with the smallest prediction error", "", best)


def _held_out_rows(
    result: Result, engines: Sequence[Follower], seen: Recording, rest: Recording, quick: bool
) -> None:
    """Add rows of the errors in the last third, and whether the intervals hold there."""
    models: Mapping[str, str | None] = {
        "unchanged MJCF": None,
        **({} if quick else {"by type": "by type"}),
        CHOSEN: CHOSEN,
    }
    fits: dict[str, Fitted] = {}
    errors: dict[str, float] = {}
    for label, model in models.items():
        if model:
            fits = {engine.name: fitted_to(engine, [seen], model) for engine in engines}
        away = {
            engine.name: engine.errors(fits[engine.name].values if model else {}, [rest])
            for engine in engines
        }
        rms = {name: 1e3 * root_mean_square(own) for name, own in away.items()}
        result.data[label], errors[label] = away["hrpsim"], rms["hrpsim"]
        bound = at_most(GOAL) if label == CHOSEN else None
        text = f"last third, {label}: position error"
        result.add(text, "mrad", rms["hrpsim"], bound, peer=rms.get("mujoco"))
    fraction = errors[CHOSEN] / errors["unchanged MJCF"]
    bound = at_most(round(GOAL / GOAL_OF_MJCF, 3))
    result.add("last third, error of this model / error of the unchanged MJCF", "", fraction, bound)
    add_fit(result, fits, None if quick else fitted_to(engines[0], [rest], CHOSEN), 3)


def draw(result: Result, figure) -> None:
    """Draw errors of each joint on the left, and the distribution of errors on the right."""
    left, right = figure.subplots(1, 2)
    for label, errors in result.data.items():
        sizes = 1e3 * np.sqrt(np.mean(errors**2, axis=0))
        left.plot(sizes, "o-", label=label)
        ordered = 1e3 * np.sort(np.abs(errors).ravel())
        right.plot(ordered, np.linspace(0.0, 1.0, len(ordered)), label=label)
    left.set_xticks(range(len(JOINTS)), [j.removesuffix("_joint") for j in JOINTS], rotation=60)
    left.set(title="Last third", ylabel="position error [mrad]")
    right.set(title="Last third", xlabel="position error [mrad]", ylabel="share of the samples")


EXPERIMENT = Experiment(
    "R4",
    "A real quadruped follows chirps",
    "Dynamic Legged Systems Lab, sim2real-robot-identification (2025)",
    run,
    draw,
)
