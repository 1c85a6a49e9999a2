# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parts that commands share: output, the viewer, recordings of signals, the robot of a walk."""
