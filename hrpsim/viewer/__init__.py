# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures: the browser's page, films, arrows of forces.

Only this room imports viser.
"""
