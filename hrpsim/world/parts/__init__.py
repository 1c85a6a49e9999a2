# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The parts of a world: contents, scene, sleep, connections, snapshots and so on.

A part knows the contents, the scenes, and the other parts that are passed to it. No part imports
World. Imports objects/ and arrays/.
"""
