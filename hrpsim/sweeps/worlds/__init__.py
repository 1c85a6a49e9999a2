# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""World files as scenarios: parameters by path, a controller, pushes, noise, delays, terrain."""
