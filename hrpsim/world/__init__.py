"""What users hold: World and its ways of connecting, sleeping, keeping and reading.

objects/ has robots and bodies, arrays/ lays their data out, file/ reads world files.
"""
