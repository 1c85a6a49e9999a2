"""The experiments E1 to E14, a file each.

Imports scenes/ and framework/.
"""
