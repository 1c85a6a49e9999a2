# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Runs of a policy in hrpsim, in MuJoCo and in a recording, in a common format."""
