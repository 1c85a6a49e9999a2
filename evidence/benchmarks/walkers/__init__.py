# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots of other makers that walk, in hrpsim and in MuJoCo."""
