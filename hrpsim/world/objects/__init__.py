# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots, bodies, connections, hinges, materials and rules, as held by users."""
