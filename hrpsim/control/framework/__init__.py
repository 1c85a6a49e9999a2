# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a controller is, the loop that runs it, plug-ins and pacing."""
