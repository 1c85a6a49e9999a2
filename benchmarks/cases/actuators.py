# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step of hrp2_like that stands, with and without models of its 30 actuators."""

from __future__ import annotations

import math

from benchmarks.engines.hrpsim_standing import HrpsimStanding
from benchmarks.figures import draw_bars
from benchmarks.registry import Case
from benchmarks.results import CaseResult, Claim, median_ratio
from benchmarks.timing import Effort, Subject
from hrpsim import Actuator
from hrpsim.experiments.scenes.standing import humanoid

BOUND = 1.3  # of the time without
ROTOR = 0.05  # [kg m^2]
SETTLED = 1000  # steps
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


def run(result: CaseResult, effort: Effort) -> None:
    """Time a step with plain actuators, with empty models, and with all effects."""
    subjects = []
    for name in ("plain", "empty", "all effects"):
        engine = HrpsimStanding(humanoid(8, bush=False), name)
        robot = engine.robot
        robot.set_joint_properties(engine.gained, rotor_inertia=ROTOR)
        for joint in engine.gained if name != "plain" else ():
            properties = dict(PROPERTIES) if name == "all effects" else {}
            stall = float(robot.system.effort_limit[robot.model.joint(joint).v_index])
            if properties:
                properties["curve_velocity"] = (0.0, 10.0, 15.0)
                properties["curve_torque"] = (stall, stall, 0.3 * stall)
            robot.set_actuator(Actuator(**properties), joint)
        robot.command(positions=robot.joint_positions)
        engine.step(SETTLED)
        subjects.append(Subject(name, engine.step, True))
    times = result.measure("step", subjects, effort)
    ratio = median_ratio(times, "all effects", "plain")
    count = len(engine.gained)
    result.claims.append(Claim(f"{count} actuators, all effects, over plain ones", ratio, BOUND))
    result.notes.append(f"{count} joints, rigid feet on 8 points, 1 ms")


def draw(result: CaseResult, figure) -> None:
    """Bars of all."""
    draw_bars(result, figure.subplots(), ["step"])


CASE = Case("Actuators with models", run, draw)
