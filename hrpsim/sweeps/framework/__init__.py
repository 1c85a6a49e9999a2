# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a sweep is made of: scenarios with parameters and outcomes, designs of values.

Errors and requests for packages that only sweeps need are here as well.
"""
