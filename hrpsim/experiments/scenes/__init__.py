"""Robots and bodies that several experiments use.

Imports framework/.
"""
