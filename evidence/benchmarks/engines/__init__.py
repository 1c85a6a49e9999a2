# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The same scenes in other engines; what is not installed is left out."""
