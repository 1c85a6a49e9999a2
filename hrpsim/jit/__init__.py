"""Kernels: compiling, keeping them on disk, scenes by reference, kernels on demand.

Imports nothing of the rest but errors and limits.
"""
