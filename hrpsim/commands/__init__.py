"""The subcommands of `hrpsim`, a file each.

Imports everything; nothing imports it but cli.
"""
