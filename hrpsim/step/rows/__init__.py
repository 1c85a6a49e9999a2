"""Writing the rows of constraints and solving them.

Imports scene/.
"""
