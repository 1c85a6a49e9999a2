# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The public World, which is composed of parts and delegates to them.

objects/ has robots and bodies, arrays/ lays their data out, parts/ has what a world consists of,
file/ reads world files.
"""
