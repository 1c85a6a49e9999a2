# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step of hrp2_like swaying on rigid feet, with and without dry friction in the joints."""

from __future__ import annotations

from evidence.benchmarks.cases.swaying_step import CONTROL_PERIOD, SWING, Swaying, SwayingSubject
from evidence.benchmarks.engines.hrpsim_standing import HrpsimStanding
from evidence.benchmarks.figures import draw_bars
from evidence.benchmarks.results import Case, CaseResult, Claim, median_ratio
from evidence.benchmarks.timing import Effort
from evidence.experiments.scenes.standing import humanoid

FRICTION = 0.5  # [Nm]
BOUND = 1.25  # ratio to the time without friction


def run(result: CaseResult, effort: Effort) -> None:
    """Time one period of swaying without and with friction."""
    subjects = []
    for name, friction in (("without", 0.0), ("with", FRICTION)):
        engine = HrpsimStanding(humanoid(8, bush=False), name)
        engine.robot.set_joint_properties(friction=friction)
        robot = Swaying(engine, engine.state()[0])
        subjects.append(SwayingSubject(name, robot, True, most=1, each=SWING))
    times = result.measure("sway", subjects, effort)
    ratio = median_ratio(times, "with", "without")
    result.claims.append(Claim("dry friction of 0.5 Nm, over the step without", ratio, BOUND))
    result.notes.append(
        f"{FRICTION} Nm in all joints, rigid feet on 8 points, 1 ms. New targets every "
        f"{CONTROL_PERIOD} steps, at which joints stop and start"
    )


def draw(result: CaseResult, figure) -> None:
    """Draw the times with and without friction as bars."""
    draw_bars(result, figure.subplots(), ["sway"])


CASE = Case("Dry friction of joints", run, draw)
