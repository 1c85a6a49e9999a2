# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The objects of a world that users work with: robots, bodies, connections, frames, rules."""
