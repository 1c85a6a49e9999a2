# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The simulation below the node: time, pause, steps, reset, entities. Needs no ROS."""
