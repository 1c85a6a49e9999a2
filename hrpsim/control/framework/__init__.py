# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interface of controllers, the loop that runs them, plug-ins and pacing."""
