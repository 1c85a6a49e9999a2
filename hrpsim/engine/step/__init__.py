# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One step of a scene, from its candidate pairs to its new state. Private.

step.py calls the stages in order. scene/ has the data, rows/ the constraints, motion/ the
integrators, continuous/ the continuous collision detection, and impacts/ the impacts.
"""
