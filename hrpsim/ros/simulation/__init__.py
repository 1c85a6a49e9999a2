"""The simulation node, its services, parameters and diagnostics.

Imports robot/ and base/.
"""
