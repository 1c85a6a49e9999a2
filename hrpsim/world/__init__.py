# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The public World, which is composed of parts and delegates to the parts.

objects/ has robots and bodies, arrays/ lays out the data, parts/ has the components of a world,
and file/ reads world files.
"""
