"""Footsteps, gait and whole-body walking patterns with preview control.

Imports motion/ and framework/.
"""
