# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Articulated-body and recursive Newton-Euler algorithms, response and momentum."""
