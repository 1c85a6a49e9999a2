# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""R2: landings of the real biped Cassie: closed leg loops, leaf springs, measured torques.

Each landing is simulated from its first measured state with the measured torques. The velocities of
base and joints with encoders are compared 20 ms after the impact.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from evidence.experiments.framework import fitting
from evidence.experiments.framework.engines import against_mujoco
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.fitting import Contestant, Parameter
from evidence.experiments.framework.measurements import measurements
from evidence.experiments.framework.targets import at_most
from evidence.experiments.scenes import cassie_landings as scene
from evidence.experiments.studies.fitted import LANDINGS
from hrpsim.model.model import Model

SOURCE = (
    "cassie_landings.npz, from github.com/DAIRLab/cassie_impact_dataset, and cassie_v2.urdf, "
    "from examples/Cassie/urdf of github.com/DAIRLab/dairlib"
)
FOLDS = 4
KINDS = (
    ("root mean square error of joint velocities", "rad/s"),
    ("velocity error of the base", "m/s"),
    ("angular velocity error of the base", "rad/s"),
)
_ROBOT = {
    "friction": Parameter(0.1, 1.5),
    "stiffness": Parameter(0.5, 2.0, logarithmic=True),
    "damping": Parameter(0.1, 10.0, logarithmic=True),
}
_PARAMETERS = {
    "rigid": _ROBOT,
    "compliant": {
        **_ROBOT,
        "compliance": Parameter(1e-7, 1e-3, logarithmic=True),
        "damping_time": Parameter(5e-4, 5e-2, logarithmic=True),
    },
    "mujoco": {
        **_ROBOT,
        "time_constant": Parameter(5e-4, 0.1, logarithmic=True),
        "damping_ratio": Parameter(0.05, 5.0, logarithmic=True),
        "impedance_ratio": Parameter(1.0, 100.0, logarithmic=True),
    },
}
_DESCRIBED = {"friction": 0.8, "stiffness": 1.0, "damping": 1.0}
_STARTS = {
    "rigid": _DESCRIBED,
    "compliant": {**_DESCRIBED, "compliance": 1e-5, "damping_time": 5e-3},
    "mujoco": {**_DESCRIBED, "time_constant": 0.02, "damping_ratio": 1.0, "impedance_ratio": 1.0},
}
Prediction = tuple[np.ndarray, np.ndarray | None]


def unchanged(landings: Sequence[scene.Landing], model: Model) -> np.ndarray:
    """Return the errors (landings, 3) of the prediction that velocities do not change."""
    return scene.velocity_errors(
        [(landing.q[0], landing.v[0]) for landing in landings], landings, model
    )


def contestants(landings: Sequence[scene.Landing], model: Model, mujoco=None) -> list[Contestant]:
    """Return hrpsim's Cassie with rigid contact and with compliant contact, and MuJoCo's Cassie.

    The loss is the mean of the three errors, each divided by the error of `unchanged`.
    """
    makers = {"rigid": scene.Cassie, "compliant": scene.Cassie}
    if mujoco is not None:
        makers["mujoco"] = partial(scene.MujocoCassie, mujoco)
    scale = unchanged(landings, model).mean(0)

    def simulated(make, values, trials):
        chosen = [landings[trial] for trial in trials]
        return scene.velocity_errors(make(model, **values).follow(chosen), chosen, model)

    def loss(errors):
        return (errors / scale).mean(1)

    return [
        Contestant(name, partial(simulated, make), loss, _PARAMETERS[name], _STARTS[name])
        for name, make in makers.items()
    ]


def run(options: Options) -> Result:
    """Evaluate each contestant on held-out landings, and compare with simpler predictions."""
    names = ("cassie_landings.npz", "cassie_v2.urdf")
    data, description = measurements(options.data, names, SOURCE)
    model = scene.cassie_model(description)
    landings = scene.read_landings(data, model)
    mujoco, result = against_mujoco("elliptic cone, implicitfast, 0.25 ms")
    entrants = contestants(landings, model, mujoco)
    fold_values = fitting.values_of(entrants, LANDINGS, options, len(landings), FOLDS, result)
    judged = {e.name: e.held_out_errors(fold_values[e.name], len(landings)) for e in entrants}
    plain = _plain_predictions(landings, model, mujoco)
    _rows(result, plain, judged)
    if not options.quick:
        fitting.add_profiles(result, entrants[:2], fold_values, len(landings))
    result.data |= {"plain": {k: ours for k, (ours, _) in plain.items()}, "judged": judged}
    result.notes += [
        f"{len(landings)} landings in which the feet touch down within the recorded 50 ms, in "
        f"{FOLDS} folds. The fits minimise the mean of three errors, each divided by the error of "
        "the prediction 'nothing changes'.",
        "The height of the ground is the height of the first foot after the foot has stopped. "
        "The heel springs have no encoder. Their velocities follow from the constant length of "
        "the rods.",
    ]
    return result


def _plain_predictions(landings, model: Model, mujoco) -> dict[str, Prediction]:
    """Return the errors of hrpsim's and MuJoCo's predictions without a fit, by assumption."""

    def of(engine) -> np.ndarray:
        return scene.velocity_errors(engine.follow(landings), landings, model)

    theirs = None if mujoco is None else partial(scene.MujocoCassie, mujoco, model)
    return {
        "nothing changes": (unchanged(landings, model), None),
        "no ground": (of(scene.Cassie(model, ground=False)), None),
        "rigid robot, springs locked, rigid contact": (of(scene.Cassie(model, locked=True)), None),
        "springs as described, rigid contact": (
            of(scene.Cassie(model)),
            None if theirs is None else of(theirs(time_constant=1e-3)),
        ),
        "springs as described, MuJoCo's default contact": (
            np.full((len(landings), len(KINDS)), np.nan),
            None if theirs is None else of(theirs()),
        ),
    }


def _mean(errors: np.ndarray | None, kind: int) -> float | None:
    if errors is None or np.isnan(errors).all():
        return None
    return float(errors[:, kind].mean())


def _rows(result: Result, plain: dict[str, Prediction], judged: dict[str, np.ndarray]) -> None:
    """Add rows of the errors of all predictions.

    Fitted predictions are evaluated on held-out landings.
    """
    theirs = judged.get("mujoco")
    scale = plain["nothing changes"][0].mean(0)
    for name in ("rigid", "compliant"):
        label = f"fitted error relative to 'nothing changes': {name} contact, held out"
        fraction = float((judged[name] / scale).mean())
        peer = None if theirs is None else float((theirs / scale).mean())
        result.add(label, "", fraction, peer=peer)
        if theirs is not None:
            label = f"relative error, {name} minus mujoco, per landing"
            bound = at_most(0.0) if name == "rigid" else None
            shares = [(errors / scale).mean(1) for errors in (judged[name], theirs)]
            fitting.add_difference(result, label, "", *shares, bound)
    for kind, (label, unit) in enumerate(KINDS):
        for name, (ours, peer) in plain.items():
            result.add(f"{label}: {name}", unit, _mean(ours, kind), peer=_mean(peer, kind))
        for name in ("rigid", "compliant"):
            case = f"{label}: fitted, {name} contact, held out"
            ours = _mean(judged[name], kind)
            result.add(case, unit, ours, peer=_mean(theirs, kind))
        if theirs is not None:
            label = f"{label}: fitted, rigid minus mujoco, per landing"
            fitting.add_difference(result, label, unit, judged["rigid"][:, kind], theirs[:, kind])


def draw(result: Result, figure) -> None:
    """Draw errors as fractions of the change at the impact, and profiles of parameters."""
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1.0))
    scale = result.data["plain"]["nothing changes"].mean(0)
    drawn = {k: e for k, e in result.data["plain"].items() if not np.isnan(e).all()}
    drawn |= {f"fitted, {name}, held out": e for name, e in result.data["judged"].items()}
    for index, errors in enumerate(drawn.values()):
        shares = errors / scale
        for kind, label in enumerate(("joints", "base", "turning of the base")):
            left.errorbar(
                shares[:, kind].mean(),
                index + 0.2 * (kind - 1),
                xerr=shares[:, kind].std(ddof=1) / np.sqrt(len(shares)),
                fmt="o",
                ms=4,
                color=f"C{kind}",
                label=label if index == 0 else None,
            )
    left.set_yticks(range(len(drawn)), [name.replace(", ", ",\n", 1) for name in drawn], fontsize=7)
    left.invert_yaxis()
    left.set(title="Velocities 20 ms after the impact", xlabel="error / error if nothing changes")
    left.legend(fontsize=6.5, loc="lower right", edgecolor="none")
    fitting.draw_profiles(right, result, "extra error, share", (-0.02, 0.4))


EXPERIMENT = Experiment(
    "R2",
    "The real biped Cassie lands",
    "Acosta, Yang and Posa, Validating Robotics Simulators on Real-World Impacts (2022)",
    run,
    draw,
)
