"""Motion: midpoints, stages of rk4, loose rotation, momentum, slip.

Imports rows/ and scene/.
"""
