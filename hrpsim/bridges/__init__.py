# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers and scripts made for other frameworks, run on hrpsim's robots.

Imports control and worlds; what another framework brings is imported when it is asked for.
"""
