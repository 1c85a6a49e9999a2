# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topics of Unitree's robots: lowcmd, lowstate and sportmodestate."""
