"""Assembling, growing, laying out and removing the arrays of a scene.

Imports objects/.
"""
