# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What an experiment is, targets, reports, peers to compare with, and the runner."""
