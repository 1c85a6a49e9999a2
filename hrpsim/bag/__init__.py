# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of ROS topics, read and drawn without ROS; the writer is handed serialised messages.

Offers the reader, what is saved of damaged bags, foot wrenches and their plots.
"""
