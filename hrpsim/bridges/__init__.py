# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers and scripts made for other frameworks, run on hrpsim's robots.

Imports control, worlds and the viewer; what another framework brings is imported when asked for.
"""
