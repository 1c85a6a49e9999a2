"""The topics of one robot: commands in, joint states, wrenches, transforms and sensors out.

Imports base/.
"""
