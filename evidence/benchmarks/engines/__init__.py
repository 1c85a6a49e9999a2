# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The scenes in other installed engines."""
