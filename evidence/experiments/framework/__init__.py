# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Experiments: targets, reports, peers to compare with, and the runner."""
