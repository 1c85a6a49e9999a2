# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The quality of service of every topic.

Sensor topics are reliable. A reliable publisher serves reliable and best-effort subscribers, rosbag
included. The history is long enough for the messages of one call of ~/step, and for recorders that
are late for a while. Commands use the same profile.
"""

from rclpy.qos import DurabilityPolicy, QoSProfile

# Only the depth is given: keep last, reliable, volatile.
STATE = QoSProfile(depth=1000)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
COMMAND = QoSProfile(depth=10)
SCAN = QoSProfile(depth=5)  # large messages: a slow subscriber misses some
