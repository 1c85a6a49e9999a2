# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Functions that several commands share: output, viewer, recording of signals, robot of a walk."""
