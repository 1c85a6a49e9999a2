"""The walking demonstration: node, controller and recorder as processes.

Imports base/ and hrpsim.bag.
"""
