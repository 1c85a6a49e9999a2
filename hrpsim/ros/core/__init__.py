# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The simulation without ROS: time, pause, steps, reset, entities."""
