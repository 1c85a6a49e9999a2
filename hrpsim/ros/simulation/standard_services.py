"""The services of simulation_interfaces, the ROS 2 standard, where its types are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hrpsim.ros.simulation.simulation_node import SimulationNode


def offer_standard_services(simulation: SimulationNode) -> list:
    """Make the services and the action on the node; return them, or say that there are none."""
    try:
        from hrpsim.ros.simulation.entity_services import EntityServices
        from hrpsim.ros.simulation.simulate_steps import SimulateStepsAction
        from hrpsim.ros.simulation.simulation_services import SimulationServices
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "simulation_interfaces":
            raise
        simulation.node.get_logger().info(
            "simulation_interfaces is not installed: only the std_srvs services are offered"
        )
        return []
    return [
        SimulationServices(simulation),
        EntityServices(simulation),
        SimulateStepsAction(simulation),
    ]
