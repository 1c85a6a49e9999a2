# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One step of a scene, from its candidate pairs to its new state. Private.

scene/ has the data, rows/ the constraints, motion/ the integrators, continuous/ continuous
collision detection, and impacts/ the impacts. step.py calls them in order.
"""
