# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Many runs of one scenario: designs of experiments, engines that run them, results that are kept.

Begin with `sweep.sweep` (also `hrpsim.sweep`). It knows nothing of ROS and draws no worlds.
"""
