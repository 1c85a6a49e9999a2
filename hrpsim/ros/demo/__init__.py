# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The walking demonstration: node, controller and recorder as processes."""
