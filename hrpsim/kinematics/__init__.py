"""Poses and velocities along the trees of a forest of bodies.

Imports model, spatial and jit.
"""
