# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parts that commands share: the robot and the report of a walk, pushes, recordings of signals."""
