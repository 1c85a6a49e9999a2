"""Published experiments, reproduced: framework/, studies/ e01 to e14, scenes/ that they share.

Begin with framework/reproduce.py.
"""
