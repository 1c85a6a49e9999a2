"""The simulation as a ROS node: a World, its topics and services, and one loop that steps it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from hrpsim.control.framework.pacing import Pacer
from hrpsim.errors import WorldError
from hrpsim.ros.base import parameters, qos
from hrpsim.ros.base.entities import Entities, SpawnLimits
from hrpsim.ros.base.guarded_node import GuardedNode
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.lockstep import CommandMissed
from hrpsim.ros.robot.sensor_noise import NoiseLevels
from hrpsim.ros.simulation.contact_markers import ContactMarkers
from hrpsim.ros.simulation.diagnostics import Diagnostics
from hrpsim.ros.simulation.live_parameters import LiveParameters
from hrpsim.ros.simulation.robot_interfaces import RobotInterfaces
from hrpsim.ros.simulation.run_services import RunServices
from hrpsim.ros.simulation.solver_settings import SolverSettings
from hrpsim.ros.simulation.standard_services import offer_standard_services

_CALLBACK_PERIOD = 0.02  # [s, wall]; an executor turn costs 0.1 to 0.2 ms
_REPETITION_PERIOD = 0.1  # of a state while time stands still [s, wall]
_LONGEST_BURST = 0.05  # of steps between two looks at what is asked for [s, wall]


class SimulationNode:
    """Steps the world that `make_world(node)` returns and shows its robots to ROS through `node`.

    Simulated time is the number of steps since the node started times the time step. A reset puts
    the world back to its first state and lets time go on. `failure` says why a step could not be
    done, after which the node is paused in the last state; it is empty else. `faults` counts what
    was the node's own fault: it goes on whatever is sent to it.
    """

    def __init__(self, make_world: Callable[[Node], Any], **node_options):
        self.node = GuardedNode("hrpsim", **node_options)
        self.faults = self.node.faults
        parameters.declare_parameters(self.node)
        self.world = make_world(self.node)
        limits = SpawnLimits()
        self.entities = Entities(self.world, self._parameter("odom_frame"), limits)
        self._compile()
        self.clock = SimulationClock(self.world.time_step)
        self.pacer = Pacer(self.world.time_step, self._parameter("real_time_factor"))
        self.paused = self._parameter("start_paused")
        self.failure = ""
        self._missed: CommandMissed | None = None
        self.set_periods()

        noise, solver = NoiseLevels(), SolverSettings(self.world)
        self.robots = RobotInterfaces(self.node, self.world, self.clock, noise)
        self._locksteps = self.robots.locksteps
        clock_publisher = self.node.create_publisher(Clock, "/clock", qos.STATE)
        self._clock_template = SerializedTemplate(clock_publisher, Clock(), _fill_clock, 0)
        self._markers = ContactMarkers(
            self.node,
            self.world,
            self._parameter("frame_prefix") + self._parameter("odom_frame"),
            self._parameter("marker_force_scale"),
        )
        self._diagnostics = Diagnostics(self)
        self._services = [RunServices(self), *offer_standard_services(self)]
        self._live_parameters = LiveParameters(self, noise, solver, limits)
        self._burst = 1  # steps that take less than _LONGEST_BURST
        parameters.refuse_unknown(self.node)
        self._next_callbacks = 0.0
        self._next_repetition = 0.0
        self._transforms_shown = self._markers_shown = -1  # the steps that were published last
        self._stop_requested: Callable[[], bool] = lambda: False
        self._viewer = None
        if self._parameter("viewer"):
            from hrpsim.ros.simulation.viewer_beside import ViewerBeside

            self._viewer = ViewerBeside(self, self._parameter("viewer_port"))

    @property
    def accepted_count(self) -> int:
        """How many messages were followed, of all robots and topics."""
        return sum(robot.accepted_count for robot in self.robots)

    @property
    def rejected_count(self) -> int:
        """How many messages were rejected, of all robots and topics."""
        return sum(robot.rejections.count for robot in self.robots)

    def run(self, stop_requested: Callable[[], bool]) -> None:
        """Step and publish until `stop_requested()` or until `duration` has been simulated.

        Raises CommandMissed where lockstep_policy is to abort, and WorldError for a step that
        cannot be done where a duration was asked for.
        """
        executor = SingleThreadedExecutor(context=self.node.context)
        executor.add_node(self.node)
        last_step = round(self._parameter("duration") / self.world.time_step)
        self._stop_requested = stop_requested
        self._publish_state()
        self.pacer.start()
        try:
            while not stop_requested() and (last_step == 0 or self.clock.steps < last_step):
                if self._missed:
                    raise self._missed
                if self._viewer:
                    with self.faults.held("the viewer"):
                        self._viewer.turn()
                if self.paused:
                    self._wait_paused(executor)
                    continue
                self._serve_callbacks(executor)
                if not self._wait_for_commands():
                    continue
                due = self._steps_to_publication()
                if last_step:
                    due = min(due, last_step - self.clock.steps)
                due = self.pacer.steps_due(due)
                if due == 0:
                    self.pacer.wait(longest=_CALLBACK_PERIOD)
                elif not self.paused:
                    self._advance_or_pause(due, unattended=last_step > 0)
                    self.pacer.made(due)
        finally:
            executor.remove_node(self.node)
            executor.shutdown(timeout_sec=1.0)

    def destroy(self) -> None:
        """Take the node off the ROS graph."""
        if self._viewer:
            self._viewer.close()
        self.node.destroy_node()

    def advance(self, steps: int) -> None:
        """Apply the waiting commands, make `steps` steps and publish where a publication is due.

        It makes fewer where the node is asked to end meanwhile. Raises WorldError in lockstep if
        the command for a tick does not come in time, and if a step cannot be done.
        """
        end = self.clock.steps + steps
        while self.clock.steps < end and not self._stop_requested():
            self._take_commands()
            burst = min(end - self.clock.steps, self._steps_to_publication(), self._burst)
            for robot in self.robots:
                burst = robot.steps_to_next(burst)
            for robot in self.robots:
                robot.act()
            if self._viewer:
                self._viewer.pull()
            self._step(burst)
            if self._publication_is_due():
                self._publish_state()

    def step_and_publish(self, steps: int) -> None:
        """Make `steps` steps at once, then publish the state whether its time has come or not.

        Raises WorldError in lockstep if the command for a tick does not come in time, and if a
        step cannot be done.
        """
        start = self.clock.steps
        try:
            self.advance(steps)
            if self.clock.steps < start + steps:
                raise WorldError("the node is asked to end")
        except WorldError as error:
            raise WorldError(
                f"made {self.clock.steps - start} of {steps} steps: {error}"
            ) from error
        finally:
            if not self._publication_is_due():
                self._publish_state(everything=True)
            self._publish_slowly(everything=True)

    def pause(self) -> None:
        """Stop stepping; simulated time stands still."""
        self.paused = True

    def resume(self) -> None:
        """Step on; the time spent paused is not made up for."""
        self.paused = False
        self.failure = ""
        self.pacer.start()
        self._diagnostics.begin_interval()
        for lockstep in self._locksteps:
            lockstep.forget_wait()

    def reset(self) -> None:
        """Put the world back to its first state; time goes on, waiting commands are dropped."""
        self.entities.restore_first()
        for robot in self.robots:
            robot.begin_anew()
        self._live_parameters.apply_after_reset()
        self.failure = ""
        # Time goes on to the next publication: no stamp may stand for two different states.
        self.clock.steps += (
            self._locksteps[0].steps_over_reset()
            if self._locksteps
            else self._steps_to_publication()
        )
        self._publish_state(everything=True)

    def delete(self, name: str) -> int:
        """Take a robot, with its topics, or a body out of the world.

        Return how many connections went with it. Raises Refusal where there is none.
        """
        count = self.entities.delete(name)
        self._drop_removed()
        return count

    def delete_spawned(self) -> int:
        """Take out all that was spawned; return how many there were."""
        count = self.entities.delete_spawned()
        self._drop_removed()
        return count

    def set_periods(self) -> None:
        """Turn the rates of the parameters into whole numbers of steps."""
        step = self.world.time_step
        self._publish_period = max(1, round(1.0 / (self._parameter("publish_rate") * step)))
        self._tf_period, self._marker_period = (
            self._publish_period
            * max(1, round(1.0 / (self._parameter(rate) * step * self._publish_period)))
            for rate in ("tf_rate", "marker_rate")
        )

    def _drop_removed(self) -> None:
        self.robots.drop_removed()
        self._locksteps = self.robots.locksteps

    def _advance_or_pause(self, steps: int, unattended: bool) -> None:
        try:
            self.advance(steps)
        except CommandMissed:
            raise
        except Exception as error:
            self.failure = self.faults.explain(error, "a step")
            if unattended:
                raise WorldError(self.failure) from error
            self.pause()
            self.node.get_logger().error(f"paused: {self.failure}")

    def _step(self, steps: int) -> None:
        world, start = self.world, time.perf_counter()
        before = world.time
        try:
            world.step(steps)
            self.clock.steps += steps
        except WorldError as error:
            self.clock.steps += round((world.time - before) / world.time_step)
            self.failure = str(error)
            raise
        finally:
            took = time.perf_counter() - start
            self._burst = max(1, int(steps * _LONGEST_BURST / took))
            self._diagnostics.count(took, world.stats.last_call)

    def _publish_state(self, everything: bool = False) -> None:
        """Publish clock and robots; transforms and markers at their times, or with `everything`."""
        for lockstep in self._locksteps:
            lockstep.begin_round_trip()
        stamp = self.clock.stamp
        self._publish_clock()
        with self.faults.held("publishing"):
            for robot in self.robots:
                robot.publish(stamp)
            self._next_repetition = time.monotonic() + _REPETITION_PERIOD
            self._publish_slowly(everything)

    def _publish_slowly(self, everything: bool) -> None:
        """Publish transforms and markers, if it is time or `everything`; never a stamp twice."""
        steps = self.clock.steps
        due = everything or steps % self._tf_period == 0
        if self.robots.transforms and due and self._transforms_shown != steps:
            self.robots.transforms.publish(self.clock.stamp)
            self._transforms_shown = steps
        due = everything or steps % self._marker_period == 0
        if due and self._markers_shown != steps:
            self._markers.publish(self.clock.stamp)
            self._markers_shown = steps

    def _publish_clock(self) -> None:
        self._clock_template.publish(self.clock.stamp)

    def _serve_callbacks(self, executor: SingleThreadedExecutor) -> None:
        now = time.monotonic()
        if now >= self._next_callbacks:
            self._spin(executor, 0.0)
            self._next_callbacks = now + _CALLBACK_PERIOD

    def _wait_paused(self, executor: SingleThreadedExecutor) -> None:
        """Serve callbacks; repeat the state for nodes that start while time stands still."""
        for robot in self.robots:
            robot.take()
        self._spin(executor, _CALLBACK_PERIOD)
        if self.paused:
            self._repeat_state()

    def _spin(self, executor: SingleThreadedExecutor, longest: float) -> None:
        """Let one callback run, if one is due within `longest` [s, wall]; tell how things go."""
        with self.faults.held("a turn of ROS"):
            executor.spin_once(timeout_sec=longest)
            self._diagnostics.publish_if_due()

    def _wait_for_commands(self) -> bool:
        """In lockstep wait a little for the commands of this tick; return if steps can be made."""
        try:
            if all(lockstep.wait(longest=_CALLBACK_PERIOD) for lockstep in self._locksteps):
                return True
        except CommandMissed as missed:
            self._missed = missed
            raise
        self._repeat_state()
        return False

    def _take_commands(self) -> None:
        """Apply what is due; in lockstep wait for it, up to the time-out."""
        for robot in self.robots:
            robot.take()
        end = time.monotonic() + max((ls.timeout for ls in self._locksteps), default=0.0)
        while not self._wait_for_commands():
            waiting = next(ls for ls in self._locksteps if ls.is_waiting)
            late = time.monotonic() > end and waiting.policy == "pause"
            if late or self._stop_requested():
                raise WorldError(waiting.describe_wait())

    def _repeat_state(self) -> None:
        """Publish the state once more, now and then, for nodes that did not hear it."""
        if time.monotonic() >= self._next_repetition:
            self._publish_clock()
            for robot in self.robots:
                robot.publish(self.clock.stamp)
            self._next_repetition = time.monotonic() + _REPETITION_PERIOD

    def _publication_is_due(self) -> bool:
        at_tick = bool(self._locksteps) and self._locksteps[0].at_tick
        return at_tick or self.clock.steps % self._publish_period == 0

    def _steps_to_publication(self) -> int:
        steps = self._publish_period - self.clock.steps % self._publish_period
        return self._locksteps[0].steps_to_next(steps) if self._locksteps else steps

    def _compile(self) -> None:
        """Step once and take it back: compilation must not fall into the first step."""
        self.world.step()
        self.entities.restore_first()

    def _parameter(self, name: str) -> Any:
        return parameters.value_of(self.node, name)


def _fill_clock(message: Clock, stamp, numbers) -> None:
    message.clock = stamp
