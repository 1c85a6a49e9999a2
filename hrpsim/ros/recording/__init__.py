# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recorder of topics and analyser of motions."""
