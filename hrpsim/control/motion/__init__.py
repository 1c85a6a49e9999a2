# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Postures, sequences of motion, playback, standing up.

The folder imports framework/.
"""
