"""Impacts within a step, and times of impact of what is fast.

Imports motion/, rows/ and scene/.
"""
