# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Messages of Unitree's robots: layout, checksum, order of the motors. Independent of ROS."""
