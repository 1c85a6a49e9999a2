# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run `hrpsim_node`, and print the lockstep counters at the end."""

from __future__ import annotations

import json
import sys

import numpy as np

from hrpsim.ros.base.program import StopSignal, run_program
from hrpsim.ros.simulation.simulation_node import SimulationNode
from hrpsim.ros.simulation.world_setup import world_from_parameters


def simulate(stop: StopSignal) -> int:
    """Simulate until a signal arrives, or until `duration` has passed."""
    node = SimulationNode(world_from_parameters)
    stop.loop_started()
    robot, trips = node.robots[0], []
    if robot.lockstep:
        take = robot.lockstep.take_round_trips

        def taken_and_kept():
            latest = take()
            trips.extend(latest)
            return latest

        robot.lockstep.take_round_trips = taken_and_kept
    print("ready", flush=True)
    node.run(stop)
    if robot.lockstep:
        robot.lockstep.take_round_trips()
        report = {
            "steps": node.simulation.clock.steps,
            "accepted": robot.commands.accepted_count,
            "rejected": robot.rejections.count,
            "held": robot.lockstep.held_count,
            "stalls": robot.lockstep.stall_count,
            "trips": (1e6 * np.array(trips[1:])).round(1).tolist(),  # the first started in a pause
        }
        print(json.dumps(report), flush=True)
    node.destroy()
    return 0


if __name__ == "__main__":
    sys.exit(run_program(simulate, ["--ros-args", *sys.argv[1:]]))
