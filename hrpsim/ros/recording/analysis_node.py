# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Program `dynamics_observer`: computes the floor reaction to the motion in joint_states.

The program reads robot_description and joint_states of a simulated or real robot. The results are
the zero-moment point, the centre of mass, the capture point and the wrench on each sole. All
results follow from the motion of the joints. Odometry and force sensors are not used.

    ros2 run hrpsim dynamics_observer --ros-args -p cutoff:=10.0
"""

from __future__ import annotations

import sys

import numpy as np
from geometry_msgs.msg import PointStamped, WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import String

import hrpsim
from hrpsim.analysis.analyser import SPLITS, Analyser
from hrpsim.analysis.observer import Observer, RateFilter
from hrpsim.analysis.soles import soles_of
from hrpsim.common.errors import HrpsimError
from hrpsim.ros.base import qos
from hrpsim.ros.base.geometry_values import fill
from hrpsim.ros.base.guarded_node import GuardedNode
from hrpsim.ros.base.parameters import Specification, declare, warn_of_unknown
from hrpsim.ros.base.program import StopSignal, run_program

_PARAMETERS = dict(
    cutoff=Specification(
        10.0, "Half-power frequency of the differentiated velocities [Hz]", 0.01, 10000.0
    ),
    contact_height=Specification(0.003, "A sole nearer to the floor than this bears [m]", 0.0, 0.1),
    links=Specification([""], "Links that may be fixed; empty: the soles of the robot"),
    split=Specification("center_of_pressure", f"One of {', '.join(SPLITS)}", choices=tuple(SPLITS)),
)
_POINTS = ("zmp", "com", "capture_point")  # topics, which are also fields of Observer.sample


class DynamicsObserver:
    """Publishes the result of inverse dynamics for each joint state.

    Without velocities in a joint state, velocities are differentiated from positions. Accelerations
    are always differentiated, with a low-pass of `cutoff`. Joints without a state stay at zero.
    """

    def __init__(self) -> None:
        self.node = GuardedNode("dynamics_observer")
        values = declare(self.node, _PARAMETERS)
        self._cutoff, self._contact_height = values["cutoff"], values["contact_height"]
        self._links, self._split = list(filter(None, values["links"])), values["split"]
        warn_of_unknown(self.node, values)
        self.observer: Observer | None = None
        self.update_count = 0
        self._frame = ""
        self._index: dict[str, int] = {}
        self._rates: RateFilter | None = None
        self._accelerations: RateFilter | None = None
        self._publishers: dict[str, Publisher] = {}  # by point or link
        self.node.create_subscription(
            String, "robot_description", self._on_description, qos.LATCHED
        )
        self.node.create_subscription(
            JointState, "joint_states", self._on_joint_states, qos.COMMAND
        )

    def _on_description(self, message: String) -> None:
        try:
            model = hrpsim.load_model(message.data)
            analyser = Analyser(model, self._links or soles_of(model), split=self._split)
        except HrpsimError as error:
            self.node.get_logger().error(f"robot_description cannot be analysed: {error}")
            return
        self.observer = Observer(analyser, analyser.links)
        self._frame = model.base_link
        self._index = {name: k for k, name in enumerate(model.joint_names)}
        size = len(model.joint_names)
        self._positions, self._velocities = np.zeros(size), np.zeros(size)
        self._rates = RateFilter(size, self._cutoff)
        self._accelerations = RateFilter(size, self._cutoff)
        for name in (*_POINTS, *analyser.links):
            if name not in self._publishers:
                kind = PointStamped if name in _POINTS else WrenchStamped
                publisher = self.node.create_publisher(kind, f"expected/{name}", qos.STATE)
                self._publishers[name] = publisher
        self._warm_up()
        print(f"ready: {model.name}, soles {', '.join(analyser.links)}", flush=True)

    def _warm_up(self) -> None:
        """Compile before the first joint state. Start with all soles on the floor."""
        zeros = np.zeros_like(self._velocities)
        self.observer.update(self._positions, zeros, zeros)

    def _on_joint_states(self, state: JointState) -> None:
        if self.observer is None:
            return
        indices = [self._index.get(name, -1) for name in state.name]
        if len(state.position) != len(indices) or not set(indices) & set(self._index.values()):
            self.node.get_logger().warning(
                f"joint_states: left out a message with {len(state.position)} positions for "
                f"{len(indices)} names. The robot has {sum(k >= 0 for k in indices)} of these "
                "names",
                throttle_duration_sec=1.0,
            )
            return
        time = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
        self._fill(self._positions, indices, state.position)
        if len(state.velocity) == len(indices):
            self._fill(self._velocities, indices, state.velocity)
        else:
            self._velocities[:] = self._rates.update(time, self._positions)
        accelerations = self._accelerations.update(time, self._velocities)
        try:
            self.observer.update(self._positions, self._velocities, accelerations)
        except HrpsimError as error:
            self.node.get_logger().warning(f"joint_states: {error}", throttle_duration_sec=1.0)
            return
        self.update_count += 1
        self._publish(state.header.stamp)
        self.observer.follow_soles(self._contact_height)

    @staticmethod
    def _fill(target: np.ndarray, indices: list[int], values) -> None:
        for index, value in zip(indices, values):
            if index >= 0:
                target[index] = value

    def _publish(self, stamp) -> None:
        observer = self.observer
        R, origin = observer.base_rotation(), observer.q[:3]
        for name in _POINTS:
            message = PointStamped()
            message.header.stamp, message.header.frame_id = stamp, self._frame
            fill(message.point, (observer.sample[name] - origin) @ R)
            self._publishers[name].publish(message)
        for index, link in enumerate(observer.links):
            at = observer.supports[index]
            message = WrenchStamped()
            message.header.stamp, message.header.frame_id = stamp, link
            fill(message.wrench.force, at["force"])
            fill(message.wrench.torque, at["torque"])
            self._publishers[link].publish(message)


def main(arguments: list[str] | None = None) -> int:
    """Run the observer until a signal arrives. Return the exit code."""
    return run_program(_run, arguments, lambda: __doc__)


def _run(stop: StopSignal) -> int:
    program = DynamicsObserver()
    executor = SingleThreadedExecutor()
    executor.add_node(program.node)
    try:
        stop.loop_started()
        while not stop():
            executor.spin_once(timeout_sec=0.05)
        print(f"observed {program.update_count} joint states", flush=True)
    finally:
        executor.shutdown(timeout_sec=1.0)
        program.node.destroy_node()
    return 0


if __name__ == "__main__":
    sys.exit(main())
