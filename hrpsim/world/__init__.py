# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The class World, and the components that it is composed of.

objects/ has robots and bodies, arrays/ lays out the data, parts/ has the components of a world, and
file/ reads world files.
"""
