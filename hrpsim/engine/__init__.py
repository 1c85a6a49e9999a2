# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The compiled simulation engine: one step of a scene, from collision to the new state. Private.

compile/ makes kernels. spatial/ has vectors, kinematics/ poses, dynamics/ the equations of motion.
actuators/ has motors and gears, collision/ the contact search, constraints/ the constraint rows.
solvers/ solves for the impulses, sensors/ has readings and noise, rays/ casts rays. step/step.py
calls these in order.
"""
