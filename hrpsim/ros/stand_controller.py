"""Program `stand_controller`: takes a humanoid through half-sitting, squat, sway and steps.

It knows the robot by its robot_description alone, hears joint_states, and sends
joint_commands at a fixed rate of simulated time: an example of a controller in a process of its
own. It ends when the motion does.

    ros2 run hrpsim stand_controller --ros-args -p control_rate:=200.0
"""

from __future__ import annotations

import sys
import time

import numpy as np
import rclpy
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

import hrpsim
from hrpsim.control.stand_motion import StandMotion
from hrpsim.ros import qos
from hrpsim.ros.stop_signal import StopSignal

_NEAR = 0.1  # [rad]


class StandController:
    """Follows a StandMotion from the first joint state on.

    Each joint state whose stamp has reached the next control tick is answered by the command for
    `lead` later, stamped so: the node holds it until then, and the latency does not matter.
    """

    def __init__(self, **node_options):
        self.node = Node("stand_controller", **node_options)
        rate = _declare(
            self.node, "control_rate", 200.0, "Commands per simulated second [Hz]", 1.0, 10000.0
        )
        self._period_ns = round(1e9 / rate)
        self._duration = _declare(
            self.node, "duration", 0.0, "End after this much motion [s]; 0: all of it", 0.0, 1e6
        )
        self._lead_ns = round(
            1e9 * _declare(self.node, "lead", 0.03, "Commands are sent ahead by [s]", 0.0, 1.0)
        )
        self.motion: StandMotion | None = None
        self.command_count = 0
        self.finished = False
        self._model: hrpsim.Model | None = None
        self._start_ns: int | None = None
        self._next_tick_ns = 0
        self._phase = ""
        self._publisher = self.node.create_publisher(JointState, "joint_commands", qos.COMMAND)
        self._description = self.node.create_subscription(
            String, "robot_description", self._on_description, qos.LATCHED
        )
        self._states = self.node.create_subscription(
            JointState, "joint_states", self._on_joint_states, qos.COMMAND
        )

    @property
    def is_ready(self) -> bool:
        """Whether it knows the robot and both directions of the loop are connected."""
        return (
            self.motion is not None
            and self._publisher.get_subscription_count() > 0
            and self._states.get_publisher_count() > 0
        )

    def _on_description(self, message: String) -> None:
        self._model = hrpsim.load_model(message.data)
        self.motion = StandMotion(self._model)

    def _on_joint_states(self, state: JointState) -> None:
        if self.motion is None or self.finished:
            return
        now = state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec
        if self._start_ns is None:
            if not self._stands_at_start(state):
                self.motion = StandMotion(self._model, dict(zip(state.name, state.position)))
                return  # planning took a while: begin with a fresh state
            self._start_ns = self._next_tick_ns = now
        if now < self._next_tick_ns:
            return
        while self._next_tick_ns <= now:
            self._next_tick_ns += self._period_ns
        t = (now - self._start_ns) * 1e-9
        self._send(t, now + self._lead_ns)
        self.finished = t >= min(self.motion.duration, self._duration or self.motion.duration)

    def _stands_at_start(self, state: JointState) -> bool:
        """Return whether the robot is near the posture in which the motion begins."""
        positions = dict(zip(state.name, state.position))
        measured = [positions[name] for name in self.motion.joint_names]
        return np.allclose(measured, self.motion.joint_positions(0.0), atol=_NEAR)

    def _send(self, t: float, stamp_ns: int) -> None:
        command = JointState(name=self.motion.joint_names)
        command.header.stamp.sec, command.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
        command.position = self.motion.joint_positions(t).tolist()
        self._publisher.publish(command)
        self.command_count += 1
        if self.motion.phase(t) != self._phase:
            self._phase = self.motion.phase(t)
            print(f"{self._phase} from {t:.2f} s", flush=True)


def _declare(node: Node, name: str, default: float, text: str, lowest: float, highest: float):
    descriptor = ParameterDescriptor(
        description=text,
        read_only=True,
        floating_point_range=[FloatingPointRange(from_value=lowest, to_value=highest)],
    )
    return node.declare_parameter(name, default, descriptor).value


def main(arguments: list[str] | None = None) -> int:
    """Run the controller until its motion ends or a signal comes; return the exit code."""
    with StopSignal() as stop:
        try:
            return _run(arguments, stop)
        except KeyboardInterrupt:
            return 130


def _run(arguments: list[str] | None, stop: StopSignal) -> int:
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    controller = StandController()
    executor = SingleThreadedExecutor()
    executor.add_node(controller.node)
    said_ready = False
    try:
        stop.loop_started()
        while not stop() and not controller.finished:
            executor.spin_once(timeout_sec=0.05)
            if not said_ready and controller.is_ready:
                said_ready = True
                print(f"ready: a motion of {controller.motion.duration:.1f} s", flush=True)
        print(f"sent {controller.command_count} commands", flush=True)
        time.sleep(0.2 if controller.finished else 0.0)  # the last command leaves with us
    finally:
        executor.shutdown(timeout_sec=1.0)
        controller.node.destroy_node()
        rclpy.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
