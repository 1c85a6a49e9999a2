"""Robots as descriptions say they are, without a world: bodies, joints, inertia, links' shapes.

urdf/ reads the files, shapes/ has geometry and meshes.
"""
