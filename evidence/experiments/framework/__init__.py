# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The framework of experiments: targets, reports, other engines, and the runner."""
