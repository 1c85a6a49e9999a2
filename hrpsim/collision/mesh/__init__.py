"""Contacts of triangle meshes: features, bounding trees, vertex and edge contacts, reduction.

Imports primitives/.
"""
