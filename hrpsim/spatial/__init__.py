"""Spatial vectors, inertias and rotations as kernels.

Imports jit.
"""
