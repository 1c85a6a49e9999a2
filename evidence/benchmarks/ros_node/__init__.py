# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The node timed as other processes use it: `bench_ros_node.py` begins here."""
