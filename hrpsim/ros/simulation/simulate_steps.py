"""The action ~/simulate_steps of simulation_interfaces: steps with feedback, and an end to them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Result

from hrpsim.ros.base.service_results import fill_result
from hrpsim.ros.simulation.simulation_services import refuse_unless_paused

if TYPE_CHECKING:
    from hrpsim.ros.simulation.simulation_node import SimulationNode

_TURN = 0.02  # [s, wall]; then other callbacks, a cancellation among them, have their turn


class SimulateStepsAction:
    """Offers the action; one goal at a time, others are rejected meanwhile."""

    def __init__(self, simulation: SimulationNode):
        self._simulation = simulation
        self._busy = False
        self._server = ActionServer(
            simulation.node,
            SimulateSteps,
            "~/simulate_steps",
            execute_callback=self._execute,
            goal_callback=self._consider,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )

    def _consider(self, goal: SimulateSteps.Goal) -> GoalResponse:
        if self._busy:
            return GoalResponse.REJECT
        self._busy = True
        return GoalResponse.ACCEPT

    async def _execute(self, goal) -> SimulateSteps.Result:
        try:
            done = await self._advance(goal)
            text = f"made {done} of {goal.request.steps} steps"
            code = Result.RESULT_OK
            if goal.is_cancel_requested:
                goal.canceled()
                code = Result.RESULT_OPERATION_FAILED
            else:
                goal.succeed()
            return SimulateSteps.Result(result=Result(result=code, error_message=text))
        except Exception as error:
            goal.abort()
            result = SimulateSteps.Result()
            text = self._simulation.faults.explain(error, "~/simulate_steps")
            fill_result(result.result, error, text)
            return result
        finally:
            self._busy = False

    async def _advance(self, goal) -> int:
        """Make the steps until there is reason to end; return how many were made."""
        wanted, done = goal.request.steps, 0
        feedback = SimulateSteps.Feedback()
        refuse_unless_paused(self._simulation)
        try:
            end_of_turn = time.monotonic() + _TURN
            while done < wanted and not goal.is_cancel_requested:
                self._simulation.advance(1)
                done += 1
                feedback.completed_steps, feedback.remaining_steps = done, wanted - done
                goal.publish_feedback(feedback)
                if time.monotonic() > end_of_turn:
                    await _Turn()
                    refuse_unless_paused(self._simulation)
                    end_of_turn = time.monotonic() + _TURN
        finally:
            self._simulation.step_and_publish(0)
        return done


class _Turn:
    """What a callback awaits to go on in the executor's next turn."""

    def __await__(self):
        yield
