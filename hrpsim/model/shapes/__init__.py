"""Geometry: primitives, meshes, hulls, height fields, compounds, and where they are placed."""
