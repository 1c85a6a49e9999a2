# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""R1: a real cube that is tossed onto a table, and fits of hrpsim and MuJoCo.

Each toss is simulated from its first measured state and compared frame by frame. Parameters are
fitted to three quarters of the tosses. Errors are computed for the remaining tosses, so that each
toss is held out once.

Measured by motion capture: Pfrommer, Halm and Posa, ContactNets (2020),
github.com/DAIRLab/contact-nets. A toss is an array (n, 13) with one row per frame: position of the
centre [m], quaternion x y z w, velocity in world axes [m/s], angular velocity in the cube's axes
[rad/s].
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from evidence.experiments.framework import fitting
from evidence.experiments.framework.engines import against_mujoco
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.fitting import Contestant, Parameter
from evidence.experiments.framework.measurements import measurements
from evidence.experiments.framework.targets import at_most
from evidence.experiments.studies.fitted import TOSSES
from hrpsim import Box, World
from hrpsim.common.constants import STANDARD_GRAVITY

FRAME_RATE = 148.0  # [1/s]
WIDTH = 0.1048  # [m]
MASS = 0.37  # [kg]
# Values identified by the authors. The table is at 0, the height of the lowest face at rest.
IDENTIFIED = {"friction": 0.18, "restitution": 0.125, "inertia": 0.00081, "height": 0.0}
SUBSTEPS = {"hrpsim": 4, "mujoco": 7}  # steps per frame, MuJoCo's contacts need steps of 1 ms
RESULTS = ("position", "rotation", "face")
_CORNERS = WIDTH / 2 * np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, 8).T
SOURCE = "cube_tosses.npz, from github.com/DAIRLab/contact-nets"
FOLDS = 4
KINDS = (
    ("position error, mean over frames", "% of width"),
    ("rotation error, mean over frames", "deg"),
    ("fraction of tosses that end on the measured face", ""),
)
_COMMON = {
    "friction": Parameter(0.05, 0.4),
    "inertia": Parameter(6e-4, 1.2e-3),
    "height": Parameter(-4e-3, 1e-3),
}
_PARAMETERS = {
    "rigid": {**_COMMON, "restitution": Parameter(0.0, 0.4)},
    "compliant": {
        **_COMMON,
        "compliance": Parameter(1e-6, 1e-2, logarithmic=True),
        "damping_time": Parameter(3e-4, 5e-2, logarithmic=True),
    },
    "mujoco": {
        **_COMMON,
        "time_constant": Parameter(2e-3, 5e-2, logarithmic=True),
        "damping_ratio": Parameter(0.05, 2.0, logarithmic=True),
        "impedance_ratio": Parameter(1.0, 100.0, logarithmic=True),
    },
}
_KNOWN = IDENTIFIED
_STARTS = {
    "rigid": _KNOWN,
    "compliant": {**_KNOWN, "compliance": 3e-5, "damping_time": 3e-3},
    "mujoco": {**_KNOWN, "time_constant": 4e-3, "damping_ratio": 1.0, "impedance_ratio": 1.0},
}


def read_tosses(path: Path) -> list[np.ndarray]:
    """Return the tosses of cube_tosses.npz, each (n, 13)."""
    with np.load(path) as stored:
        state, number = stored["state"], stored["toss"]
    return [state[number == toss] for toss in np.unique(number)]


class Cube:
    """hrpsim's cube on a table.

    Parameters: friction, restitution, inertia about each axis [kg m^2], height of the table [m],
    compliance [m/N] and damping_time [s] of a corner's contact. Compliance 0 is rigid contact.
    """

    def __init__(
        self,
        friction: float,
        restitution: float = 0.0,
        inertia: float = IDENTIFIED["inertia"],
        height: float = 0.0,
        compliance: float = 0.0,
        damping_time: float | None = None,
        substeps: int = SUBSTEPS["hrpsim"],
    ) -> None:
        self.substeps = substeps
        self.world = World(1.0 / (FRAME_RATE * substeps))
        self.world.set_friction("default", "default", static=friction, restitution=restitution)
        if compliance > 0.0:
            self.world.set_contact(
                "default", "default", compliance=compliance, damping_time=damping_time
            )
        self.world.add_ground(height)
        self.cube = self.world.add_body(Box((WIDTH,) * 3), MASS, inertia=inertia * np.eye(3))

    def follow(self, tosses: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Simulate each toss from the first state. Return the poses (n, 7) in each frame."""
        return [self._follow(toss) for toss in tosses]

    def _follow(self, toss: np.ndarray) -> np.ndarray:
        poses = np.empty((len(toss), 7))
        self.world.reset()
        R = Rotation.from_quat(toss[0, 3:7]).as_matrix()
        self.cube.q = poses[0] = toss[0, :7]
        self.cube.v = np.concatenate([R.T @ toss[0, 7:10], toss[0, 10:13]])
        for pose in poses[1:]:
            self.world.step(self.substeps)
            pose[:] = self.cube.q
        return poses


class MujocoCube:
    """MuJoCo's cube on a table, with the parameters of `Cube`.

    time_constant [s] and damping_ratio are solref, and impedance_ratio is impratio.
    """

    def __init__(
        self,
        mujoco,
        friction: float,
        inertia: float = IDENTIFIED["inertia"],
        height: float = 0.0,
        time_constant: float = 0.02,
        damping_ratio: float = 1.0,
        impedance_ratio: float = 1.0,
        substeps: int = SUBSTEPS["mujoco"],
    ) -> None:
        self.substeps = substeps
        solref = f"{time_constant} {damping_ratio}"
        self.model = mujoco.MjModel.from_xml_string(f"""<mujoco>
  <option timestep="{1.0 / (FRAME_RATE * substeps)}" gravity="0 0 -{STANDARD_GRAVITY}"
          cone="elliptic" impratio="{impedance_ratio}"/>
  <default><geom friction="{friction} 0 0" condim="3" solref="{solref}"/></default>
  <worldbody>
    <geom type="plane" size="0 0 1" pos="0 0 {height}"/>
    <body><freejoint/>
      <inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia} {inertia} {inertia}"/>
      <geom type="box" size="{WIDTH / 2} {WIDTH / 2} {WIDTH / 2}"/></body>
  </worldbody>
</mujoco>""")
        self.data = mujoco.MjData(self.model)

    def follow(self, tosses: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Simulate each toss from the first state. Return the poses (n, 7) in each frame."""
        from mujoco import rollout

        first = np.array([toss[0] for toss in tosses])
        states = np.zeros((len(tosses), 14))  # time, position, quaternion w x y z, velocity
        states[:, 1:] = first[:, [0, 1, 2, 6, 3, 4, 5, *range(7, 13)]]
        steps = self.substeps * (max(map(len, tosses)) - 1)
        path, _ = rollout.rollout(self.model, self.data, initial_state=states, nstep=steps)
        path = path[:, self.substeps - 1 :: self.substeps, [1, 2, 3, 5, 6, 7, 4]]
        return [
            np.concatenate([toss[:1, :7], poses[: len(toss) - 1]])
            for toss, poses in zip(tosses, path)
        ]


def errors(predicted: Sequence[np.ndarray], measured: Sequence[np.ndarray]) -> np.ndarray:
    """Return the errors of predicted poses, each a mean over the frames of a toss (tosses, 3).

    The columns are position in per cent of the cube's width, rotation in degrees, and 1 if the
    predicted final upper face is the measured face.
    """
    rows = np.empty((len(measured), len(RESULTS)))
    for row, path, real in zip(rows, predicted, measured):
        away = np.linalg.norm(path[:, :3] - real[:, :3], axis=1)
        cosine = np.abs(np.einsum("ij,ij->i", path[:, 3:], real[:, 3:7])).clip(0.0, 1.0)
        ups = Rotation.from_quat([path[-1, 3:], real[-1, 3:7]]).as_matrix()[:, 2]
        faces = [(k, up[k] > 0.0) for up in ups for k in [np.abs(up).argmax()]]
        row[0] = 100.0 * away.mean() / WIDTH
        row[1] = np.degrees(2.0 * np.arccos(cosine)).mean()
        row[2] = faces[0] == faces[1]
    return rows


def lowest_corner(poses: np.ndarray) -> np.ndarray:
    """Return the height of the lowest corner in each pose (n, 7 or more) [m]."""
    R = Rotation.from_quat(poses[:, 3:7]).as_matrix()
    return poses[:, 2] + (R[:, 2] @ _CORNERS.T).min(1)


def flight(toss: np.ndarray) -> int:
    """Return the number of frames before the lowest corner comes within 4 mm of the table."""
    return int(np.argmax(lowest_corner(toss) < 0.004))


def started_by_flight(toss: np.ndarray) -> np.ndarray:
    """Return a toss whose first state is estimated from the whole flight.

    A parabola and a rotation are fitted by least squares to the frames before the first contact. If
    there are fewer than six such frames, the toss is unchanged.
    """
    count = flight(toss)
    start = toss.copy()
    if count < 6:
        return start
    t = np.arange(count) / FRAME_RATE
    fallen = toss[:count, :3] + np.outer(STANDARD_GRAVITY * t**2 / 2, (0.0, 0.0, 1.0))
    start[0, :3], start[0, 7:10] = np.linalg.lstsq(np.stack([t**0, t], 1), fallen, rcond=None)[0]
    rotations = Rotation.from_quat(toss[:count, 3:7])
    start[0, 10:13] = t @ (rotations[0].inv() * rotations).as_rotvec() / (t @ t)
    return start


def cubes(mujoco=None) -> dict[str, Callable[..., Any]]:
    """Return functions that make hrpsim's cubes, with rigid and compliant contact, and MuJoCo's.

    The parameters are keyword arguments of the functions.
    """
    makers: dict[str, Callable[..., Any]] = {"rigid": Cube, "compliant": Cube}
    return makers if mujoco is None else {**makers, "mujoco": partial(MujocoCube, mujoco)}


def contestants(tosses: Sequence[np.ndarray], mujoco=None) -> list[Contestant]:
    """Return the contestants: each cube with its parameters, bounds and initial values."""

    def simulated(make, values, trials):
        chosen = [tosses[trial] for trial in trials]
        return errors(make(**values).follow(chosen), chosen)

    return [
        Contestant(
            name, partial(simulated, make), lambda e: e[:, 0], _PARAMETERS[name], _STARTS[name]
        )
        for name, make in cubes(mujoco).items()
    ]


def run(options: Options) -> Result:
    """Evaluate each contestant on held-out tosses.

    The result also has the ranges of parameters that fit equally well.
    """
    (path,) = measurements(options.data, ("cube_tosses.npz",), SOURCE)
    tosses = read_tosses(path)[: 32 if options.quick else None]
    mujoco, result = against_mujoco("elliptic cone, solref and impratio fitted")
    entrants = contestants(tosses, mujoco)
    fold_values = fitting.values_of(entrants, TOSSES, options, len(tosses), FOLDS, result)
    judged = {e.name: e.held_out_errors(fold_values[e.name], len(tosses)) for e in entrants}
    _comparison_rows(result, judged)
    _start_rows(result, entrants[0], fold_values["rigid"], tosses)
    if not options.quick:
        fitting.add_profiles(result, entrants[:2], fold_values, len(tosses))
    growth = {
        name: _growth(make, fold_values[name], tosses) for name, make in cubes(mujoco).items()
    }
    result.data["growth"] = growth
    result.notes += [
        f"{len(tosses)} tosses with {sum(map(len, tosses))} frames at {FRAME_RATE:g} Hz, each "
        f"simulated from its first measured state, in {FOLDS} folds. The fits minimise the mean "
        "position error.",
        "Published position errors on all 513 tosses: bullet 13.3 %, MuJoCo after a fit 12.8 %, "
        "Drake 12.7 %.",
    ]
    return result


def _comparison_rows(result: Result, judged: dict[str, np.ndarray]) -> None:
    """Add rows of errors on held-out tosses, and of the significance of differences."""
    theirs = judged.get("mujoco")
    for name in ("rigid", "compliant"):
        for kind, (label, unit) in enumerate(KINDS):
            peer = None if theirs is None else float(theirs[:, kind].mean())
            ours = float(judged[name][:, kind].mean())
            result.add(f"{name} contact: {label}", unit, ours, peer=peer)
    for name, other in (("rigid", "mujoco"), ("compliant", "mujoco"), ("compliant", "rigid")):
        if other in judged:
            label = f"position error, {name} minus {other}, per toss"
            bound = at_most(0.0) if (name, other) == ("rigid", "mujoco") else None
            errors_of = judged[name][:, 0], judged[other][:, 0]
            fitting.add_difference(result, label, "% of width", *errors_of, bound)


def _start_rows(result: Result, rigid: Contestant, found, tosses) -> None:
    """Add rows of errors with the authors' numbers, and of the error due to the first state."""
    error = rigid.errors(IDENTIFIED, range(len(tosses)))[:, 0].mean()
    label = "rigid contact, values of the authors: position error"
    result.add(label, "% of width", float(error))
    begun = [started_by_flight(toss) for toss in tosses]
    better = np.empty(len(tosses))
    for values, out in zip(found, fitting.held_out(len(tosses), FOLDS)):
        path = Cube(**values).follow([begun[k] for k in out])
        better[out] = errors(path, [tosses[k] for k in out])[:, 0]
    label = "rigid contact, first state fitted to the whole flight: position error"
    result.add(label, "% of width", float(better.mean()))


def _growth(make, found, tosses, longest: int = 75) -> np.ndarray:
    """Return the mean position error by frames since first contact (longest,) [% of width]."""
    away = np.full((len(tosses), longest), np.nan)
    for values, out in zip(found, fitting.held_out(len(tosses), FOLDS)):
        for k, path in zip(out, make(**values).follow([tosses[k] for k in out])):
            begin = flight(tosses[k])
            distances = np.linalg.norm(path[begin:, :3] - tosses[k][begin:, :3], axis=1)[:longest]
            away[k, : len(distances)] = 100.0 * distances / WIDTH
    return np.nanmean(away, axis=0)


def draw(result: Result, figure) -> None:
    """Draw errors over time since the first contact on the left, and profiles on the right."""
    left, right = figure.subplots(1, 2)
    for name, growth in result.data["growth"].items():
        left.plot(np.arange(len(growth)) / FRAME_RATE, growth, label=name)
    left.set(
        title="Tosses that the fit has not seen",
        xlabel="time since the first contact [s]",
        ylabel="position error [% of width]",
    )
    left.legend(fontsize=8, frameon=False)
    fitting.draw_profiles(right, result, "extra position error [% of width]", (-0.5, 8.0))


EXPERIMENT = Experiment(
    "R1", "A real cube, tossed", "Pfrommer, Halm and Posa, ContactNets (2020)", run, draw
)
