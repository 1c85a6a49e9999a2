# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The action ~/simulate_steps of simulation_interfaces: steps with feedback and cancellation."""

from __future__ import annotations

import time

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Result

from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.base.guarded_node import GuardedNode
from hrpsim.ros.base.service_results import fill_result
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.core.turns import TURN, NextTurn, when_compiled
from hrpsim.ros.simulation.simulation_services import refuse_unless_paused

_DISCOVERY = 0.5  # [s, wall] to discover a new client's feedback subscription
_SETTLING = 0.05  # [s, wall] from discovery to matching


class SimulateStepsAction:
    """Offers the action; one goal at a time, others are rejected meanwhile."""

    def __init__(self, node: GuardedNode, simulation: Simulation):
        self._node = node
        self._simulation = simulation
        self._busy = False
        self._known_listeners = 0
        self._server = ActionServer(
            node,
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
        """Make the steps until an end is due; return how many were made."""
        wanted, done = goal.request.steps, 0
        feedback = SimulateSteps.Feedback()
        refuse_unless_paused(self._simulation)
        world = self._simulation.world
        await self._meet_listeners()
        try:
            end_of_turn = time.monotonic() + TURN
            while done < wanted and not goal.is_cancel_requested:
                await when_compiled(self._simulation, lambda: self._simulation.advance(1))
                done += 1
                feedback.completed_steps, feedback.remaining_steps = done, wanted - done
                ends_turn = time.monotonic() > end_of_turn
                if done in (1, wanted) or ends_turn:
                    goal.publish_feedback(feedback)
                if ends_turn:
                    await NextTurn()
                    refuse_unless_paused(self._simulation)
                    if self._simulation.world is not world:
                        raise Refusal("INCORRECT_STATE", "the world was unloaded meanwhile")
                    end_of_turn = time.monotonic() + TURN
        finally:
            if self._simulation.world is world:
                self._simulation.publish_last()
        return done

    async def _meet_listeners(self) -> None:
        """Wait until a new client's subscription is matched, or its first feedback is lost."""
        topic = f"{self._node.get_fully_qualified_name()}/simulate_steps/_action/feedback"
        begun = time.monotonic()
        while not self._node.count_subscribers(topic) and time.monotonic() < begun + _DISCOVERY:
            await NextTurn()
        found = self._node.count_subscribers(topic)
        if found > self._known_listeners:
            found_at = time.monotonic()
            while time.monotonic() < found_at + _SETTLING:
                await NextTurn()
        self._known_listeners = found
