"""Articulated-body and recursive Newton-Euler algorithms, response to wrenches, momentum.

Imports kinematics, spatial, model and jit.
"""
