# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Walking robots of other manufacturers, in hrpsim and in MuJoCo."""
