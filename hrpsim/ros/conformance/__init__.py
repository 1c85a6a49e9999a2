# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Does a simulator, any, do what simulation_interfaces says? Imports base/ and no simulation.

`examine` calls every service and action of the standard and returns a Row for each law.
"""
