# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The parts of a sweep: scenarios with parameters and outcomes, designs of values, errors."""
