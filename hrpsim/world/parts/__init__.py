# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The parts of a world: contents, their scene, sleep, connections, snapshots and so on.

Each knows the contents, the scenes and those of the others that it is given; none imports World.
Imports objects/ and arrays/.
"""
