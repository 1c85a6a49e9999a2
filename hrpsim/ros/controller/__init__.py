# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The node that runs a controller against a simulated or a real robot."""
