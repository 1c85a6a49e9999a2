# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A paused simulation that is stepped over ROS."""

from ros.messages import wait_for_state, warnings_in


class SteppedSimulation:
    """What a paused simulation says of its joints, and in its log, when it is called."""

    def __init__(self, listener):
        self.listener = listener
        self.states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
        self.log = listener.collect("rcl_interfaces/msg/Log", "/rosout")

    def call(self, service, *topics):
        """Call step or reset; return the time of the state that follows on all topics [s]."""
        answer = self.listener.call(f"/hrpsim/{service}")
        return wait_for_state(self.listener, answer, self.states, *topics)

    def joints(self):
        """Return {joint: (position, velocity, effort)} of the last state."""
        state = self.states[-1]
        return dict(zip(state.name, zip(state.position, state.velocity, state.effort)))

    def warnings(self):
        return warnings_in(self.log)
