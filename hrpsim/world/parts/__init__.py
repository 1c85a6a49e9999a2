# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The components of a world: contents, scene, sleep, connections, snapshots and so on.

A component gets the contents, the scenes and other components as arguments. No component imports
World. Imports objects/ and arrays/.
"""
