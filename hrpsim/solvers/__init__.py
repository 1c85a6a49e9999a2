"""Solvers of constraint rows: projected Gauss-Seidel, direct pivoting, split, steepest descent.

Imports constraints and below.
"""
