# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The arrays of a scene, its islands, limits, and the statuses with which a step can end."""
