# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Program `hrpsim_node`: simulates a world as a ROS 2 node until a request to stop.

    ros2 run hrpsim hrpsim_node --ros-args -p world_file:=config/stand.yaml -p real_time_factor:=1.0

docs/reference/ros lists topics, services and parameters.
"""

from __future__ import annotations

import sys
import time
import warnings

from hrpsim.ros.base.program import StopSignal, run_program


def main(arguments: list[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or the end of `duration`. Return the exit code."""
    return run_program(_run, arguments, _describe)


def _describe() -> str:
    from hrpsim.ros.base.parameters import SPECIFICATIONS, describe

    return f"{__doc__}\n{describe(SPECIFICATIONS)}"


def _run(stop: StopSignal) -> int:
    from hrpsim.ros.simulation.simulation_node import SimulationNode
    from hrpsim.ros.simulation.world_setup import world_from_parameters

    def logged(node):
        """Make the world. Warnings become entries of the node's log from now on."""
        logger = node.get_logger()
        warnings.showwarning = lambda message, *_: logger.warning(str(message))
        return world_from_parameters(node)

    node = None
    try:
        node = SimulationNode(logged)
        stop.loop_started()
        _simulate(node, stop)
        return 0
    finally:
        if node is not None:
            node.destroy()


def _simulate(node, stop: StopSignal) -> None:
    simulation, logger = node.simulation, node.node.get_logger()
    robots = [interface.robot for interface in node.robots]
    described = [
        f"{r.model.name}, {len(r.model.joint_names)} joints, {r.model.mass:.1f} kg" for r in robots
    ]
    if len(robots) > 1:
        described = [f"{r.name}: {text}" for r, text in zip(robots, described)]
    logger.info(
        f"ready: {'; '.join(described) or 'no robot'}, "
        f"time step {simulation.world.time_step * 1e3:g} ms"
        + (", paused" if simulation.paused else "")
    )
    start = time.monotonic()
    node.run(stop)
    elapsed, clock = time.monotonic() - start, simulation.clock
    logger.info(
        f"simulated {clock.seconds:.3f} s in {clock.steps} steps, {elapsed:.3f} s of wall time; "
        f"{node.accepted_count} commands accepted, {node.rejected_count} rejected"
    )


if __name__ == "__main__":
    sys.exit(main())
