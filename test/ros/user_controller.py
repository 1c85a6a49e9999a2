# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A user's own controller, which knows nothing of hrpsim: holds the first posture, or goes wrong.

python user_controller.py FAULT [FILE]: `FILE` receives the values of the cell.
"""

import os
import sys
from pathlib import Path

import rclpy
from sensor_msgs.msg import JointState

FAULT_TICK = 10


class Hold:
    """Answers each new state with the posture of the first."""

    def __init__(self, fault):
        self.fault, self.first, self.last, self.ticks = fault, None, None, 0
        self.node = rclpy.create_node("my_controller")
        self.publisher = self.node.create_publisher(JointState, "joint_commands", 10)
        self.node.create_subscription(JointState, "joint_states", self.answer, 10)

    def answer(self, state):
        if self.first is None:
            self.first = list(state.position)
        if state.header.stamp == self.last:
            return  # a repeated state
        self.last = state.header.stamp
        self.ticks += 1
        if self.ticks == FAULT_TICK and self.fault == "dies":
            print("my controller has had enough", flush=True)
            os._exit(7)
        if self.ticks == FAULT_TICK and self.fault == "ends":
            os._exit(0)
        if self.ticks > FAULT_TICK and self.fault == "silent":
            return
        joints = [k for k, name in enumerate(state.name) if "BUSH" not in name]  # not passive ones
        command = JointState(
            name=[state.name[k] for k in joints], position=[self.first[k] for k in joints]
        )
        command.header.stamp = state.header.stamp
        self.publisher.publish(command)


def main():
    if len(sys.argv) > 2:
        values = os.environ["HRPSIM_CELL_VALUES"], os.environ["HRPSIM_CELL_SEED"]
        with Path(sys.argv[2]).open("a") as file:
            print(*values, sep="\t", file=file)
    rclpy.init()
    rclpy.spin(Hold(sys.argv[1]).node)


if __name__ == "__main__":
    main()
