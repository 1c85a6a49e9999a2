"""The simulation as a ROS node: a World, its topics and services, and one loop that steps it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from hrpsim.errors import WorldError
from hrpsim.ros import parameters, qos
from hrpsim.ros.commands import JointCommands
from hrpsim.ros.frames import RobotFrames
from hrpsim.ros.lockstep import Lockstep
from hrpsim.ros.pacing import Pacer
from hrpsim.ros.robot_publishers import RobotPublishers
from hrpsim.ros.run_services import RunServices
from hrpsim.ros.stamps import SimulationClock

_CALLBACK_PERIOD = 0.01  # [s, wall]; an executor turn costs 0.1 to 0.2 ms
_REPETITION_PERIOD = 0.1  # of a state while time stands still [s, wall]


class SimulationNode:
    """Steps the world that `make_world(node)` returns and shows its robot to ROS through `node`.

    Simulated time is the number of steps since the node started times the time step. A reset puts
    the world back to its first state and lets time go on.
    """

    def __init__(self, make_world: Callable[[Node], Any], **node_options):
        self.node = Node("hrpsim", **node_options)
        parameters.declare_parameters(self.node)
        self.world = make_world(self.node)
        self.robot = _only_robot(self.world)
        self._first_state = self.world.snapshot()
        self._compile()
        self.clock = SimulationClock(self.world.time_step)
        self.pacer = Pacer(self.world.time_step, self._parameter("real_time_factor"))
        self.paused = self._parameter("start_paused")
        self._set_periods()

        odometry = self._parameter("publish_odometry") and self.robot.model.base == "free"
        frames = RobotFrames(
            self.robot.model, self._parameter("odom_frame"), self._parameter("frame_prefix")
        )
        self._clock_message = Clock()
        self._clock_publisher = self.node.create_publisher(Clock, "/clock", qos.STATE)
        self._publishers = RobotPublishers(self.node, self.robot, frames, odometry=odometry)
        self._transforms = self._make_transforms(frames, odometry)
        self.lockstep = self._make_lockstep()
        self.commands = self.lockstep or JointCommands(self.node, self.robot, self.clock)
        self._services = RunServices(self)
        parameters.on_change(self.node, self._on_parameter)
        self._next_callbacks = 0.0
        self._next_repetition = 0.0
        self._stop_requested: Callable[[], bool] = lambda: False

    def run(self, stop_requested: Callable[[], bool]) -> None:
        """Step and publish until `stop_requested()` or until `duration` has been simulated."""
        executor = SingleThreadedExecutor(context=self.node.context)
        executor.add_node(self.node)
        last_step = round(self._parameter("duration") / self.world.time_step)
        self._stop_requested = stop_requested
        self._publish_state()
        self.pacer.start()
        try:
            while not stop_requested() and (last_step == 0 or self.clock.steps < last_step):
                if self.paused:
                    self._wait_paused(executor)
                    continue
                self._serve_callbacks(executor)
                if self.lockstep and not self._wait_for_command():
                    continue
                due = self._steps_to_publication()
                if last_step:
                    due = min(due, last_step - self.clock.steps)
                due = self.pacer.steps_due(due)
                if due == 0:
                    self.pacer.wait(longest=_CALLBACK_PERIOD)
                elif not self.paused:
                    self.advance(due)
                    self.pacer.made(due)
        finally:
            executor.remove_node(self.node)
            executor.shutdown(timeout_sec=1.0)

    def destroy(self) -> None:
        """Take the node off the ROS graph."""
        self.node.destroy_node()

    def advance(self, steps: int) -> None:
        """Apply the waiting commands, make `steps` steps and publish where a publication is due.

        Raises WorldError in lockstep if the command for a tick does not come in time.
        """
        end = self.clock.steps + steps
        while self.clock.steps < end:
            self._take_commands()
            left = min(end - self.clock.steps, self._steps_to_publication())
            burst = self.commands.steps_to_next(left)
            self.world.step(burst)
            self.clock.steps += burst
            if self._publication_is_due():
                self._publish_state()

    def step_and_publish(self, steps: int) -> None:
        """Make `steps` steps at once, then publish the state whether its time has come or not.

        Raises WorldError in lockstep if the command for a tick does not come in time.
        """
        start = self.clock.steps
        try:
            self.advance(steps)
        except WorldError as error:
            raise WorldError(
                f"made {self.clock.steps - start} of {steps} steps: {error}"
            ) from error
        finally:
            if not self._publication_is_due():
                self._publish_state(transforms=True)

    def pause(self) -> None:
        """Stop stepping; simulated time stands still."""
        self.paused = True

    def resume(self) -> None:
        """Step on; the time spent paused is not made up for."""
        self.paused = False
        self.pacer.start()
        if self.lockstep:
            self.lockstep.forget_wait()

    def reset(self) -> None:
        """Put the world back to its first state; time goes on, waiting commands are dropped."""
        self.commands.discard()
        self.world.restore(self._first_state)
        # Time goes on to the next publication: no stamp may stand for two different states.
        self.clock.steps += (
            self.lockstep.steps_over_reset() if self.lockstep else self._steps_to_publication()
        )
        self._publish_state(transforms=True)

    def _publish_state(self, transforms: bool = False) -> None:
        stamp = self.clock.stamp
        self._publish_clock()
        self._publishers.publish(stamp)
        self._next_repetition = time.monotonic() + _REPETITION_PERIOD
        if self._transforms and (transforms or self.clock.steps % self._tf_period == 0):
            self._transforms.publish(stamp)

    def _publish_clock(self) -> None:
        self._clock_message.clock = self.clock.stamp.to_message()
        self._clock_publisher.publish(self._clock_message)

    def _serve_callbacks(self, executor: SingleThreadedExecutor) -> None:
        now = time.monotonic()
        if now >= self._next_callbacks:
            executor.spin_once(timeout_sec=0.0)
            self._next_callbacks = now + _CALLBACK_PERIOD

    def _wait_paused(self, executor: SingleThreadedExecutor) -> None:
        """Serve callbacks; repeat the state for nodes that start while time stands still."""
        self.commands.apply_due()
        executor.spin_once(timeout_sec=0.02)
        if self.paused:
            self._repeat_state()

    def _wait_for_command(self) -> bool:
        """Wait a little for the command of this tick; return whether steps can be made."""
        if self.lockstep.wait(longest=_CALLBACK_PERIOD):
            return True
        self._repeat_state()
        return False

    def _take_commands(self) -> None:
        """Apply what is due; in lockstep wait for it, up to the time-out."""
        self.commands.apply_due()
        if self.lockstep is None or not self.lockstep.is_waiting:
            return
        end = time.monotonic() + self.lockstep.timeout
        while not self._wait_for_command():
            if time.monotonic() > end or self._stop_requested():
                raise WorldError(self.lockstep.describe_wait())

    def _repeat_state(self) -> None:
        """Publish the state once more, now and then, for nodes that did not hear it."""
        if time.monotonic() >= self._next_repetition:
            self._publish_clock()
            self._publishers.publish(self.clock.stamp)
            self._next_repetition = time.monotonic() + _REPETITION_PERIOD

    def _publication_is_due(self) -> bool:
        at_tick = self.lockstep is not None and self.lockstep.at_tick
        return at_tick or self.clock.steps % self._publish_period == 0

    def _steps_to_publication(self) -> int:
        steps = self._publish_period - self.clock.steps % self._publish_period
        return self.lockstep.steps_to_next(steps) if self.lockstep else steps

    def _make_lockstep(self) -> Lockstep | None:
        if not self._parameter("lockstep"):
            return None
        return Lockstep(
            self.node,
            self.robot,
            self.clock,
            period=self._parameter("control_period"),
            timeout=self._parameter("lockstep_timeout"),
            interpolate=self._parameter("interpolate_commands"),
        )

    def _set_periods(self) -> None:
        """Turn the rates into whole numbers of steps."""
        step = self.world.time_step
        self._publish_period = max(1, round(1.0 / (self._parameter("publish_rate") * step)))
        publications = 1.0 / (self._parameter("tf_rate") * step * self._publish_period)
        self._tf_period = self._publish_period * max(1, round(publications))

    def _make_transforms(self, frames: RobotFrames, odometry: bool):
        links = self._parameter("publish_link_tf")
        if not links and not odometry:
            return None
        try:
            from hrpsim.ros.transforms import TransformPublisher
        except ModuleNotFoundError as error:
            if error.name != "tf2_msgs":
                raise
            self.node.get_logger().warning("tf2_msgs is not installed: no transforms are published")
            return None
        return TransformPublisher(self.node, self.robot, frames, odometry=odometry, links=links)

    def _compile(self) -> None:
        """Step once and take it back: compilation must not fall into the first step."""
        self.world.step()
        self.world.restore(self._first_state)

    def _parameter(self, name: str) -> Any:
        return parameters.value_of(self.node, name)

    def _on_parameter(self, name: str, value: Any) -> None:
        if name == "real_time_factor":
            self.pacer.real_time_factor = value
        elif name in ("publish_rate", "tf_rate"):
            self._set_periods()


def _only_robot(world):
    robots = list(world.robots.values())
    if len(robots) != 1:
        raise WorldError(
            f"the node shows one robot, the world has {len(robots)}: {', '.join(world.robots)}"
        )
    return robots[0]
