# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Programs of `bench_ros_node.py`, which time the node from other processes."""
