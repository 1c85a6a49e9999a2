# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Explain why a step failed, and which joints are too stiff for rk4.

The stages of rk4 evaluate forces at the state of the stage. The eigenvalues lambda of the modes
follow from

    M a + C v + K (q - q0) = 0,   (K, C: stiffness and kp, damping and kd, along the joints).

A step of size h multiplies each mode by R(h lambda), where R(z) is the sum of z^k / k! up to k = 4.
The step is unstable if |R| exceeds 1. `semi_implicit` treats K and C implicitly, and is stable at
any step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hrpsim.engine.constraints.penalty_rows import STABLE_BELOW
from hrpsim.engine.dynamics.functions import mass_matrix
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.scene import status as ended
from hrpsim.engine.step.scene.status import LARGEST_POSITION, LARGEST_SPEED
from hrpsim.model.body_inertia import unresisted_bodies
from hrpsim.model.system import FREE, JOINT_NV
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot
from hrpsim.world.parts.results import Naming

_GROWTH = 1e-6  # growth of a mode in a step that rounding can explain
_HALVINGS = 60
_TINY = 1e-300  # [kg m^2 or kg]
_ABSURD = 1e5  # change of a single joint's or body's speed in a step [rad/s or m/s]


class Limit(NamedTuple):
    """The largest stable step [s], and the joint with the largest energy in the limiting mode."""

    time_step: float
    joint: str
    stiffness: float  # stiffness with the gain [Nm/rad] or [N/m]
    damping: float  # damping with the gain [Nms/rad] or [Ns/m]


def rk4_limit(robot: Robot) -> Limit | None:
    """Return the largest stable rk4 step of a robot in its initial state, and the limiting joint.

    The result is None if the robot has no mode.
    """
    model, system = robot.model, robot.model.system
    joints = [joint for joint in model.joints if JOINT_NV[joint.joint_type] == 1]
    at = np.array([joint.v_index for joint in joints], dtype=int)
    gains = dict(zip(robot.joint_names, zip(*robot.gains, strict=True), strict=True))
    kp, kd = np.array([gains.get(joint.name, (0.0, 0.0)) for joint in joints]).reshape(-1, 2).T
    stiffness, damping = system.stiffness[at] + kp, system.damping[at] + kd
    if not (stiffness.any() or damping.any()):
        return None
    response = np.linalg.inv(mass_matrix(model, robot.initial_q))[np.ix_(at, at)]
    n = len(at)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = -response * stiffness, -response * damping
    modes, vectors = np.linalg.eig(A)
    steps = np.array([_largest_step(mode) for mode in modes])
    worst = int(np.argmin(steps))
    k = int(np.argmax(np.abs(vectors[n:, worst]) ** 2 / np.diag(response)))
    return Limit(float(steps[worst]), joints[k].name, float(stiffness[k]), float(damping[k]))


def too_stiff_for_rk4(robot: Robot, time_step: float) -> str | None:
    """Return the joint that makes rk4 unstable at steps of `time_step` [s], or None."""
    limit = rk4_limit(robot)
    if limit is None or limit.time_step >= time_step:
        return None
    return (
        "rk4 integrates springs, dampers and gains explicitly. Joint "
        f"{limit.joint!r} of {robot.name!r} has {limit.stiffness:.4g} (Nm/rad or N/m) and "
        f"{limit.damping:.4g} (Nms/rad or Ns/m), so steps must be at most {limit.time_step:.3g} s, "
        f"not {time_step:g} s. The integrator 'semi_implicit' allows any"
    )


def _largest_step(mode: complex) -> float:
    """Return the largest step [s] at which rk4 does not amplify a mode.

    mode: eigenvalue [1/s] of a mode that does not grow by itself.
    """
    if abs(mode) < 1e-9:
        return np.inf
    low, high = 0.0, 4.0 / abs(mode)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        z = middle * mode
        factor = abs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0))))
        low, high = (middle, high) if factor <= 1.0 + _GROWTH else (low, middle)
    return low


def why_step_failed(
    scene: Scene, entities: list[Entity], naming: Naming, status: int, time: float
) -> str:
    """Return the reason for a failed step that began at `time` [s], with the robot or body."""
    if scene.settings["staged"][0] and status in (ended.SINGULAR, ended.DIVERGED):
        stiff = _too_stiff_for_rk4(scene, entities)
        if stiff is not None:
            return f"the step from t = {time:g} s failed: {stiff}"
    if status == ended.SINGULAR:
        return _why_singular(scene, entities, int(scene.failure["needed"][0]))
    fault = naming.name_of(scene.failure[0])
    if status == ended.TOO_STIFF:
        time_step = float(scene.settings["time_step"][0])
        ratio, stiffness = (float(scene.failure[n][0]) for n in ("stiffness", "contact_stiffness"))
        return (
            f"penalty {fault} with {stiffness:.4g} N/m at each point is too "
            f"stiff for steps of {time_step:g} s: (k dt^2 + 2 c dt) / m must be below "
            f"{STABLE_BELOW:g}, but is {ratio:.3g}. Set a softer spring (set_penalty), or a "
            "smaller time_step"
        )
    k = int(np.argmax(np.abs(scene.velocity)))
    owner = next(e for e in entities if e.first_v <= k < e.first_v + e.nv)
    return (
        f"the step from t = {time:g} s would give numbers that are not finite, or beyond "
        f"{LARGEST_SPEED:g} m/s or rad/s or {LARGEST_POSITION:g} m. The state "
        f"before the step remains. Fastest is {owner.name!r} with {scene.velocity[k]:.3g} "
        f"(rad/s or m/s). {_cure(scene, entities, fault)}"
    )


def _cure(scene: Scene, entities: list[Entity], fault: str) -> str:
    """Return a remedy for a divergence, preceded by the probable cause if a cause is known."""
    cure = "Check its forces and gains, or use a smaller time_step"
    if _pulls_on_bodies(scene):
        cure = (
            "Connections that pull hard on light bodies, as in a taut chain, are stable only with "
            f"the integrator 'semi_implicit'. Use this integrator. {cure}"
        )
    elif _closes_a_rigid_loop(scene):
        cure = (
            "Rigid connections that close loops of joints are unstable in a stretched loop. Give "
            f"the connections a compliance, such as 1e-7 m/N. {cure}"
        )
    if demanded := _demanded(scene, entities):
        cure = f"The probable cause: {demanded}. {cure}"
    elif fault:
        cure = f"A possible cause: {fault} could not be satisfied. {cure}"
    return cure


def _demanded(scene: Scene, entities: list[Entity]) -> str:
    """Return a text about the command or wrench that demands the largest acceleration.

    The result is "" if no acceleration is implausibly large.
    """
    least = _ABSURD / float(scene.settings["time_step"][0])
    demands = [*_commanded(scene, entities), *_pushed(scene, entities)]
    acceleration, text = max(demands, default=(0.0, ""))
    return text if acceleration > least else ""


def _commanded(scene: Scene, entities: list[Entity]) -> Iterator[tuple[float, str]]:
    """Yield the acceleration that each joint's command demands, and a text about the command.

    The acceleration is the commanded effort divided by the joint's own inertia.
    """
    for robot in (entity for entity in entities if isinstance(entity, Robot)):
        v = robot.first_v + robot.joint_index.v
        command, dofs = scene.control[v], scene.forest.dofs[v]
        error = command["target_position"] - scene.q[robot.first_q + robot.joint_index.q]
        demand = command["effort"] + command["kp"] * error
        demand += command["kd"] * (command["target_velocity"] - scene.velocity[v])
        effort = np.minimum(np.abs(demand), dofs["effort_limit"])
        for k, name in enumerate(robot.joint_names):
            targets = command[["target_position", "target_velocity", "effort"]][k].tolist()
            values = ", ".join(
                f"{quantity} {value:.3g}"
                for quantity, value in zip(("position", "velocity", "effort"), targets)
                if value
            )
            text = f"joint {name!r} of {robot.name!r} is commanded to {values}"
            text += f" with kp {command['kp'][k]:.3g}, kd {command['kd'][k]:.3g}"
            yield float(effort[k] / max(dofs["own_inertia"][k], _TINY)), text


def _pushed(scene: Scene, entities: list[Entity]) -> Iterator[tuple[float, str]]:
    """Yield the acceleration that each applied wrench demands, and a text about the wrench.

    The acceleration is the wrench divided by the mass of the whole robot or body.
    """
    for wrench in scene.wrenches[: int(scene.counts["wrench_count"][0])]:
        owner = next(e for e in reversed(entities) if e.first_body <= wrench["body"])
        force = float(np.abs([wrench["force"], wrench["torque"]]).max())
        text = f"a wrench of {force:.3g} (N or Nm) acts on {owner.name!r}"
        yield force / max(float(owner.system.mass.sum()), _TINY), text


def _pulls_on_bodies(scene: Scene) -> bool:
    """Return whether connections act on free bodies without `add_geometric_stiffness`."""
    if scene.settings["horizon"][0] > 0.0 or len(scene.connections) == 0:
        return False
    ends = np.concatenate([scene.connections[name] for name in ("body_a", "body_b")])
    kinds = scene.forest.bodies["joint_type"][ends[ends >= 0]]
    return bool((kinds == FREE).any())


def _closes_a_rigid_loop(scene: Scene) -> bool:
    """Return whether a rigid connection joins a jointed link to the world or to another link."""
    records = scene.connections
    rigid = ((records["axes"] != 0) & (records["compliance"] == 0.0)).any(axis=1)
    rigid &= records["enabled"] != 0
    ends = np.concatenate([records[name][rigid] for name in ("body_a", "body_b")])
    kinds = scene.forest.bodies["joint_type"][ends[ends >= 0]]
    return bool((kinds != FREE).any())


def _why_singular(scene: Scene, entities: list[Entity], body: int) -> str:
    """Return a text on why the equations of a body are singular, with a remedy.

    The joint of the body, or a free body, moves no inertia, or the inertia is lost in rounding.
    """
    owner = max((e for e in entities if e.first_body <= body), key=lambda e: e.first_body)
    number = body - owner.first_body
    joints = getattr(getattr(owner, "model", None), "joints", ())
    names = [j.name for j in joints if j.body == number]
    subject = f"{f'joint {names[0]!r}' if names else 'the body'} of {owner.name!r}"
    if number in unresisted_bodies(owner.system):
        return f"{subject} moves no positive inertia. Set an inertia"
    lost = f"the inertia that {subject} moves is lost in rounding"
    if scene.failure["load"][0] != 0.0:
        return (
            f"{lost} against the load of connections on it, which may contradict each other or "
            "demand too much. Set compliance or force_limit, or use a smaller time_step"
        )
    return (
        f"{lost}. It is less than 1e-14 of the inertia of the joined bodies about the root of the "
        "tree. Use masses and lengths that differ less"
    )


def _too_stiff_for_rk4(scene: Scene, entities: list[Entity]) -> str | None:
    """Return the joint of a robot that makes rk4 unstable at the time step, if there is one."""
    time_step = float(scene.settings["time_step"][0])
    robots = (entity for entity in entities if isinstance(entity, Robot))
    return next(filter(None, (too_stiff_for_rk4(robot, time_step) for robot in robots)), None)
