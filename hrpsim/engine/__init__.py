# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is compiled: one step of a scene, from collision to the new state. Private.

compile/ makes kernels. spatial/ has vectors, kinematics/ poses, dynamics/ the equations of motion.
actuators/ has motors, collision/ contacts, constraints/ rows, solvers/ their solution, sensors/
noise, rays/ distances along lines. step/step.py calls these in order.
"""
