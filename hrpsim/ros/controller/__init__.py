"""The node that runs a controller against a simulated or a real robot.

Imports robot/ and base/.
"""
