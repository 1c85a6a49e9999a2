# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step of a standing hrp2_like, with and without actuator models on its 30 actuators."""

from __future__ import annotations

import math

from evidence.benchmarks.figures import draw_bars
from evidence.benchmarks.results import Case, CaseResult, Claim, median_ratio
from evidence.benchmarks.timing import Effort, Subject
from hrpsim import Actuator, load_world, share_path

BOUND = 1.3  # ratio to the time without actuator models
ROTOR = 0.05  # [kg m^2]
SETTLED = 3000  # steps after which the oscillation within the backlash has decayed
PROPERTIES = {
    "delay": 0.0025,
    "command_period": 0.002,
    "stiffness": 2e4,
    "damping": 20.0,
    "backlash": 1e-4,
    "encoder": "motor",
    "coulomb_friction": 1.0,
    "static_friction": 1.5,
    "stribeck_velocity": 0.05,
    "viscous_friction": 0.5,
    "efficiency": 0.85,
    "backdriving_efficiency": 0.8,
    "joint_resolution": 1e-5,
    "motor_resolution": math.tau / 4096,
    "resistance": 0.3,
    "voltage": 48.0,
    "torque_constant": 0.08,
    "gear_ratio": 100.0,
    "current_limit": 40.0,
    "winding_heat_capacity": 30.0,
    "housing_heat_capacity": 300.0,
    "resistance_coefficient": 0.004,
}


def standing(name: str, properties: dict | None) -> tuple[Subject, int]:
    """Return a subject with a robot at rest, and the number of its actuators.

    properties: properties of the actuator models, or None for no actuator models.
    """
    world = load_world(share_path("config/stand.yaml"))
    (robot,) = world.robots.values()
    driven_joints = [joint for joint, kp in zip(robot.joint_names, robot.gains[0]) if kp > 0.0]
    robot.set_joint_properties(driven_joints, rotor_inertia=ROTOR)
    for joint in driven_joints if properties is not None else ():
        settings = dict(properties)
        if settings:
            stall = float(robot.system.effort_limit[robot.model.joint(joint).v_index])
            settings["curve_velocity"] = (0.0, 10.0, 15.0)
            settings["curve_torque"] = (stall, stall, 0.3 * stall)
        robot.set_actuator(Actuator(**settings), joint)
    robot.command(positions=robot.joint_positions)
    world.step(SETTLED)
    return Subject(name, world.step, True), len(driven_joints)


def run(result: CaseResult, effort: Effort) -> None:
    """Time a step without actuator models, with models without effects, and with all effects."""
    cases = {"plain": None, "empty": {}, "all effects": PROPERTIES}
    subjects, counts = zip(*(standing(*case) for case in cases.items()))
    times = result.measure("step", subjects, effort)
    ratio = median_ratio(times, "all effects", "plain")
    result.claims.append(Claim(f"{counts[0]} with all effects, over plain ones", ratio, BOUND))
    result.notes.append(f"{counts[0]} joints, the robot of config/stand.yaml at rest, 1 ms")


def draw(result: CaseResult, figure) -> None:
    """Draw the times as bars."""
    draw_bars(result, figure.subplots(), ["step"])


CASE = Case("Actuators with models", run, draw)
